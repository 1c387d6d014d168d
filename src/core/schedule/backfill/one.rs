//! A pool of processors with one reservation: that of the first job that does not fit. What it leaves to others are two numbers.

use super::fitting_job::FittingJob;
use super::scan_index::ScanIndex;
use super::space::{Pass, Space};
use crate::job::JobId;
use crate::machine::Capacity;
use crate::schedule::machine::Machine;
use crate::schedule::queue::{QueuePlace, Waiting};
use crate::schedule::room::Room;
use crate::time::{Seconds, Time};

/// One reservation, or none.
pub struct OneReservation {
    capacity: Capacity,
    /// Ends and processors of the jobs started in this pass before the reservation, as running jobs are counted.
    started: Vec<(Time, u32)>,
    /// The job with the reservation.
    head: Option<FittingJob>,
    /// The reservation. Made when it is needed first, because most passes do not need it.
    shadow: Option<Shadow>,
    /// Whether the next pass need not make it again.
    is_kept: bool,
}

/// When the head will fit, by the ends of running jobs as they are counted, and the processors that it leaves free then.
#[derive(Clone, Copy)]
struct Shadow {
    time: Time,
    extra: i64,
}

impl OneReservation {
    pub fn new() -> OneReservation {
        OneReservation { capacity: Capacity::pool(0), started: Vec::new(), head: None, shadow: None, is_kept: false }
    }

    /// Adds up the processors of running jobs in order of their ends, jobs with equal ends together, until the head fits. The jobs
    /// that started in this pass count as running. Without a head every job may start that fits the free processors.
    fn find_shadow(&mut self, machine: &Machine) -> Shadow {
        let missing = self.head.map_or(i64::MAX, |head| head.procs - self.capacity.free());
        let frees = if self.started.is_empty() {
            // A faster way for most passes.
            machine.running.end_that_frees(missing)
        } else {
            self.started.sort_unstable();
            let mut running = machine.running.iter().map(|job| (job.end, job.procs)).peekable();
            let mut started = self.started.iter().copied().peekable();
            let mut freed = 0;
            std::iter::from_fn(|| {
                let time = [running.peek(), started.peek()].into_iter().flatten().map(|job| job.0).min()?;
                while let Some(job) = running.next_if(|job| job.0 == time) {
                    freed += i64::from(job.1);
                }
                while let Some(job) = started.next_if(|job| job.0 == time) {
                    freed += i64::from(job.1);
                }
                Some((time, freed))
            })
            .find(|(_, freed)| *freed >= missing)
        };
        match frees {
            Some((time, freed)) => Shadow { time, extra: freed - missing },
            None => Shadow { time: Time::MAX, extra: 0 },
        }
    }

    #[inline]
    fn shadow(&mut self, machine: &Machine) -> Shadow {
        let shadow = self.shadow.unwrap_or_else(|| self.find_shadow(machine));
        *self.shadow.insert(shadow)
    }

    /// The limits for a job that must not delay the head.
    #[inline]
    fn room(&mut self, machine: &Machine) -> Room {
        let Shadow { time, extra } = self.shadow(machine);
        Room { free: self.capacity.free(), extra, longest: time.saturating_sub(machine.now) }
    }
}

impl Space for OneReservation {
    fn begin(&mut self, pass: &Pass<'_>, _index: Option<&ScanIndex>) -> bool {
        self.begin_anew(pass.machine);
        self.capacity.free() > 0
    }

    fn begin_anew(&mut self, machine: &Machine) {
        self.capacity = machine.capacity;
        self.started.clear();
        (self.head, self.shadow, self.is_kept) = (None, None, false);
    }

    fn goes_on(&mut self, machine: &Machine) -> bool {
        // The jobs that the last pass has started run now.
        self.started.clear();
        self.capacity = machine.capacity;
        self.is_kept
    }

    fn is_over(&mut self, _pass: &Pass<'_>, index: Option<&ScanIndex>, _is_protected: bool, _starts: &[JobId]) -> bool {
        index.map_or(Some(1), ScanIndex::narrowest).is_none_or(|procs| procs > self.capacity.free())
    }

    fn count(&self) -> usize {
        usize::from(self.head.is_some())
    }

    fn are_all_closed(&self) -> bool {
        self.head.is_some()
    }

    fn is_too_wide(&self, procs: u32) -> bool {
        !self.capacity.fits(procs)
    }

    #[inline]
    fn try_start(&mut self, job: FittingJob, _in_queue: bool, pass: &Pass<'_>) -> bool {
        let procs = job.procs as u32;
        if self.head.is_none() {
            if !self.capacity.fits(procs) {
                return false;
            }
            self.started.push((pass.machine.now + job.length, procs));
        } else {
            if !self.room(pass.machine).holds(procs, job.length) {
                return false;
            }
            // It uses extra processors if it ends after the shadow time.
            if let Some(shadow) = self.shadow.as_mut().filter(|shadow| pass.machine.now + job.length > shadow.time) {
                shadow.extra -= job.procs;
            }
        }
        self.capacity.take(procs);
        true
    }

    fn reserve(&mut self, job: &Waiting, length: Seconds, _pass: &Pass<'_>) {
        (self.head, self.is_kept) = (Some(FittingJob::with(job, length)), true);
    }

    fn block(&mut self, id: JobId, _machine: &Machine) {
        self.head = Some(FittingJob { id, procs: 0, length: 0 });
    }

    /// The result for a job is hard to predict for the processor, and a mispredicted branch is the largest cost here. Hence there is
    /// no branch per job, only one per candidate.
    fn list(&mut self, part: &[QueuePlace], pass: &Pass<'_>, jobs: &mut Vec<Waiting>) {
        let free = Room { free: self.capacity.free(), extra: 0, longest: Seconds::MAX };
        if !part.iter().fold(false, |any, place| any | place.fits(&free)) {
            return;
        }
        // The limits only get tighter during a pass: a job that does not fit now does not fit later.
        let room = self.room(pass.machine);
        for places in part.chunks(u64::BITS as usize) {
            let mut held = places.iter().rev().fold(0u64, |held, place| held << 1 | u64::from(place.fits(&room)));
            while held > 0 {
                if let Some(job) = places[held.trailing_zeros() as usize].job() {
                    jobs.push(*job);
                }
                held &= held - 1;
            }
        }
    }

    fn limits(&mut self, pass: &Pass<'_>) -> impl Fn(i64) -> Option<Seconds> {
        let room = self.room(pass.machine);
        move |procs| room.longest(procs)
    }

    /// The reservation stays only if both ends of the job are on the same side of the shadow time.
    fn counts_as(&mut self, fitted: Seconds, counted: Seconds, now: Time) {
        let ends_later = |length| self.shadow.is_some_and(|shadow| now + length > shadow.time);
        self.is_kept &= ends_later(fitted) == ends_later(counted);
    }

    fn list_reservations(&mut self, machine: &Machine, reserved: &mut Vec<(JobId, Time)>) {
        reserved.extend(self.head.map(|head| (head.id, self.shadow(machine).time)));
    }
}
