//! Who gains and who loses from one file of jobs to another: users, and jobs by their processors.

use std::collections::BTreeMap;

use csv::ByteRecord;
use rustc_hash::FxHashMap;

use super::input::{CompareError, Input};
use crate::job::{Job, Submission};
use crate::metrics::{UserChange, UserTotals, width_class};
use crate::report::{counted, grouped, percent};
use crate::sort::sort_by;
use crate::text::{joined_with_and, printable};
use crate::time::{HOUR, MINUTE, Seconds, readable_duration};

/// The columns of a file of `--jobs-out` that say whose jobs wait, and for how long.
const COLUMNS: [&str; 5] = ["user", "submit", "wait", "procs", "runtime"];

/// The most users that are named.
const NAMED: usize = 5;

/// A smaller change of a mean wait is none.
const SAME: f64 = MINUTE as f64;

/// The jobs that two files have, added up.
pub struct JobGains {
    names: [String; 2],
    /// Where the columns are.
    at: [[usize; COLUMNS.len()]; 2],
    /// By setting, in the order of their first jobs; one without a name if the files have none.
    by_setting: Vec<(String, SettingGains)>,
    jobs: u64,
    /// Those with another submission and another runtime.
    other_jobs: u64,
}

/// Those of one setting.
#[derive(Default)]
struct SettingGains {
    /// The users in the order of their first jobs, and the places of their names.
    users: Vec<String>,
    places: FxHashMap<String, i32>,
    /// In the first file, and in the second.
    totals: [UserTotals; 2],
    /// By class of widths.
    widths: BTreeMap<i64, WidthGains>,
}

/// The jobs of some widths.
#[derive(Clone)]
struct WidthGains {
    jobs: u64,
    /// The fewest processors of a job, and the most.
    procs: [u32; 2],
    /// The sums of their waits in both files.
    waits: [f64; 2],
}

impl WidthGains {
    fn add(&mut self, other: &WidthGains) {
        self.jobs += other.jobs;
        self.procs = [self.procs[0].min(other.procs[0]), self.procs[1].max(other.procs[1])];
        self.waits.iter_mut().zip(other.waits).for_each(|(sum, wait)| *sum += wait);
    }

    /// By how much their mean wait changes.
    fn change(&self) -> f64 {
        (self.waits[1] - self.waits[0]) / self.jobs as f64
    }

    /// -1 if they wait less, 1 if they wait longer, 0 if it is the same.
    fn direction(&self) -> i8 {
        match self.change() {
            change if change.abs() < SAME => 0,
            change if change < 0.0 => -1,
            _ => 1,
        }
    }

    /// "those of 3 to 16 processors wait 1h 20m less each"
    fn in_words(&self) -> String {
        let [low, high] = self.procs.map(u64::from);
        let range = if low == high { String::new() } else { format!("{} to ", grouped(low)) };
        let procs = range + &counted(high, "processor");
        let each = readable_duration(self.change().abs());
        match self.direction() {
            0 => format!("those of {procs} wait as before"),
            -1 => format!("those of {procs} wait {each} less each"),
            _ => format!("those of {procs} wait {each} more each"),
        }
    }
}

impl JobGains {
    /// None unless both are files of jobs with what is needed.
    pub fn of(inputs: &[Input; 2]) -> Option<JobGains> {
        let places = |input: &Input| {
            let place = |name: &str| input.column(name).filter(|_| input.output.name == "jobs");
            let [user, submit, wait, procs, runtime] = COLUMNS.map(place);
            Some([user?, submit?, wait?, procs?, runtime?])
        };
        let at = [places(&inputs[0])?, places(&inputs[1])?];
        let names = [0, 1].map(|file: usize| inputs[file].name.clone());
        Some(JobGains { names, at, by_setting: Vec::new(), jobs: 0, other_jobs: 0 })
    }

    /// Adds a job, as it is in each file.
    pub fn add(&mut self, rows: [&ByteRecord; 2], setting: &str) -> Result<(), CompareError> {
        let [first, second] = [self.read(rows[0], 0)?, self.read(rows[1], 1)?];
        self.jobs += 1;
        self.other_jobs += u64::from(first.submit != second.submit && first.runtime != second.runtime);
        let place = self.by_setting.iter().rposition(|(name, _)| name == setting).unwrap_or_else(|| {
            self.by_setting.push((setting.to_string(), SettingGains::default()));
            self.by_setting.len() - 1
        });
        let gains = &mut self.by_setting[place].1;
        let name = String::from_utf8_lossy(&rows[0][self.at[0][0]]);
        let user = gains.places.get(&*name).copied().unwrap_or_else(|| {
            let user = gains.users.len() as i32;
            gains.users.push(name.to_string());
            gains.places.insert(name.to_string(), user);
            user
        });
        // The area is that of the first file, as it is that of the baseline.
        let submission = Submission { user, ..Submission::new(first.submit, first.procs, first.runtime) };
        let job = Job::new(submission, first.runtime);
        for (totals, wait) in gains.totals.iter_mut().zip([first.wait, second.wait]) {
            totals.add(&job, wait, 1.0);
        }
        let waits = [first.wait, second.wait].map(|wait| wait as f64);
        let own = WidthGains { jobs: 1, procs: [first.procs; 2], waits };
        let class = gains.widths.entry(width_class(first.procs));
        class.and_modify(|sums| sums.add(&own)).or_insert(own);
        Ok(())
    }

    fn read(&self, row: &ByteRecord, file: usize) -> Result<JobCells, CompareError> {
        let number = |place: usize| {
            let text = String::from_utf8_lossy(&row[self.at[file][place]]);
            text.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number as i64).ok_or_else(|| {
                let (line, name) = (row.position().map_or(0, csv::Position::line), &self.names[file]);
                let text = printable(&text);
                CompareError::Input(format!(
                    "{name}: line {line}: {} '{text}' is not a number; --jobs-out writes one for every job",
                    COLUMNS[place]
                ))
            })
        };
        let procs = u32::try_from(number(3)?.max(0)).unwrap_or(u32::MAX);
        Ok(JobCells { submit: number(1)?, wait: number(2)?, procs, runtime: number(4)? })
    }

    /// Checks that the files have jobs of one log.
    ///
    /// # Errors
    /// If no job is in both, or most of those in both are others.
    pub fn check(&self, alone: [u64; 2]) -> Result<(), CompareError> {
        let ([first, second], way_out) = (&self.names, "compare the --jobs-out of two runs of one log");
        if self.jobs == 0 && alone.iter().all(|&jobs| jobs > 0) {
            return Err(CompareError::Input(format!("{first} and {second} have no job in common: {way_out}")));
        }
        if self.other_jobs * 2 > self.jobs {
            return Err(CompareError::Input(format!(
                "{first} and {second} are of two logs: of {} with the same id {} have another submission and another runtime; {way_out}",
                counted(self.jobs, "job"),
                grouped(self.other_jobs)
            )));
        }
        Ok(())
    }

    /// Which jobs are in both files, then who gains and who loses, in paragraphs. Empty if both files have all jobs and all waits are
    /// the same.
    pub fn in_words(&self, alone: [u64; 2]) -> Vec<String> {
        let mut words = Vec::new();
        let gains: Vec<String> = self.by_setting.iter().filter_map(|(name, gains)| gains.in_words(name)).collect();
        if alone == [0, 0] && gains.is_empty() {
            return words;
        }
        let are = if self.jobs == 1 { "is" } else { "are" };
        let of = match self.by_setting.len() {
            0 | 1 => String::new(),
            settings => format!(" of {}", counted(settings as u64, "setting")),
        };
        let both = format!("{}{of} {are} in both files", counted(self.jobs, "job"));
        let only = alone.iter().zip(&self.names).filter(|(jobs, _)| **jobs > 0);
        let only: Vec<String> = only
            .map(|(jobs, name)| format!("{} {} only in {name}", grouped(*jobs), if *jobs == 1 { "is" } else { "are" }))
            .collect();
        words.push(match &only[..] {
            [] => format!("{both}."),
            only => format!("{both}; {}, and not compared.", joined_with_and(only)),
        });
        let has_gains = !gains.is_empty();
        words.extend(gains);
        if has_gains {
            words.push(
                "Users lose as in `sim --what-if`: their mean wait is over 1.1 times that of the first file and over a minute more. They \
                 gain if it is so the other way round. In one run some do by chance, which `sim --what-if` with --replications tells."
                    .to_string(),
            );
        }
        words
    }
}

/// What is read of a job.
struct JobCells {
    submit: i64,
    wait: Seconds,
    procs: u32,
    runtime: Seconds,
}

impl SettingGains {
    /// None if no job waits longer or less.
    fn in_words(&self, setting: &str) -> Option<String> {
        let all = self.widths.values().cloned().reduce(|mut all, width| {
            all.add(&width);
            all
        })?;
        let (jobs, [before, after]) = (all.jobs, all.waits);
        let [first, second] = &self.totals;
        let changes: Vec<UserChange> = second.against(first).collect();
        if changes.iter().all(|change| change.wait_mean == change.base_wait_mean) {
            return None;
        }
        let begin = if setting.is_empty() { "Their".to_string() } else { format!("{}: their", printable(setting)) };
        let mean = |sum: f64| readable_duration(sum / jobs as f64);
        let hours = grouped(((before - after).abs() / HOUR as f64).round() as u64);
        let less = if after < before { "less" } else { "more" };
        Some(format!(
            "{begin} mean wait is {} instead of {}: {hours} h of waiting {less}. {} {}",
            mean(after),
            mean(before),
            self.users_in_words(&changes),
            self.widths_in_words()
        ))
    }

    /// How many users gain and lose, and who loses most.
    fn users_in_words(&self, changes: &[UserChange]) -> String {
        let [first, second] = &self.totals;
        let what = |verb: &str, users: usize, area_pct: f64| match users {
            0 => format!("none {verb}s"),
            1 => format!("1 {verb}s ({} of the area)", percent(area_pct / 100.0)),
            _ => format!("{} {verb} ({} of the area)", grouped(users as u64), percent(area_pct / 100.0)),
        };
        let gaining = first.against(second).filter(|change| change.loses).count();
        let mut losing: Vec<&UserChange> = changes.iter().filter(|change| change.loses).collect();
        let lost = |change: &UserChange| (change.wait_mean - change.base_wait_mean) * change.jobs as f64;
        sort_by(&mut losing, |a, b| lost(b).total_cmp(&lost(a)));
        let most = losing.iter().take(NAMED).map(|change| {
            let more = readable_duration(change.wait_mean - change.base_wait_mean);
            format!("{} (mean wait {more} longer, {})", self.name(change), counted(change.jobs as u64, "job"))
        });
        let most = joined_with_and(&most.collect::<Vec<_>>());
        let who = match losing.len() {
            0 => String::new(),
            1..=NAMED => format!(": {most}"),
            _ => format!(", most of all {most}"),
        };
        format!(
            "Of {} {} and {}{who}.",
            counted(changes.len() as u64, "user"),
            what("gain", gaining, first.losers(second).area_pct),
            what("lose", losing.len(), second.losers(first).area_pct)
        )
    }

    fn name(&self, change: &UserChange) -> String {
        match &*self.users[change.user as usize] {
            "-1" => "those of unknown users".to_string(),
            name => printable(name).into_owned(),
        }
    }

    /// Which widths gain and lose. Neighbours with changes in the same direction are one.
    fn widths_in_words(&self) -> String {
        let mut ranges: Vec<WidthGains> = Vec::new();
        for width in self.widths.values() {
            match ranges.last_mut().filter(|last| last.direction() == width.direction()) {
                Some(last) => last.add(width),
                None => ranges.push(width.clone()),
            }
        }
        let text = joined_with_and(&ranges.iter().map(WidthGains::in_words).collect::<Vec<_>>());
        format!("Jobs by their processors: {text}.")
    }
}
