//! The loop: jobs come to the head of the queue one after the other, first come, first served, and decide.
//!
//! Whoever holds out blocks all who come after. So until the head has started nothing else happens than that running
//! jobs end and new ones arrive, and a schedule is made job by job. At one instant jobs end first, then others arrive,
//! then the head is asked.

use super::decide::{Decision, HoldOut, by_oracle, by_prediction};
use super::line::{CorrectionLine, Scatter};
use super::machine::MalleableMachine;
use super::strategy::{Correction, Objective, PredictionSettings, Rule};
use super::workload::{DAY, LIFETIMES, MalleableJob};
use crate::model::{Lifetimes, Outlook, UniformLog};

/// Who acts on decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StudyView {
    /// Nobody: the schedule is that of AVG, and it is worked out what would have happened had this one job decided
    /// (section 5).
    Application,
    /// Everybody (section 6).
    System,
}

/// What a job was when it first came to the head of the queue with a processor free (section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionKind {
    /// It got all it could use.
    Spoiled,
    /// It started on what was free.
    Docile,
    /// It held out for more.
    Rebel,
}

/// A job's place in a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    pub start: f64,
    pub procs: u32,
}

/// What became of a job.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    pub kind: DecisionKind,
    /// When it first came to the head with a processor free.
    pub decided: f64,
    /// What it would have got then: what was free, or all it can use.
    pub offered: u32,
    /// What its first decision was to hold out for.
    pub hold_out: Option<HoldOut>,
    /// How often it was asked.
    pub asked: u32,
    /// Where it went, or would have gone in the view of the application.
    pub placement: Placement,
    /// Where it is in the schedule.
    pub scheduled: Placement,
}

/// A prediction that a decision to hold out was made by, and its outcome.
#[derive(Clone, Copy, Debug)]
pub struct QueueTimePair {
    /// The job's index.
    pub job: usize,
    pub time: f64,
    pub procs: u32,
    pub predicted: f64,
    /// The time until that many processors were, or would have been, free.
    pub actual: f64,
    uncorrected: f64,
}

/// A schedule.
#[derive(Clone, Debug, Default)]
pub struct MalleableSchedule {
    /// One a job.
    pub allocations: Vec<Allocation>,
    pub pairs: Vec<QueueTimePair>,
}

impl MalleableSchedule {
    /// All pairs of predicted and actual queue times.
    pub fn scatter(&self) -> Scatter {
        let mut scatter = Scatter::default();
        self.pairs.iter().for_each(|pair| scatter.add(pair.predicted, pair.actual));
        scatter
    }
}

/// Makes a schedule of jobs in order of arrival. Corrections by a pilot run take its line from `line`.
pub fn schedule_malleable(
    jobs: &[MalleableJob],
    procs: u32,
    rule: Rule,
    view: StudyView,
    line: Option<CorrectionLine>,
) -> MalleableSchedule {
    let mut history = RunHistory::new(rule, line);
    let mut machine = MalleableMachine::new(procs);
    let mut made = MalleableSchedule { allocations: Vec::with_capacity(jobs.len()), pairs: Vec::new() };
    let (mut now, mut arrived) = (0.0f64, 0);
    for (at, job) in jobs.iter().enumerate() {
        now = now.max(job.arrival);
        machine.release(now);
        if machine.free == 0 {
            now = machine.when_free(1, now).expect("the machine has processors");
            machine.release(now);
        }
        while jobs.get(arrived).is_some_and(|other| other.arrival <= now) {
            arrived += 1;
        }
        history.look_back(&mut machine, now);
        let most = job.parallelism.min(procs);
        let head = HeadJob { jobs, at, most, arrived, decided: now, history: &history };
        let offered = machine.free.min(most);
        let docile = Placement { start: now, procs: offered };
        let known = made.pairs.len();
        let allocation = match (machine.free >= most, view) {
            (true, _) => Allocation {
                kind: DecisionKind::Spoiled,
                decided: now,
                offered,
                hold_out: None,
                asked: 0,
                placement: docile,
                scheduled: docile,
            },
            (false, StudyView::Application) => {
                let aside = head.allocate(rule, &mut machine.clone(), &mut made.pairs);
                Allocation { scheduled: docile, ..aside }
            }
            (false, StudyView::System) => head.allocate(rule, &mut machine, &mut made.pairs),
        };
        history.learn(&made.pairs[known..]);
        let Placement { start, procs } = allocation.scheduled;
        now = start;
        machine.release(now);
        machine.start(now, procs, job.runtime(procs));
        made.allocations.push(allocation);
    }
    made
}

/// What there is to learn from a run so far: the line and the lifetimes. Both are those of the moment when a job comes
/// to the head of the queue; while it holds out they do not change.
struct RunHistory {
    rule: Rule,
    line: Option<CorrectionLine>,
    life: UniformLog,
    /// Pairs whose outcome is not known yet: when it will be, predicted (before correction) and actual.
    open: Vec<(f64, f64, f64)>,
    scatter: Scatter,
    /// Jobs that have ended since the last fit, in order: when, and their run times.
    ended: Vec<(f64, f64)>,
    lifetimes: Lifetimes,
    day: f64,
}

/// Fewer pairs than this make no line.
const LEAST_PAIRS: u64 = 10;

impl RunHistory {
    fn new(rule: Rule, line: Option<CorrectionLine>) -> RunHistory {
        let line = match rule {
            Rule::Predicted(PredictionSettings { correction: Correction::Pilot, .. }) => line,
            _ => None,
        };
        let (scatter, lifetimes) = (Scatter::default(), Lifetimes::default());
        RunHistory { rule, line, life: LIFETIMES, open: Vec::new(), scatter, ended: Vec::new(), lifetimes, day: 0.0 }
    }

    fn look_back(&mut self, machine: &mut MalleableMachine, now: f64) {
        let ended = machine.ended.drain(..);
        let Rule::Predicted(settings) = self.rule else { return };
        if settings.correction == Correction::Online {
            let scatter = &mut self.scatter;
            self.open.retain(|&(known, predicted, actual)| {
                if known <= now {
                    scatter.add(predicted, actual);
                }
                known > now
            });
            self.line = scatter.line().filter(|line| scatter.count() >= LEAST_PAIRS && line.slope > 0.0);
        }
        if !settings.fitted {
            return;
        }
        self.ended.extend(ended);
        let day = (now / DAY).floor();
        if day > self.day {
            // Refitted at midnight to all that had ended by then; until there is a fit the model's own distribution.
            let before = self.ended.partition_point(|(end, _)| *end <= day * DAY);
            self.ended.drain(..before).for_each(|(_, runtime)| self.lifetimes.add(runtime));
            self.life = self.lifetimes.fit().unwrap_or(self.life);
            self.day = day;
        }
    }

    fn learn(&mut self, pairs: &[QueueTimePair]) {
        if matches!(self.rule, Rule::Predicted(PredictionSettings { correction: Correction::Online, .. })) {
            self.open.extend(pairs.iter().map(|pair| (pair.time + pair.actual, pair.uncorrected, pair.actual)));
        }
    }
}

/// A job at the head of the queue that cannot have all it wants.
struct HeadJob<'a> {
    jobs: &'a [MalleableJob],
    at: usize,
    /// The most processors it takes.
    most: u32,
    /// How many jobs have arrived, this one included.
    arrived: usize,
    decided: f64,
    history: &'a RunHistory,
}

impl HeadJob<'_> {
    fn job(&self) -> &MalleableJob {
        &self.jobs[self.at]
    }

    /// Lets the job wait as long as it will, and the machine with it.
    fn allocate(&self, rule: Rule, machine: &mut MalleableMachine, pairs: &mut Vec<QueueTimePair>) -> Allocation {
        let offered = machine.free;
        let (hold_out, asked, placement) = match rule {
            Rule::Avg { min_share } => {
                let least = ((min_share * f64::from(self.most)).ceil() as u32).max(1);
                self.wait_for(machine, least, f64::INFINITY)
            }
            Rule::Heur { lthresh, athresh, f, k } => {
                let job = self.job();
                let rebels = job.lifetime > lthresh && f64::from(job.parallelism) > athresh;
                let wanted = ((f * f64::from(self.most)).ceil() as u32).max(1);
                // Section 5.5: t_save = R(n_free) - R(f A), and patience for k t_save.
                let saving = (job.runtime(offered) - job.runtime(wanted)).max(0.0);
                self.wait_for(machine, if rebels { wanted } else { 1 }, k * saving)
            }
            Rule::Opt { objective } => self.ask(machine, pairs, objective, false, |decision, machine, now| {
                by_oracle(decision, machine, now, objective)
            }),
            Rule::Predicted(settings) => {
                let (life, line) = (&self.history.life, self.history.line);
                self.ask(machine, pairs, settings.objective, settings.lock_in, |decision, machine, now| {
                    let outlook = || outlook(machine, now, life, settings.classes);
                    by_prediction(decision, outlook, settings.method, line, settings.objective)
                })
            }
        };
        let kind = if hold_out.is_some() { DecisionKind::Rebel } else { DecisionKind::Docile };
        Allocation { kind, decided: self.decided, offered, hold_out, asked, placement, scheduled: placement }
    }

    /// Waits for so many processors, but not longer than its patience.
    fn wait_for(
        &self,
        machine: &mut MalleableMachine,
        wanted: u32,
        patience: f64,
    ) -> (Option<HoldOut>, u32, Placement) {
        if machine.free >= wanted {
            return (None, 1, Placement { start: self.decided, procs: machine.free.min(self.most) });
        }
        let free = machine.when_free(wanted, self.decided).expect("no job wants more than the machine has");
        let start = free.min(self.decided + patience);
        machine.release(start);
        let hold_out = HoldOut { procs: wanted, wait: patience, uncorrected: patience };
        (Some(hold_out), 1, Placement { start, procs: machine.free.min(self.most) })
    }

    /// Asks again and again: when another job arrives and when the predicted queue time has passed (section 5.3), not when
    /// jobs end.
    fn ask(
        &self,
        machine: &mut MalleableMachine,
        pairs: &mut Vec<QueueTimePair>,
        objective: Objective,
        lock_in: bool,
        decide: impl Fn(&Decision<'_>, &MalleableMachine, f64) -> Option<HoldOut>,
    ) -> (Option<HoldOut>, u32, Placement) {
        let (mut now, mut arrived, mut asked, mut first) = (self.decided, self.arrived, 0, None);
        loop {
            asked += 1;
            let waiting = if objective.whole_queue { arrived - self.at } else { 1 };
            let decision = Decision { job: self.job(), free: machine.free, most: self.most, waiting };
            let Some(hold_out) = decide(&decision, machine, now) else {
                return (first, asked, Placement { start: now, procs: machine.free.min(self.most) });
            };
            first = first.or(Some(hold_out));
            let free = machine.when_free(hold_out.procs, now).expect("no job hopes for more than the machine has");
            pairs.push(QueueTimePair {
                job: self.at,
                time: now,
                procs: hold_out.procs,
                predicted: hold_out.wait,
                actual: free - now,
                uncorrected: hold_out.uncorrected,
            });
            let next_arrival = self.jobs.get(arrived).map_or(f64::INFINITY, |job| job.arrival);
            let prompt = next_arrival.min(now + hold_out.wait);
            if free <= prompt {
                machine.release(free);
                let procs = if lock_in { hold_out.procs } else { machine.free.min(self.most) };
                return (first, asked, Placement { start: free, procs });
            }
            now = prompt;
            machine.release(now);
            while self.jobs.get(arrived).is_some_and(|job| job.arrival <= now) {
                arrived += 1;
            }
        }
    }
}

/// What is known of the running jobs: their ages, and of their run times the class.
fn outlook(machine: &MalleableMachine, now: f64, life: &UniformLog, classes: u32) -> Outlook {
    Outlook::new(machine.running().iter().map(|job| {
        let life = match classes {
            1 => *life,
            _ => life.part(life.part_of(libm::log(job.end - job.start), classes), classes),
        };
        (job.procs, life.at_age(now - job.start))
    }))
}
