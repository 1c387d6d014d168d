//! The shares of users or groups: read from a file when the spec is read, so that the spec of a run names the shares
//! themselves and not a file that may change.

use std::collections::BTreeMap;
use std::path::Path;

use crate::settings_file;

/// The canonical text of shares: `17:5;18:1`, in order of the numbers. `text` is such a list, or the name of a file with
/// lines such as `17 5`.
pub(super) fn canonical(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Ok(String::new());
    }
    let shares = match parse(text) {
        Some(Ok(shares)) => shares,
        Some(Err(why)) => return Err(why),
        None => of_file(text)?,
    };
    if shares.values().all(|&share| share == 0.0) {
        return Err(format!("'{text}' gives nobody a share"));
    }
    let list: Vec<_> = shares.iter().map(|(number, share)| format!("{number}:{share}")).collect();
    Ok(list.join(";"))
}

/// The shares of a list such as `17:5;18:1`. None if the text is not such a list.
fn parse(text: &str) -> Option<Result<BTreeMap<i64, f64>, String>> {
    let mut shares = BTreeMap::new();
    for piece in text.split(';') {
        let (number, share) = piece.split_once(':')?;
        let (number, share) = (number.parse().ok()?, share.parse().ok()?);
        if let Err(why) = add(&mut shares, number, share) {
            return Some(Err(why));
        }
    }
    Some(Ok(shares))
}

fn add(shares: &mut BTreeMap<i64, f64>, number: i64, share: f64) -> Result<(), String> {
    if !share.is_finite() || share < 0.0 {
        return Err(format!("the share {share} of {number} is not a number of at least 0"));
    }
    match shares.insert(number, share) {
        None => Ok(()),
        Some(_) => Err(format!("{number} has two shares")),
    }
}

fn of_file(name: &str) -> Result<BTreeMap<i64, f64>, String> {
    let text = settings_file::read_text(Path::new(name), settings_file::MOST_OF_SHARES)?;
    let mut shares = BTreeMap::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or("").trim();
        if text.is_empty() {
            continue;
        }
        let wrong = |why: String| format!("{name}, line {line}: {why}");
        let mut words = text.split([' ', '\t', ',', ':']).filter(|word| !word.is_empty());
        let pair = (words.next().map(str::parse::<i64>), words.next().map(str::parse::<f64>), words.next());
        let (Some(Ok(number)), Some(Ok(share)), None) = pair else {
            return Err(wrong(format!("'{text}' is not the number of a user or group and its share, such as '17 5'")));
        };
        add(&mut shares, number, share).map_err(wrong)?;
    }
    match shares.is_empty() {
        true => Err(format!("there is no share in '{name}'; write one per line, such as '17 5'")),
        false => Ok(shares),
    }
}

/// The shares of a canonical text.
pub(super) fn of_canonical(text: &str) -> BTreeMap<i64, f64> {
    match parse(text) {
        Some(Ok(shares)) => shares,
        _ => BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn shares_are_a_list_or_a_file() {
        assert_eq!(canonical("").unwrap(), "");
        assert_eq!(canonical("18:1;17:5.0").unwrap(), "17:5;18:1");
        assert_eq!(of_canonical("17:5;18:0.5"), BTreeMap::from([(17, 5.0), (18, 0.5)]));
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "# users\n18 1\n\n17, 5 # the largest group\n-1\t2").unwrap();
        assert_eq!(canonical(file.path().to_str().unwrap()).unwrap(), "-1:2;17:5;18:1");
    }

    #[test]
    fn wrong_shares_are_named() {
        let wrong = |text: &str| canonical(text).unwrap_err();
        assert_eq!(wrong("1:2;1:3"), "1 has two shares");
        assert_eq!(wrong("1:-2"), "the share -2 of 1 is not a number of at least 0");
        assert_eq!(wrong("1:0"), "'1:0' gives nobody a share");
        assert!(wrong("/no/such/file").contains("/no/such/file"));
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "18 1\nanna 3").unwrap();
        assert!(wrong(file.path().to_str().unwrap()).contains("line 2: 'anna 3' is not the number of a user"));
    }
}
