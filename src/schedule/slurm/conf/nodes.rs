//! The size of the machine that the NodeName lines of a slurm.conf describe.

use super::lines::{ConfError, ConfLine};

/// The processors of all nodes. None if no line names one.
///
/// # Errors
/// If a list of names or a number cannot be read, or there are more processors than a machine can have here.
pub(super) fn processors(lines: &[ConfLine]) -> Result<Option<u32>, ConfError> {
    let mut defaults: Vec<(String, String)> = Vec::new();
    let mut all = None;
    for line in lines.iter().filter(|line| line.is("NodeName")) {
        let wrong = |why: String| ConfError { place: line.place.clone(), why: format!("NodeName: {why}") };
        // Slurm takes the last of several values, and a line DEFAULT is for all that follow.
        let pairs: Vec<_> = defaults.iter().chain(&line.pairs).cloned().collect();
        if line.value.eq_ignore_ascii_case("DEFAULT") {
            defaults = pairs;
            continue;
        }
        // A node of the future does not exist yet.
        if last(&pairs, "State").is_some_and(|state| state.eq_ignore_ascii_case("FUTURE")) {
            continue;
        }
        let count = names(&line.value).ok_or_else(|| wrong(format!("'{}' is no list such as n[1-9]", line.value)))?;
        let sum =
            processors_of_one(&pairs).map_err(wrong)?.checked_mul(count).map(|of_line| of_line + all.unwrap_or(0));
        let most = u64::from(u32::MAX);
        all = Some(sum.filter(|&sum| sum <= most).ok_or_else(|| wrong(format!("more processors than {most}")))?);
    }
    // At least one node, with at least one processor.
    Ok(all.map(|all| all as u32))
}

/// The value of the last pair of this name.
fn last<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().rev().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// The processors of one node: those that are given, or the product of its parts.
fn processors_of_one(pairs: &[(String, String)]) -> Result<u64, String> {
    let number = |name: &str| match last(pairs, name) {
        None => Ok(None),
        Some(text) => match text.parse::<u32>() {
            Ok(number) if number > 0 => Ok(Some(u64::from(number))),
            _ => Err(format!("{name}={text} is not a whole number above 0")),
        },
    };
    if let Some(cpus) = number("CPUs")?.or(number("Procs")?) {
        return Ok(cpus);
    }
    let sockets = match number("Sockets")? {
        Some(sockets) => sockets,
        None => number("Boards")?.unwrap_or(1) * number("SocketsPerBoard")?.unwrap_or(1),
    };
    let per_socket = number("CoresPerSocket")?.unwrap_or(1).saturating_mul(number("ThreadsPerCore")?.unwrap_or(1));
    Ok(sockets.saturating_mul(per_socket))
}

/// How many names a list such as `n[1-9,12],login` has.
fn names(list: &str) -> Option<u64> {
    let mut depth = 0;
    let at_comma = |character: char| {
        depth += i32::from(character == '[') - i32::from(character == ']');
        character == ',' && depth == 0
    };
    list.split(at_comma).map(names_of_one).try_fold(0u64, |sum, count| sum.checked_add(count?))
}

/// How many names `r[1-2]n[01-16]` stands for: the product of what its brackets list.
fn names_of_one(name: &str) -> Option<u64> {
    let mut pieces = name.split('[');
    let begins_well = pieces.next().is_some_and(|begin| !begin.contains(']')) && !name.is_empty();
    let mut count = Some(1u64).filter(|_| begins_well);
    for piece in pieces {
        let (ranges, rest) = piece.split_once(']')?;
        let listed = ranges.split(',').try_fold(0u64, |sum, range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
            Some(sum + u64::from(last.checked_sub(first)?) + 1)
        })?;
        count = count?.checked_mul(listed).filter(|_| !rest.contains(']'));
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn procs(text: &str) -> Result<Option<u32>, String> {
        processors(&super::super::lines::lines_of(text, Path::new("")).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn nodes_are_counted_as_slurm_counts_them() {
        for (text, expected) in [
            ("ClusterName=x", None),
            ("NodeName=a", Some(1)),
            ("NodeName=a,b[1-3,007] CPUs=4", Some(20)),
            ("NodeName=r[1-2]n[01-16] Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", Some(2 * 16 * 32)),
            ("NodeName=x[1-2] Boards=2 SocketsPerBoard=3 CoresPerSocket=5", Some(60)),
            ("NodeName=DEFAULT CPUs=8\nNodeName=a\nNodeName=b CPUs=2\nNodeName=c", Some(18)),
            ("NodeName=DEFAULT Procs=8\nnodename=DEFAULT State=FUTURE\nNodeName=a\nNodeName=b state=idle", Some(8)),
        ] {
            assert_eq!(procs(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_counted_is_named_with_its_line() {
        for (text, why) in [
            ("A=1\nNodeName=n[1-", "line 2: NodeName: 'n[1-' is no list such as n[1-9]"),
            ("NodeName=n[3-1]", "line 1: NodeName: 'n[3-1]' is no list such as n[1-9]"),
            ("NodeName=n]1[", "line 1: NodeName: 'n]1[' is no list such as n[1-9]"),
            ("NodeName=a,", "line 1: NodeName: 'a,' is no list such as n[1-9]"),
            ("NodeName=a CPUs=0", "line 1: NodeName: CPUs=0 is not a whole number above 0"),
            ("NodeName=n[1-4000000000] CPUs=2", "line 1: NodeName: more processors than 4294967295"),
        ] {
            assert_eq!(procs(text).unwrap_err(), why);
        }
    }
}
