//! Who jobs belong to: users in accounts, which are below other accounts up to the root. (Slurm calls each of them an association.)

use rustc_hash::FxHashMap;

use crate::machine::associations::{Associations, Limits, ROOT};

/// A user in an account, or an account.
#[derive(Clone, Debug)]
pub struct Owner {
    /// Its name; for a user that of the user.
    pub name: String,
    /// Whether it is a user.
    pub is_user: bool,
    /// The account above it, as a place in [`Owners::all`]. None: the root.
    pub parent: Option<usize>,
    /// Its shares among those with the same parent. None: it has the fair share of its parent.
    pub shares: Option<u32>,
    /// What it may use.
    pub limits: Limits,
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
        let limits = Limits::default();
        let root = Owner { name: ROOT.into(), is_user: false, parent: None, shares: Some(1), limits };
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
                    owners.all[0].limits = account.limits.clone();
                    return false;
                }
                let Some(&parent) = owners.by_account.get(&account.parent) else { return true };
                owners.add_account(&account.name, parent, account.shares, account.limits.clone());
                false
            });
            if left.len() == before {
                break;
            }
        }
        for user in &associations.users {
            let account = owners.by_account.get(&user.account).copied().unwrap_or(0);
            owners.add_user(&user.name, account, user.shares, user.limits.clone());
            if user.is_default || !owners.defaults.contains_key(&user.name) {
                owners.defaults.insert(user.name.clone(), account);
            }
        }
        let is_empty = associations.accounts.is_empty() && associations.users.is_empty();
        if !is_empty && !owners.by_user.contains_key(&(0, ROOT.to_string())) {
            owners.add_user(ROOT, 0, Some(1), Limits::default());
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
                None => self.add_account(account, 0, Some(1), Limits::default()),
            },
        };
        match self.by_user.get(&(account, user.to_string())) {
            Some(&known) => known,
            None => self.add_user(user, account, Some(1), Limits::default()),
        }
    }

    /// A user or account, and the accounts above it up to the root.
    pub fn upwards(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(from), |&at| self.all[at].parent)
    }

    fn add_account(&mut self, name: &str, parent: usize, shares: Option<u32>, limits: Limits) -> usize {
        self.by_account.insert(name.to_string(), self.all.len());
        self.add(Owner { name: name.to_string(), is_user: false, parent: Some(parent), shares, limits })
    }

    fn add_user(&mut self, name: &str, account: usize, shares: Option<u32>, limits: Limits) -> usize {
        self.by_user.insert((account, name.to_string()), self.all.len());
        self.add(Owner { name: name.to_string(), is_user: true, parent: Some(account), shares, limits })
    }

    fn add(&mut self, owner: Owner) -> usize {
        self.all.push(owner);
        self.all.len() - 1
    }
}
