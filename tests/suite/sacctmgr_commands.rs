//! What `sacctmgr dump` writes after commands such as `add user ann account=physics Fairshare=2`. Tests say accounts so, in few words.

use std::fmt::Write;

/// An account or a user with what is above it, or a quality of service.
struct Entry {
    name: String,
    above: String,
    settings: Vec<String>,
}

/// The dump of a cluster after these commands of `sacctmgr -i`, in their order.
pub fn dump_of(cluster: &str, commands: &str) -> String {
    let [mut qos, mut accounts, mut users]: [Vec<Entry>; 3] = Default::default();
    qos.push(Entry { name: "normal".into(), above: String::new(), settings: Vec::new() });
    for line in commands.lines().filter(|line| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let entries = match words[1].to_ascii_lowercase().as_str() {
            "qos" => &mut qos,
            "account" => &mut accounts,
            "user" => &mut users,
            other => panic!("{line}: {other}"),
        };
        let (mut names, mut above, mut settings) = (Vec::new(), "root", Vec::new());
        for word in words[2..].iter().filter(|word| !["where", "set"].contains(word)) {
            match word.split_once('=') {
                None => names.extend(word.split(',')),
                Some((key, value)) => match key.to_ascii_lowercase().as_str() {
                    "name" => names.extend(value.split(',')),
                    "account" | "defaultaccount" | "parent" => above = value,
                    // A time has colons.
                    _ => settings.push(format!("{key}='{value}'")),
                },
            }
        }
        for name in names {
            let known =
                entries.iter_mut().find(|entry| entry.name == name && (words[0] == "modify" || entry.above.is_empty()));
            match known {
                Some(entry) => entry.settings.extend(settings.clone()),
                None => entries.push(Entry { name: name.into(), above: above.into(), settings: settings.clone() }),
            }
        }
    }
    let mut dump = String::new();
    let line = |dump: &mut String, kind: &str, entry: &Entry| {
        let settings: String = entry.settings.iter().map(|setting| format!(":{setting}")).collect();
        writeln!(dump, "{kind} - '{}'{settings}", entry.name).unwrap();
    };
    qos.iter().for_each(|entry| line(&mut dump, "QOS", entry));
    if accounts.is_empty() && users.is_empty() {
        return dump;
    }
    writeln!(dump, "Cluster - '{cluster}':Fairshare=1").unwrap();
    for (kind, entry) in accounts.iter().map(|one| ("Account", one)).chain(users.iter().map(|one| ("User", one))) {
        writeln!(dump, "Parent - '{}'", entry.above).unwrap();
        line(&mut dump, kind, entry);
    }
    dump
}
