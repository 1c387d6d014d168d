//! When the passes of the main scheduler and of the backfill scheduler are due.
//!
//! Passes without an effect are not made. The clock counts them all the same, because the time of a pass depends on the one
//! before.

use super::settings::Settings;
use crate::time::{DAY, MINUTE, Seconds, Time};

/// How long to wait for the next pass that only the passing of time asks for. When nothing has happened for more than a day,
/// such passes become rarer: a log may have a job that outlives its limit by years.
pub(super) fn rest(now: Time, last_event: Time) -> Seconds {
    let quiet = now - last_event;
    if quiet > DAY { quiet / 64 } else { 0 }
}

/// The time from one check of the time limits of running jobs to the next (PERIODIC_TIMEOUT).
const LIMIT_CHECKS: Seconds = 30;

/// Slurm's limits are whole minutes.
pub(super) fn in_whole_minutes(estimate: Seconds) -> Seconds {
    (estimate + MINUTE - 1).div_euclid(MINUTE) * MINUTE
}

/// When the passes come, and what has happened since the last ones.
pub(super) struct PassTimes {
    pub main: MainClock,
    pub backfill: BackfillClock,
    /// The last instant at which a pass could come, and whether jobs waited after it.
    pub now: Time,
    pub is_waiting: bool,
    /// A job arrived, ended or was cancelled since then.
    pub has_event: bool,
    /// When a job last arrived, started, ended or was cancelled.
    pub last_event: Time,
    /// The last backfill pass that was not skipped.
    pub last_backfill: Option<Time>,
}

impl PassTimes {
    pub fn new(settings: &Settings) -> PassTimes {
        PassTimes {
            main: MainClock::new(settings.main_delay, settings.main_interval),
            backfill: BackfillClock::new(settings.interval),
            now: Time::MIN,
            is_waiting: false,
            has_event: false,
            last_event: Time::MIN,
            last_backfill: None,
        }
    }

    /// An instant at which passes can come. Returns whether something has happened.
    pub fn begin(&mut self, now: Time, is_waiting: bool) -> bool {
        self.main.count_until(now);
        self.backfill.count_until(now);
        self.backfill.set_waiting(is_waiting, now);
        let has_event = std::mem::take(&mut self.has_event);
        if has_event {
            self.main.on_event(now);
            self.last_event = now;
        }
        has_event
    }

    /// The passes of the instant are made.
    pub fn end(&mut self, now: Time, is_waiting: bool) {
        (self.now, self.is_waiting) = (now, is_waiting);
        self.backfill.set_waiting(is_waiting, now);
    }
}

/// The times of main passes.
///
/// A main pass comes one second after a submission or an end, but not within `delay` of the last main pass. Also every
/// `interval` since the first submission, then without a limit of its depth.
#[derive(Clone, Debug)]
pub(super) struct MainClock {
    delay: Seconds,
    interval: Seconds,
    /// The first submission.
    origin: Option<Time>,
    last: Option<Time>,
    due: Option<Time>,
}

impl MainClock {
    pub fn new(delay: Seconds, interval: Seconds) -> MainClock {
        MainClock { delay, interval, origin: None, last: None, due: None }
    }

    /// The last pass without limit at or before `now`. None if there was none.
    fn last_full(&self, now: Time) -> Option<Time> {
        let origin = self.origin?;
        let passes = (now - origin).div_euclid(self.interval);
        (passes > 0).then(|| origin + passes * self.interval)
    }

    /// The first pass without limit after `now`.
    fn next_full(&self, now: Time) -> Option<Time> {
        let origin = self.origin?;
        Some(origin + ((now - origin).div_euclid(self.interval) + 1).max(1) * self.interval)
    }

    /// Counts the passes before `now`.
    pub fn count_until(&mut self, now: Time) {
        if let Some(due) = self.due {
            if self.last_full(due.min(now - 1)) > self.last {
                // A pass without limit came first.
                self.due = None;
            } else if due < now {
                (self.last, self.due) = (Some(due), None);
            }
        }
        self.last = self.last.max(self.last_full(now - 1));
    }

    /// A job arrives or ends. Comes after [`MainClock::count_until`] the same instant.
    pub fn on_event(&mut self, now: Time) {
        self.origin.get_or_insert(now);
        if self.due.is_none() {
            let earliest = self.last.map_or(now, |last| last + self.delay);
            self.due = Some(earliest.max(now + 1));
        }
    }

    /// Whether a pass is due: None, or whether it is without limit. Comes after [`MainClock::count_until`] the same instant.
    pub fn due(&self, now: Time) -> Option<bool> {
        if self.last == Some(now) {
            return None;
        }
        if self.last_full(now) == Some(now) {
            return Some(true);
        }
        self.due.filter(|&due| due <= now).map(|_| false)
    }

    /// A pass was made.
    pub fn on_pass(&mut self, now: Time) {
        (self.last, self.due) = (Some(now), None);
    }

    /// The first check of time limits at or after a time.
    pub fn limit_check(&self, time: Time) -> Option<Time> {
        let origin = self.origin?;
        Some(origin + (time - origin + LIMIT_CHECKS - 1).div_euclid(LIMIT_CHECKS) * LIMIT_CHECKS)
    }

    /// The next pass after `now` that can have an effect: one that an event has asked for, or one without limit that comes
    /// after `rest` seconds, if that alone `is_needed`.
    pub fn next(&self, now: Time, is_needed: bool, rest: Seconds) -> Option<Time> {
        match self.due {
            Some(due) => Some(self.next_full(now).map_or(due, |full| due.min(full))),
            None => self.next_full(now + rest).filter(|_| is_needed),
        }
    }
}

/// The times of backfill passes: `interval` after the previous one, if jobs wait. The daemon looks once per second whether
/// any wait.
#[derive(Clone, Debug)]
pub(super) struct BackfillClock {
    interval: Seconds,
    last: Option<Time>,
    /// The next pass, while jobs wait.
    next: Option<Time>,
}

impl BackfillClock {
    pub fn new(interval: Seconds) -> BackfillClock {
        BackfillClock { interval, last: None, next: None }
    }

    /// Counts the passes before `now`.
    pub fn count_until(&mut self, now: Time) {
        if let Some(next) = self.next.filter(|&next| next < now) {
            let next = next + (now - next).div_euclid(self.interval) * self.interval;
            let next = if next < now { next + self.interval } else { next };
            (self.last, self.next) = (Some(next - self.interval), Some(next));
        }
    }

    /// Jobs wait or do not. Comes after [`BackfillClock::count_until`] the same instant.
    pub fn set_waiting(&mut self, is_waiting: bool, now: Time) {
        match (is_waiting, self.next) {
            (true, None) => self.next = Some(self.last.map_or(now, |last| last + self.interval).max(now + 1)),
            (false, _) => self.next = None,
            _ => {}
        }
    }

    pub fn is_due(&self, now: Time) -> bool {
        self.next == Some(now)
    }

    /// A pass was made.
    pub fn on_pass(&mut self, now: Time) {
        (self.last, self.next) = (Some(now), Some(now + self.interval));
    }

    /// The first pass at or after `time`.
    pub fn first_from(&self, time: Time) -> Option<Time> {
        let next = self.next?;
        if time <= next {
            return Some(next);
        }
        Some(next + (time - next + self.interval - 1).div_euclid(self.interval) * self.interval)
    }
}
