//! Files of requests: what `sim trace convert --requests-out` writes, and `--requests` reads. They also say what jobs wait for.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::fields::{REQUEST_FIELDS, RequestField};
use super::file::RequestFile;
use super::if_more_than_cpus;
use crate::request::{LogRequests, Request, RequestId, Requests};
use crate::trace::conditions::{CONDITION_FIELDS, ConditionsRead, WrittenConditions, log_seconds, set_condition};
use crate::trace::error::TraceError;
use crate::trace::log::{Log, ReadOptions};
use crate::trace::rows::RowCause;
use crate::trace::source::{Digesting, Source};

/// A row of the file.
struct FileRow {
    line: u64,
    job: i64,
    /// None if the job only has conditions.
    request: Option<Request>,
    conditions: WrittenConditions,
}

/// A value without the apostrophe that keeps programs for tables from taking it for a formula (see [`crate::text::csv_text`]).
fn plain(text: &str) -> &str {
    text.strip_prefix('\'').filter(|rest| rest.starts_with(['=', '+', '-', '@'])).unwrap_or(text)
}

/// The log with the requests of the file that the options name, if they name one.
pub fn with_requests(options: &ReadOptions, mut log: Log) -> Result<Log, TraceError> {
    options.reading.requests.as_ref().map_or(Ok(()), |file| file.add_to(&mut log))?;
    Ok(log)
}

impl RequestFile {
    /// Gives the jobs of a log the requests and conditions of this file, by their numbers. Those of the log itself are forgotten.
    /// Rows of jobs that the log does not have are counted.
    ///
    /// # Errors
    /// If the file is faulty, or if its rows are not of this log.
    fn add_to(&self, log: &mut Log) -> Result<(), TraceError> {
        let rows = self.rows()?;
        let mut records = FxHashMap::default();
        for (at, record) in log.records.iter().enumerate() {
            // A number that is not unique is no error if no row has it.
            records.entry(record.number).and_modify(|place| *place = None).or_insert(Some(at));
        }
        let mut requests = Requests::default();
        let mut by_record = vec![RequestId::NONE; log.records.len()];
        let (mut has_row, mut written) = (vec![false; log.records.len()], BTreeMap::new());
        let (mut unmatched, count) = (0, rows.len());
        for FileRow { line, job, request, conditions } in rows {
            match records.get(&job) {
                None => unmatched += 1,
                Some(None) => {
                    let why = format!("{} has more than one job {job}, so its request is not known", log.name);
                    return Err(self.wrong(line, why));
                }
                Some(Some(at)) if std::mem::replace(&mut has_row[*at], true) => {
                    return Err(self.wrong(line, format!("a second row of job {job}")));
                }
                Some(Some(at)) => {
                    by_record[*at] = request.map_or(RequestId::NONE, |request| requests.intern(request));
                    if conditions != WrittenConditions::default() {
                        written.insert(*at, (line, conditions));
                    }
                }
            }
        }
        if unmatched > 0 && unmatched == count {
            let why = format!("it has no job of {}: is it of another log?", log.name);
            return Err(TraceError::unusable(&self.name, why));
        }
        log.source.causes.set(RowCause::UnmatchedRequest, unmatched as u64);
        log.requests = LogRequests::of_records(requests, by_record);
        self.add_conditions(log, written)
    }

    /// The conditions by record, with the lines of their rows.
    fn add_conditions(
        &self,
        log: &mut Log,
        mut written: BTreeMap<usize, (u64, WrittenConditions)>,
    ) -> Result<(), TraceError> {
        log.conditions = Arc::new(log.conditions.only_arrays());
        if written.is_empty() {
            return Ok(());
        }
        let mut read = ConditionsRead::default();
        read.needs_ids = true;
        for (at, record) in log.records.iter().enumerate() {
            let row = written.remove(&at);
            let (line, conditions) = row.map_or((0, None), |(line, conditions)| (line, Some(conditions)));
            let limits = conditions.as_ref().and_then(|own| own.array.as_deref().zip(own.array_limit));
            if let Some((_, limit)) = limits.filter(|(array, limit)| !read.limit(array, *limit)) {
                let why = format!("array_limit is not that of an earlier row of the array: \"{limit}\"");
                return Err(self.wrong(line, why));
            }
            read.of_row = conditions;
            read.add(at, record.number.to_string().as_bytes(), None);
        }
        log.conditions = Arc::new(read.finish(&log.records, None));
        Ok(())
    }

    fn wrong(&self, line: u64, why: String) -> TraceError {
        TraceError::unusable(&format!("{}:{line}", self.name), why)
    }

    fn rows(&self) -> Result<Vec<FileRow>, TraceError> {
        let input = Digesting::new(Source::from_argument(&self.name).open()?, true);
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(input);
        let failed = |error: csv::Error| TraceError::unusable(&self.name, error.to_string());
        let header = reader.headers().map_err(failed)?.clone();
        let names: Vec<String> = header.iter().map(|name| name.trim().to_ascii_lowercase()).collect();
        let find = |name: &str| names.iter().position(|other| other == name);
        let known = |name: &&String| {
            let name = name.as_str();
            matches!(name, "job" | "cpus") || RequestField::named(name).is_some() || CONDITION_FIELDS.contains(&name)
        };
        if let Some(name) = names.iter().find(|name| !known(name)) {
            let fields = [RequestField::names(), CONDITION_FIELDS.join(", ")].join(", ");
            let why = format!("no column '{name}' is known; the columns are job, cpus, {fields}");
            return Err(self.wrong(1, why));
        }
        let (Some(job), Some(cpus)) = (find("job"), find("cpus")) else {
            let why = "its first line must have the columns job and cpus (`sim trace convert LOG --requests-out FILE` \
                       writes such a file)";
            return Err(self.wrong(1, why.to_string()));
        };
        let asked: Vec<_> = REQUEST_FIELDS.into_iter().filter_map(|field| Some((find(field.name)?, field))).collect();
        let waited: Vec<_> = CONDITION_FIELDS.into_iter().filter_map(|field| Some((find(field)?, field))).collect();
        let row = |record: csv::Result<csv::StringRecord>| {
            let record = record.map_err(failed)?;
            let line = record.position().map_or(0, csv::Position::line);
            if record.len() != names.len() {
                let why = format!("{} values, but the first line has {} columns", record.len(), names.len());
                return Err(self.wrong(line, why));
            }
            let text = |at: usize| plain(record.get(at).unwrap_or(""));
            let bad = |field: &str, at: usize, why: &str| self.wrong(line, format!("{field} {why}: \"{}\"", text(at)));
            let job = text(job).trim().parse().map_err(|_| bad("job", job, "is not a job number"))?;
            let is_count = |cpus: &u32| *cpus > 0;
            let cpus = text(cpus)
                .trim()
                .parse()
                .ok()
                .filter(is_count)
                .ok_or_else(|| bad("cpus", cpus, "is not a whole number above 0"))?;
            let mut request = Request { cpus, ..Request::default() };
            for (at, field) in &asked {
                field.set(&mut request, text(*at)).map_err(|why| bad(field.name, *at, why))?;
            }
            let mut conditions = WrittenConditions::default();
            for &(at, field) in &waited {
                let time = |text| log_seconds(text).map(Some).ok_or("is not a time in seconds of the log");
                set_condition(&mut conditions, field, text(at).as_bytes(), |why| why, time)
                    .map_err(|why| bad(field, at, why))?;
            }
            // A row that is there because of its conditions asks for nothing.
            let request = match conditions == WrittenConditions::default() {
                true => Some(request),
                false => if_more_than_cpus(request),
            };
            Ok(FileRow { line, job, request, conditions })
        };
        let rows = reader.records().map(row).collect::<Result<Vec<FileRow>, TraceError>>()?;
        if reader.into_inner().digest() != Some(self.digest) {
            let why = "it has changed since the command began: the same command reads it again";
            return Err(TraceError::unusable(&self.name, why.to_string()));
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Log, ReadOptions, demo, read};

    /// The hash is that of the first time, and other content is not taken for it.
    #[test]
    fn a_file_of_requests_is_hashed_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("requests.csv").to_string_lossy().into_owned();
        let mut log: Log = read(&demo(), ReadOptions::default(), &mut |_| ()).unwrap();
        std::fs::write(&file, "job,cpus,memory\n1,1,5M\n").unwrap();
        let first = RequestFile::open(&file).unwrap();
        first.add_to(&mut log).unwrap();
        std::fs::write(&file, "job,cpus,memory\n1,1,6M\n").unwrap();
        let second = RequestFile::open(&file).unwrap();
        assert_eq!(first, second);
        let error = second.add_to(&mut log).unwrap_err().to_string();
        assert!(error.contains("requests.csv") && error.contains("has changed"), "{error}");
    }
}
