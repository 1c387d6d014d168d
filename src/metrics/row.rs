//! The result of a run: its label, its figures, and those of its baseline.
//!
//! [`RunRow::to_line`] and [`RunRow::from_line`] write and read it as a line of text, for files that a later process reads.

use std::str::FromStr;

use super::fairness::{Losers, UserChange};
use super::summary::Summary;
use crate::text::{escape_line, unescape_line};

/// What was run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunLabel {
    /// The name of the log in results.
    pub trace: String,
    /// The processors of the machine.
    pub procs: u32,
    /// The scheduler's spec.
    pub scheduler: String,
    /// The predictor's spec.
    pub predictor: String,
    /// The number of records of the log that did not become jobs.
    pub dropped: u64,
    /// The options that differ from the defaults and have no column, as `name=value` separated by blanks.
    pub options: String,
}

/// The run that another run is compared with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baseline {
    /// `scheduler/predictor`.
    pub name: String,
    /// Its figures.
    pub summary: Summary,
    /// The users that lose against it.
    pub losers: Losers,
    /// Each user in comparison with it. Empty unless that is wanted: for replications.
    pub users: Vec<UserChange>,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRow {
    /// What was run.
    pub label: RunLabel,
    /// Its figures.
    pub summary: Summary,
    /// The run that it is compared with, if any.
    pub baseline: Option<Baseline>,
}

/// The version of the format of [`RunRow::to_line`]. It must be raised whenever the line of the same row changes, so that
/// [`RunRow::from_line`] never reads a line of another version.
pub const LINE_FORMAT: u32 = 6;

impl RunRow {
    /// The row as a line for [`RunRow::from_line`]: fields separated by tabs, without a line end.
    ///
    /// Numbers have all their digits, so that reading a line gives the same row, and the printed decimals can be changed
    /// without running again. The name of the log is left out, because it depends on the other logs of the same table.
    pub fn to_line(&self) -> String {
        // Destructured, so that a new field is a compile error until it is written here.
        let RunLabel { trace: _, procs, scheduler, predictor, dropped, options } = &self.label;
        let mut fields = vec![
            procs.to_string(),
            escape_line(scheduler).into_owned(),
            escape_line(predictor).into_owned(),
            dropped.to_string(),
            escape_line(options).into_owned(),
        ];
        fields.extend(summary_fields(&self.summary));
        if let Some(Baseline { name, summary, losers, users }) = &self.baseline {
            let Losers { users_pct, area_pct } = losers;
            fields.push(escape_line(name).into_owned());
            fields.extend(summary_fields(summary));
            fields.extend([users_pct.to_string(), area_pct.to_string()]);
            for UserChange { user, jobs, area, wait_mean, base_wait_mean, loses: _ } in users {
                fields.extend([user.to_string(), jobs.to_string(), area.to_string()]);
                fields.extend([wait_mean.to_string(), base_wait_mean.to_string()]);
            }
        }
        fields.join("\t")
    }

    /// Reads a line of [`RunRow::to_line`]. The name of the log is then empty.
    ///
    /// # Errors
    /// If the line has too few or too many fields or a field is not a number; the message names the field.
    pub fn from_line(line: &str) -> Result<RunRow, String> {
        let mut fields = RowFields { rest: line.split('\t').peekable(), read: 0 };
        let label = RunLabel {
            trace: String::new(),
            procs: fields.number()?,
            scheduler: fields.text()?,
            predictor: fields.text()?,
            dropped: fields.number()?,
            options: fields.text()?,
        };
        let summary = read_summary(&mut fields)?;
        let baseline = match fields.rest.peek() {
            None => None,
            Some(_) => Some(Baseline {
                name: fields.text()?,
                summary: read_summary(&mut fields)?,
                losers: Losers { users_pct: fields.number()?, area_pct: fields.number()? },
                users: fields.users()?,
            }),
        };
        Ok(RunRow { label, summary, baseline })
    }
}

fn summary_fields(summary: &Summary) -> Vec<String> {
    let mut summary = *summary;
    summary.stored().map(|number| number.text()).to_vec()
}

fn read_summary(fields: &mut RowFields<'_>) -> Result<Summary, String> {
    let mut summary = Summary::default();
    for number in summary.stored() {
        let field = fields.next()?;
        number.read(field).ok_or_else(|| fields.not_a_number(field))?;
    }
    Ok(summary)
}

struct RowFields<'a> {
    rest: std::iter::Peekable<std::str::Split<'a, char>>,
    /// The number of fields read so far.
    read: usize,
}

impl<'a> RowFields<'a> {
    fn next(&mut self) -> Result<&'a str, String> {
        self.read += 1;
        self.rest.next().ok_or_else(|| format!("it ends before field {}", self.read))
    }

    fn text(&mut self) -> Result<String, String> {
        self.next().map(unescape_line)
    }

    fn number<T: FromStr>(&mut self) -> Result<T, String> {
        let field = self.next()?;
        field.parse().map_err(|_| self.not_a_number(field))
    }

    /// All that is left.
    fn users(&mut self) -> Result<Vec<UserChange>, String> {
        let mut users = Vec::new();
        while self.rest.peek().is_some() {
            let (user, jobs, area) = (self.number()?, self.number()?, self.number()?);
            users.push(UserChange::new(user, jobs, area, self.number()?, self.number()?));
        }
        Ok(users)
    }

    fn not_a_number(&self, field: &str) -> String {
        format!("field {} is '{field}', which is not a valid number", self.read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(from: f64) -> Summary {
        Summary {
            jobs: 7,
            wait_mean: from / 3.0,
            bsld_mean: from / 7.0,
            ai_mean: 1e-9 * from,
            ra_mean: 0.1 + 0.2,
            backfilled: 3,
            misses: u64::MAX,
            utilization: f64::NAN,
            makespan: i64::MAX,
            wait_p50: 1.0,
            wait_p95: 2.0,
            wait_max: 1e300,
            bsld_p50: 4.0,
            bsld_p95: 5.0,
            mae: 6.0,
            mae_pct: f64::INFINITY,
            answered: 2,
            inside_pct: None,
            jain: 0.75,
            wide_wait_mean: 8.0,
            on_nodes: true,
            utilization_cpus: Some(0.5),
            utilization_memory: Some(from / 9.0),
            utilization_gpus: None,
            preempted: Some(4),
            lost: None,
            jobs_per_day: Some(from / 11.0),
            linked_jobs: Some(5),
            think_mean: None,
        }
    }

    fn row() -> RunRow {
        let label = RunLabel {
            trace: String::new(),
            procs: 128,
            scheduler: "easy".to_string(),
            predictor: "smith:templates=@a\tb\\t\nc".to_string(),
            dropped: 9,
            options: String::new(),
        };
        RunRow { label, summary: summary(1.0), baseline: None }
    }

    #[test]
    fn a_row_that_was_read_is_the_row_that_was_written() {
        let alone = row();
        let name = "sjbf/ruh".to_string();
        let losers = Losers { users_pct: 1.0 / 3.0, area_pct: 0.0 };
        let with_interval = Summary { inside_pct: Some(200.0 / 3.0), ..summary(2.0) };
        let users = vec![UserChange::new(-1, 3, 1 << 70, 100.0 / 3.0, 0.25), UserChange::new(7, 1, 0, 90.0, 1.0)];
        let compared = RunRow { baseline: Some(Baseline { name, summary: with_interval, losers, users }), ..row() };
        for row in [alone, compared] {
            let line = row.to_line();
            assert!(!line.contains(['\n', '\r']), "{line}");
            let read = RunRow::from_line(&line).unwrap();
            // Not the rows themselves: NaN is not equal to NaN.
            assert_eq!(format!("{read:?}"), format!("{row:?}"));
        }
    }

    /// Lines of finished sweeps are read by later versions: another line for the same row needs another LINE_FORMAT.
    #[test]
    fn the_format_of_a_line_has_its_number() {
        let plain = RunLabel { scheduler: "easy".to_string(), predictor: "ruh".to_string(), ..RunLabel::default() };
        let row = RunRow { label: plain, summary: Summary { wait_mean: 0.1, ..summary(1.0) }, baseline: None };
        let line = "0 easy ruh 0  7 0.1 0.14285714285714285 0.000000001 0.30000000000000004 3 18446744073709551615 NaN \
                    9223372036854775807 1 2 1e300 4 5 6 inf 2  0.75 8 true 0.5 0.1111111111111111  4  \
                    0.09090909090909091 5 ";
        let line = line.replace(' ', "\t").replace("1e300", &1e300.to_string());
        assert_eq!((LINE_FORMAT, row.to_line()), (6, line));
    }

    #[test]
    fn what_is_no_row_is_an_error() {
        let line = row().to_line();
        for (line, why) in [
            (line.replacen("128", "x", 1), "field 1 is 'x', which is not a valid number"),
            (line.replacen('7', "7.5", 1), "field 6 is '7.5', which is not a valid number"),
            (line.rsplit_once('\t').unwrap().0.to_string(), "it ends before field 34"),
            (format!("{line}\teasy/estimate"), "it ends before field 36"),
            (
                format!("{line}\teasy/estimate\t{}\t1\t2\tx", summary_fields(&summary(1.0)).join("\t")),
                "field 67 is 'x', which is not a valid number",
            ),
            // A row of CSV, as parts of sweeps held them in format 1.
            ("128,easy,ruh,7,9,0.333".to_string(), "field 1 is '128,easy,ruh,7,9,0.333'"),
        ] {
            let error = RunRow::from_line(&line).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
