//! Who jobs belong to: users in accounts, which are below other accounts up to the root. (Slurm calls each of them an association.)

use rustc_hash::FxHashMap;

use crate::machine::associations::{Association, Associations, ROOT};

/// A user in an account, or an account.
#[derive(Clone, Debug)]
pub struct Owner {
    /// The name of the user or account.
    pub name: String,
    /// Whether it is a user.
    pub is_user: bool,
    /// The account above it, as a place in [`Owners::all`]. None: the root.
    pub parent: Option<usize>,
    /// What it has.
    pub own: Association,
}

/// All of them, accounts after those above them. The root is the first.
#[derive(Clone, Debug)]
pub struct Owners {
    all: Vec<Owner>,
    by_account: FxHashMap<String, usize>,
    /// By account and name.
    by_user: FxHashMap<(usize, String), usize>,
    /// By name of a user: the account of jobs that name none.
    defaults: FxHashMap<String, usize>,
}

impl Owners {
    /// Those of a site. Where it has accounts or users, the user root is among them with one share, as always in Slurm. Where it has
    /// none, all users are directly below the root.
    pub fn new(associations: &Associations) -> Owners {
        let root = Owner { name: ROOT.to_string(), is_user: false, parent: None, own: Association::default() };
        let mut owners = Owners {
            all: vec![root],
            by_account: FxHashMap::from_iter([(ROOT.to_string(), 0)]),
            by_user: FxHashMap::default(),
            defaults: FxHashMap::default(),
        };
        // Accounts may be listed before those above them.
        let mut left: Vec<_> = associations.accounts.iter().collect();
        while !left.is_empty() {
            let before = left.len();
            left.retain(|account| {
                if account.name == ROOT {
                    // There is nobody among whom its shares could count.
                    owners.all[0].own = Association { shares: Some(1), ..account.own.clone() };
                    return false;
                }
                let Some(&parent) = owners.by_account.get(&account.parent) else { return true };
                owners.add_account(&account.name, parent, account.own.clone());
                false
            });
            if left.len() == before {
                break;
            }
        }
        for user in &associations.users {
            let account = owners.by_account.get(&user.account).copied().unwrap_or(0);
            owners.add_user(&user.name, account, user.own.clone());
            if user.is_default || !owners.defaults.contains_key(&user.name) {
                owners.defaults.insert(user.name.clone(), account);
            }
        }
        let is_empty = associations.accounts.is_empty() && associations.users.is_empty();
        if !is_empty && !owners.by_user.contains_key(&(0, ROOT.to_string())) {
            owners.add_user(ROOT, 0, Association::default());
        }
        owners
    }

    /// All of them.
    pub fn all(&self) -> &[Owner] {
        &self.all
    }

    /// The place of a user in an account; of the default account if none is named. A user or an account that the site does not list
    /// gets one share.
    pub fn find(&mut self, user: &str, account: &str) -> usize {
        let account = match account.is_empty() {
            true => self.defaults.get(user).copied().unwrap_or(0),
            false => match self.by_account.get(account) {
                Some(&known) => known,
                None => self.add_account(account, 0, Association::default()),
            },
        };
        match self.by_user.get(&(account, user.to_string())) {
            Some(&known) => known,
            None => self.add_user(user, account, Association::default()),
        }
    }

    /// A user or account, and the accounts above it up to the root.
    pub fn upwards(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(from), |&at| self.all[at].parent)
    }

    /// The quality of service of the jobs of an owner that name none. Empty if it has none.
    pub fn default_qos(&self, owner: usize) -> &str {
        let mut named = self.upwards(owner).map(|at| self.all[at].own.default_qos.as_str());
        named.find(|name| !name.is_empty()).unwrap_or_default()
    }

    fn add_account(&mut self, name: &str, parent: usize, own: Association) -> usize {
        self.by_account.insert(name.to_string(), self.all.len());
        self.add(Owner { name: name.to_string(), is_user: false, parent: Some(parent), own })
    }

    fn add_user(&mut self, name: &str, account: usize, own: Association) -> usize {
        self.by_user.insert((account, name.to_string()), self.all.len());
        self.add(Owner { name: name.to_string(), is_user: true, parent: Some(account), own })
    }

    fn add(&mut self, owner: Owner) -> usize {
        self.all.push(owner);
        self.all.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_qos_is_that_of_the_nearest() {
        let script = "add qos low\nadd qos high\nadd account a DefaultQOS=low\nadd account b parent=a\n\
            add user x account=b\nadd user y account=b DefaultQOS=high\n";
        let associations = Associations::of_commands(script);
        let mut owners = Owners::new(&associations);
        let mut found = |user: &str, account: &str| {
            let owner = owners.find(user, account);
            owners.default_qos(owner).to_string()
        };
        assert_eq!([found("x", ""), found("y", ""), found("z", ""), found("z", "a")], ["low", "high", "", "low"]);
    }
}
