//! Backfilling: one walk through the waiting jobs for first come first served, EASY, any number of reservations and conservative
//! backfilling, on pools of processors and on nodes.

mod backlog;
mod blocks;
mod fitting_job;
mod guide;
mod hints;
mod limits;
mod line;
mod many;
mod nodes;
mod one;
mod outages;
mod profile;
mod ranked;
mod scan_index;
mod space;
mod widths;

use std::sync::Arc;

use super::machine::Machine;
use super::order::Order;
use super::policy::{Asked, Decisions, Policy, PolicyEvent, Scheduler};
use super::queue::{QueuePlace, Waiting};
use super::rules::{Counting, Rules};
use crate::job::JobId;
use crate::machine::{Placement, Shapes};
use crate::time::Time;

use backlog::Backlog;
use fitting_job::FittingJob;
pub(super) use guide::{Guide, Guided, Precedence};
use many::ManyReservations;
use nodes::NodeReservations;
pub use nodes::PlacedPool;
use one::OneReservation;
use outages::PoolPlan;
use space::{Pass, Space};

/// Each pass walks through the queue in its order. A job that can start now without delaying a reservation starts, any other gets a
/// reservation at the earliest place that is free. When no reservations are left, the other jobs are tried in the order of their
/// precedence: each starts if there is room for it from now on. A reservation is for one pass: it can be later than the one that the
/// job had at the pass before. Without any reservations the first job that cannot start blocks the others.
pub struct Backfill<S: Space> {
    rules: Rules,
    backlog: Backlog,
    space: S,
    last: LastPass,
    /// Scratch: jobs that may start after the reservations are made.
    candidates: Vec<Waiting>,
    shapes: Option<Arc<Shapes>>,
}

/// Backfilling on a pool of processors with one reservation or none. With [`Order::Arrival`] it is EASY (Skovira et al.; Talby et
/// al., section 2.1), with [`Order::ShortestPrediction`] SJBF (Tsafrir et al.; Talby et al., section 3.2).
pub type Easy = Backfill<OneReservation>;

/// Backfilling on a pool of processors with any number of reservations.
pub type Reserving = Backfill<ManyReservations>;

/// Backfilling on nodes, with so many reservations for each partition.
pub type OnNodes = Backfill<NodeReservations>;

/// Backfilling on a pool of processors of which parts are out at times.
pub type AmidOutages = Backfill<PoolPlan>;

/// What the last pass says about the next one.
#[derive(Clone, Copy, Default)]
struct LastPass {
    /// The first job that did not fit.
    head: Option<JobId>,
    /// Whether no job that waited then could start after it if the head is not protected.
    is_without_protection: bool,
}

impl Easy {
    /// Backfilling in this order; running jobs are counted by their predictions.
    pub fn new(scan: Order) -> Easy {
        Easy::of_rules(&Rules { scan, ..Rules::default() })
    }

    /// Backfilling by these rules, which have one reservation or none.
    pub fn of_rules(rules: &Rules) -> Easy {
        Easy::with(rules, OneReservation::new(), index_order(rules))
    }
}

impl Reserving {
    /// Backfilling by these rules.
    pub fn new(rules: &Rules) -> Reserving {
        Reserving::with(rules, ManyReservations::new(rules), index_order(rules))
    }

    /// The same, and slower: without an index, and no reservation is left open. For comparisons, and for an order of the queue that is
    /// given for each pass.
    pub fn anew(rules: &Rules) -> Reserving {
        Reserving::with(rules, ManyReservations::new(rules), None)
    }
}

impl AmidOutages {
    /// Backfilling by these rules.
    pub fn backfilling(rules: &Rules) -> AmidOutages {
        AmidOutages::with(rules, PoolPlan::new(rules), None)
    }
}

impl OnNodes {
    /// Backfilling by these rules.
    pub fn backfilling(rules: &Rules, shapes: &Arc<Shapes>, placement: Placement) -> OnNodes {
        let space = NodeReservations::new(rules, placement);
        OnNodes { shapes: Some(Arc::clone(shapes)), ..OnNodes::with(rules, space, None) }
    }
}

/// In which order the index of a deep queue is. If all jobs have reservations, any will do. None if an index is of no use.
fn index_order(rules: &Rules) -> Option<Order> {
    match rules.reservations {
        Some(0) => None,
        Some(_) => Some(rules.scan).filter(|scan| !scan.depends_on_waits()),
        None => Some(Order::Arrival),
    }
}

impl<S: Space> Backfill<S> {
    fn with(rules: &Rules, space: S, index: Option<Order>) -> Backfill<S> {
        let backlog = Backlog::new(rules, index);
        Backfill { rules: *rules, backlog, space, last: LastPass::default(), candidates: Vec::new(), shapes: None }
    }

    /// Whether only new jobs can start. If only arrivals happened since the last pass, a job that could not start then cannot start
    /// now: the free and extra processors are the same, and the shadow time is nearer. This is so in every order of the scan, but not
    /// if the head is not protected any more, or if a new job comes before others in the queue or starts before all of them. It saves
    /// 2% of the instructions of `easy` on the logs of KTH and BLUE, reading included.
    fn is_for_newcomers(&mut self, guide: &impl Guide, head: &Waiting, is_protected: bool, machine: &Machine) -> bool {
        let may_start_first = |width: u32| {
            let mut newcomers = self.backlog.newcomers(machine).iter().filter_map(QueuePlace::job);
            newcomers.any(|job| job.procs >= width && machine.capacity.fits(job.procs))
        };
        let any_starts_first = || guide.width_that_starts_first(head, machine.now).is_some_and(may_start_first);
        machine.only_arrivals
            && self.last.head == Some(head.id)
            && self.backlog.line.is_of_arrival()
            && (is_protected || (self.last.is_without_protection && !any_starts_first()))
            && self.space.goes_on(machine)
    }

    /// Starts jobs or makes reservations for them in the order of the queue, then tries the others.
    fn walk(
        &mut self,
        guide: &impl Guide,
        first: &Waiting,
        is_first_protected: bool,
        machine: &Machine,
        starts: &mut Vec<JobId>,
    ) {
        let is_deep = self.backlog.is_deep();
        let Backfill { rules, backlog: Backlog { line, index, arrivals, .. }, space, last, .. } = self;
        let pass = Pass { machine, arrivals };
        let running_length = |job: &Waiting| rules.running.running_length(job.id, job.length, arrivals);
        last.head = None;
        if !space.begin(&pass, is_deep.then_some(&*index)) {
            return;
        }
        if let Some(width) = guide.width_that_starts_first(first, machine.now)
            && !space.is_too_wide(width)
        {
            let wide = machine.waiting.iter().filter(|job| job.procs >= width);
            let started = wide.filter(|job| space.try_start(FittingJob::with(job, running_length(job)), false, &pass));
            starts.extend(started.map(|job| job.id));
        }
        let ahead = starts.len();
        if is_deep {
            starts.iter().filter_map(|&id| machine.waiting.get(id)).for_each(|job| index.remove(job));
        }
        let is_of_arrival = line.is_of_arrival();
        // The last job that got a reservation, whether jobs before it are left, and whether others are.
        let (mut reached, mut has_skipped, mut has_rest) = (None, false, false);
        let mut is_protected = false;
        for job in line.jobs(machine, arrivals) {
            if space.are_all_closed() {
                has_rest = true;
                break;
            }
            if ahead > 0 && starts[..ahead].contains(&job.id) {
                continue;
            }
            if !space.is_open(job.id, machine) {
                has_skipped = true;
                continue;
            }
            let is_first = space.count() == 0;
            let length = if is_first { running_length(job) } else { arrivals.fitted_length(is_protected, job) };
            if space.try_start(FittingJob::with(job, length), true, &pass) {
                starts.push(job.id);
                if is_deep {
                    index.remove(job);
                }
                continue;
            }
            // No reservation has an effect when no other job can start.
            if space.is_over(&pass, is_deep.then_some(&*index), is_protected, starts) {
                return;
            }
            if rules.reservations == Some(0) {
                space.block(job.id, machine);
                continue;
            }
            space.reserve(job, if is_first { job.length } else { length }, &pass);
            is_protected |= guide.is_protected(job, space.count() == 1, arrivals, machine.now);
            reached = Some(job);
            last.head.get_or_insert(job.id);
        }
        last.is_without_protection = !is_first_protected && !is_protected;
        if rules.reservations == Some(0) || !(has_rest || has_skipped) {
            return;
        }
        let is_behind = is_of_arrival && !has_skipped;
        let part = machine.waiting.places_after(reached.filter(|_| is_behind).map(|job| job.arrival));
        // The index knows no estimates, which are needed around a protected job.
        match is_deep && !is_protected {
            true => self.try_indexed(guide, machine, starts),
            false => self.try_others(guide, part, !is_behind || ahead > 0, is_protected, machine, starts),
        }
    }

    /// Tries the jobs of a part of the queue in the order of their precedence. `are_any_gone`: some of them may have started or have
    /// reservations.
    fn try_others(
        &mut self,
        guide: &impl Guide,
        part: &[QueuePlace],
        are_any_gone: bool,
        is_protected: bool,
        machine: &Machine,
        starts: &mut Vec<JobId>,
    ) {
        self.candidates.clear();
        let pass = Pass { machine, arrivals: &self.backlog.arrivals };
        self.space.list(part, &pass, &mut self.candidates);
        if are_any_gone {
            self.candidates.retain(|job| !starts.contains(&job.id) && !self.space.has_reservation(job.id));
        }
        if self.candidates.is_empty() {
            return;
        }
        guide.sort(&mut self.candidates, pass.arrivals, machine.now);
        self.start_candidates(is_protected, machine, starts);
    }

    /// As [`Backfill::try_others`] for the whole queue, with the index.
    fn try_indexed<G: Guide>(&mut self, guide: &G, machine: &Machine, starts: &mut Vec<JobId>) {
        for class in 0..G::CLASSES {
            self.candidates.clear();
            let pass = Pass { machine, arrivals: &self.backlog.arrivals };
            guide.list_class(class, self.space.limits(&pass), machine, &mut self.candidates);
            self.candidates.retain(|job| !starts.contains(&job.id));
            self.start_candidates(false, machine, starts);
        }
        let Backfill { rules, backlog: Backlog { index, arrivals, .. }, space, .. } = self;
        let pass = Pass { machine, arrivals };
        while let Some(job) = index.take(space.limits(&pass)) {
            let has_started = space.try_start(job, false, &pass);
            debug_assert!(has_started, "the index finds what has room");
            space.counts_as(job.length, rules.running.running_length(job.id, job.length, arrivals), machine.now);
            starts.push(job.id);
        }
    }

    /// Starts the candidates that have room, in their order.
    fn start_candidates(&mut self, is_protected: bool, machine: &Machine, starts: &mut Vec<JobId>) {
        let is_deep = self.backlog.is_deep();
        let Backfill { rules, backlog: Backlog { index, arrivals, .. }, space, candidates, .. } = self;
        let pass = Pass { machine, arrivals };
        for job in &*candidates {
            let length = arrivals.fitted_length(is_protected, job);
            if space.try_start(FittingJob::with(job, length), false, &pass) {
                space.counts_as(length, rules.running.running_length(job.id, job.length, arrivals), machine.now);
                if is_deep {
                    index.remove(job);
                }
                starts.push(job.id);
            }
        }
    }

    /// The jobs that have reservations after a pass, at most so many.
    fn list_reservations(&mut self, most: usize, machine: &Machine, reserved: &mut Vec<(JobId, Time)>) {
        let Backfill { rules, backlog: Backlog { line, arrivals, .. }, space, last, .. } = self;
        if rules.reservations == Some(0) {
            return;
        }
        last.head = None;
        space.begin_anew(machine);
        let (pass, mut is_protected) = (Pass { machine, arrivals }, false);
        for job in line.jobs(machine, arrivals) {
            if space.count() >= most || space.are_all_closed() {
                break;
            }
            if space.is_open(job.id, machine) {
                space.reserve(job, arrivals.fitted_length(is_protected, job), &pass);
                let is_first = space.count() == 1;
                is_protected |= is_first && arrivals.has_waited(job.id, rules.protect, machine.now);
            }
        }
        space.list_reservations(machine, reserved);
    }
}

impl<S: Space> Guided for Backfill<S> {
    fn guided_pass(&mut self, guide: &impl Guide, machine: &Machine, out: &mut Decisions) {
        self.backlog.begin_pass(machine);
        if let Some(head) = machine.waiting.first() {
            let is_protected = guide.is_protected(head, true, &self.backlog.arrivals, machine.now);
            if self.is_for_newcomers(guide, head, is_protected, machine) {
                self.last.is_without_protection &= !is_protected;
                let newcomers = self.backlog.newcomers(machine);
                self.try_others(guide, newcomers, false, is_protected, machine, &mut out.starts);
            } else {
                self.walk(guide, head, is_protected, machine, &mut out.starts);
            }
        }
        self.space.end(out);
        self.backlog.end_pass(machine, &out.starts);
    }
}

impl<S: Space> Policy for Backfill<S> {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        let rules = self.rules;
        match out.asked {
            Asked::Pass => self.guided_pass(&rules, machine, out),
            Asked::Reservations(most) => self.list_reservations(most, machine, &mut out.reserved),
            Asked::Never { id, .. } => out.never = self.space.why_never(id, machine),
            _ => {}
        }
    }

    fn on(&mut self, event: &PolicyEvent<'_>, machine: &Machine) {
        self.backlog.on(event, machine);
    }
}

impl<S: Space> From<Backfill<S>> for Scheduler {
    fn from(policy: Backfill<S>) -> Scheduler {
        let by_estimates = policy.rules.running == Counting::Estimate;
        let answers = policy.shapes.is_some() || policy.rules.reservations != Some(0);
        Scheduler { shapes: policy.shapes.clone(), by_estimates, answers, ..Scheduler::new(policy) }
    }
}
