//! What the folder of finished runs keeps of each.

use std::sync::LazyLock;

use csv::{ReaderBuilder, WriterBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use twox_hash::XxHash3_128;

use super::run::PlannedRun;
use crate::metrics::{Baseline, RunRow, UserChange};
use crate::text::{escape_line, unescape_line};

/// What is kept of a finished run.
pub trait KeptRow: Serialize + DeserializeOwned + Send {
    /// The row as a line of text, without a line end: its fields in their order, as CSV. What is not defined is empty. Numbers
    /// have all their digits, so that reading a line gives the same row, and the printed decimals can be changed without running
    /// again.
    fn to_line(&self) -> String {
        let mut writer = WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        writer.serialize(self).expect("a vector takes every row");
        let line = String::from_utf8(writer.into_inner().expect("a vector takes every row")).expect("a row is text");
        escape_line(line.trim_end_matches('\n')).into_owned()
    }

    /// Reads a line.
    ///
    /// # Errors
    /// If it has another form; the message says why.
    fn from_line(line: &str) -> Result<Self, String> {
        let text = unescape_line(line);
        let mut rows = ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes()).into_deserialize();
        let row: Self = rows.next().ok_or("it is empty")?.map_err(|error| error.to_string())?;
        if row.to_line() == line { Ok(row) } else { Err("it has other fields".to_string()) }
    }

    /// Sets what is not part of the key of the run: the name of its log, specs as they are written, and the names of files.
    fn relabel(&mut self, run: &PlannedRun, trace: String);
}

impl KeptRow for RunRow {
    fn relabel(&mut self, run: &PlannedRun, trace: String) {
        self.label.trace = trace;
        self.label.scheduler = run.options.scheduler.to_string();
        self.label.predictor = run.options.predictor.to_string();
        self.label.options = run.options.in_row();
        self.label.what_if = run.options.what_if.clone().unwrap_or_default();
        if let (Some(row), Some(setting)) = (&mut self.baseline, &run.options.baseline) {
            row.name = setting.pair();
        }
    }
}

/// How values are written in the lines of kept [`RunRow`]s. It must be raised whenever the line of the same fields changes, so that
/// no line of another version is read.
const LINE_FORMAT: u32 = 8;

/// The format of kept [`RunRow`]s, which is a part of the keys of runs: it is another one if they have other fields.
pub fn row_format() -> String {
    static FIELDS: LazyLock<u128> = LazyLock::new(|| {
        let baseline = Some(Baseline { users: vec![UserChange::default()], ..Baseline::default() });
        let row = serde_json::to_string(&RunRow { baseline, ..RunRow::default() }).expect("a row is text");
        XxHash3_128::oneshot(row.as_bytes())
    });
    format!("rows {LINE_FORMAT} {:032x}", *FIELDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Losers, RunLabel, Summary};

    fn summary(from: f64) -> Summary {
        Summary {
            jobs: 7,
            wait_mean: from / 3.0,
            bsld_mean: from / 7.0,
            ai_mean: 1e-9 * from,
            ra_mean: 0.1 + 0.2,
            misses: u64::MAX,
            utilization: f64::NAN,
            makespan: i64::MAX,
            wait_max: 1e300,
            mae_pct: f64::INFINITY,
            inside_pct: None,
            on_nodes: true,
            utilization_of: [Some(0.5), Some(from / 9.0), None],
            preempted: Some(4),
            utilization_available: Some(from / 13.0),
            failed: Some(0),
            ..Summary::default()
        }
    }

    fn row() -> RunRow {
        let label = RunLabel {
            procs: 128,
            scheduler: "easy".to_string(),
            predictor: "smith:templates=@a\tb\\t\nc".to_string(),
            dropped: 9,
            ..RunLabel::default()
        };
        RunRow { label, summary: summary(1.0), baseline: None }
    }

    #[test]
    fn a_row_that_was_read_is_the_row_that_was_written() {
        let alone = row();
        let name = "sjbf/ruh".to_string();
        let losers = Losers { users_pct: 1.0 / 3.0, area_pct: 0.0 };
        let with_interval = Summary { inside_pct: Some(200.0 / 3.0), ..summary(2.0) };
        let (wait_mean, base_wait_mean) = (100.0 / 3.0, 0.25);
        let one = UserChange { user: -1, jobs: 3, area: 1 << 70, wait_mean, base_wait_mean, loses: false };
        let users = vec![one, UserChange { user: 7, jobs: 1, area: 0, loses: true, ..one }];
        let baseline = Baseline { name, summary: with_interval, losers, users };
        let without_users = RunRow { baseline: Some(Baseline { users: Vec::new(), ..baseline.clone() }), ..row() };
        for row in [alone, without_users, RunRow { baseline: Some(baseline), ..row() }] {
            let line = row.to_line();
            assert!(!line.contains(['\n', '\r']), "{line}");
            let read = RunRow::from_line(&line).unwrap();
            // Not the rows themselves: NaN is not equal to NaN.
            assert_eq!(format!("{read:?}"), format!("{row:?}"));
        }
    }

    /// Lines of finished sweeps are read by later versions: another line for the same fields needs another LINE_FORMAT.
    #[test]
    fn the_format_of_a_line_has_its_number() {
        let plain = RunLabel { scheduler: "easy".to_string(), predictor: "ruh".to_string(), ..RunLabel::default() };
        let row = RunRow { label: plain, summary: Summary { wait_mean: 0.1, ..summary(1.0) }, baseline: None };
        let (line, format) = (row.to_line(), row_format());
        assert!(line.starts_with("0,easy,ruh,0,,7,0.1,0.14285714285714285,1e-9,0.30000000000000004,0,18446744073709551615,NaN,9223372036854775807,"), "{line}");
        assert!(format.starts_with("rows 8 "), "{format}");
    }

    #[test]
    fn what_is_no_row_is_an_error() {
        let line = row().to_line();
        let losers = Losers { users_pct: 1.0, area_pct: 33.25 };
        let baseline = Baseline { name: "easy/estimate".to_string(), losers, ..Baseline::default() };
        let compared = RunRow { baseline: Some(baseline), ..row() }.to_line();
        for (line, why) in [
            (String::new(), "it is empty"),
            (line.replacen("128", "x", 1), "field 0: invalid digit"),
            (line.replacen(",7,", ",7.5,", 1), "field 5: invalid digit"),
            (line.rsplit_once(',').unwrap().0.to_string(), "invalid length 2, expected struct RunRow with 3 elements"),
            (format!("{line}easy/estimate"), "invalid length 1, expected struct Baseline"),
            (format!("{line},1"), "it has other fields"),
            (compared.replace("33.25", "x"), "invalid float"),
            // A row of format 1.
            ("128,easy,ruh,7,9,0.333".to_string(), "field 5: invalid digit"),
            // A line of format 6.
            (line.replace(',', "\t"), "invalid digit"),
        ] {
            let error = RunRow::from_line(&line).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
    }
}
