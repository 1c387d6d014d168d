//! What was run, for the top of a report.

use clap::{ArgMatches, Command};

use crate::cli::is_given;
use crate::cli::log::LogArgs;
use crate::cli::settings::LogUnderSettings;
use crate::machine::Resource;
use crate::report::html::Fact;
use crate::report::{counted, dropped_in_words, reading_in_words};
use crate::time::{date, readable_duration};
use crate::trace::Workload;

/// Options that do not change the report, so that it is the same without them.
const NOT_REPEATED: [&str; 9] = ["log", "trace", "out", "svg", "folder", "threads", "quiet", "format", "no_header"];

/// The facts of a report on a log.
pub fn facts(matches: &ArgMatches, given: &LogArgs, shown: &LogUnderSettings) -> Vec<Fact> {
    let LogUnderSettings { log, workload, runs_of_each, .. } = shown;
    let is_alone = shown.settings[0].baseline.is_none();
    let name = given.given().map_or("the log embedded in the program".to_string(), str::to_string);
    let mut facts = vec![
        Fact::code("command", command(matches, given.given(), is_alone, &[])),
        Fact::new("program", format!("Shadowtime {}", env!("CARGO_PKG_VERSION"))),
        Fact::new("log", format!("{name} ({})", log.source.format)),
    ];
    if let Some(digest) = log.digest {
        facts.push(Fact::code("digest", format!("{digest:032x} (XXH3)")));
    }
    for (name, field) in [("computer", "Computer"), ("installation", "Installation")] {
        facts.extend(log.header.get(field).map(|value| Fact::new(name, value)));
    }
    let span = readable_duration((workload.last_submit() - workload.first_submit()) as f64);
    let from = workload.unix_start.map(|start| format!(", from {} (UTC)", date(start + workload.first_submit())));
    let jobs = counted(workload.jobs.len() as u64, "job");
    facts.push(Fact::new("machine", machine_in_words(workload)));
    facts.push(Fact::new("jobs", format!("{jobs}, submitted within {span}{}", from.unwrap_or_default())));
    facts.extend(reading_in_words(&log.source).into_iter().map(|words| Fact::new("reading", words)));
    let dropped = dropped_in_words(&workload.cleaning).unwrap_or("no records".to_string());
    facts.push(Fact::new("dropped", dropped));
    if *runs_of_each > 1 {
        facts.push(Fact::new("runs", format!("{runs_of_each} of each setting; charts show those on the log as it is")));
    }
    facts
}

/// The processors of a pool, or what the nodes have.
fn machine_in_words(workload: &Workload) -> String {
    let Some(shapes) = &workload.shapes else { return counted(workload.procs.into(), "processor") };
    let cluster = shapes.cluster();
    let some = |count: u64, thing: &str| (count > 0).then(|| counted(count, thing));
    let size = cluster.total();
    let of_nodes = Resource::OF_NODES.map(|kind| (size[kind] > 0).then(|| kind.in_words(size[kind])));
    let parts = [some(cluster.nodes.len() as u64, "node")].into_iter().chain(of_nodes);
    let parts = parts.chain([some(cluster.partitions.len() as u64, "partition")]);
    parts.flatten().collect::<Vec<_>>().join(", ")
}

/// The command that gives the same report again, without these options. Without a baseline `is_alone`: the command would have one by
/// default.
pub fn command(matches: &ArgMatches, log: Option<&str>, is_alone: bool, left_out: &[&str]) -> String {
    let mut words = vec!["sim".to_string(), "report".to_string()];
    words.extend(words_of(&super::COMMAND.whole(), matches, log, left_out));
    if is_alone && !is_given(matches, "baseline") {
        words.push("--baseline none".to_string());
    }
    words.join(" ")
}

/// The words of a command line behind the name of the command, without those of options that do not change results, nor of these.
pub fn words_of(command: &Command, matches: &ArgMatches, log: Option<&str>, left_out: &[&str]) -> Vec<String> {
    let quoted = |text: &str| shlex::try_quote(text).map_or(text.to_string(), |quoted| quoted.into_owned());
    let mut words: Vec<String> = log.map(quoted).into_iter().collect();
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        if NOT_REPEATED.contains(&id) || left_out.contains(&id) || !is_given(matches, id) {
            continue;
        }
        let Some(long) = argument.get_long() else { continue };
        for value in matches.get_raw(id).into_iter().flatten() {
            let value = quoted(&value.to_string_lossy());
            match argument.is_require_equals_set() {
                true => words.push(format!("--{long}={value}")),
                false if !argument.get_action().takes_values() => words.push(format!("--{long}")),
                false => words.extend([format!("--{long}"), value]),
            }
        }
    }
    words
}
