//! The loop: jobs reach the head of the queue one after the other, first come, first served, and decide.
//!
//! A job that holds out (waits for more processors than are free) blocks all later jobs. So until the head has started,
//! running jobs end and new jobs arrive, but no other job starts, and the schedule is made job by job. At one instant
//! jobs end first, then others arrive, then the head decides.
//!
//! Each day is a simulation of its own, unless the workload says otherwise ([`DaySequence`]).

use super::decide::{Decision, HoldOut, by_oracle, by_prediction};
use super::line::{CorrectionLine, Scatter};
use super::machine::MalleableMachine;
use super::strategy::{LineCorrection, Objective, PredictionSettings, Rule};
use super::workload::{DAY, DaySequence, LIFETIMES, MalleableJob, MalleableWorkload};
use crate::model::{Aged, Lifetimes, Outlook, UniformLog};

/// Which decisions are acted upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StudyView {
    /// None: the schedule is that of AVG, and for each job it is computed what would have happened if this job alone
    /// had decided (section 5).
    Application,
    /// Those of all jobs (section 6).
    System,
}

/// The first decision of a job, when it reached the head of the queue and a processor was free (section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionKind {
    /// It got all processors that it can use.
    Spoiled,
    /// It started on the free processors.
    Docile,
    /// It held out for more processors.
    Rebel,
}

/// The start and the processors of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobStart {
    /// Seconds after the start of the first day.
    pub start: f64,
    /// The processors that it runs on.
    pub procs: u32,
}

/// The decision of a job and its result.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    /// Its first decision.
    pub kind: DecisionKind,
    /// When it reached the head of the queue and a processor was free.
    pub decided: f64,
    /// The processors it could have had then: those that were free, or all it can use.
    pub offered: u32,
    /// What its first decision was to wait for; None unless it is a rebel.
    pub hold_out: Option<HoldOut>,
    /// How often it decided.
    pub decisions: u32,
    /// Its start and processors by its own decisions. In the application's view they are hypothetical.
    pub placement: JobStart,
    /// Its start and processors in the schedule.
    pub scheduled: JobStart,
}

/// The prediction behind a decision to hold out, and its outcome.
#[derive(Clone, Copy, Debug)]
pub struct QueueTimePair {
    /// The job's index.
    pub job: usize,
    /// When the job decided, in seconds after the start of the first day.
    pub time: f64,
    /// The number of processors that it waited for.
    pub procs: u32,
    /// The predicted time until they are free, in seconds, corrected if the strategy does so.
    pub predicted: f64,
    /// The actual time until they were free, in seconds (in the application's view: would have been free).
    pub actual: f64,
    uncorrected: f64,
}

/// The decisions and starts of all jobs.
#[derive(Clone, Debug, Default)]
pub struct MalleableSchedule {
    /// One per job, in order of arrival.
    pub allocations: Vec<Allocation>,
    /// One per decision to hold out.
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

/// Makes a schedule of jobs that are in order of arrival, on the machine of `workload`. `line` is used only by strategies
/// that are corrected by a pilot run.
pub fn schedule_malleable(
    jobs: &[MalleableJob],
    workload: &MalleableWorkload,
    rule: Rule,
    view: StudyView,
    line: Option<CorrectionLine>,
) -> MalleableSchedule {
    let mut history = RunHistory::new(rule, line, workload.sequence);
    let mut made = MalleableSchedule { allocations: Vec::with_capacity(jobs.len()), pairs: Vec::new() };
    match workload.sequence {
        DaySequence::Continuous => {
            schedule_run(jobs, 0, workload.procs, rule, view, &mut history, &mut made);
        }
        DaySequence::Separate => {
            for jobs in jobs.chunk_by(|a, b| a.day() == b.day()) {
                let first = made.allocations.len();
                let machine = schedule_run(jobs, first, workload.procs, rule, view, &mut history, &mut made);
                history.end_day(machine);
            }
        }
    }
    made
}

/// One simulation, from an empty machine on. `first` is the index of its first job among all. Returns the machine after
/// the last start.
fn schedule_run(
    jobs: &[MalleableJob],
    first: usize,
    procs: u32,
    rule: Rule,
    view: StudyView,
    history: &mut RunHistory,
    made: &mut MalleableSchedule,
) -> MalleableMachine {
    let mut machine = MalleableMachine::new(procs);
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
        history.update(&mut machine, now);
        let most = job.most_procs(procs);
        let head = HeadJob { jobs, at, first, procs, most, arrived, decided: now, history };
        let offered = machine.free.min(most);
        let docile = JobStart { start: now, procs: offered };
        let known = made.pairs.len();
        let allocation = match (machine.free >= most, view) {
            (true, _) => Allocation {
                kind: DecisionKind::Spoiled,
                decided: now,
                offered,
                hold_out: None,
                decisions: 0,
                placement: docile,
                scheduled: docile,
            },
            (false, StudyView::Application) => {
                let aside = head.allocate(rule, &mut machine.clone(), &mut made.pairs);
                Allocation { scheduled: docile, ..aside }
            }
            (false, StudyView::System) => head.allocate(rule, &mut machine, &mut made.pairs),
        };
        history.add(&made.pairs[known..]);
        let JobStart { start, procs } = allocation.scheduled;
        now = start;
        machine.release(now);
        machine.start(now, procs, job.runtime(procs));
        made.allocations.push(allocation);
    }
    machine
}

/// The line and the lifetimes that predictions use. They are updated when a job reaches the head of the queue, not
/// while it holds out.
struct RunHistory {
    rule: Rule,
    line: Option<CorrectionLine>,
    life: UniformLog,
    /// Pairs without a known outcome yet: the time when it will be known, the uncorrected prediction, and the actual
    /// queue time.
    open: Vec<(f64, f64, f64)>,
    scatter: Scatter,
    /// Jobs that have ended since the last fit, in order: their ends and run times.
    ended: Vec<(f64, f64)>,
    lifetimes: Lifetimes,
    sequence: DaySequence,
    day: f64,
}

/// The smallest number of pairs for a line.
const LEAST_PAIRS: u64 = 10;

impl RunHistory {
    fn new(rule: Rule, line: Option<CorrectionLine>, sequence: DaySequence) -> RunHistory {
        let line = match rule {
            Rule::Predicted(PredictionSettings { correction: LineCorrection::Pilot, .. }) => line,
            _ => None,
        };
        RunHistory {
            rule,
            line,
            life: LIFETIMES,
            open: Vec::new(),
            scatter: Scatter::default(),
            ended: Vec::new(),
            lifetimes: Lifetimes::default(),
            sequence,
            day: 0.0,
        }
    }

    fn update(&mut self, machine: &mut MalleableMachine, now: f64) {
        let ended = machine.ended.drain(..);
        let Rule::Predicted(settings) = self.rule else { return };
        if settings.correction == LineCorrection::Online {
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
        if self.sequence == DaySequence::Continuous && day > self.day {
            // Fitted again at midnight to all jobs that had ended by then.
            self.fit(day * DAY);
            self.day = day;
        }
    }

    /// Fits the lifetimes to all jobs that had ended by `until`. Before the first fit the model's own distribution is
    /// used.
    fn fit(&mut self, until: f64) {
        let before = self.ended.partition_point(|(end, _)| *end <= until);
        self.ended.drain(..before).for_each(|(_, runtime)| self.lifetimes.add(runtime));
        self.life = self.lifetimes.fit().unwrap_or(self.life);
    }

    /// Ends a day that is a simulation of its own. Everything about its jobs is known on the next day. (Without the
    /// jobs that still run at its end, the longest run times would be missing from every fit.)
    fn end_day(&mut self, mut machine: MalleableMachine) {
        machine.release(f64::INFINITY);
        self.update(&mut machine, f64::INFINITY);
        self.fit(f64::INFINITY);
    }

    fn add(&mut self, pairs: &[QueueTimePair]) {
        if matches!(self.rule, Rule::Predicted(PredictionSettings { correction: LineCorrection::Online, .. })) {
            self.open.extend(pairs.iter().map(|pair| (pair.time + pair.actual, pair.uncorrected, pair.actual)));
        }
    }
}

/// A job at the head of the queue that cannot have all processors it can use.
struct HeadJob<'a> {
    /// The jobs of this simulation.
    jobs: &'a [MalleableJob],
    at: usize,
    /// The index of the simulation's first job among all jobs.
    first: usize,
    /// Processors of the machine.
    procs: u32,
    /// The most processors it takes.
    most: u32,
    /// The number of jobs that have arrived, including this one.
    arrived: usize,
    decided: f64,
    history: &'a RunHistory,
}

impl HeadJob<'_> {
    fn job(&self) -> &MalleableJob {
        &self.jobs[self.at]
    }

    /// Lets the job decide and wait, and advances the machine to its start.
    fn allocate(&self, rule: Rule, machine: &mut MalleableMachine, pairs: &mut Vec<QueueTimePair>) -> Allocation {
        let offered = machine.free;
        let (hold_out, decisions, placement) = match rule {
            Rule::Avg { min_share } => {
                let least = self.job().share_of_procs(min_share, self.procs);
                self.wait_for(machine, least, f64::INFINITY)
            }
            Rule::Heur { lthresh, athresh, f, k } => {
                let job = self.job();
                let rebels = job.lifetime > lthresh && job.parallelism > athresh;
                let wanted = job.share_of_procs(f, self.procs);
                // Section 5.5: t_save = R(n_free) - R(f A), and the job waits for at most k t_save.
                let saving = (job.runtime(offered) - job.runtime(wanted)).max(0.0);
                self.wait_for(machine, if rebels { wanted } else { 1 }, k * saving)
            }
            Rule::Opt { objective } => {
                self.decide_repeatedly(machine, pairs, objective, false, |decision, machine, now| {
                    by_oracle(decision, machine, now, objective)
                })
            }
            Rule::Predicted(settings) => {
                let (life, line) = (&self.history.life, self.history.line);
                self.decide_repeatedly(
                    machine,
                    pairs,
                    settings.objective,
                    settings.lock_in,
                    |decision, machine, now| {
                        let outlook = || outlook(machine, now, life, settings);
                        by_prediction(decision, outlook, settings.method, line, settings.objective)
                    },
                )
            }
        };
        let kind = if hold_out.is_some() { DecisionKind::Rebel } else { DecisionKind::Docile };
        Allocation { kind, decided: self.decided, offered, hold_out, decisions, placement, scheduled: placement }
    }

    /// Waits for `wanted` processors, but at most for `patience` seconds.
    fn wait_for(&self, machine: &mut MalleableMachine, wanted: u32, patience: f64) -> (Option<HoldOut>, u32, JobStart) {
        if machine.free >= wanted {
            return (None, 1, JobStart { start: self.decided, procs: machine.free.min(self.most) });
        }
        let free = machine.when_free(wanted, self.decided).expect("no job can use more than the machine has");
        let start = free.min(self.decided + patience);
        machine.release(start);
        let hold_out = HoldOut { procs: wanted, wait: patience, uncorrected: patience };
        (Some(hold_out), 1, JobStart { start, procs: machine.free.min(self.most) })
    }

    /// Decides again and again: when another job arrives and when the predicted queue time has passed (section 5.3),
    /// but not when jobs end.
    fn decide_repeatedly(
        &self,
        machine: &mut MalleableMachine,
        pairs: &mut Vec<QueueTimePair>,
        objective: Objective,
        lock_in: bool,
        decide: impl Fn(&Decision<'_>, &MalleableMachine, f64) -> Option<HoldOut>,
    ) -> (Option<HoldOut>, u32, JobStart) {
        let (mut now, mut arrived, mut decisions, mut first) = (self.decided, self.arrived, 0, None);
        loop {
            decisions += 1;
            let waiting = if objective.whole_queue { arrived - self.at } else { 1 };
            let decision = Decision { job: self.job(), free: machine.free, most: self.most, waiting };
            let Some(hold_out) = decide(&decision, machine, now) else {
                return (first, decisions, JobStart { start: now, procs: machine.free.min(self.most) });
            };
            first = first.or(Some(hold_out));
            let free = machine.when_free(hold_out.procs, now).expect("no job waits for more than the machine has");
            pairs.push(QueueTimePair {
                job: self.first + self.at,
                time: now,
                procs: hold_out.procs,
                predicted: hold_out.wait,
                actual: free - now,
                uncorrected: hold_out.uncorrected,
            });
            let next_arrival = self.jobs.get(arrived).map_or(f64::INFINITY, |job| job.arrival);
            let next_decision = next_arrival.min(now + hold_out.wait);
            if free <= next_decision {
                machine.release(free);
                let procs = if lock_in { hold_out.procs } else { machine.free.min(self.most) };
                return (first, decisions, JobStart { start: free, procs });
            }
            now = next_decision;
            machine.release(now);
            while self.jobs.get(arrived).is_some_and(|job| job.arrival <= now) {
                arrived += 1;
            }
        }
    }
}

/// The running jobs as a predictor may see them: their ages, and the classes of their run times.
fn outlook(machine: &MalleableMachine, now: f64, life: &UniformLog, settings: PredictionSettings) -> Outlook {
    Outlook::new(machine.running().iter().map(|job| {
        let life = match settings.classes {
            1 => *life,
            classes => life.part(life.part_of(libm::log(job.end - job.start), classes), classes),
        };
        let aged = life.at_age(now - job.start);
        (job.procs, if settings.literal_ages { aged.map(Aged::without_age) } else { aged })
    }))
}
