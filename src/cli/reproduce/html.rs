//! The figures of a study as a page.

use crate::report::html::{Fact, StudyFigure, StudyReport};
use crate::report::{counted, grouped};
use crate::reproduce::{Agreement, Figure, FoundLog, count_agreements};

/// The page of the study with this name, computed from these logs.
pub fn page(study: &str, logs: &[FoundLog], figures: &[Figure]) -> String {
    let counts = count_agreements(figures);
    let published: u64 = counts.iter().map(|(_, _, count)| count).sum();
    let agree: u64 = counts
        .iter()
        .filter(|(agreement, _, _)| matches!(agreement, Agreement::Interval | Agreement::TwoPoints | Agreement::Holds))
        .map(|(_, _, count)| count)
        .sum();
    let mut facts = vec![
        Fact::code("command", command()),
        Fact::new("program", format!("Shadowtime {}", env!("CARGO_PKG_VERSION"))),
    ];
    facts.extend(logs.iter().map(|found| Fact::new("log", found.file.display().to_string())));
    StudyReport {
        title: format!("Published and measured: {}", study),
        result: format!("{} of {} agree with ours.", grouped(agree), counted(published, "published figure")),
        facts,
        overview: counts.into_iter().map(|(_, what, count)| (what.to_string(), count)).collect(),
        figures: figures.iter().map(figure).collect(),
    }
    .page()
}

fn figure(figure: &Figure) -> StudyFigure {
    let agreement = figure.agreement();
    StudyFigure {
        table: figure.table.clone(),
        row: figure.row.clone(),
        column: figure.column.clone(),
        published: figure.published.clone(),
        number: figure.published_number(),
        measured: figure.measured,
        interval: figure.interval,
        agreement: agreement.word(),
        differs: matches!(agreement, Agreement::Explained | Agreement::Unexplained),
        remark: figure.remark(),
    }
}

/// Options that do not change the page, and whether they have a value.
const NOT_REPEATED: [(&str, bool); 6] = [
    ("--html", true),
    ("--threads", true),
    ("--format", true),
    ("--no-header", false),
    ("--quiet", false),
    ("-q", false),
];

/// The command that gives the same page again. Studies have different options, so it is taken from the arguments of the
/// process.
fn command() -> String {
    let mut words = vec!["sim".to_string()];
    let mut arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    while let Some(argument) = arguments.next() {
        let name = argument.split('=').next().unwrap_or_default();
        match NOT_REPEATED.iter().find(|(option, _)| *option == name) {
            Some((_, true)) if !argument.contains('=') => drop(arguments.next()),
            Some(_) => {}
            None => words.push(shlex::try_quote(&argument).map_or(argument.clone(), |quoted| quoted.into_owned())),
        }
    }
    words.join(" ")
}
