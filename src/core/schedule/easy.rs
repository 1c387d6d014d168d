//! EASY backfilling, and SJBF, which is EASY with a different scan order: one reservation, a queue in order of arrival.

use super::arrivals::Arrivals;
use super::backlog::Backlog;
use super::fcfs::heads_that_fit;
use super::guide::{Guide, Guided};
use super::index::Index;
use super::machine::Machine;
use super::order::Order;
use super::policy::{Asked, Decisions, Policy, PolicyEvent, Scheduler};
use super::queue::{QueuePlace, Waiting};
use super::rules::{Counting, Rules};
use super::scan_index::ScanIndex;
use super::shadow::{Shadow, any_is_narrow_enough};
use crate::job::JobId;
use crate::machine::Capacity;
use crate::time::{Seconds, Time};

/// Backfilling with one reservation, for the head of the queue.
///
/// With [`Order::Arrival`] it is EASY (Skovira et al.; Talby et al., section 2.1), with [`Order::ShortestPrediction`] SJBF
/// (Tsafrir et al.; Talby et al., section 3.2).
pub struct Easy {
    rules: Rules,
    /// The head that did not fit at the last pass. None if the next pass must make its reservation again: jobs that were
    /// backfilled count by their estimates then.
    head: Option<JobId>,
    /// Whether no job that waited at the last pass could start after it if the head is not protected.
    is_without_protection: bool,
    /// Its reservation at the end of the last pass. None if no other job needed few enough processors to backfill.
    shadow: Option<Shadow>,
    backlog: Backlog<ScanIndex>,
    /// Scratch: jobs behind the head that may be backfilled.
    candidates: Vec<Waiting>,
    /// Scratch: ends and processors of the jobs started in this pass before the reservation, as running jobs are counted.
    started: Vec<(Time, u32)>,
}

/// What a pass is about after the first jobs have started.
struct EasyPass<'a> {
    machine: &'a Machine,
    /// The first job that does not fit. It has the reservation.
    head: &'a Waiting,
    is_protected: bool,
}

impl EasyPass<'_> {
    /// The length of a job that may delay the head.
    fn fitted(&self, job: &Waiting, arrivals: &Arrivals) -> Seconds {
        if self.is_protected { job.length.max(arrivals.estimate(job.id)) } else { job.length }
    }
}

impl Easy {
    /// Backfilling in this order; running jobs are counted by their predictions.
    pub fn new(scan: Order) -> Self {
        Easy::of_rules(&Rules { scan, ..Rules::default() })
    }

    /// Backfilling by these rules; the order of the queue is that of arrival, whatever they say.
    pub(super) fn of_rules(rules: &Rules) -> Self {
        Easy {
            rules: *rules,
            head: None,
            is_without_protection: false,
            shadow: None,
            backlog: Backlog::by_scan(rules, ScanIndex::new(rules.scan)),
            candidates: Vec::new(),
            started: Vec::new(),
        }
    }

    /// Whether only new jobs can start. If only arrivals happened since the last pass, a job that could not start then cannot start
    /// now: the free and extra processors are the same, and the shadow time is nearer. This is so in every scan order, but not if
    /// the head is not protected any more, or if a new job starts before all others.
    fn is_for_newcomers(&self, guide: &impl Guide, pass: &EasyPass<'_>) -> bool {
        let EasyPass { machine, head, is_protected } = *pass;
        let may_start_first = |width: u32| {
            let mut newcomers = self.backlog.newcomers(machine).iter().filter_map(QueuePlace::job);
            newcomers.any(|job| job.procs >= width && machine.capacity.fits(job.procs))
        };
        let any_starts_first = || guide.width_that_starts_first(head, machine.now).is_some_and(may_start_first);
        machine.only_arrivals
            && self.head == Some(head.id)
            && (is_protected || (self.is_without_protection && !any_starts_first()))
    }

    /// Starts heads while they fit, reserves for the first that does not, and backfills.
    fn pass_over_all(&mut self, guide: &impl Guide, first: &EasyPass<'_>, starts: &mut Vec<JobId>) {
        let (machine, is_deep) = (first.machine, self.backlog.is_deep());
        (self.head, self.shadow) = (None, None);
        let Easy { rules, backlog, started, .. } = self;
        let mut start = |job: &Waiting| {
            let length = rules.running.running_length(job.id, job.length, &backlog.arrivals);
            started.push((machine.now + length, job.procs));
            if is_deep {
                backlog.index.remove(job);
            }
            starts.push(job.id);
        };
        let (mut capacity, mut wide) = (machine.capacity, Vec::new());
        let width = guide.width_that_starts_first(first.head, machine.now);
        if let Some(width) = width.filter(|&width| i64::from(width) <= capacity.free()) {
            for job in machine.waiting.iter().filter(|job| job.procs >= width) {
                if capacity.fits(job.procs) {
                    capacity.take(job.procs);
                    start(job);
                    wide.push(job.id);
                }
            }
        }
        let others = machine.waiting.iter().filter(|job| !wide.contains(&job.id));
        let (head, capacity) = heads_that_fit(others, capacity, start);
        self.started.sort_unstable();
        let Some(head) = head else { return };
        let is_protected = guide.is_protected(head, true, &self.backlog.arrivals, machine.now);
        self.head = Some(head.id);
        self.is_without_protection = !first.is_protected && !is_protected;
        let pass = EasyPass { machine, head, is_protected };
        if capacity.free() <= 0 {
            return;
        }
        // The index knows no estimates, which are needed around a protected head.
        if is_deep && !is_protected {
            self.search(guide, &pass, capacity, starts);
        } else {
            self.scan(guide, &pass, machine.waiting.places_after(Some(head.arrival)), &wide, capacity, starts);
        }
    }

    /// The reservation of the head. Made when it is needed first, because most passes do not need it.
    fn shadow(&self, pass: &EasyPass<'_>, capacity: &Capacity) -> Shadow {
        self.shadow.unwrap_or_else(|| Shadow::of_head(pass.machine, &self.started, capacity, pass.head))
    }

    /// Tries the jobs of a part of the queue, without some. The result for a job is hard to predict for the processor, and a
    /// mispredicted branch is the largest cost here. Hence there is no branch per job, only one per candidate.
    fn scan(
        &mut self,
        guide: &impl Guide,
        pass: &EasyPass<'_>,
        part: &[QueuePlace],
        without: &[JobId],
        mut capacity: Capacity,
        starts: &mut Vec<JobId>,
    ) {
        if !any_is_narrow_enough(part, &capacity) {
            return;
        }
        let mut shadow = self.shadow(pass, &capacity);
        // The limits only get tighter during a pass: a job that does not fit now does not fit later.
        let room = shadow.room(pass.machine.now, &capacity);
        let Easy { backlog: Backlog { arrivals, .. }, candidates, .. } = self;
        candidates.clear();
        for places in part.chunks(u64::BITS as usize) {
            let mut held = places.iter().rev().fold(0u64, |held, place| held << 1 | u64::from(place.fits(&room)));
            while held > 0 {
                if let Some(job) = places[held.trailing_zeros() as usize].job() {
                    candidates.push(*job);
                }
                held &= held - 1;
            }
        }
        if pass.is_protected || !without.is_empty() {
            let fits = |job: &Waiting| room.holds(job.procs, pass.fitted(job, arrivals));
            candidates.retain(|job| fits(job) && !without.contains(&job.id));
        }
        guide.sort(candidates, arrivals, pass.machine.now);
        self.admit(pass, &mut shadow, &mut capacity, starts);
    }

    /// As [`Easy::scan`] for the whole queue behind a head that is not protected, with the index.
    fn search<G: Guide>(&mut self, guide: &G, pass: &EasyPass<'_>, mut capacity: Capacity, starts: &mut Vec<JobId>) {
        if self.backlog.index.narrowest().is_none_or(|procs| procs > capacity.free()) {
            return;
        }
        let (mut shadow, now) = (self.shadow(pass, &capacity), pass.machine.now);
        for class in 0..G::CLASSES {
            self.candidates.clear();
            guide.list_class(class, &shadow.room(now, &capacity), pass.machine, &mut self.candidates);
            self.candidates.retain(|job| !starts.contains(&job.id));
            self.admit(pass, &mut shadow, &mut capacity, starts);
        }
        let Easy { rules, backlog, .. } = self;
        while let Some(job) = backlog.index.take(&shadow.room(now, &capacity)) {
            capacity.take(job.procs as u32);
            let counted = rules.running.running_length(job.id, job.length, &backlog.arrivals);
            if !shadow.admit(job.procs, job.length, counted, now) {
                self.head = None;
            }
            starts.push(job.id);
        }
        self.shadow = Some(shadow);
    }

    /// Starts the candidates that fit, in their order.
    fn admit(&mut self, pass: &EasyPass<'_>, shadow: &mut Shadow, capacity: &mut Capacity, starts: &mut Vec<JobId>) {
        let (now, is_deep) = (pass.machine.now, self.backlog.is_deep());
        let Easy { rules, backlog, candidates, .. } = self;
        for job in candidates {
            let fitted = pass.fitted(job, &backlog.arrivals);
            if shadow.room(now, capacity).holds(job.procs, fitted) {
                capacity.take(job.procs);
                let counted = rules.running.running_length(job.id, job.length, &backlog.arrivals);
                if !shadow.admit(i64::from(job.procs), fitted, counted, now) {
                    self.head = None;
                }
                if is_deep {
                    backlog.index.remove(job);
                }
                starts.push(job.id);
            }
        }
        self.shadow = Some(*shadow);
    }
}

impl Guided for Easy {
    fn guided_pass(&mut self, guide: &impl Guide, machine: &Machine, out: &mut Decisions) {
        self.backlog.begin_pass(machine);
        self.started.clear();
        if let Some(head) = machine.waiting.first() {
            let is_protected = guide.is_protected(head, true, &self.backlog.arrivals, machine.now);
            let pass = EasyPass { machine, head, is_protected };
            if self.is_for_newcomers(guide, &pass) {
                self.is_without_protection &= !is_protected;
                let newcomers = self.backlog.newcomers(machine);
                self.scan(guide, &pass, newcomers, &[], machine.capacity, &mut out.starts);
            } else {
                self.pass_over_all(guide, &pass, &mut out.starts);
            }
        }
        self.backlog.end_pass(machine, &out.starts);
    }
}

impl Policy for Easy {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        let rules = self.rules;
        match out.asked {
            Asked::Pass => self.guided_pass(&rules, machine, out),
            Asked::Reservations(most) => {
                let Some(head) = machine.waiting.first().filter(|_| most > 0) else { return };
                out.reserved.push((head.id, Shadow::of_head(machine, &[], &machine.capacity, head).time));
            }
            _ => {}
        }
    }

    fn on(&mut self, event: &PolicyEvent<'_>, _machine: &Machine) {
        self.backlog.on(event);
    }
}

impl From<Easy> for Scheduler {
    fn from(easy: Easy) -> Scheduler {
        let by_estimates = easy.rules.running == Counting::Estimate;
        Scheduler { by_estimates, answers: true, ..Scheduler::new(easy) }
    }
}
