//! Finds the rows of two outputs that belong together, and compares them.

use std::collections::hash_map::Entry;

use csv::ByteRecord;
use rustc_hash::{FxHashMap, FxHashSet};

use super::difference::Difference;
use super::gains::JobGains;
use super::input::{CompareError, Input};
use super::outputs::RowKind;
use super::seen::{SeenRows, row_id};
use super::value::{Tolerance, ValueChange};
use crate::metrics::{Better, SEVERAL_NAME};
use crate::predict;
use crate::schedule;
use crate::sort::sort_by_key;
use crate::text::shortened;
use crate::trace::Source;

/// The columns with the number of a job, and with its id in the log.
const JOB: &str = "job";
const LOG_ID: &str = "log_id";

/// A column that both outputs have.
struct Common {
    name: String,
    /// Its index in each output.
    at: [usize; 2],
    better: Option<Better>,
}

/// Two outputs that can be compared.
pub struct Comparison {
    inputs: [Input; 2],
    keys: Vec<Common>,
    values: Vec<Common>,
    missing: [Vec<String>; 2],
    log_ids: Option<LogIdsOfRows>,
    gains: Option<JobGains>,
}

/// Jobs belong together by their ids in the log, if both outputs have these: files of two exports of a log number the same job
/// differently. An id may repeat, because each run of a requeued job has it: then the first rows belong together, the second ones, and
/// so on.
struct LogIdsOfRows {
    /// The index of the column in each output.
    at: [usize; 2],
    seen: [SeenRows; 2],
    repeated: [FxHashMap<u128, u64>; 2],
}

impl LogIdsOfRows {
    /// Identifies the next row of an output, which has this number without its repetitions.
    fn next(&mut self, id: u128, output: usize) -> u128 {
        if self.seen[output].insert(id) {
            return id;
        }
        let times = self.repeated[output].entry(id).or_default();
        *times += 1;
        row_id([&id.to_le_bytes()[..], &times.to_le_bytes()[..]].into_iter())
    }
}

/// The result of a comparison in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DifferenceCounts {
    /// Rows that both outputs have.
    pub rows: u64,
    /// Of these, rows with a difference beyond the tolerance.
    pub rows_with_differences: u64,
    /// Cells with a difference beyond the tolerance.
    pub cells: u64,
    /// Cells with a difference within the tolerance.
    pub cells_within: u64,
    /// Rows that only one output has.
    pub alone: [u64; 2],
}

impl DifferenceCounts {
    /// Whether nothing differs beyond the tolerance.
    pub fn is_same(&self) -> bool {
        self.cells == 0 && self.alone == [0, 0]
    }
}

/// A row that has no match yet, with its number.
type UnmatchedRow = (u64, ByteRecord);

impl Comparison {
    /// Opens two outputs. `only` are the names of the columns to compare; none means all that both outputs have.
    ///
    /// # Errors
    /// If one is not an output of this program, if they are of different kinds, or if they have no column in common.
    pub fn open(sources: [&Source; 2], only: &[String]) -> Result<Comparison, CompareError> {
        let inputs = [Input::open(sources[0])?, Input::open(sources[1])?];
        let [first, second] = &inputs;
        if !first.output.is_like(&second.output) {
            let [one, other] =
                [first, second].map(|input| format!("{} has {}", input.name, input.output.rows_in_words()));
            return Err(CompareError::Input(format!("{one} and {other}: they cannot be compared")));
        }
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for (at, name) in first.header.iter().enumerate() {
            let Some(other) = second.column(name) else { continue };
            let common = Common { name: name.clone(), at: [at, other], better: first.output.better(name) };
            match first.output.is_key(&first.header, at) {
                true => keys.push(common),
                false => values.push(common),
            }
        }
        if !only.is_empty() {
            let names: Vec<_> = values.iter().map(|value| value.name.as_str()).collect();
            if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
                let all = names.join(", ");
                return Err(CompareError::Input(format!(
                    "there is no column '{unknown}' to compare; the columns are {all}"
                )));
            }
            values.retain(|value| only.contains(&value.name));
        }
        if values.is_empty() || keys.is_empty() {
            let (first, second) = (&first.name, &second.name);
            return Err(CompareError::Input(format!("{first} and {second} have no columns in common to compare")));
        }
        let missing = [0, 1].map(|at| {
            let (here, there) = (&inputs[at], &inputs[1 - at]);
            there.header.iter().filter(|name| here.column(name).is_none()).cloned().collect()
        });
        let is_compared = |name: &str| values.iter().any(|value| value.name == name);
        let gains = JobGains::of(&inputs).filter(|_| is_compared("wait"));
        let log_id = |input: &Input| input.column(LOG_ID).filter(|_| input.output.name == "jobs");
        let log_ids = log_id(&inputs[0]).zip(log_id(&inputs[1]));
        let log_ids = log_ids.map(|(first, second)| LogIdsOfRows {
            at: [first, second],
            seen: Default::default(),
            repeated: Default::default(),
        });
        Ok(Comparison { inputs, keys, values, missing, log_ids, gains })
    }

    /// What the rows of both outputs are.
    pub fn rows(&self) -> RowKind {
        self.inputs[0].output.rows
    }

    /// The names of the outputs.
    pub fn names(&self) -> [String; 2] {
        [0, 1].map(|at| self.inputs[at].name.clone())
    }

    /// The columns that say what was run.
    pub fn keys(&self) -> Vec<String> {
        self.keys.iter().map(|key| key.name.clone()).collect()
    }

    /// The number of columns that are compared.
    pub fn columns(&self) -> usize {
        self.values.len()
    }

    /// Who gains and who loses, of outputs with jobs.
    pub fn gains(&self) -> Option<&JobGains> {
        self.gains.as_ref()
    }

    /// The columns that each output does not have, but the other one has.
    pub fn missing(&self) -> &[Vec<String>; 2] {
        &self.missing
    }

    /// Compares all rows. `found` is called with each difference: first those of rows that both outputs have, in the order
    /// in which their matches were found, then the rows without a match.
    ///
    /// # Errors
    /// If an output cannot be read, if it has two rows of the same run, if its jobs are those of another log, or if `found` returns an
    /// error.
    pub fn run(
        &mut self,
        tolerance: Tolerance,
        found: &mut dyn FnMut(Difference) -> std::io::Result<()>,
    ) -> Result<DifferenceCounts, CompareError> {
        let mut counts = DifferenceCounts::default();
        let mut waiting: [FxHashMap<u128, UnmatchedRow>; 2] = Default::default();
        // The keys of all pairs, so that a second row of the same run is noticed.
        let mut paired = SeenRows::default();
        let mut rows = [ByteRecord::new(), ByteRecord::new()];
        let mut more = [true, true];
        let mut number = 0;
        while more != [false, false] {
            number += 1;
            for at in [0, 1] {
                more[at] = more[at] && self.inputs[at].read(&mut rows[at])?;
            }
            for at in [0, 1].into_iter().filter(|&at| more[at]) {
                let id = self.id(&rows[at], at);
                if paired.contains(id) {
                    return Err(self.twice(&rows[at], at));
                }
                if let Some((_, other)) = waiting[1 - at].remove(&id) {
                    paired.insert(id);
                    let pair = if at == 0 { [&rows[0], &other] } else { [&other, &rows[1]] };
                    self.compare(pair, tolerance, &mut counts, found)?;
                    continue;
                }
                match waiting[at].entry(id) {
                    Entry::Occupied(_) => return Err(self.twice(&rows[at], at)),
                    Entry::Vacant(place) => drop(place.insert((number, rows[at].clone()))),
                }
            }
        }
        // In the order of the files: that of a hash map must not reach the output.
        let [mut first, mut second] = waiting.map(|rows| {
            let mut rows: Vec<UnmatchedRow> = rows.into_values().collect();
            sort_by_key(&mut rows, |(number, _)| *number);
            rows
        });
        self.pair_equal_specs(&mut first, &mut second, tolerance, &mut counts, found)?;
        counts.alone = [first.len() as u64, second.len() as u64];
        if let Some(gains) = &self.gains {
            gains.check(counts.alone)?;
        }
        for (at, rows) in [(0, first), (1, second)] {
            for (_, row) in rows {
                let mut values = [None, None];
                values[at] = Some("row".to_string());
                let keys = self.labels(&row, at);
                let lone = Difference { keys, column: None, values, change: None, better: None };
                found(lone).map_err(CompareError::Output)?;
            }
        }
        Ok(counts)
    }

    /// Compares those of the remaining rows that differ only in how a spec is written: `ruh` and `ruh:window=3`.
    fn pair_equal_specs(
        &mut self,
        first: &mut Vec<UnmatchedRow>,
        second: &mut Vec<UnmatchedRow>,
        tolerance: Tolerance,
        counts: &mut DifferenceCounts,
        found: &mut dyn FnMut(Difference) -> std::io::Result<()>,
    ) -> Result<(), CompareError> {
        if !matches!(self.rows(), RowKind::Runs | RowKind::Means) {
            return Ok(());
        }
        let mut there: FxHashMap<Vec<String>, usize> = FxHashMap::default();
        for (at, (_, row)) in second.iter().enumerate() {
            there.entry(self.shortest_labels(row, 1)).or_insert(at);
        }
        let mut taken = FxHashSet::default();
        let mut left = Vec::new();
        for (number, row) in first.drain(..) {
            match there.remove(&self.shortest_labels(&row, 0)) {
                Some(at) => {
                    self.compare([&row, &second[at].1], tolerance, counts, found)?;
                    taken.insert(at);
                }
                None => left.push((number, row)),
            }
        }
        *first = left;
        let mut at = 0..;
        second.retain(|_| !taken.contains(&at.next().unwrap_or_default()));
        Ok(())
    }

    fn compare(
        &mut self,
        rows: [&ByteRecord; 2],
        tolerance: Tolerance,
        counts: &mut DifferenceCounts,
        found: &mut dyn FnMut(Difference) -> std::io::Result<()>,
    ) -> Result<(), CompareError> {
        counts.rows += 1;
        if let Some(gains) = &mut self.gains {
            let setting = self.keys.iter().find(|key| key.name == SEVERAL_NAME);
            gains.add(rows, &setting.map_or("".into(), |key| String::from_utf8_lossy(&rows[0][key.at[0]])))?;
        }
        let before = counts.cells;
        for Common { name, at, better } in &self.values {
            let cells = [&rows[0][at[0]], &rows[1][at[1]]];
            if cells[0] == cells[1] {
                continue;
            }
            let [first, second] = cells.map(|cell| String::from_utf8_lossy(cell).into_owned());
            let change = ValueChange::between(&first, &second);
            match change {
                // The same number in another form, such as 1 and 1.0.
                Some(change) if change.absolute == 0.0 => continue,
                Some(change) if tolerance.allows(&change) => counts.cells_within += 1,
                _ => {
                    counts.cells += 1;
                    let (keys, values) = (self.labels(rows[0], 0), [Some(first), Some(second)]);
                    found(Difference { keys, column: Some(name.clone()), values, change, better: *better })
                        .map_err(CompareError::Output)?;
                }
            }
        }
        counts.rows_with_differences += u64::from(counts.cells > before);
        Ok(())
    }

    /// Identifies a row of an output by what was run.
    fn id(&mut self, row: &ByteRecord, output: usize) -> u128 {
        let Some(log_ids) = &mut self.log_ids else {
            return row_id(self.keys.iter().map(|key| &row[key.at[output]]));
        };
        let place = |key: &Common| if key.name == JOB { log_ids.at[output] } else { key.at[output] };
        let id = row_id(self.keys.iter().map(|key| &row[place(key)]));
        log_ids.next(id, output)
    }

    fn labels(&self, row: &ByteRecord, output: usize) -> Vec<String> {
        self.keys.iter().map(|key| String::from_utf8_lossy(&row[key.at[output]]).into_owned()).collect()
    }

    /// The labels with specs in their shortest form.
    fn shortest_labels(&self, row: &ByteRecord, output: usize) -> Vec<String> {
        let shortest = |(key, text): (&Common, String)| {
            let spec = match key.name.as_str() {
                "scheduler" => schedule::catalog::parse(&text).ok(),
                "predictor" => predict::catalog::parse(&text).ok(),
                _ => None,
            };
            spec.map_or(text, |spec| spec.to_string())
        };
        self.keys.iter().zip(self.labels(row, output)).map(shortest).collect()
    }

    /// The error for a second row of the same run.
    fn twice(&self, row: &ByteRecord, output: usize) -> CompareError {
        let name = &self.inputs[output].name;
        let labels: Vec<String> =
            self.keys().into_iter().zip(self.labels(row, output)).map(|(key, text)| format!("{key} {text}")).collect();
        let mut text = format!("{name} has two rows with the same {}", shortened(&labels.join(", ")));
        let other = &self.missing[1 - output];
        if !other.is_empty() {
            text.push_str(&format!("; {} has no column {}", self.inputs[1 - output].name, other.join(", ")));
        }
        CompareError::Input(text)
    }
}
