//! Who may use how much of a machine: qualities of service, accounts and users, with shares and limits.
//!
//! They come from a machine in TOML, from what `sacctmgr dump` writes, or from what `sacctmgr show` prints.

mod dump;
mod limits;
mod scaled;
mod setting;
mod shown;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use limits::{LIMITS, limit_keys};
pub use limits::{LimitOwner, Limits};
pub use scaled::{LimitName, ScaledLimits};
pub(super) use setting::factor;

use super::file_line::{ConfError, FileLine, Ignored};
use super::preempt_mode::PreemptMode;
use crate::similar::did_you_mean;
use crate::text::shortened;
use crate::time::Seconds;

/// The account above all others. It need not be listed.
pub const ROOT: &str = "root";

/// A quality of service.
#[derive(Clone, Debug, PartialEq)]
pub struct QualityOfService {
    /// Its name, which no other one has.
    pub name: String,
    /// A part of the priority of jobs.
    pub priority: u32,
    /// How much the use of its jobs counts for the fair share of their users.
    pub usage_factor: f64,
    /// Whether jobs that can never keep its limits are refused when they are submitted.
    pub deny_on_limit: bool,
    /// The names of those whose running jobs make way for its jobs (Slurm's Preempt).
    pub preempts: Vec<String>,
    /// How its running jobs make way. None: as all others.
    pub preempt_mode: Option<PreemptMode>,
    /// How long its jobs run before they may be preempted. None: as all others.
    pub preempt_exempt: Option<Seconds>,
    /// How long its jobs still run when they have to make way.
    pub grace: Seconds,
    /// What its jobs may use.
    pub limits: Limits,
}

impl QualityOfService {
    /// One without limits.
    pub fn new(name: &str) -> QualityOfService {
        QualityOfService {
            name: name.to_string(),
            priority: 0,
            usage_factor: 1.0,
            deny_on_limit: false,
            preempts: Vec::new(),
            preempt_mode: None,
            preempt_exempt: None,
            grace: 0,
            limits: Limits::default(),
        }
    }
}

/// What an account or a user has.
#[derive(Clone, Debug, PartialEq)]
pub struct Association {
    /// The shares among those with the same account above. None: the fair share of that account.
    pub shares: Option<u32>,
    /// The qualities of service that may be used. Empty: not said.
    pub qos: Vec<String>,
    /// That of jobs that name none. Empty: not said.
    pub default_qos: String,
    /// What may be used.
    pub limits: Limits,
}

/// One share.
impl Default for Association {
    fn default() -> Association {
        Association { shares: Some(1), qos: Vec::new(), default_qos: String::new(), limits: Limits::default() }
    }
}

/// An account.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// Its name, which no other one has.
    pub name: String,
    /// The account above it.
    pub parent: String,
    /// What it has.
    pub own: Association,
}

impl Account {
    /// One directly below the root.
    pub fn new(name: &str) -> Account {
        Account { name: name.to_string(), parent: ROOT.to_string(), own: Association::default() }
    }
}

/// A user in an account. One user may be in several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct User {
    /// The name of the user.
    pub name: String,
    /// The account. No other entry has the same user and the same account.
    pub account: String,
    /// Whether jobs that name no account are charged to this one.
    pub is_default: bool,
    /// What the user has in this account.
    pub own: Association,
}

/// The qualities of service, accounts and users of a site, in the order of their files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Associations {
    /// The qualities of service.
    pub qos: Vec<QualityOfService>,
    /// The accounts, without the root unless it is listed.
    pub accounts: Vec<Account>,
    /// The users.
    pub users: Vec<User>,
}

impl Associations {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.qos.is_empty() && self.accounts.is_empty() && self.users.is_empty()
    }

    /// Whether a quality of service says whose running jobs make way for its jobs.
    pub fn has_preemption(&self) -> bool {
        self.qos.iter().any(|qos| !qos.preempts.is_empty())
    }

    /// Whether there is any limit.
    pub fn has_limits(&self) -> bool {
        let of_owners = self.accounts.iter().map(|one| &one.own).chain(self.users.iter().map(|one| &one.own));
        let mut all = self.qos.iter().map(|qos| &qos.limits).chain(of_owners.map(|own| &own.limits));
        all.any(|limits| *limits != Limits::default())
    }

    /// Reads a text that says nothing of other clusters: what `sacctmgr dump` writes, or `sacctmgr show assoc -P` or `show qos -P`
    /// prints. Also returns what has no effect.
    ///
    /// # Errors
    /// If the text is none of these, is of several clusters, a value is not valid, or it names an account that does not exist.
    pub fn parse(text: &str) -> Result<(Associations, Vec<Ignored>), ConfError> {
        let (mut associations, mut chosen) = (Associations::default(), ChosenCluster::default());
        let ignored = associations.add_text(text, &mut chosen)?;
        match chosen.seen.len() {
            0 | 1 => Ok((associations, ignored)),
            _ => Err(FileLine::of_line(1).wrong(format!("of several clusters: {}", chosen.names()))),
        }
    }

    /// Adds what a text says of the chosen cluster. The content decides what it is. Returns what has no effect.
    pub(super) fn add_text(&mut self, text: &str, chosen: &mut ChosenCluster) -> Result<Vec<Ignored>, ConfError> {
        let lines = || (1..).zip(text.lines().map(str::trim));
        match lines().find(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            Some((_, header)) if header.contains('|') => shown::add(self, text, chosen),
            Some((line, first)) if is_of_script(first) => Err(FileLine::of_line(line).wrong(format!(
                "'{}' is a command for sacctmgr: such scripts are not read, because they do not say what was there before; {}",
                shortened(first),
                dump::EXPORT
            ))),
            Some(_) => dump::add(self, text, chosen),
            None => Err(FileLine::of_line(1).wrong(format!("nothing to read: {}", dump::EXPORT))),
        }
    }

    /// Adds a quality of service. Two files may have the same one.
    fn add_qos(&mut self, qos: QualityOfService) -> Result<(), String> {
        match self.qos.iter().find(|other| other.name == qos.name) {
            None => self.qos.push(qos),
            Some(same) if *same == qos => {}
            Some(_) => return Err(format!("the QOS '{}' is there twice", shortened(&qos.name))),
        }
        Ok(())
    }

    /// The qualities of service that accounts, users and others name, without the one that Slurm itself makes, and of which nothing else is
    /// known.
    pub fn unknown_qos(&self) -> BTreeSet<&str> {
        let own = self.accounts.iter().map(|one| &one.own).chain(self.users.iter().map(|one| &one.own));
        let named = own.flat_map(|own| own.qos.iter().chain([&own.default_qos]));
        let named = named.chain(self.qos.iter().flat_map(|qos| &qos.preempts)).map(String::as_str);
        let is_known = |name: &str| name.is_empty() || name == "normal" || self.qos.iter().any(|qos| qos.name == name);
        named.filter(|name| !is_known(name)).collect()
    }

    /// Checks that accounts and users have an account above them, that nothing is there twice, and that no account is above itself.
    /// The places are those of accounts and users, in their order.
    pub(super) fn check(&self, of_accounts: &[FileLine], of_users: &[FileLine]) -> Result<(), ConfError> {
        let parents: BTreeMap<&str, &str> = self.accounts.iter().map(|one| (&*one.name, &*one.parent)).collect();
        let unknown = |name: &str| {
            let meant = did_you_mean(name, self.accounts.iter().map(|account| account.name.as_str()));
            format!("there is no account '{}'{meant}", shortened(name))
        };
        let is_known = |name: &str| name == ROOT || parents.contains_key(name);
        let mut seen = BTreeSet::new();
        for (account, place) in self.accounts.iter().zip(of_accounts) {
            let wrong = |why: String| place.wrong(format!("the account '{}': {why}", shortened(&account.name)));
            if !seen.insert(account.name.as_str()) {
                return Err(wrong("another one has this name".to_string()));
            }
            if !is_known(&account.parent) {
                return Err(wrong(unknown(&account.parent)));
            }
            if account.name != ROOT && is_above_itself(&parents, &account.name) {
                return Err(wrong("it is below itself".to_string()));
            }
        }
        let mut seen = BTreeSet::new();
        for (user, place) in self.users.iter().zip(of_users) {
            let wrong = |why: String| place.wrong(format!("the user '{}': {why}", shortened(&user.name)));
            if !seen.insert((user.name.as_str(), user.account.as_str())) {
                return Err(wrong(format!("is there twice in the account '{}'", shortened(&user.account))));
            }
            if !is_known(&user.account) {
                return Err(wrong(unknown(&user.account)));
            }
        }
        Ok(())
    }
}

/// Whether a line is a command such as `sacctmgr -i add account name=a`.
fn is_of_script(line: &str) -> bool {
    let words = line.split_whitespace().filter(|word| !word.starts_with('-') && !word.ends_with("sacctmgr"));
    let actions = ["add", "create", "modify", "update", "delete", "remove", "list", "show"];
    words.take(1).any(|word| actions.iter().any(|action| action.eq_ignore_ascii_case(word)))
}

/// Of which cluster accounts and users are read.
#[derive(Debug, Default)]
pub(super) struct ChosenCluster {
    /// None: of the first that there is.
    pub cluster: Option<String>,
    /// The names of all clusters that there are.
    pub seen: BTreeSet<String>,
}

impl ChosenCluster {
    /// Whether rows of this cluster are read. A row without a cluster is of all.
    fn has(&mut self, cluster: &str) -> bool {
        if cluster.is_empty() {
            return true;
        }
        // As in Slurm, names of clusters have no capitals.
        let cluster = cluster.to_ascii_lowercase();
        self.seen.insert(cluster.clone());
        *self.cluster.get_or_insert_with(|| cluster.clone()) == cluster
    }

    /// The names of all clusters.
    pub fn names(&self) -> String {
        self.seen.iter().map(|name| shortened(name).into_owned()).collect::<Vec<_>>().join(", ")
    }
}

/// Whether the way up from an account never ends.
fn is_above_itself(parents: &BTreeMap<&str, &str>, name: &str) -> bool {
    // No site has accounts as deep as this.
    const DEEPEST: usize = 1000;
    let mut at = name;
    for _ in 0..DEEPEST {
        match parents.get(at) {
            Some(parent) if at != ROOT => at = parent,
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
#[path = "../../../../tests/suite/sacctmgr_commands.rs"]
mod sacctmgr_commands;

#[cfg(test)]
impl Associations {
    /// Those of these commands of sacctmgr.
    pub(crate) fn of_commands(commands: &str) -> Associations {
        let (associations, ignored) = Associations::parse(&sacctmgr_commands::dump_of("test", commands)).unwrap();
        assert!(ignored.is_empty(), "{ignored:?}");
        associations
    }
}

#[cfg(test)]
mod tests;
