//! Live answers in sentences: what the answer is, how far it can be relied on, and how good such answers were.

use super::back_test::BackTest;
use super::figures::HitRate;
use super::forward::ClosedTime;
use super::live::{JUDGED_EVERY, LiveAnswer, LiveWait};
use super::reliability::{Reliability, not_held};
use super::sample::WaitSample;
use crate::job::Submission;
use crate::machine::OutageKind;
use crate::report::{counted, grouped, percent};
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
    /// Shown only if that was asked for.
    pub names: LiveNames,
}

impl LiveJob {
    /// A job that is asked about. Its answer is the only one.
    pub fn asked(name: String, submission: Submission) -> LiveJob {
        LiveJob { name, submission, expected: None, place: Some(0), reason: None, names: LiveNames::default() }
    }
}

/// The names of a job's user, queue and partition, as far as they are shown.
#[derive(Clone, Debug, Default)]
pub struct LiveNames {
    /// The user.
    pub user: Option<String>,
    /// The queue; with Slurm the quality of service.
    pub queue: Option<String>,
    /// The partition.
    pub partition: Option<String>,
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
    /// Whether they should be recalibrated.
    pub recalibrate: bool,
    /// Why the past of the log does not tell anything about this queue.
    pub doubts: Vec<String>,
    /// How the answers were made, in words.
    pub how: String,
}

impl LiveReport<'_> {
    /// `2026-01-31 18:30`; of today only `18:30`. None if the log does not say when it begins.
    fn clock(&self, time: Time) -> Option<String> {
        let unix_start = self.unix_start?;
        let mut clock = self.zone.clock();
        let (local, today) = (clock.local(unix_start + time), clock.local(unix_start + self.now));
        Some(match local.div_euclid(DAY) == today.div_euclid(DAY) {
            true => hours(local),
            false => minute(local),
        })
    }

    /// The outage after which a job starts in all simulations: `maintenance of 2026-12-01 08:00`. Without dates,
    /// `maintenance in 2h 10m`.
    pub(super) fn after(&self, answer: &LiveWait) -> Option<String> {
        let ClosedTime { kind, start, .. } = answer.closed.after()?;
        let what = match kind {
            OutageKind::Maintenance => "maintenance",
            OutageKind::Reserved => "reservation",
            OutageKind::Down | OutageKind::Drain => "outage",
        };
        Some(match self.unix_start {
            Some(unix_start) => format!("{what} of {}", minute(self.zone.clock().local(unix_start + start))),
            None if *start > self.now => format!("{what} in {}", duration(start - self.now)),
            None => format!("present {what}"),
        })
    }

    /// The end of a wait that begins now: `18:30`, or `in 2h 10m` if dates are not known. The minute is not over before the wait.
    pub(super) fn by(&self, wait: Seconds) -> String {
        match wait {
            0 => "now".to_string(),
            _ => self.clock(self.now + wait + MINUTE - 1).unwrap_or_else(|| format!("in {}", duration(wait))),
        }
    }

    /// How long a job has waited.
    pub(super) fn age(&self, job: &LiveJob) -> Seconds {
        (self.now - job.submission.submit).max(0)
    }

    /// The answer for a job that waits.
    pub fn wait(&self, job: &LiveJob) -> Option<&LiveWait> {
        job.place.map(|place| &self.answer.jobs[place])
    }

    /// Whether the answer for a job can be relied on. None if the job is held.
    pub fn reliability(&self, job: &LiveJob) -> Option<Reliability> {
        let answer = self.wait(job)?;
        if let Some(doubt) = self.doubts.first() {
            return Some(Reliability::Unknown(doubt.clone()));
        }
        let asked = (&job.submission, self.age(job));
        Some(self.answer.reliability(asked, answer, (self.recalibrate, self.procs)))
    }

    /// The first line: what the answer is, as far as it can be relied on.
    pub fn answer_line(&self) -> String {
        let answered: Vec<(&LiveJob, &LiveWait, Reliability)> =
            self.jobs.iter().filter_map(|job| Some((job, self.wait(job)?, self.reliability(job)?))).collect();
        match &answered[..] {
            [] => "no job waits for processors".to_string(),
            [(job, answer, reliability)] if self.asked => {
                let line = match reliability {
                    Reliability::Held => self.bottom_line(&answer.sample),
                    Reliability::NotHeld(within) => not_held(self.answer.back_test(self.age(job)), within),
                    Reliability::Unknown(doubt) => format!("the past of this log does not tell: {doubt}"),
                };
                self.after(answer).iter().fold(line, |line, outage| format!("{line}; after the {outage}"))
            }
            _ => self.queue_line(&answered),
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

    /// What the answers for all jobs are, in a sentence for each reason to rely on them or not.
    fn queue_line(&self, answered: &[(&LiveJob, &LiveWait, Reliability)]) -> String {
        let reliable: Vec<Seconds> = answered
            .iter()
            .filter(|(_, _, reliability)| *reliability == Reliability::Held)
            .map(|(_, answer, _)| answer.sample.quantile(0.8))
            .collect();
        let mut groups: Vec<(String, usize)> = Vec::new();
        for (job, _, reliability) in answered {
            let group = match reliability {
                Reliability::Held => {
                    let within = |longest| grouped(reliable.iter().filter(|wait| **wait <= longest).count() as u64);
                    format!(
                        "most likely (80%) started within an hour {}, within 6 hours {}, within a day {}",
                        within(HOUR),
                        within(6 * HOUR),
                        within(DAY)
                    )
                }
                Reliability::NotHeld(within) => not_held(self.answer.back_test(self.age(job)), within),
                Reliability::Unknown(doubt) => format!("the past of this log does not tell: {doubt}"),
            };
            match groups.iter_mut().find(|(text, _)| *text == group) {
                Some((_, count)) => *count += 1,
                None => groups.push((group, 1)),
            }
        }
        let mut after: Vec<(String, u64)> = Vec::new();
        for outage in answered.iter().filter_map(|(_, answer, _)| self.after(answer)) {
            match after.iter_mut().find(|(other, _)| *other == outage) {
                Some((_, count)) => *count += 1,
                None => after.push((outage, 1)),
            }
        }
        let after = after.iter().map(|(outage, count)| format!("; {} after the {outage}", grouped(*count)));
        let after: String = after.collect();
        let waiting = counted(self.waiting as u64, "waiting job");
        let all = match answered.len() == self.waiting {
            true => waiting,
            false => format!("{} of {waiting}", grouped(answered.len() as u64)),
        };
        match &groups[..] {
            [(text, _)] => format!("{all}: {text}{after}"),
            _ => {
                let groups = groups.iter().map(|(text, count)| format!("for {}, {text}", grouped(*count as u64)));
                format!("{all}: {}{after}", groups.collect::<Vec<_>>().join("; "))
            }
        }
    }

    /// The queue and the machine at the present instant.
    pub fn present(&self) -> String {
        let (waiting, running) = (counted(self.waiting as u64, "job"), counted(self.running as u64, "job"));
        let (used, all) = (grouped(self.occupied), counted(u64::from(self.procs), "processor"));
        let now = self.clock_with_zone().map_or_else(String::new, |clock| format!("{clock}: "));
        format!("{now}{waiting} waiting, {running} running on {used} of {all}")
    }

    /// The present instant. None if the log does not say when it begins.
    pub fn clock_with_zone(&self) -> Option<String> {
        let local = self.zone.clock().local(self.unix_start? + self.now);
        Some(format!("{} ({})", minute(local), printable(self.zone.name())))
    }

    /// The jobs that are held, each with the reason.
    pub fn held(&self) -> impl Iterator<Item = (&LiveJob, &str)> {
        let held = self.jobs.iter().filter(|job| job.place.is_none());
        held.map(|job| (job, job.reason.as_deref().unwrap_or("held")))
    }

    /// How good such answers were lately, a paragraph for each kind of jobs.
    pub fn records(&self) -> Vec<String> {
        let mut records = vec![match self.answer.arrivals.judged() {
            0 => "How good such answers are when jobs arrive is not known: the log has too few jobs before now."
                .to_string(),
            judged => {
                let jobs = counted_as(judged as u64, "past job", "past jobs");
                let judged_of = grouped(self.answer.judged_of as u64);
                let figures = figures_in_words(&self.answer.arrivals);
                format!(
                    "How good such answers were when jobs arrived: of {jobs} (every {JUDGED_EVERY}th of the last {judged_of}), {figures}"
                )
            }
        }];
        let waits = self.jobs.iter().any(|job| job.place.is_some() && self.age(job) > 0);
        records.extend(waits.then(|| match self.answer.waiting.judged() {
            0 => "How good they are for jobs that already wait is not known: too few past jobs waited.".to_string(),
            judged => {
                let jobs = counted_as(judged as u64, "past job", "past jobs");
                format!(
                    "For jobs that already waited at these moments: of {jobs}, {}",
                    figures_in_words(&self.answer.waiting)
                )
            }
        }));
        records
    }
}

/// How good judged answers were.
fn figures_in_words(test: &BackTest) -> String {
    let figures = &test.figures;
    let share = |share: &HitRate| percent(share.percent() / 100.0);
    format!(
        "{} started by the time given for 50%, {} by that for 80% and {} by that for 95%. The time for 50% was {} off on \
         average; within 10 minutes for {}, within a factor of 2 for {}.",
        share(&figures.bounds[0]),
        share(&figures.bounds[1]),
        share(&figures.bounds[3]),
        readable_duration(figures.mean_error()),
        share(&figures.within_minutes[1]),
        share(&figures.within_factors[0]),
    )
}

/// The minute of a local time: `18:30`.
fn hours(local: Time) -> String {
    format!("{:02}:{:02}", local.rem_euclid(DAY) / HOUR, local.rem_euclid(HOUR) / MINUTE)
}

/// The same with its day: `2026-01-31 18:30`.
fn minute(local: Time) -> String {
    format!("{} {}", date(local), hours(local))
}

/// A duration as text.
pub(super) fn duration(seconds: Seconds) -> String {
    readable_duration(seconds as f64)
}
