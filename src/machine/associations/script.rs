//! Scripts for `sacctmgr`: lines such as `add user name=u1 account=a1 fairshare=2`.

use super::super::conf::{ConfError, FileLine, Ignored};
use super::dump::listed;
use super::setting::{
    ACCOUNT, AccountSetting, CLUSTER, DEFAULT_ACCOUNT, HARMLESS, NAME, set_account, set_association, set_qos,
};
use super::{Account, Associations, QualityOfService, ROOT, User};
use crate::text::shortened;

/// Adds what the lines of a script do, one after another.
pub(super) fn add(associations: &mut Associations, text: &str) -> Result<Vec<Ignored>, ConfError> {
    // Slurm itself makes this one.
    if !associations.qos.iter().any(|qos| qos.name == "normal") {
        associations.qos.insert(0, QualityOfService::new("normal"));
    }
    let mut ignored = Vec::new();
    let mut last = FileLine::of_line(1);
    for (line, text) in (1..).zip(text.lines()) {
        let place = FileLine::of_line(line);
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let words = words(text).ok_or_else(|| place.wrong("a quote is not closed"))?;
        let mut script = Script { associations, ignored: &mut ignored, place: &place };
        script.run(&words).map_err(|why| place.wrong(why))?;
        last = place;
    }
    let (accounts, users) = (associations.accounts.len(), associations.users.len());
    associations.check(&vec![last.clone(); accounts], &vec![last; users])?;
    Ok(ignored)
}

/// The words of a line. Quotes may be around a part of a word.
fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in text.chars() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, blank) if blank.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// What a line is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entity {
    Qos,
    Account,
    User,
    Cluster,
}

impl Entity {
    fn of(word: &str) -> Option<Entity> {
        match word.to_ascii_lowercase().trim_end_matches('s') {
            "qo" => Some(Entity::Qos),
            "account" | "acct" => Some(Entity::Account),
            "user" => Some(Entity::User),
            "cluster" => Some(Entity::Cluster),
            _ => None,
        }
    }
}

struct Script<'a> {
    associations: &'a mut Associations,
    ignored: &'a mut Vec<Ignored>,
    place: &'a FileLine,
}

impl Script<'_> {
    fn run(&mut self, words: &[String]) -> Result<(), String> {
        // `sacctmgr -i add ...` is a line of a shell script.
        let words = words.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
        let words: Vec<&str> = words.skip_while(|word| word.ends_with("sacctmgr")).collect();
        let [action, entity, rest @ ..] = &words[..] else {
            return Err(unknown(&words.join(" ")));
        };
        let settings: Vec<AccountSetting> = rest.iter().map(|word| AccountSetting::of(word)).collect();
        let action = action.to_ascii_lowercase();
        if matches!(action.as_str(), "list" | "show" | "dump" | "quit" | "exit" | "verify") {
            self.ignored.push(Ignored::other(self.place, action));
            return Ok(());
        }
        let Some(entity) = Entity::of(entity) else {
            self.ignored.push(Ignored::of_machine(self.place, format!("{action} {}", shortened(entity))));
            return Ok(());
        };
        match action.as_str() {
            "add" | "create" => self.add(entity, &settings),
            "modify" | "update" => self.modify(entity, &settings),
            "remove" | "delete" => self.remove(entity, &settings),
            _ => Err(unknown(&words.join(" "))),
        }
    }

    fn add(&mut self, entity: Entity, settings: &[AccountSetting]) -> Result<(), String> {
        let names = values(settings, &NAME);
        if names.is_empty() {
            return Err("no name: write name=...".to_string());
        }
        let before = self.names(entity).len();
        for name in &names {
            match entity {
                Entity::User => self.add_user(name, settings)?,
                Entity::Cluster => self.add_root(),
                // It is there already, and sacctmgr changes nothing.
                _ if self.is_known(entity, name) => {}
                Entity::Qos => self.associations.qos.push(QualityOfService::new(name)),
                Entity::Account => self.associations.accounts.push(Account::new(name)),
            }
        }
        if self.names(entity).len() == before && entity != Entity::Cluster {
            let what = format!("{}, which is there already", shortened(&names.join(",")));
            self.ignored.push(Ignored::other(self.place, what));
        }
        self.set(entity, settings, &|at, _, _| at >= before)
    }

    fn add_user(&mut self, name: &str, settings: &[AccountSetting]) -> Result<(), String> {
        let (accounts, defaults) = (values(settings, &ACCOUNT), values(settings, &DEFAULT_ACCOUNT));
        let all = if accounts.is_empty() { &defaults } else { &accounts };
        if all.is_empty() {
            return Err(format!("the user '{}' has no account: write account=...", shortened(name)));
        }
        for account in all {
            self.require_account(account)?;
            let of_user = || self.associations.users.iter().filter(|user| user.name == *name);
            if of_user().any(|user| user.account == *account) {
                continue;
            }
            let is_default = if defaults.is_empty() { of_user().next().is_none() } else { defaults.contains(account) };
            let (name, account) = (name.to_string(), account.clone());
            self.associations.users.push(User { name, account, is_default, ..User::default() });
        }
        Ok(())
    }

    /// The cluster's own settings are those of the root account.
    fn add_root(&mut self) {
        if !self.is_known(Entity::Account, ROOT) {
            self.associations.accounts.insert(0, Account::new(ROOT));
        }
    }

    fn modify(&mut self, entity: Entity, settings: &[AccountSetting]) -> Result<(), String> {
        let at = settings.iter().position(|setting| setting.key == "name" && setting.value.eq_ignore_ascii_case("set"));
        let (conditions, settings) = settings.split_at(at.ok_or("nothing follows: write set key=value")?);
        let (_, settings) = settings.split_first().expect("it begins with set");
        let is_known = |setting: &&AccountSetting| setting.is(&NAME) || setting.is(&ACCOUNT) || setting.is(&CLUSTER);
        if let Some(other) = conditions.iter().find(|setting| !is_known(setting)) {
            let what = format!("a change where {}={}", shortened(other.key), shortened(other.value));
            self.ignored.push(Ignored::of_machine(self.place, what));
            return Ok(());
        }
        // `modify qos set normal priority=0` names what it changes after `set`.
        let mut names = values(conditions, &NAME);
        names.retain(|name| name != "where");
        names.extend(settings.iter().filter(|setting| setting.is(&["name"])).map(|setting| setting.value.to_string()));
        let accounts = if entity == Entity::User { values(conditions, &ACCOUNT) } else { Vec::new() };
        let is_meant = |_: usize, name: &str, account: &str| {
            let is_in = |list: &[String], one: &str| list.is_empty() || list.iter().any(|other| other == one);
            is_in(&names, name) && is_in(&accounts, account)
        };
        if entity == Entity::Cluster {
            self.add_root();
        }
        for name in &names {
            if self.is_known(entity, name) {
                continue;
            }
            let what = format!("{}, which does not exist", shortened(name));
            self.ignored.push(Ignored::of_machine(self.place, what));
        }
        self.set(entity, settings, &is_meant)
    }

    fn remove(&mut self, entity: Entity, settings: &[AccountSetting]) -> Result<(), String> {
        let mut names = values(settings, &NAME);
        names.retain(|name| name != "where");
        let accounts = if entity == Entity::User { values(settings, &ACCOUNT) } else { Vec::new() };
        if names.is_empty() {
            return Err("no name: write where name=...".to_string());
        }
        let is_meant = |name: &String| names.contains(name);
        match entity {
            Entity::Qos => self.associations.qos.retain(|qos| !is_meant(&qos.name)),
            Entity::Account => {
                self.associations.accounts.retain(|account| !is_meant(&account.name));
                self.associations.users.retain(|user| !is_meant(&user.account));
            }
            Entity::User => self
                .associations
                .users
                .retain(|user| !is_meant(&user.name) || !(accounts.is_empty() || accounts.contains(&user.account))),
            Entity::Cluster => {}
        }
        Ok(())
    }

    fn names(&self, entity: Entity) -> Vec<&str> {
        let Associations { qos, accounts, users } = &*self.associations;
        match entity {
            Entity::Qos => qos.iter().map(|qos| &*qos.name).collect(),
            Entity::Account => accounts.iter().map(|account| &*account.name).collect(),
            Entity::User => users.iter().map(|user| &*user.name).collect(),
            Entity::Cluster => Vec::new(),
        }
    }

    fn is_known(&self, entity: Entity, name: &str) -> bool {
        entity == Entity::Cluster || self.names(entity).contains(&name)
    }

    fn require_account(&self, name: &str) -> Result<(), String> {
        match name == ROOT || self.is_known(Entity::Account, name) {
            true => Ok(()),
            false => Err(format!("there is no account '{0}': write 'add account name={0}' before", shortened(name))),
        }
    }

    /// Applies settings to all entries that are meant, which are chosen by their place, their name and their account.
    fn set(
        &mut self,
        entity: Entity,
        settings: &[AccountSetting],
        is_meant: &dyn Fn(usize, &str, &str) -> bool,
    ) -> Result<(), String> {
        let selects = |setting: &&AccountSetting| {
            setting.is(&NAME) || (entity == Entity::User && (setting.is(&ACCOUNT) || setting.is(&DEFAULT_ACCOUNT)))
        };
        for setting in settings.iter().filter(|setting| !selects(setting)) {
            if let Some(parent) = Some(setting.value).filter(|_| setting.is(&["parent"]) && entity == Entity::Account) {
                self.require_account(parent)?;
            }
            let wrong = |why: String| format!("{}={}: {why}", shortened(setting.key), shortened(setting.value));
            let Associations { qos, accounts, users } = &mut *self.associations;
            let unused = match entity {
                Entity::Qos => set_all(qos, |at, one| is_meant(at, &one.name, ""), |one| set_qos(one, setting)),
                Entity::Account => {
                    set_all(accounts, |at, one| is_meant(at, &one.name, ""), |one| set_account(one, setting))
                }
                Entity::Cluster => set_all(accounts, |_, one| one.name == ROOT, |one| set_account(one, setting)),
                Entity::User => set_all(
                    users,
                    |at, one| is_meant(at, &one.name, &one.account),
                    |one| set_association(&mut one.own, setting),
                ),
            };
            let harmless = setting.is(&HARMLESS);
            let ignored = |name: String| Ignored { place: self.place.clone(), name, matters: !harmless };
            self.ignored.extend(unused.map_err(wrong)?.into_iter().map(ignored));
        }
        Ok(())
    }
}

/// Sets something of all entries that are meant. Returns what has no effect.
fn set_all<T>(
    all: &mut [T],
    is_meant: impl Fn(usize, &T) -> bool,
    set: impl Fn(&mut T) -> Result<Vec<String>, String>,
) -> Result<Vec<String>, String> {
    let mut unused = Vec::new();
    for (at, one) in all.iter_mut().enumerate() {
        if is_meant(at, one) {
            unused = set(one)?;
        }
    }
    Ok(unused)
}

fn unknown(text: &str) -> String {
    format!("'{}' is no line for sacctmgr such as 'add user name=u1 account=a1 fairshare=2'", shortened(text))
}

/// All values of keys, which are lists of names.
fn values(settings: &[AccountSetting], names: &[&str]) -> Vec<String> {
    settings.iter().filter(|setting| setting.is(names)).flat_map(|setting| listed(setting.value)).collect()
}
