//! One run, with its log and its options, and parts of many runs.

use crate::experiment::{Options, acting_scheduler, is_idle};
use crate::metrics::RunRow;
use crate::trace::{Source, demo};

/// A hash that identifies a finished run: of its options, its log's content, and the version of the program.
pub type RunKey = u128;

/// One run of a plan.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// None for the embedded log.
    pub trace: Option<String>,
    /// All options of the run.
    pub options: Options,
}

impl PlannedRun {
    /// The log of this run.
    pub fn source(&self) -> Source {
        self.trace.as_deref().map_or_else(demo, Source::from_argument)
    }

    /// The same run with the jobs and on the machine of its baseline.
    pub(super) fn on_site_of_baseline(&self) -> PlannedRun {
        PlannedRun { trace: self.trace.clone(), options: self.options.of_baseline() }
    }

    /// The command line that repeats this run alone.
    pub fn command(&self) -> String {
        let mut command = "sim".to_string();
        let mut add = |text: &str| {
            command.push(' ');
            command.push_str(&quoted(text));
        };
        match &self.trace {
            Some(trace) => ["--trace", trace].into_iter().for_each(&mut add),
            // By default the main command compares the embedded log with a baseline.
            None if self.options.baseline.is_none() => ["--baseline", "none"].into_iter().for_each(&mut add),
            None => {}
        }
        // What changes nothing in this run would be refused. A cell of a grid may have it.
        let acting = Options { scheduler: acting_scheduler(&self.options), ..self.options.clone() };
        for (option, value) in acting.given().filter(|(option, _)| !is_idle(&acting, option.name)) {
            match option.is_switch() {
                true => add(&format!("--{}={value}", option.name)),
                false => [&format!("--{}", option.name), &value].into_iter().for_each(|text| add(text)),
            }
        }
        command.push_str(" --format csv");
        command
    }
}

/// A word, quoted if necessary, so that a shell reads exactly this word.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,%+@".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_string(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// The row of a finished cell.
#[derive(Clone, Debug)]
pub struct FinishedRow {
    /// The key of the cell.
    pub key: RunKey,
    /// Its labels and figures.
    pub run: RunRow,
    /// As [`RunPlan::places`](super::RunPlan::places).
    pub places: Vec<usize>,
}

/// A part of a plan: every `of`-th run, starting with the `index`-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1 to `of`.
    pub index: usize,
    /// The number of shards.
    pub of: usize,
}

impl Shard {
    /// All runs.
    pub const WHOLE: Shard = Shard { index: 1, of: 1 };

    /// Reads `I/N`.
    ///
    /// # Errors
    ///
    /// If the text has another form, or I is not from 1 to N.
    pub fn parse(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index, of)) if index >= 1 && index <= of => Ok(Shard { index, of }),
            _ => Err(format!("'{text}' is not a shard such as 3/8: I/N with I from 1 to N")),
        }
    }

    /// The index, from 1 to `of`, of the shard that a run belongs to.
    pub fn of_run(at: usize, of: usize) -> usize {
        at % of + 1
    }

    /// Whether a run belongs to this shard.
    pub fn has(self, at: usize) -> bool {
        Shard::of_run(at, self.of) == self.index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::OptionForm;

    /// The embedded log has a baseline by default, other logs have none.
    #[test]
    fn the_command_of_a_run_says_whether_there_is_a_baseline() {
        let command = |trace: Option<&str>, baseline: &str| {
            let mut options = Options::default();
            OptionForm::find("baseline").unwrap().set(&mut options, baseline).unwrap();
            PlannedRun { trace: trace.map(str::to_string), options }.command()
        };
        assert_eq!(command(None, "none"), "sim --baseline none --format csv");
        assert_eq!(command(None, "easy/ruh"), "sim --baseline easy/ruh --format csv");
        assert_eq!(command(Some("a.swf"), "none"), "sim --trace a.swf --format csv");
        assert_eq!(command(Some("a b"), "easy/ruh"), "sim --trace 'a b' --baseline easy/ruh --format csv");
    }

    /// A cell of a grid may have what acts in other cells only; its command would be refused with it.
    #[test]
    fn the_command_of_a_run_has_only_what_acts() {
        let mut options = Options::default();
        for (name, value) in
            [("scheduler", "slurm:age_weight=5,bf_interval=1m"), ("inflate", "2"), ("estimates-seed", "3")]
        {
            OptionForm::find(name).unwrap().set(&mut options, value).unwrap();
        }
        let command = PlannedRun { trace: Some("a.swf".to_string()), options }.command();
        assert_eq!(command, "sim --trace a.swf --scheduler slurm:bf_interval=1m --format csv");
    }

    #[test]
    fn shards_are_every_nth_run() {
        let shard = Shard::parse("2/3").unwrap();
        assert_eq!((0..8).filter(|&at| shard.has(at)).collect::<Vec<_>>(), [1, 4, 7]);
        assert!((0..8).all(|at| Shard::WHOLE.has(at)));
        for text in ["", "3", "0/3", "4/3", "1/0", "a/b", "1/2/3", "-1/2"] {
            assert!(Shard::parse(text).is_err(), "{text}");
        }
    }
}
