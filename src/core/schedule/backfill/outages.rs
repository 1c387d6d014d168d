//! A pool of processors of which parts are out or reserved at times.
//!
//! A plan has instants and jobs. It holds if each job fits at its instant beside those that are there then by their predicted
//! ends, and, for each known outage that begins before its planned end, fits what is left then beside those of them whose
//! planned ends are later. Each such place is a [`Point`]; a job that is added to the plan takes its processors from the points
//! that it touches.

use super::fitting_job::FittingJob;
use super::one::OneReservation;
use super::scan_index::ScanIndex;
use super::space::{Pass, Space};
use crate::job::JobId;
use crate::machine::{Outage, OutageKind, OutageLedger, Outages};
use crate::schedule::machine::Machine;
use crate::schedule::queue::{QueuePlace, Waiting};
use crate::schedule::rules::{Counting, Rules};
use crate::time::{Seconds, Time};

/// The plan of one pass.
pub struct PoolPlan {
    /// What plans a pass in which nothing more is known than that the machine is smaller, if there is one reservation or none: that
    /// is the same plan, and takes a third of the instructions.
    one: Option<OneReservation>,
    is_one: bool,
    /// How many reservations there may be.
    most: usize,
    is_blocked: bool,
    now: Time,
    procs: i64,
    /// The free processors; those that are reserved are among them.
    free: i64,
    /// The outages that are known.
    views: Vec<View>,
    /// When known outages begin that no job may reach into, ascending.
    edges: Vec<Time>,
    /// The places that a job touches that starts now: this instant, and edges as far as they were needed.
    now_points: Vec<Point>,
    /// Those that jobs with reservations touch.
    points: Vec<Point>,
    /// The jobs that the pass has started or planned, and before them, once that was needed, those that run.
    jobs: Vec<PlannedJob>,
    knows_running: bool,
    /// The instants that are tried, with the processors that are used then. Empty until the first reservation.
    instants: Vec<(Time, i64)>,
    /// The jobs that got a reservation or could not get one, with the start.
    reserved: Vec<(JobId, Option<Time>)>,
    count: usize,
    /// Whether the next pass need not make the reservations again.
    is_kept: bool,
    /// Whether jobs may be fitted with lengths that are shorter than their predictions.
    counts_estimates: bool,
    /// Whether some jobs have reservations of the machine, or name them.
    has_classes: bool,
    /// Scratch: the ends of outages and of jobs that the pass starts, with the processors that are free then.
    ends: Vec<(Time, i64)>,
}

/// An outage as far as it is known.
#[derive(Clone, Copy)]
struct View {
    outage: u32,
    kind: OutageKind,
    start: Time,
    end: Time,
    procs: i64,
}

/// A job that is on the machine, now or in the plan.
#[derive(Clone, Copy)]
struct PlannedJob {
    procs: i64,
    start: Time,
    /// By its prediction.
    end: Time,
    /// By the longer of its prediction and its estimate.
    planned_end: Time,
    class: u32,
}

/// What is left at an instant, or at the start of an outage, beside the jobs that are there.
struct Point {
    at: Time,
    /// The start of an outage, or the same instant.
    edge: Time,
    /// The processors that no outage takes and no job that uses no reservation.
    left: i64,
    parts: Vec<ReservedPart>,
    /// The reservation that the job uses of which this is the place: it is not kept from it.
    own: Option<u32>,
    /// The outages with the name that the job asks for, if the point is about what is left there for all that ask for it.
    only: Option<Vec<u32>>,
}

/// A reservation at a point.
struct ReservedPart {
    outage: u32,
    kept: i64,
    used: i64,
}

impl Point {
    fn touches(&self, job: &PlannedJob, outages: &Outages) -> bool {
        job.start <= self.at
            && job.end > self.at
            && (self.edge == self.at || job.planned_end > self.edge)
            && self.only.as_ref().is_none_or(|named| outages.class(job.class).named == *named)
    }

    /// The first reservation here that is a job's own.
    fn part_of(&self, job: &PlannedJob, outages: &Outages) -> Option<usize> {
        self.parts.iter().position(|part| outages.owns(job.class, part.outage))
    }

    fn outage_of(&self, job: &PlannedJob, outages: &Outages) -> Option<u32> {
        self.part_of(job, outages).map(|at| self.parts[at].outage)
    }

    fn add(&mut self, job: &PlannedJob, outages: &Outages) {
        match self.part_of(job, outages) {
            Some(at) => self.parts[at].used += job.procs,
            None => self.left -= job.procs,
        }
    }

    /// Whether a job that touches it fits; `own` is the reservation that is not kept.
    fn has_room(&self, job: &PlannedJob, own: Option<u32>, outages: &Outages) -> bool {
        if self.parts.is_empty() {
            return self.left >= job.procs;
        }
        let mine = self.part_of(job, outages);
        let part = |(at, part): (usize, &ReservedPart)| {
            let kept = if own == Some(part.outage) { 0 } else { part.kept };
            kept.max(part.used + if mine == Some(at) { job.procs } else { 0 })
        };
        let taken: i64 = self.parts.iter().enumerate().map(part).sum();
        self.left - if mine.is_none() { job.procs } else { 0 } >= taken
    }
}

fn ledger(machine: &Machine) -> &OutageLedger {
    machine.outages.as_ref().expect("the machine of this policy has outages")
}

impl PoolPlan {
    pub fn new(rules: &Rules) -> PoolPlan {
        PoolPlan {
            one: rules.reservations.filter(|most| *most <= 1).map(|_| OneReservation::new()),
            is_one: false,
            most: rules.reservations.map_or(usize::MAX, |most| most.max(1)),
            is_blocked: false,
            now: 0,
            procs: 0,
            free: 0,
            views: Vec::new(),
            edges: Vec::new(),
            now_points: Vec::new(),
            points: Vec::new(),
            jobs: Vec::new(),
            knows_running: false,
            instants: Vec::new(),
            reserved: Vec::new(),
            count: 0,
            is_kept: false,
            counts_estimates: rules.running == Counting::Estimate,
            has_classes: false,
            ends: Vec::new(),
        }
    }

    /// What plans this pass instead.
    #[inline]
    fn one(&mut self) -> Option<&mut OneReservation> {
        self.one.as_mut().filter(|_| self.is_one)
    }

    /// Whether nothing is known but outages without a known end that leave room for every waiting job.
    fn is_smaller_machine(&self, machine: &Machine) -> bool {
        let ledger = ledger(machine);
        let is_for_ever =
            |outage: &Outage| outage.is_out() && outage.start <= machine.now && outage.known_end() == Time::MAX;
        let most = machine.procs() - ledger.out();
        self.one.is_some()
            && (ledger.is_quiet()
                || !ledger.outages().has_classes()
                    && ledger.known().all(|(_, outage)| is_for_ever(outage))
                    && machine.waiting.iter().all(|job| job.procs <= most))
    }

    fn has_reserved(&self, at: Time) -> bool {
        self.views.iter().any(|view| view.kind == OutageKind::Reserved && view.start <= at && at < view.end)
    }

    /// A waiting job that starts now.
    fn job(&self, job: FittingJob, machine: &Machine) -> PlannedJob {
        let (mut class, mut planned) = (0, job.length);
        if !self.edges.is_empty() || self.has_classes {
            let known = ledger(machine).job(job.id);
            let prediction = match self.counts_estimates {
                true => machine.waiting.get(job.id).map_or(0, |job| job.length),
                false => 0,
            };
            (class, planned) = (known.class, known.estimate.max(prediction).max(job.length));
        }
        let (start, procs) = (self.now, job.procs);
        PlannedJob { procs, start, end: start + job.length, planned_end: start + planned, class }
    }

    fn note_running(&mut self, machine: &Machine) {
        if std::mem::replace(&mut self.knows_running, true) {
            return;
        }
        let ledger = ledger(machine);
        let running = machine.running.iter().map(|job| {
            let known = ledger.job(job.id);
            let planned_end = job.end.max(known.start + known.estimate);
            PlannedJob { procs: job.procs.into(), start: self.now, end: job.end, planned_end, class: known.class }
        });
        let started = self.jobs.split_off(0);
        self.jobs = running.chain(started).collect();
    }

    /// The processors that are out at an instant, at most all.
    fn out(&self, at: Time) -> i64 {
        let on = self.views.iter().filter(|view| view.start <= at && at < view.end);
        on.filter(|view| view.kind != OutageKind::Reserved).map(|view| view.procs).sum::<i64>().min(self.procs)
    }

    /// What is left at a place of the plan. Drains count at the instant itself only.
    fn point(&mut self, at: Time, edge: Time, machine: &Machine) -> Point {
        self.note_running(machine);
        let outages = ledger(machine).outages();
        let on = self.views.iter().filter(|view| view.start <= edge && edge < view.end);
        let counts = |view: &&View| match view.kind {
            OutageKind::Drain => edge == at,
            kind => kind != OutageKind::Reserved,
        };
        let out = on.clone().filter(counts).map(|view| view.procs).sum::<i64>().min(self.procs);
        let mut unreserved = self.procs - out;
        let parts = on.filter(|view| view.kind == OutageKind::Reserved).map(|view| {
            let kept = view.procs.min(unreserved);
            unreserved -= kept;
            ReservedPart { outage: view.outage, kept, used: 0 }
        });
        let parts = parts.collect();
        self.filled(Point { at, edge, left: self.procs - out, parts, own: None, only: None }, outages)
    }

    /// A point beside the jobs that are there.
    fn filled(&self, mut point: Point, outages: &Outages) -> Point {
        for job in &self.jobs {
            if point.touches(job, outages) {
                point.add(job, outages);
            }
        }
        point
    }

    /// What is left of the outages that a job names, if some are there at its start.
    fn named_point(&mut self, job: &PlannedJob, machine: &Machine) -> Option<Point> {
        if job.class == 0 {
            return None;
        }
        let outages = ledger(machine).outages();
        let named = &outages.class(job.class).named;
        let at = job.start;
        let on = |view: &&View| view.start <= at && at < view.end && named.contains(&view.outage);
        let left = self.views.iter().filter(on).map(|view| view.procs).reduce(|sum, procs| sum + procs)?;
        self.note_running(machine);
        let only = Some(named.clone());
        Some(self.filled(Point { at, edge: at, left, parts: Vec::new(), own: None, only }, outages))
    }

    /// Whether the places of jobs with reservations have room for a job that starts before them.
    fn keeps_plan(&self, job: &PlannedJob, outages: &Outages) -> bool {
        let mut later = self.points.iter().filter(|point| point.at > job.start && point.touches(job, outages));
        later.all(|point| point.has_room(job, point.own, outages))
    }

    fn fits_now(&mut self, job: &PlannedJob, machine: &Machine) -> bool {
        let outages = ledger(machine).outages();
        if self.now_points.is_empty() {
            let point = match self.has_reserved(self.now) {
                true => self.point(self.now, self.now, machine),
                false => {
                    let (at, edge, left) = (self.now, self.now, self.free);
                    Point { at, edge, left, parts: Vec::new(), own: None, only: None }
                }
            };
            self.now_points.push(point);
        }
        while let Some(&edge) = self.edges.get(self.now_points.len() - 1).filter(|edge| **edge < job.planned_end) {
            let point = self.point(self.now, edge, machine);
            self.now_points.push(point);
        }
        let has_room =
            |point: &Point| !point.touches(job, outages) || point.has_room(job, point.outage_of(job, outages), outages);
        self.now_points.iter().all(has_room)
            && self.named_point(job, machine).is_none_or(|point| point.has_room(job, None, outages))
    }

    /// Adds a job to all places that it touches.
    fn add(&mut self, job: PlannedJob, outages: &Outages) {
        let touched =
            |point: &&mut Point| point.touches(&job, outages) && (point.at > job.start || job.start == self.now);
        self.now_points.iter_mut().chain(&mut self.points).filter(touched).for_each(|point| point.add(&job, outages));
        self.jobs.push(job);
        if self.instants.is_empty() {
            return;
        }
        let at = self.instants.partition_point(|(time, _)| *time < job.end);
        if self.instants.get(at).is_none_or(|(time, _)| *time != job.end) {
            let before = self.instants[at - 1].1;
            self.instants.insert(at, (job.end, before));
        }
        let during = self.instants[..at].iter_mut().filter(|(time, _)| *time >= job.start);
        during.for_each(|(_, used)| *used += job.procs);
    }

    /// The instants at which a reservation may begin: ends of jobs and of outages.
    fn list_instants(&mut self, machine: &Machine) {
        if !self.instants.is_empty() {
            return;
        }
        let ends = &mut self.ends;
        ends.clear();
        let of_views = self.views.iter().map(|view| (view.end, 0)).filter(|(end, _)| *end < Time::MAX);
        let running = if self.knows_running { machine.running.len() } else { 0 };
        ends.extend(self.jobs[running..].iter().map(|job| (job.end, job.procs)).chain(of_views));
        ends.sort_unstable();
        let mut used = self.procs - self.out(self.now) - self.free;
        self.instants.push((self.now, used));
        // Two lists in order of time.
        let (mut others, mut running) = (self.ends.iter().copied().peekable(), machine.running.iter().peekable());
        loop {
            let end = match (running.peek(), others.peek()) {
                (Some(job), Some((end, _))) => job.end.min(*end),
                (Some(job), None) => job.end,
                (None, Some((end, _))) => *end,
                (None, None) => break,
            };
            while let Some(job) = running.next_if(|job| job.end == end) {
                used -= i64::from(job.procs);
            }
            while let Some((_, procs)) = others.next_if(|other| other.0 == end) {
                used -= procs;
            }
            match self.instants.last_mut().filter(|last| last.0 == end) {
                Some(last) => last.1 = used,
                None => self.instants.push((end, used)),
            }
        }
    }

    /// The places of a job at an instant, if the plan holds with it.
    fn places_at(&mut self, job: &PlannedJob, used: i64, machine: &Machine) -> Option<Vec<Point>> {
        let outages = ledger(machine).outages();
        let (at, left) = (job.start, self.procs - self.out(job.start) - used);
        if left < job.procs || !self.keeps_plan(job, outages) {
            return None;
        }
        let mut own = vec![match self.has_reserved(at) {
            true => self.point(at, at, machine),
            false => Point { at, edge: at, left, parts: Vec::new(), own: None, only: None },
        }];
        let from = self.edges.partition_point(|&edge| edge <= at);
        for number in from..self.edges.len() {
            if self.edges[number] >= job.planned_end {
                break;
            }
            own.push(self.point(at, self.edges[number], machine));
        }
        own.extend(self.named_point(job, machine));
        for point in &mut own {
            point.own = point.outage_of(job, outages);
            if !point.has_room(job, point.own, outages) {
                return None;
            }
            point.add(job, outages);
        }
        Some(own)
    }
}

impl Space for PoolPlan {
    fn begin(&mut self, pass: &Pass<'_>, index: Option<&ScanIndex>) -> bool {
        self.begin_anew(pass.machine);
        if let Some(one) = self.one() {
            return one.begin(pass, index);
        }
        self.free > 0 && pass.machine.waiting.iter().any(|job| i64::from(job.procs) <= self.free)
    }

    fn begin_anew(&mut self, machine: &Machine) {
        self.is_one = self.is_smaller_machine(machine);
        if let Some(one) = self.one() {
            return one.begin_anew(machine);
        }
        let ledger = ledger(machine);
        (self.now, self.procs, self.free) = (machine.now, machine.procs().into(), machine.free());
        (self.is_blocked, self.knows_running, self.count, self.is_kept) = (false, false, 0, false);
        self.has_classes = ledger.outages().has_classes();
        self.now_points.clear();
        self.points.clear();
        self.jobs.clear();
        self.instants.clear();
        self.reserved.clear();
        self.views.clear();
        self.edges.clear();
        self.views.extend(ledger.known().map(|(at, outage)| View {
            outage: at,
            kind: outage.kind,
            start: outage.start,
            end: outage.known_end(),
            procs: outage.procs.into(),
        }));
        let hard = self.views.iter().filter(|view| view.kind != OutageKind::Drain && view.start > machine.now);
        self.edges.extend(hard.map(|view| view.start));
        self.edges.sort_unstable();
        self.edges.dedup();
    }

    /// If nothing but arrivals happened, all is as it was, except that it is later.
    fn goes_on(&mut self, machine: &Machine) -> bool {
        if let Some(one) = self.one() {
            return one.goes_on(machine);
        }
        if self.is_kept {
            self.free = machine.free();
            // What the last pass started runs now.
            if !self.knows_running {
                self.jobs.retain(|job| job.start > self.now);
            }
            for point in &mut self.now_points {
                point.edge = if point.edge == self.now { machine.now } else { point.edge };
                point.at = machine.now;
            }
            self.now = machine.now;
        }
        self.is_kept
    }

    /// The reservations stay only if the job counts as it was fitted.
    fn counts_as(&mut self, fitted: Seconds, counted: Seconds, now: Time) {
        if let Some(one) = self.one() {
            return one.counts_as(fitted, counted, now);
        }
        self.is_kept &= fitted == counted;
    }

    fn is_over(&mut self, pass: &Pass<'_>, index: Option<&ScanIndex>, is_protected: bool, starts: &[JobId]) -> bool {
        if let Some(one) = self.one() {
            return one.is_over(pass, index, is_protected, starts);
        }
        self.free <= 0
    }

    fn count(&self) -> usize {
        self.one.as_ref().filter(|_| self.is_one).map_or(self.count, Space::count)
    }

    fn are_all_closed(&self) -> bool {
        match self.one.as_ref().filter(|_| self.is_one) {
            Some(one) => one.are_all_closed(),
            None => self.is_blocked || self.count >= self.most,
        }
    }

    fn is_too_wide(&self, procs: u32) -> bool {
        match self.one.as_ref().filter(|_| self.is_one) {
            Some(one) => one.is_too_wide(procs),
            None => i64::from(procs) > self.free,
        }
    }

    fn try_start(&mut self, job: FittingJob, in_queue: bool, pass: &Pass<'_>) -> bool {
        if let Some(one) = self.one() {
            return one.try_start(job, in_queue, pass);
        }
        if job.procs > self.free {
            return false;
        }
        let outages = ledger(pass.machine).outages();
        let job = self.job(job, pass.machine);
        let may_start = self.fits_now(&job, pass.machine) && self.keeps_plan(&job, outages);
        if may_start {
            self.free -= job.procs;
            self.add(job, outages);
        }
        may_start
    }

    fn reserve(&mut self, job: &Waiting, length: Seconds, pass: &Pass<'_>) {
        if let Some(one) = self.one() {
            return one.reserve(job, length, pass);
        }
        self.list_instants(pass.machine);
        let now = self.job(FittingJob::with(job, length), pass.machine);
        for number in 1..self.instants.len() {
            let (start, used) = self.instants[number];
            if used + now.procs > self.procs {
                continue;
            }
            let later = start - self.now;
            let planned = PlannedJob { start, end: now.end + later, planned_end: now.planned_end + later, ..now };
            if let Some(own) = self.places_at(&planned, used, pass.machine) {
                self.add(planned, ledger(pass.machine).outages());
                self.points.extend(own);
                self.count += 1;
                self.is_kept = self.count >= self.most;
                return self.reserved.push((job.id, Some(start)));
            }
        }
        self.reserved.push((job.id, None));
    }

    fn block(&mut self, id: JobId, machine: &Machine) {
        if let Some(one) = self.one() {
            return one.block(id, machine);
        }
        self.is_blocked = true;
    }

    fn list(&mut self, part: &[QueuePlace], pass: &Pass<'_>, jobs: &mut Vec<Waiting>) {
        if let Some(one) = self.one() {
            return one.list(part, pass, jobs);
        }
        let fits = |job: &&Waiting| i64::from(job.procs) <= self.free;
        jobs.extend(part.iter().filter_map(QueuePlace::job).filter(fits));
    }

    fn limits(&mut self, _pass: &Pass<'_>) -> impl Fn(i64) -> Option<Seconds> {
        |_| unreachable!("there is no index amid outages")
    }

    fn has_reservation(&self, id: JobId) -> bool {
        !self.is_one && self.reserved.iter().any(|(other, _)| *other == id)
    }

    fn list_reservations(&mut self, machine: &Machine, reserved: &mut Vec<(JobId, Time)>) {
        if let Some(one) = self.one() {
            return one.list_reservations(machine, reserved);
        }
        reserved.extend(self.reserved.iter().filter_map(|&(id, start)| Some((id, start?))));
    }
}
