//! What `sacctmgr dump CLUSTER file=FILE` writes: lines such as `User - 'ann':DefaultAccount='optics':Fairshare=2`. Accounts and
//! users are below the `Parent` before them. Newer versions of Slurm write lines of QOS too.

use super::super::file_line::{ConfError, FileLine, Ignored};
use super::setting::{AccountSetting, HARMLESS, says_nothing, set_association, set_qos};
use super::{Account, Association, Associations, ChosenCluster, QualityOfService, ROOT, User};
use crate::text::shortened;

/// Adds the lines of a dump. Those of clusters that are not chosen are left out.
pub(super) fn add(
    associations: &mut Associations,
    text: &str,
    chosen: &mut ChosenCluster,
) -> Result<Vec<Ignored>, ConfError> {
    let mut reader = DumpReader { associations, cluster: None, parent: None, ignored: Vec::new() };
    let mut last = FileLine::of_line(1);
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        last = FileLine::of_line(line);
        reader.add(&last, text, chosen).map_err(|why| last.wrong(why))?;
    }
    let ignored = reader.ignored;
    let (accounts, users) = (associations.accounts.len(), associations.users.len());
    associations.check(&vec![last.clone(); accounts], &vec![last; users])?;
    Ok(ignored)
}

/// A line: what it is about, its name, and its settings.
struct DumpLine<'a> {
    kind: &'a str,
    name: &'a str,
    settings: Vec<AccountSetting<'a>>,
}

impl<'a> DumpLine<'a> {
    fn of(text: &'a str) -> Result<DumpLine<'a>, String> {
        let unknown = || {
            let text = shortened(text);
            format!("'{text}' is no line of a dump such as User - 'ann':DefaultAccount='physics':Fairshare=2; {EXPORT}")
        };
        let (kind, rest) = text.split_once('-').ok_or_else(unknown)?;
        let kind = kind.trim();
        if !["QOS", "Cluster", "Parent", "Account", "User"].iter().any(|known| known.eq_ignore_ascii_case(kind)) {
            return Err(unknown());
        }
        let (name, mut rest) = value(rest.trim_start())?;
        let mut settings = Vec::new();
        while let Some((key, after)) = rest.strip_prefix(':').and_then(|pair| pair.split_once('=')) {
            let (value, after) = value(after)?;
            settings.push(AccountSetting { key: key.trim(), value });
            rest = after;
        }
        match name.is_empty() {
            true => Err(format!("{kind} - without a name")),
            false if !rest.is_empty() && !rest.starts_with('#') => {
                Err(format!("'{}' is not :key=value", shortened(rest)))
            }
            false => Ok(DumpLine { kind, name, settings }),
        }
    }

    fn is(&self, kind: &str) -> bool {
        self.kind.eq_ignore_ascii_case(kind)
    }

    fn setting(&self, name: &str) -> Option<&'a str> {
        self.settings.iter().find(|setting| setting.is(&[name])).map(|setting| setting.value)
    }
}

/// How to export what is read here.
pub(super) const EXPORT: &str = "export the accounts with 'sacctmgr dump CLUSTER file=site.dump' and the QOS with 'sacctmgr -P show qos >site.qos', and give both: site.dump,site.qos";

/// The value that a text begins with, and what follows it.
fn value(text: &str) -> Result<(&str, &str), String> {
    if let Some(quote) = text.chars().next().filter(|first| ['\'', '"'].contains(first)) {
        // Slurm writes a description as it is, also with a quote in it: the last one is before a colon or at the end.
        let inner = &text[1..];
        let ends = |after: &str| after.is_empty() || after.starts_with([':', '#']);
        let mut quotes = inner.match_indices(quote).map(|(at, _)| (&inner[..at], inner[at + 1..].trim_start()));
        return quotes.find(|(_, after)| ends(after)).ok_or_else(|| "a quote is not closed".to_string());
    }
    // A type of a device has a colon: gres/NAME:v100=4.
    let is_in_item = |before: &str| {
        let item = before.rsplit(',').next().unwrap_or(before);
        item.contains('/') && !item.contains('=')
    };
    let end = text.match_indices([':', '#']).map(|(at, _)| at).find(|at| !is_in_item(&text[..*at]));
    let (value, after) = text.split_at(end.unwrap_or(text.len()));
    Ok((value.trim(), after))
}

struct DumpReader<'a> {
    associations: &'a mut Associations,
    /// Whether the lines are those of the cluster that is read. None before the first cluster.
    cluster: Option<bool>,
    /// The account above the next lines.
    parent: Option<String>,
    ignored: Vec<Ignored>,
}

impl DumpReader<'_> {
    fn add(&mut self, place: &FileLine, text: &str, chosen: &mut ChosenCluster) -> Result<(), String> {
        let line = DumpLine::of(text)?;
        if line.is("QOS") {
            let mut qos = QualityOfService::new(line.name);
            self.set(place, &line, |setting| set_qos(&mut qos, setting))?;
            return self.associations.add_qos(qos);
        }
        if line.is("Cluster") {
            let is_chosen = chosen.has(line.name);
            (self.cluster, self.parent) = (Some(is_chosen), None);
            if is_chosen {
                let mut root = Account::new(ROOT);
                self.set(place, &line, |setting| set_association(&mut root.own, setting))?;
                self.associations.accounts.push(root);
            }
            return Ok(());
        }
        match self.cluster {
            None => return Err(format!("{} before the first line 'Cluster - NAME'", line.kind)),
            Some(false) => return Ok(()),
            Some(true) => {}
        }
        if line.is("Parent") {
            let is_known = self.associations.accounts.iter().any(|account| account.name == line.name);
            self.parent = Some(line.name.to_string()).filter(|_| is_known);
            let name = shortened(line.name);
            return if is_known { Ok(()) } else { Err(format!("there is no line 'Account - '{name}'' before")) };
        }
        let parent = self.parent.clone().ok_or_else(|| format!("{} before a line 'Parent - NAME'", line.kind))?;
        let (mut own, name) = (Association::default(), line.name.to_string());
        if let Some(partition) = line.setting("Partition") {
            let what = format!("the line of {} in the partition {}", shortened(&name), shortened(partition));
            self.ignored.push(Ignored::of_machine(place, what));
            return Ok(());
        }
        self.set(place, &line, |setting| set_association(&mut own, setting))?;
        self.resolve_qos(&mut own.qos, &parent);
        if line.is("Account") {
            self.associations.accounts.push(Account { name, parent, own });
        } else {
            let is_first = || self.associations.users.iter().all(|user| user.name != name);
            let is_default = line.setting("DefaultAccount").map_or_else(is_first, |account| account == parent);
            self.associations.users.push(User { name, account: parent, is_default, own });
        }
        Ok(())
    }

    /// A list such as `+lo,-hi` changes that of the account above, which may itself have that of another one.
    fn resolve_qos(&self, qos: &mut Vec<String>, parent: &str) {
        if !qos.iter().any(|name| name.starts_with(['+', '-'])) {
            return;
        }
        let account = |name: &str| self.associations.accounts.iter().find(|account| account.name == name);
        let mut above = account(parent);
        while let Some(next) = above.filter(|account| account.own.qos.is_empty() && account.name != ROOT) {
            above = account(&next.parent);
        }
        let mut all = above.map_or(Vec::new(), |account| account.own.qos.clone());
        for change in std::mem::take(qos) {
            let name = change.trim_start_matches(['+', '-']);
            all.retain(|known| known != name);
            if !change.starts_with('-') {
                all.push(name.to_string());
            }
        }
        *qos = all;
    }

    /// Makes all settings of a line, and notes those that have no effect.
    fn set(
        &mut self,
        place: &FileLine,
        line: &DumpLine,
        mut set: impl FnMut(&AccountSetting) -> Result<Vec<String>, String>,
    ) -> Result<(), String> {
        for setting in line.settings.iter().filter(|setting| !setting.value.is_empty()) {
            if setting.is(&["DefaultAccount"]) {
                continue;
            }
            let wrong = |why: String| format!("{}={}: {why}", shortened(setting.key), shortened(setting.value));
            let unused = set(setting).map_err(wrong)?;
            let matters = !setting.is(&HARMLESS);
            if matters && unused.len() == 1 && says_nothing(setting.value) {
                continue;
            }
            self.ignored.extend(unused.into_iter().map(|name| Ignored { place: place.clone(), name, matters }));
        }
        Ok(())
    }
}
