//! Live answers as rows of named cells, and as text for people.

use std::io::{self, Write};

use super::live::{FEW_ANSWERS, JUDGED_EVERY, LiveAnswer};
use super::sample::WaitSample;
use super::tables::WaitRow;
use crate::job::Submission;
use crate::report::{Cell, Table, counted, grouped, percent, write_wrapped};
use crate::text::{counted_as, printable};
use crate::time::{DAY, HOUR, MINUTE, Seconds, Time, date, readable_duration};
use crate::trace::Zone;

/// A job of the present queue that waits.
#[derive(Clone, Debug)]
pub struct LiveJob {
    /// Its id at the site, or its number in the log; empty for a job that is only asked about.
    pub name: String,
    /// As it was submitted.
    pub submission: Submission,
    /// The start that the site's scheduler expects, if it says one.
    pub expected: Option<Time>,
    /// The place of its answer. None if it is held: it would not start even if processors were free.
    pub place: Option<usize>,
    /// Why it is held.
    pub reason: Option<String>,
}

/// Everything about an answer that is printed.
pub struct LiveReport<'a> {
    /// What was asked, in words.
    pub title: String,
    /// The present instant, in the time of the log.
    pub now: Time,
    /// The Unix time of the log's time 0. None if it is not known: then no dates are printed.
    pub unix_start: Option<Time>,
    /// For dates.
    pub zone: &'a Zone,
    /// The number of jobs that run and that wait, and the processors in use.
    pub running: usize,
    /// Not counting the asked job.
    pub waiting: usize,
    /// Processors in use.
    pub occupied: u64,
    /// The processors of the machine.
    pub procs: u32,
    /// The jobs that are answered for or held, in the order of the queue.
    pub jobs: &'a [LiveJob],
    /// Whether one job was asked about, which is the only one here.
    pub asked: bool,
    /// What that job waited, if it is a job of the past.
    pub actual: Option<Seconds>,
    /// The answers.
    pub answer: &'a LiveAnswer,
}

/// The levels of an answer: "start at 50%, 80% and 95%".
const SHOWN: [(f64, &str); 3] = [(0.5, "50%"), (0.8, "80%"), (0.95, "95%")];

/// Of fewer drawn waits even the longest is exceeded with a probability above 5%.
const FEWEST_DRAWS: usize = 19;

impl LiveReport<'_> {
    /// `2026-01-31 18:30`; of today only `18:30`. None if the log does not say when it begins.
    fn clock(&self, time: Time) -> Option<String> {
        let unix_start = self.unix_start?;
        let mut clock = self.zone.clock();
        let (local, today) = (clock.local(unix_start + time), clock.local(unix_start + self.now));
        let hours = format!("{:02}:{:02}", local.rem_euclid(DAY) / HOUR, local.rem_euclid(HOUR) / MINUTE);
        Some(match local.div_euclid(DAY) == today.div_euclid(DAY) {
            true => hours,
            false => format!("{} {hours}", date(local)),
        })
    }

    /// The end of a wait that begins now: `18:30`, or `in 2h 10m` if dates are not known. The minute is not over before the wait.
    fn by(&self, wait: Seconds) -> String {
        match wait {
            0 => "now".to_string(),
            _ => self.clock(self.now + wait + MINUTE - 1).unwrap_or_else(|| format!("in {}", duration(wait))),
        }
    }

    /// "most likely (80%) within 40 minutes; 95% sure by 18:30".
    fn bottom_line(&self, sample: &WaitSample) -> String {
        match (sample.quantile(0.8), sample.quantile(0.95)) {
            (0, 0) => "it starts at once; 95% sure".to_string(),
            (likely, sure) => {
                let likely = if likely == 0 { "at once".to_string() } else { format!("within {}", duration(likely)) };
                let sure = match self.clock(self.now + sure + MINUTE - 1) {
                    Some(clock) => format!("by {clock}"),
                    None => format!("within {}", duration(sure)),
                };
                format!("most likely (80%) {likely}; 95% sure {sure}")
            }
        }
    }

    /// One row per job: `job,stage,procs,estimate,submit,waited`, the waits from now on and the starts that are not exceeded
    /// with a probability of 50, 80 and 95%, the bounds of the most probable class of waits and its probability, the start that
    /// the site's scheduler expects, why a job is held, and the present instant. Times are Unix times if the log says when it
    /// begins, and seconds of the log otherwise.
    pub fn rows(&self) -> Vec<WaitRow> {
        let whole = |value: i64| Cell::Number(value as f64);
        let time = |time: Time| whole(self.unix_start.unwrap_or(0) + time);
        let row = |job: &LiveJob| {
            let sample = job.place.map(|place| &self.answer.waits[place]);
            let quantile = |level: f64| sample.map(|sample| sample.quantile(level));
            let class = sample.map(|sample| (sample.class(), sample.probabilities()));
            let bounds = class.map(|(class, _)| class.bounds());
            let name = match (job.name.parse(), job.name.is_empty()) {
                (Ok(number), _) => whole(number),
                (_, true) => Cell::None,
                _ => Cell::Text(job.name.clone()),
            };
            let mut row = vec![
                ("job", name),
                ("stage", Cell::Text(if job.place.is_some() { "waiting" } else { "held" }.to_string())),
                ("procs", Cell::Count(u64::from(job.submission.procs))),
                ("estimate", whole(job.submission.estimate)),
                ("submit", time(job.submission.submit)),
                ("waited", whole((self.now - job.submission.submit).max(0))),
            ];
            let waits = ["wait50", "wait80", "wait95"].into_iter().zip(SHOWN);
            row.extend(waits.map(|(name, (level, _))| (name, quantile(level).map_or(Cell::None, whole))));
            let starts = ["start50", "start80", "start95"].into_iter().zip(SHOWN);
            row.extend(
                starts
                    .map(|(name, (level, _))| (name, quantile(level).map_or(Cell::None, |wait| time(self.now + wait)))),
            );
            let probability = class.map_or(Cell::None, |(class, all)| Cell::Real(all[class.index()]));
            row.extend([
                ("class_from", bounds.map_or(Cell::None, |(from, _)| whole(from))),
                ("class_to", bounds.and_then(|(_, to)| to).map_or(Cell::None, whole)),
                ("class_probability", probability),
                ("expected_start", job.expected.map_or(Cell::None, time)),
                ("reason", job.reason.clone().map_or(Cell::None, Cell::Text)),
                ("now", time(self.now)),
                ("wait", self.actual.map_or(Cell::None, whole)),
            ]);
            row
        };
        self.jobs.iter().map(row).collect()
    }

    /// Writes the answer as text.
    pub fn write(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        write_wrapped(out, "", &printable(&self.title), width)?;
        let (waiting, running) = (counted(self.waiting as u64, "job"), counted(self.running as u64, "job"));
        let (used, all) = (grouped(self.occupied), counted(u64::from(self.procs), "processor"));
        let now = match self.clock_with_zone() {
            Some(clock) => format!("{clock}: "),
            None => String::new(),
        };
        write_wrapped(out, "", &format!("{now}{waiting} waiting, {running} running on {used} of {all}"), width)?;
        writeln!(out)?;
        match self.asked {
            true => self.write_asked(out, width)?,
            false => self.write_queue(out, width)?,
        }
        writeln!(out)?;
        self.write_record(out, width)
    }

    fn clock_with_zone(&self) -> Option<String> {
        let local = self.zone.clock().local(self.unix_start? + self.now);
        let hours = format!("{:02}:{:02}", local.rem_euclid(DAY) / HOUR, local.rem_euclid(HOUR) / MINUTE);
        Some(format!("{} {hours} ({})", date(local), printable(self.zone.name())))
    }

    fn write_asked(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        for sample in self.jobs.iter().filter_map(|job| job.place).map(|place| &self.answer.waits[place]) {
            write_wrapped(out, "", &self.bottom_line(sample), width)?;
            writeln!(out)?;
            let mut table = Table::default();
            table.headings(["it has started with probability", "within", "by"]);
            for (level, name) in SHOWN {
                let wait = sample.quantile(level);
                table.push(vec![name.to_string(), duration(wait), self.by(wait)]);
            }
            table.write(out, width)?;
        }
        if let Some(actual) = self.actual {
            writeln!(out)?;
            writeln!(out, "it waited {}", readable_duration(actual as f64))?;
        }
        Ok(())
    }

    fn write_queue(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        let answered: Vec<(&LiveJob, &WaitSample)> =
            self.jobs.iter().filter_map(|job| Some((job, &self.answer.waits[job.place?]))).collect();
        if answered.is_empty() {
            writeln!(out, "no job waits for processors")?;
        } else {
            let within = |longest: Seconds| {
                grouped(answered.iter().filter(|(_, sample)| sample.quantile(0.8) <= longest).count() as u64)
            };
            let waiting = counted(self.waiting as u64, "waiting job");
            let all = match answered.len() == self.waiting {
                true => waiting,
                false => format!("{} of {waiting}", grouped(answered.len() as u64)),
            };
            let bottom = format!(
                "{all}: most likely (80%) started within an hour {}, within 6 hours {}, within a day {}",
                within(HOUR),
                within(6 * HOUR),
                within(DAY)
            );
            write_wrapped(out, "", &bottom, width)?;
            writeln!(out)?;
            let mut table = Table::default();
            let headings = ["job", "processors", "estimate", "has waited", "50%: by", "80%: by", "95%: by"];
            let expects = answered.iter().any(|(job, _)| job.expected.is_some());
            table.headings(headings.into_iter().chain(expects.then_some("site expects")));
            for (job, sample) in answered {
                let mut cells = vec![
                    printable(&job.name).into_owned(),
                    grouped(u64::from(job.submission.procs)),
                    duration(job.submission.estimate),
                    duration((self.now - job.submission.submit).max(0)),
                ];
                cells.extend(SHOWN.map(|(level, _)| self.by(sample.quantile(level))));
                if expects {
                    let expected = job.expected.map(|time| self.by((time - self.now).max(0)));
                    cells.push(expected.unwrap_or("-".to_string()));
                }
                table.push(cells);
            }
            table.write(out, width)?;
        }
        let held: Vec<String> = self
            .jobs
            .iter()
            .filter(|job| job.place.is_none())
            .map(|job| format!("{} ({})", printable(&job.name), printable(job.reason.as_deref().unwrap_or("held"))))
            .collect();
        if !held.is_empty() {
            writeln!(out)?;
            let (count, jobs) = (counted(held.len() as u64, "job"), held.join(", "));
            write_wrapped(out, "", &format!("{count} held, not waiting for processors: {jobs}"), width)?;
        }
        Ok(())
    }

    /// How good such answers were lately.
    fn write_record(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        let record = &self.answer.record;
        if record.predictions == 0 {
            let text = "how good such answers are is not known: the log has too few jobs before now";
            return write_wrapped(out, "", text, width);
        }
        let share = |share: &super::figures::HitRate| percent(share.percent() / 100.0);
        let text = format!(
            "How good such answers were when jobs arrived: of {} (every {JUDGED_EVERY}th of the last {}), {} started by the time given for 50%, {} \
             by that for 80% and {} by that for 95%. The time for 50% was {} off on average; within 10 minutes for {}, \
             within a factor of 2 for {}.",
            counted_as(record.predictions, "past job", "past jobs"),
            grouped(self.answer.judged_of as u64),
            share(&record.bounds[0]),
            share(&record.bounds[1]),
            share(&record.bounds[3]),
            readable_duration(record.mean_error()),
            share(&record.within_minutes[1]),
            share(&record.within_factors[0]),
        );
        write_wrapped(out, "", &text, width)
    }

    /// For how many of these jobs the answer is recalibrated.
    pub fn recalibrated(&self) -> usize {
        self.jobs.iter().filter(|job| job.place.is_some_and(|place| self.answer.recalibrated[place])).count()
    }

    /// Why the answer may be worth little, in sentences. `recalibrated` is what was asked for.
    pub fn weaknesses(&self, recalibrated: bool) -> Vec<String> {
        let mut weak = Vec::new();
        if !recalibrated && self.answer.draws < FEWEST_DRAWS {
            let draws = counted(self.answer.draws as u64, "simulation");
            weak.push(format!("{draws} cannot tell a time for 95%: at least {FEWEST_DRAWS} are needed (see --draws)"));
        }
        let simulated =
            self.jobs.len() - self.recalibrated() - self.jobs.iter().filter(|job| job.place.is_none()).count();
        if recalibrated && simulated > 0 {
            let jobs = counted_as(simulated as u64, "job", "jobs");
            weak.push(format!(
                "too few past jobs waited as long as {jobs}: the times of these are as simulated, not recalibrated"
            ));
        }
        if recalibrated && self.answer.past < FEW_ANSWERS {
            let past = counted_as(self.answer.past as u64, "past answer", "past answers");
            weak.push(format!("the ranges come from only {past}: at least {FEW_ANSWERS} are needed to trust them"));
        }
        let (widest, longest) = self.answer.largest;
        let answered = || self.jobs.iter().filter(|job| job.place.is_some()).map(|job| &job.submission);
        let wider = answered().filter(|job| job.procs > widest).count();
        let longer = answered().filter(|job| job.estimate > longest).count();
        let unlike = |count: usize, what: &str, limit: String| {
            let jobs = counted_as(count as u64, "job asks", "jobs ask");
            format!("{jobs} for {what} than any past job that was looked at ({limit}): that answer is a guess")
        };
        if recalibrated && self.answer.past > 0 {
            if wider > 0 {
                weak.push(unlike(wider, "more processors", counted(u64::from(widest), "processor")));
            }
            if longer > 0 {
                weak.push(unlike(longer, "a longer time", duration(longest)));
            }
        }
        weak
    }
}

fn duration(seconds: Seconds) -> String {
    readable_duration(seconds as f64)
}
