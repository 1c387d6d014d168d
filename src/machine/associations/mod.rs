//! Who may use how much of a machine: qualities of service, accounts and users, with shares and limits.
//!
//! They come from a machine in TOML, from a script for `sacctmgr`, or from what `sacctmgr show` prints.

mod dump;
mod limits;
mod script;
mod setting;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub(super) use limits::{LIMITS, limit_keys};
pub use limits::{LimitOwner, Limits, Tres};
pub(super) use setting::factor;

use super::conf::{ConfError, FileLine, Ignored};
use crate::settings_file::{MOST_OF_ASSOCIATIONS, read_text};
use crate::similar::did_you_mean;
use crate::text::shortened;

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
    /// What its jobs may use.
    pub limits: Limits,
}

impl QualityOfService {
    /// One without limits.
    pub fn new(name: &str) -> QualityOfService {
        let limits = Limits::default();
        QualityOfService { name: name.to_string(), priority: 0, usage_factor: 1.0, deny_on_limit: false, limits }
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

    /// Whether there is any limit.
    pub fn has_limits(&self) -> bool {
        let of_owners = self.accounts.iter().map(|one| &one.own).chain(self.users.iter().map(|one| &one.own));
        let mut all = self.qos.iter().map(|qos| &qos.limits).chain(of_owners.map(|own| &own.limits));
        all.any(|limits| *limits != Limits::default())
    }

    /// Adds what a file says: a script for `sacctmgr`, or what `sacctmgr show assoc -P` or `show qos -P` prints. The content decides
    /// which. Returns what has no effect.
    ///
    /// # Errors
    /// If the file cannot be read, or as [`Associations::add_text`]. The message names the file and the line.
    pub fn add_file(&mut self, path: &Path) -> Result<Vec<Ignored>, String> {
        let text = read_text(path, MOST_OF_ASSOCIATIONS)?;
        self.add_text(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Adds what a text says, as [`Associations::add_file`].
    ///
    /// # Errors
    /// If the text is neither a script nor a dump, a value is not valid, or names an account that does not exist.
    pub fn add_text(&mut self, text: &str) -> Result<Vec<Ignored>, ConfError> {
        let first = text.lines().find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
        match first {
            Some(header) if header.contains('|') => dump::add(self, text),
            Some(_) => script::add(self, text),
            None => Err(FileLine::of_line(1).wrong(
                "nothing to read: give a script for sacctmgr, or the output of 'sacctmgr show assoc -P' or 'sacctmgr show qos -P'",
            )),
        }
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
mod tests;
