//! Predictions that somebody else has made, from a table: a column has the jobs' ids in the log, another the predictions.

use std::io::Read;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use twox_hash::XxHash3_128;

use super::board::Board;
use super::predictor::Predictor;
use crate::job::{InLog, JobId};
use crate::settings_file::ReadOnce;
use crate::spec::{Form, Key, Kind, Spec, SpecError};
use crate::stats::percentile;
use crate::time::Seconds;
use crate::trace::{LogId, LogIds, RunFacts, Source};

pub const FORM: Form = Form {
    name: "given",
    about: "predictions from a table, by the jobs' ids in the log: given:file=predictions.csv",
    keys: &[
        Key::new("file", name_of("a table with a header"), "", "the table, plain, .gz or .zst; required"),
        Key {
            name: "id",
            kind: name_of("a column"),
            default: "job_id",
            about: "the column with the jobs' ids as the log has them, such as JobIDRaw",
        },
        Key {
            name: "prediction",
            kind: name_of("a column"),
            default: "prediction",
            about: "the column with the predictions in seconds; those below 1 count as 1",
        },
        Key::choice(
            "missing",
            &["estimate", "median"],
            "what a job gets that is not in the table: its estimate, or the median of the table",
        ),
    ],
};

const fn name_of(what: &'static str) -> Kind {
    Kind::Text { what, canonical: |text| Ok(text.to_string()) }
}

/// The predictions of a table as they are written, by id of the job. All runs of a job that was requeued have its id, and so its
/// prediction.
#[derive(Debug)]
pub struct GivenTable {
    by_job: FxHashMap<LogId<'static>, f64>,
    /// The id of the first row, for messages.
    pub first: LogId<'static>,
    /// Half of the predictions are below.
    median: f64,
    /// A hash of the file's content.
    pub digest: u128,
}

impl GivenTable {
    /// The table of a spec of this form. A process reads each once.
    ///
    /// # Errors
    /// If no file is named, if it cannot be read, or if a column or a number in it is missing or wrong.
    pub fn of(spec: &Spec) -> Result<Arc<GivenTable>, String> {
        static TABLES: ReadOnce<GivenTable> = ReadOnce::new();
        let [file, id, prediction] = ["file", "id", "prediction"].map(|key| spec.text(key));
        if file.is_empty() {
            return Err("name the table: given:file=predictions.csv".to_string());
        }
        TABLES.get(&[file, id, prediction].join("\n"), || GivenTable::read(file, id, prediction))
    }

    /// Reads a table.
    ///
    /// # Errors
    /// As [`GivenTable::of`].
    pub fn read(file: &str, id: &str, prediction: &str) -> Result<GivenTable, String> {
        let mut content = Vec::new();
        let input = Source::from_argument(file).open().map_err(|error| error.to_string());
        input?.read_to_end(&mut content).map_err(|error| format!("{file}: {error}"))?;
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(&content[..]);
        let failed = |error: csv::Error| format!("{file}: {error}");
        let header = reader.headers().map_err(failed)?.clone();
        let place = |name: &str| {
            let names = || header.iter().collect::<Vec<_>>().join(", ");
            let found = header.iter().position(|other| other == name);
            found.ok_or_else(|| {
                format!("{file}: there is no column '{name}'; its first line names the columns {}", names())
            })
        };
        let (id, prediction) = (place(id)?, place(prediction)?);
        let (mut by_job, mut all, mut first) = (FxHashMap::default(), Vec::new(), None);
        for row in reader.records() {
            let row = row.map_err(failed)?;
            let line = row.position().map_or(0, csv::Position::line);
            let wrong = |at: usize, what: &str| format!("{file}, line {line}: '{}' is not {what}", &row[at]);
            if row[id].is_empty() {
                return Err(wrong(id, "the id of a job"));
            }
            let number = row[prediction].parse().ok().filter(|number: &f64| number.is_finite());
            let number = number.ok_or_else(|| wrong(prediction, "a number of seconds"))?;
            all.push(number);
            let job = LogId::of_text(&row[id]).into_owned();
            first.get_or_insert_with(|| job.clone());
            let earlier = by_job.insert(job, number);
            if earlier.is_some_and(|earlier| earlier != number) {
                let job = &row[id];
                return Err(format!(
                    "{file}, line {line}: a second row of job {job} with another prediction; all runs of a job have one"
                ));
            }
        }
        let first = first.ok_or_else(|| format!("{file}: the table has no predictions"))?;
        let median = percentile(&mut all, 50.0);
        Ok(GivenTable { by_job, first, median, digest: XxHash3_128::oneshot(&content) })
    }

    /// The prediction for a job as it is written, also below 1. None if the table does not have the job.
    pub fn raw<'a>(&'a self, id: &LogId<'a>) -> Option<f64> {
        self.by_job.get(id).copied()
    }
}

/// A spec of `given` needs a table that can be read.
pub fn check(spec: &Spec) -> Result<(), SpecError> {
    GivenTable::of(spec).map(|_| ()).map_err(|why| SpecError(format!("predictor '{spec}': {why}")))
}

/// Waiting jobs keep their predictions; a job that outlives its own gets the usual longer ones.
pub struct GivenPredictor {
    table: Arc<GivenTable>,
    ids: Arc<LogIds>,
    is_median: bool,
}

impl GivenPredictor {
    /// # Panics
    /// If the spec was not checked.
    pub fn new(spec: &Spec) -> GivenPredictor {
        let table = GivenTable::of(spec).expect("the table was read when the spec was");
        GivenPredictor { table, ids: Arc::default(), is_median: spec.text("missing") == "median" }
    }
}

impl Predictor for GivenPredictor {
    fn on_begin(&mut self, facts: &RunFacts) {
        self.ids = Arc::clone(&facts.ids);
    }

    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        let InLog { record, number, .. } = board.in_log(id);
        let given = self.table.raw(&self.ids.of(record, number)).or(self.is_median.then_some(self.table.median));
        let prediction = given.map_or(board.job(id).estimate, |seconds| seconds.round().max(1.0) as Seconds);
        board.predict(id, prediction);
    }
}
