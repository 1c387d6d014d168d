//! What is down on a machine, and what of its configuration was not used, in words.

use crate::text::{counted, printable};
use shadowtime_core::machine::{Cluster, Ignored};

/// What is down of the machine: `6 nodes, 384 CPUs`. None if nothing is.
pub fn down_in_words(cluster: &Cluster) -> Option<String> {
    let (nodes, cpus) = cluster.down();
    (nodes > 0).then(|| format!("{}, {}", counted(nodes, "node"), counted(cpus, "CPU")))
}

/// `ClusterName (line 1), NodeName (lines 3 to 7, 9)`: each name once, in the order of the first lines.
pub fn ignored_in_words(ignored: &[&Ignored]) -> String {
    let mut groups: Vec<Vec<&Ignored>> = Vec::new();
    for one in ignored {
        let is_same = |group: &&mut Vec<&Ignored>| {
            group[0].name.eq_ignore_ascii_case(&one.name) && group[0].place.included == one.place.included
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    let words = |group: &Vec<&Ignored>| {
        let file = group[0].place.included.as_ref().map_or(String::new(), |file| format!("{file}, "));
        let lines: Vec<usize> = group.iter().map(|one| one.place.line).collect();
        format!("{} ({file}{})", printable(&group[0].name), lines_in_words(&lines))
    };
    groups.iter().map(words).collect::<Vec<_>>().join(", ")
}

/// `line 4`, `lines 3 to 7, 9`.
fn lines_in_words(lines: &[usize]) -> String {
    const MOST: usize = 4;
    let runs: Vec<&[usize]> = lines.chunk_by(|a, b| *b <= a + 1).collect();
    let run = |run: &&[usize]| match (run[0], run[run.len() - 1]) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first} to {last}"),
    };
    let shown = runs.iter().take(MOST).map(run).collect::<Vec<_>>().join(", ");
    let more = if runs.len() > MOST { " and others" } else { "" };
    let is_one = lines.iter().all(|line| *line == lines[0]);
    format!("{} {shown}{more}", if is_one { "line" } else { "lines" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined() {
        assert_eq!(lines_in_words(&[4]), "line 4");
        assert_eq!(lines_in_words(&[4, 4]), "line 4");
        assert_eq!(lines_in_words(&[3, 4, 5, 9]), "lines 3 to 5, 9");
        assert_eq!(lines_in_words(&[1, 3, 5, 7, 9, 11]), "lines 1, 3, 5, 7 and others");
    }
}
