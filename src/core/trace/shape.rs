//! Shaping a workload: selecting a part of it, repeating it, or changing its submit times.

use std::fmt;

use rand::RngExt;

use super::error::TraceError;
use super::log::TOO_MANY;
use super::resample::{Resample, resample, resample_like};
use super::workload::Workload;
use crate::rng::stream;
use crate::sort::sort_by_key;
use crate::time::{DAY, FOREVER, HOUR, MINUTE, Seconds, Time, date, parse_date_time, parse_duration, print_duration};

/// The changes to a workload. They are made in the order of the fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shaping {
    /// Keep jobs submitted at this moment or later.
    pub from: Option<Moment>,
    /// Keep jobs submitted before this moment.
    pub to: Option<Moment>,
    /// Keep this number of jobs from the beginning.
    pub first: Option<usize>,
    /// Draw users or weeks of these jobs, by `seed`: another year of the same site.
    pub resample: Option<Resample>,
    /// The number of copies of the log in sequence. Each is shifted by the span and one mean gap between submissions (to
    /// the nearest second, at least 1). The job numbers of copies continue from the largest one.
    pub repeat: u32,
    /// Divide the time between submissions by this: 1.2 makes the load 20% higher.
    pub load: f64,
    /// Move each submission except the first by a random number of whole seconds, at most this, earlier or later, but not
    /// before the first. The jobs are then sorted again. This is the "shaking" of Tsafrir and Feitelson, which shows how
    /// much of a difference is due to chance.
    pub shake: Seconds,
    /// The seed of the random numbers of `resample` and `shake`.
    pub seed: u64,
}

impl Default for Shaping {
    fn default() -> Self {
        Shaping { from: None, to: None, first: None, resample: None, repeat: 1, load: 1.0, shake: 0, seed: 1 }
    }
}

impl Shaping {
    /// Whether jobs are submitted when the log says: then its recorded waits are theirs.
    pub fn keeps_submissions(&self) -> bool {
        self.resample.is_none() && self.repeat == 1 && self.load == 1.0 && self.shake == 0
    }
}

/// A moment of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// This number of seconds after the first submission.
    AfterFirst(Seconds),
    /// A Unix time. Only for logs that say when they begin.
    Date(Time),
}

impl Moment {
    /// Reads a duration with its unit (`12h`), a date (`2016-12-25`) or a date with a time (`2016-12-25T08:00:00`), in UTC.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn parse(text: &str) -> Result<Moment, String> {
        // 30 could be meant as days.
        if text.parse::<u64>().is_ok_and(|number| number > 0) {
            return Err(format!("'{text}' has no unit: write {text}d for days after the first submission, or {text}s"));
        }
        if !text.contains('-') {
            return parse_duration(text).map(Moment::AfterFirst);
        }
        let whole = match text.len() {
            10 => format!("{text}T00:00:00"),
            16 => format!("{text}:00"),
            _ => text.to_string(),
        };
        let wrong = || format!("'{text}' is not a date such as 2016-12-25 or 2016-12-25T08:00:00");
        parse_date_time(whole.as_bytes()).map(Moment::Date).ok_or_else(wrong)
    }

    /// In seconds after the first submission of a workload.
    ///
    /// # Errors
    /// If it is a date and the log does not say when it begins.
    pub fn after_first(self, workload: &Workload) -> Result<Seconds, TraceError> {
        match (self, workload.unix_start) {
            (Moment::AfterFirst(seconds), _) => Ok(seconds),
            (Moment::Date(time), Some(start)) => Ok(time - start - workload.first_submit()),
            (Moment::Date(_), None) => Err(TraceError::unusable(
                &workload.label,
                "the header has no UnixStartTime, so --from and --to cannot be dates: give the time after the first \
                 submission, for example --from 30d",
            )),
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Moment::AfterFirst(seconds) => f.write_str(&print_duration(seconds)),
            Moment::Date(time) => {
                f.write_str(&date(time))?;
                match time.rem_euclid(DAY) {
                    0 => Ok(()),
                    clock => write!(f, "T{:02}:{:02}:{:02}", clock / HOUR, clock % HOUR / MINUTE, clock % MINUTE),
                }
            }
        }
    }
}

/// Shapes a workload. Jobs that are submitted after the ends of others keep their think times; only the others move.
///
/// # Errors
/// If no job is left, the copies are too many, or a date is given for a log that does not say when it begins.
pub fn shape(workload: Workload, shaping: &Shaping) -> Result<Workload, TraceError> {
    shape_like(workload, None, shaping)
}

/// The same, where a resample is drawn as that of a workload which has the same jobs on another machine or with other runtimes: their
/// resamples are then the same jobs too.
///
/// # Errors
/// As [`shape`].
pub fn shape_like(mut workload: Workload, like: Option<&Workload>, shaping: &Shaping) -> Result<Workload, TraceError> {
    let first = workload.first_submit();
    let from = shaping.from.map_or(Ok(0), |moment| moment.after_first(&workload))?;
    let to = shaping.to.map_or(Ok(Seconds::MAX), |moment| moment.after_first(&workload))?;
    if shaping.from.or(shaping.to).is_some() {
        workload.jobs.retain(|job| (from..to).contains(&(job.submission.submit - first)));
    }
    workload.jobs.truncate(shaping.first.unwrap_or(usize::MAX));
    if workload.jobs.is_empty() {
        let why = "none is left after --from, --to and --first".to_string();
        return Err(TraceError::NoJobs { name: workload.label, why });
    }
    if let Some(how) = &shaping.resample {
        let part = Shaping { from: shaping.from, to: shaping.to, first: shaping.first, ..Shaping::default() };
        workload = match like {
            None => resample(&workload, how, shaping.seed)?,
            Some(like) => resample_like(&workload, &shape(like.clone(), &part)?, how, shaping.seed)?,
        };
    }
    if shaping.repeat > 1 {
        repeat(&mut workload, shaping.repeat)?;
    }
    let moves = shaping.load != 1.0 || shaping.shake > 0;
    let links = workload.feedback_links().filter(|_| moves);
    // Linked jobs are submitted after the ends of others, and are not moved.
    let is_linked = links.map_or(Vec::new(), |links| links.is_linked(workload.jobs.len()));
    let is_free = |at: usize| is_linked.is_empty() || !is_linked[at];
    if shaping.load != 1.0 {
        let first = workload.first_submit();
        for (_, job) in workload.jobs.iter_mut().enumerate().filter(|(at, _)| is_free(*at)) {
            let since = (job.submission.submit - first) as f64 / shaping.load;
            job.submission.submit = first + (since + 0.5).floor() as Seconds;
        }
    }
    if shaping.shake > 0 {
        let first = workload.first_submit();
        let mut rng = stream(shaping.seed, "shake");
        for (at, job) in workload.jobs.iter_mut().enumerate().skip(1) {
            let moved = job.submission.submit + rng.random_range(-shaping.shake..=shaping.shake);
            if is_free(at) {
                job.submission.submit = moved.max(first);
            }
        }
        // With feedback the order of the log stays.
        if workload.feedback.is_none() {
            sort_by_key(&mut workload.jobs, |job| job.submission.submit);
        }
    }
    Ok(workload)
}

fn repeat(workload: &mut Workload, copies: u32) -> Result<(), TraceError> {
    let count = workload.jobs.len();
    let name = workload.label.clone();
    let too_many = || TraceError::unusable(&name, TOO_MANY);
    let all = u32::try_from(count as u64 * u64::from(copies)).map_err(|_| too_many())?;
    let span = workload.last_submit() - workload.first_submit();
    let gaps = (count as i64 - 1).max(1);
    let shift = span + ((2 * span + gaps) / (2 * gaps)).max(1);
    let numbers = workload.jobs.iter().map(|job| job.number).max().unwrap_or(0).max(0);
    if shift.checked_mul(i64::from(copies)).is_none_or(|end| end > FOREVER) {
        return Err(too_many());
    }
    workload.jobs.try_reserve_exact(all as usize - count).map_err(|_| too_many())?;
    for copy in 1..i64::from(copies) {
        for at in 0..count {
            let mut job = workload.jobs[at];
            job.submission.submit += copy * shift;
            job.number = job.number.saturating_add(copy.saturating_mul(numbers));
            workload.jobs.push(job);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Job, Submission};
    use crate::trace::shown_names::ShownNames;
    use crate::trace::wide::WideNumbers;
    use crate::trace::workload::CleaningReport;
    use crate::trace::zone::Zone;

    fn workload(submits: &[i64]) -> Workload {
        let jobs = submits
            .iter()
            .zip(1..)
            .map(|(&submit, number)| Job { number, ..Job::new(Submission::new(submit, 1, 10), 5) });
        Workload {
            label: "test".into(),
            procs: 4,
            jobs: jobs.collect(),
            unix_start: None,
            zone: Zone::default(),
            wide: WideNumbers::default(),
            names: ShownNames::default(),
            ids: Default::default(),
            requests: Default::default(),
            shapes: None,
            outages: None,
            conditions: Default::default(),
            feedback: None,
            resampled: None,
            cleaning: CleaningReport::default(),
        }
    }

    fn submits(submits: &[i64], shaping: Shaping) -> Vec<i64> {
        shape(workload(submits), &shaping).unwrap().jobs.iter().map(|job| job.submission.submit).collect()
    }

    #[test]
    fn dates_need_a_log_that_says_when_it_begins() {
        for (text, back) in [
            ("24h", "1d"),
            ("2016-12-25", "2016-12-25"),
            ("2016-12-25T00:00", "2016-12-25"),
            ("2016-12-25T08:30", "2016-12-25T08:30:00"),
            ("2016-12-25 08:30:05", "2016-12-25T08:30:05"),
        ] {
            assert_eq!(Moment::parse(text).unwrap().to_string(), back, "{text}");
        }
        for text in
            ["2016-13-25", "2016-02-30", "2015-02-29", "25-12-2016", "2016-12", "-1h", "2016-12-25T8", "x-y", "30"]
        {
            assert!(Moment::parse(text).unwrap_err().contains(text), "{text}");
        }
        assert!(Moment::parse("30").unwrap_err().contains("write 30d"));
        // The log begins an hour before the date; its first job comes half an hour later.
        let moment = |text: &str| Some(Moment::parse(text).unwrap());
        let mut dated = workload(&[1800, 3599, 3600, 7200]);
        let christmas = Shaping { from: moment("2016-12-25"), to: moment("2016-12-25T01:00"), ..Shaping::default() };
        assert!(shape(dated.clone(), &christmas).unwrap_err().to_string().contains("no UnixStartTime"));
        dated.unix_start = Some(1_482_624_000 - 3600);
        let left: Vec<_> = shape(dated, &christmas).unwrap().jobs.iter().map(|job| job.submission.submit).collect();
        assert_eq!(left, [3600]);
    }

    #[test]
    fn from_and_to_count_from_the_first_submission() {
        let log = [100, 110, 120, 130];
        let after = |seconds| Some(Moment::AfterFirst(seconds));
        assert_eq!(submits(&log, Shaping { from: after(10), to: after(30), ..Shaping::default() }), [110, 120]);
        assert_eq!(submits(&log, Shaping { from: after(5), first: Some(1), ..Shaping::default() }), [110]);
        assert!(shape(workload(&log), &Shaping { from: after(31), ..Shaping::default() }).is_err());
        assert!(shape(workload(&log), &Shaping { first: Some(0), ..Shaping::default() }).is_err());
    }

    #[test]
    fn copies_follow_one_mean_gap_apart() {
        // The span is 30, and the mean of the three gaps is 10.
        let shaping = Shaping { repeat: 3, ..Shaping::default() };
        let log = [100, 105, 120, 130];
        assert_eq!(submits(&log, shaping), [100, 105, 120, 130, 140, 145, 160, 170, 180, 185, 200, 210]);
        let numbers: Vec<_> = shape(workload(&log), &shaping).unwrap().jobs.iter().map(|job| job.number).collect();
        assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
        assert_eq!(submits(&[7], shaping), [7, 8, 9]);
        // The mean gap 15 / 2 = 7.5 is rounded up to 8.
        assert_eq!(submits(&[0, 1, 15], Shaping { repeat: 2, ..Shaping::default() }), [0, 1, 15, 23, 24, 38]);
    }

    #[test]
    fn load_divides_the_time_since_the_first_submission() {
        let shaping = Shaping { load: 2.0, ..Shaping::default() };
        assert_eq!(submits(&[100, 101, 105, 110], shaping), [100, 101, 103, 105]);
        assert_eq!(submits(&[100, 110], Shaping { load: 0.5, ..Shaping::default() }), [100, 120]);
    }

    #[test]
    fn shaking_moves_all_but_the_first_a_little_and_sorts_again() {
        let log: Vec<i64> = (0..500).map(|at| 1000 + at * 7).collect();
        let shaken = |seed| submits(&log, Shaping { shake: 30, seed, ..Shaping::default() });
        assert_eq!(shaken(1), shaken(1));
        assert_ne!(shaken(1), shaken(2));
        assert!(shaken(1).is_sorted() && shaken(1)[0] == 1000);
        let jobs = shape(workload(&log), &Shaping { shake: 30, seed: 1, ..Shaping::default() }).unwrap().jobs;
        let moved: Vec<i64> = jobs.iter().map(|job| job.submission.submit - log[job.number as usize - 1]).collect();
        assert!(moved.iter().all(|moved| (-30..=30).contains(moved)));
        assert!(moved.contains(&30) && moved.contains(&-30), "both ends are reached in 500 draws");
    }
}
