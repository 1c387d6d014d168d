//! The slow reference: a second simulator, written from the definitions alone and naive on purpose.
//!
//! It shares no code with the engine that it checks. Everything that can be computed from full lists
//! is computed again at every step: the waiting and running jobs, the free processors, a user's
//! history. Every prediction is kept with its instant, and the accuracy of a job is computed from
//! that list at the end.

/// A job of the workload; runtime and estimate are at least 1, it is no wider than the machine.
#[derive(Clone, Debug)]
pub struct OracleJob {
    pub submit: i64,
    pub procs: i64,
    pub runtime: i64,
    pub estimate: i64,
    pub user: i64,
    pub executable: i64,
    pub queue: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OracleScheduler {
    Fcfs,
    Easy,
    Sjbf,
    Conservative,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OracleMetric {
    Median,
    Mean,
    Min,
    Max,
    Last,
}

#[derive(Clone, Debug, PartialEq)]
pub enum OraclePredictor {
    Perfect,
    Constant { seconds: i64 },
    Estimate,
    Ruh { window: usize, metric: OracleMetric, by_arrival: bool, propagate: bool, running: bool, cap: bool },
    Sbh(OracleSbh),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OraclePropagation {
    On,
    Ends,
    Off,
}

/// A criterion without letters is `*`; `sessions` of `None` means all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct OracleSbh {
    pub criteria: Vec<Vec<OracleLetter>>,
    pub dfs: bool,
    pub sessions: Option<usize>,
    pub think: i64,
    pub metric: OracleMetric,
    pub propagate: OraclePropagation,
    pub growth: OracleGrowth,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OracleLetter {
    P,
    E,
    X,
    Q,
}

/// The prediction when nothing is found, and at a miss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OracleGrowth {
    /// sbh: nothing found gives the estimate; a miss raises to the estimate, then by increments.
    WithEstimates,
    /// sbh-noest: nothing found gives the default; a miss multiplies by the factor.
    Balanced {
        factor: f64,
        limit: i64,
        default: i64,
    },
    Unbalanced {
        factor: f64,
        default: i64,
    },
}

/// Where predictions without a limit saturate.
const FOREVER: i64 = 1 << 36;

/// `inflate` is the whole factor (at least 1) by which the scheduler multiplies predictions.
#[derive(Clone, Debug)]
pub struct OracleSettings {
    pub procs: i64,
    pub scheduler: OracleScheduler,
    pub predictor: OraclePredictor,
    pub pass_on_miss: bool,
    pub inflate: i64,
}

/// The outcome of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct OracleOutcome {
    pub start: i64,
    pub prediction_arrival: i64,
    pub prediction_start: i64,
    pub prediction_last: i64,
    pub misses: i64,
    pub backfilled: bool,
    pub ai: f64,
    pub ra: f64,
}

/// Simulates jobs given in workload order; the outcomes are in that order, too.
pub fn simulate(settings: OracleSettings, jobs: &[OracleJob]) -> Vec<OracleOutcome> {
    assert!(jobs.is_sorted_by_key(|job| job.submit));
    let mut world = World {
        settings,
        jobs,
        now: i64::MIN,
        predictions: vec![Vec::new(); jobs.len()],
        state: vec![State::Coming; jobs.len()],
        start: vec![0; jobs.len()],
        misses: vec![0; jobs.len()],
        backfilled: vec![false; jobs.len()],
        started: Vec::new(),
        terminated: Vec::new(),
        missed: Vec::new(),
        sessions: Vec::new(),
    };
    while let Some(next) = world.next_instant() {
        assert!(next > world.now, "time must go on");
        world.now = next;
        world.instant();
    }
    (0..jobs.len()).map(|job| world.outcome(job)).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Coming,
    Waiting,
    Running,
    Terminated,
}

/// Everything at one instant. Jobs are named by their place in workload order.
struct World<'a> {
    settings: OracleSettings,
    jobs: &'a [OracleJob],
    now: i64,
    state: Vec<State>,
    /// For each job every (instant, prediction) ever given.
    predictions: Vec<Vec<(i64, i64)>>,
    start: Vec<i64>,
    misses: Vec<i64>,
    backfilled: Vec<bool>,
    /// All jobs that ever started, in order of start; all that terminated, in that order.
    started: Vec<usize>,
    terminated: Vec<usize>,
    /// All jobs that ever missed a deadline, in order of their first miss.
    missed: Vec<usize>,
    /// The sessions of all users in opening order, each the jobs that joined it.
    sessions: Vec<Vec<usize>>,
}

impl World<'_> {
    /// The jobs in a state, in workload order (which is arrival order).
    fn all(&self, state: State) -> Vec<usize> {
        let jobs = 0..self.jobs.len();
        jobs.filter(|&job| self.state[job] == state).collect()
    }

    fn free(&self) -> i64 {
        let running = self.all(State::Running).into_iter();
        self.settings.procs - running.map(|job| self.jobs[job].procs).sum::<i64>()
    }

    /// The prediction in force.
    fn prediction(&self, job: usize) -> i64 {
        self.predictions[job].last().unwrap().1
    }

    /// When a job that has started ends.
    fn end(&self, job: usize) -> i64 {
        self.start[job] + self.jobs[job].runtime
    }

    /// "A running job's predicted end is start + prediction, and its deadline is that instant."
    fn deadline(&self, job: usize) -> i64 {
        self.start[job] + self.prediction(job)
    }

    /// The next arrival, end or deadline; nothing left: the simulation is over.
    fn next_instant(&self) -> Option<i64> {
        let (coming, running) = (self.all(State::Coming), self.all(State::Running));
        let arrivals = coming.iter().map(|&job| self.jobs[job].submit);
        let others = running.iter().flat_map(|&job| [self.end(job), self.deadline(job)]);
        arrivals.chain(others).min()
    }

    /// "At one instant t, in this order": terminations, missed deadlines, arrivals, one pass.
    fn instant(&mut self) {
        let mut pass = false;
        // "Each termination is handled completely before the next; a job that also ends at t but
        // comes later in order is still running until its turn."
        for job in self.all(State::Running) {
            if self.end(job) == self.now {
                self.state[job] = State::Terminated;
                self.terminated.push(job);
                self.propagate(job);
                pass = true;
            }
        }
        // "Each running job is looked at once, in workload order: it misses if its deadline, as
        // changed by what happened earlier at this instant, is t or earlier."
        for job in self.all(State::Running) {
            if self.deadline(job) <= self.now {
                self.miss(job);
                pass |= self.settings.pass_on_miss;
            }
        }
        for job in self.all(State::Coming) {
            if self.jobs[job].submit == self.now {
                // "The arriving job is put into its session first."
                self.join_session(job);
                self.predict(job, self.compute(job));
                self.state[job] = State::Waiting;
                pass = true;
            }
        }
        // "One scheduling pass, if a job terminated, arrived"; after a miss only where asked.
        if pass {
            self.pass();
        }
    }

    /// A new prediction, checked against the contract: "always more than the elapsed runtime".
    fn predict(&mut self, job: usize, prediction: i64) {
        assert!(prediction > self.elapsed(job));
        self.predictions[job].push((self.now, prediction));
    }

    fn elapsed(&self, job: usize) -> i64 {
        match self.state[job] {
            State::Running => self.now - self.start[job],
            _ => 0,
        }
    }

    /// What the predictor computes for a job at arrival and in propagation.
    fn compute(&self, job: usize) -> i64 {
        let estimate = self.jobs[job].estimate;
        let (window, metric, by_arrival, running, cap) = match self.settings.predictor {
            OraclePredictor::Perfect => return self.jobs[job].runtime,
            OraclePredictor::Constant { seconds } => return seconds,
            OraclePredictor::Estimate => return estimate,
            OraclePredictor::Ruh { window, metric, by_arrival, running, cap, .. } => {
                (window, metric, by_arrival, running, cap)
            }
            OraclePredictor::Sbh(ref sbh) => return self.search(sbh, job),
        };
        // "The history of ruh is the user's terminated jobs in order of termination; with
        // running=on followed by the user's other running jobs in order of start, each with its
        // current prediction."
        let same_user = |other: usize| self.jobs[other].user == self.jobs[job].user;
        let mut history: Vec<i64> = Vec::new();
        let mut terminated = self.terminated.clone();
        // "ruh:order=arrival takes the last of the user's terminated jobs by arrival."
        if by_arrival {
            terminated.sort();
        }
        for other in terminated {
            if same_user(other) {
                history.push(self.jobs[other].runtime);
            }
        }
        for &other in &self.started {
            let runs = self.state[other] == State::Running;
            if running && runs && other != job && same_user(other) {
                history.push(self.prediction(other));
            }
        }
        // "window takes the last of that list, and a shorter list gives the estimate."
        if history.len() < window {
            return estimate;
        }
        let value = measure(metric, &history[history.len() - window..]);
        // "cap=on bounds what is computed at arrival and in propagation by the user's estimate."
        if cap { value.min(estimate) } else { value }
    }

    /// "An arriving job joins its user's current session if that session still has a job waiting or
    /// running, or its latest termination is less than think ago; else it opens a new one."
    fn join_session(&mut self, job: usize) {
        let OraclePredictor::Sbh(OracleSbh { think, .. }) = self.settings.predictor else { return };
        let user = self.jobs[job].user;
        let current = self.sessions.iter().rposition(|session| self.jobs[session[0]].user == user);
        let goes_on = |&session: &usize| {
            let mut jobs = self.sessions[session].iter();
            // A late job counts as running here, for it has not ended.
            jobs.any(|&other| self.state[other] != State::Terminated || self.now - self.end(other) < think)
        };
        match current.filter(goes_on) {
            Some(session) => self.sessions[session].push(job),
            None => self.sessions.push(vec![job]),
        }
    }

    /// What sbh and sbh-noest compute: "the metric over all matching jobs of that one session".
    fn search(&self, sbh: &OracleSbh, job: usize) -> i64 {
        // "Session order = opening order", "newest first"; sessions=N takes the first N of them.
        let mut sessions: Vec<&Vec<usize>> = self.sessions.iter().collect();
        sessions.retain(|session| self.jobs[session[0]].user == self.jobs[job].user);
        sessions.reverse();
        sessions.truncate(sbh.sessions.unwrap_or(usize::MAX));
        // "dfs: criteria outside, sessions (newest first) inside; bfs the other way round."
        let mut places: Vec<(&Vec<OracleLetter>, &Vec<usize>)> = Vec::new();
        if sbh.dfs {
            for criterion in &sbh.criteria {
                places.extend(sessions.iter().map(|&session| (criterion, session)));
            }
        } else {
            for session in sessions {
                places.extend(sbh.criteria.iter().map(|criterion| (criterion, session)));
            }
        }
        for (criterion, session) in places {
            let values = self.matches(sbh, criterion, session, job);
            if !values.is_empty() {
                return measure(sbh.metric, &values);
            }
        }
        // "Nothing found: the estimate (default for sbh-noest)."
        match sbh.growth {
            OracleGrowth::WithEstimates => self.jobs[job].estimate,
            OracleGrowth::Balanced { default, .. } | OracleGrowth::Unbalanced { default, .. } => default,
        }
    }

    /// The runtimes of the jobs of a session that match a job: "only terminated jobs match and, with
    /// propagate=on, late jobs"; "a job is never a match for itself". The terminated ones come in
    /// order of termination. The definitions do not say where late jobs stand in that order; here
    /// they come after them, as they end after them, in order of their first miss.
    fn matches(&self, sbh: &OracleSbh, criterion: &[OracleLetter], session: &[usize], job: usize) -> Vec<i64> {
        let similar = |other: usize| {
            let (a, b) = (&self.jobs[job], &self.jobs[other]);
            // "P same procs, E same estimate, X same executable, Q same queue; * matches any job."
            let same = criterion.iter().all(|letter| match letter {
                OracleLetter::P => a.procs == b.procs,
                OracleLetter::E => a.estimate == b.estimate,
                OracleLetter::X => a.executable == b.executable,
                OracleLetter::Q => a.queue == b.queue,
            });
            same && other != job && session.contains(&other)
        };
        let mut values = Vec::new();
        for &other in &self.terminated {
            if similar(other) {
                values.push(self.jobs[other].runtime);
            }
        }
        // "From its first miss until it ends a late job is treated as a terminated job whose runtime
        // is its current prediction (the criterion must still match)."
        for &other in &self.missed {
            let late = self.state[other] == State::Running;
            if sbh.propagate == OraclePropagation::On && late && similar(other) {
                values.push(self.prediction(other));
            }
        }
        values
    }

    /// "When a job terminates, the predictions of its user's other waiting and running jobs are
    /// computed again, in arrival order: each is computed and adopted (for a running job only if
    /// more than its elapsed time; even if lower than the present one) before the next."
    /// After a miss, likewise: "the others are computed again".
    fn propagate(&mut self, from: usize) {
        let on = match self.settings.predictor {
            OraclePredictor::Ruh { propagate, .. } => propagate,
            OraclePredictor::Sbh(OracleSbh { propagate, .. }) => propagate != OraclePropagation::Off,
            _ => false,
        };
        for job in 0..self.jobs.len() {
            let alive = matches!(self.state[job], State::Waiting | State::Running);
            if on && alive && job != from && self.jobs[job].user == self.jobs[from].user {
                let prediction = self.compute(job);
                if prediction > self.elapsed(job) {
                    self.predict(job, prediction);
                }
            }
        }
    }

    /// "The k-th miss of a job adds the k-th" increment, "and k counts all its misses"; all but
    /// constant, estimate and sbh-noest: "a prediction below the user's estimate is raised to the
    /// estimate".
    fn miss(&mut self, job: usize) {
        self.misses[job] += 1;
        let minutes = [1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000];
        let k = (self.misses[job] as usize).min(minutes.len());
        let (present, estimate) = (self.prediction(job), self.jobs[job].estimate);
        let increased = present + minutes[k - 1] * 60;
        let raised = if present < estimate { estimate } else { increased };
        // "Multiplies by factor (the product is rounded down)"; "the answer is always more than the
        // elapsed time", which a small factor or the saturation would not give.
        let multiplied = |factor: f64, bound: i64| {
            let product = (present as f64 * factor).floor() as i64;
            product.min(bound).max(self.elapsed(job) + 1)
        };
        let answer = match self.settings.predictor {
            OraclePredictor::Constant { .. } | OraclePredictor::Estimate => increased,
            OraclePredictor::Perfect | OraclePredictor::Ruh { .. } => raised,
            OraclePredictor::Sbh(OracleSbh { growth, .. }) => match growth {
                OracleGrowth::WithEstimates => raised,
                // "min(prediction x factor, limit) while the prediction is below limit, increments
                // from there."
                OracleGrowth::Balanced { factor, limit, .. } if present < limit => multiplied(factor, limit),
                OracleGrowth::Balanced { .. } => increased,
                // "Unbalanced has no limit, predictions saturate."
                OracleGrowth::Unbalanced { factor, .. } => multiplied(factor, FOREVER),
            },
        };
        self.predict(job, answer);
        if !self.missed.contains(&job) {
            self.missed.push(job);
        }
        // "Every missed deadline propagates too: the late job's own prediction follows the miss rule
        // first"; "ruh does not propagate misses"; "propagate=ends propagates terminations, but no missed
        // deadlines, and late jobs never match".
        if let OraclePredictor::Sbh(OracleSbh { propagate: OraclePropagation::On, .. }) = self.settings.predictor {
            self.propagate(job);
        }
    }

    fn pass(&mut self) {
        let before = self.started.len();
        match self.settings.scheduler {
            OracleScheduler::Fcfs => self.start_heads(),
            OracleScheduler::Easy | OracleScheduler::Sjbf => {
                self.start_heads();
                self.backfill();
            }
            OracleScheduler::Conservative => self.reserve_all(),
        }
        // "A job is backfilled if it started in a pass after which a job ahead of it in arrival
        // order was still waiting."
        let waiting = self.all(State::Waiting);
        for &job in &self.started[before..] {
            self.backfilled[job] = waiting.iter().any(|&ahead| ahead < job);
        }
    }

    fn start(&mut self, job: usize) {
        assert!(self.jobs[job].procs <= self.free());
        self.state[job] = State::Running;
        self.start[job] = self.now;
        self.started.push(job);
    }

    /// "Start the head while it fits."
    fn start_heads(&mut self) {
        for job in self.all(State::Waiting) {
            if self.jobs[job].procs > self.free() {
                return;
            }
            self.start(job);
        }
    }

    /// The prediction that the scheduler computes with, and a running job's end by it.
    fn inflated(&self, job: usize) -> i64 {
        self.prediction(job) * self.settings.inflate
    }

    fn inflated_end(&self, job: usize) -> i64 {
        self.start[job] + self.inflated(job)
    }

    /// The one reservation of EASY and the scan of the rest of the queue.
    fn backfill(&mut self) {
        let mut scan = self.all(State::Waiting);
        if scan.is_empty() {
            return;
        }
        // "The first job that does not fit gets the one reservation."
        let head = self.jobs[scan.remove(0)].procs;
        // "Running jobs by predicted end, freed processors added to the free ones (all jobs of one
        // predicted end together) until the head fits = shadow time; that sum less the head's
        // processors = extra."
        let mut ends = self.all(State::Running);
        ends.sort_by_key(|&job| self.inflated_end(job));
        let (mut shadow, mut sum) = (self.now, self.free());
        for job in ends {
            if sum < head || self.inflated_end(job) == shadow {
                shadow = self.inflated_end(job);
                sum += self.jobs[job].procs;
            }
        }
        let mut extra = sum - head;
        // "In arrival order"; sjbf: "by ascending current prediction, ties by arrival".
        if self.settings.scheduler == OracleScheduler::Sjbf {
            scan.sort_by_key(|&job| (self.prediction(job), job));
        }
        for job in scan {
            let procs = self.jobs[job].procs;
            let in_time = self.now + self.inflated(job) <= shadow;
            if procs <= self.free() && (in_time || procs <= extra) {
                // "Which it then uses up; a job admitted by the shadow time uses up none."
                extra -= if in_time { 0 } else { procs };
                self.start(job);
            }
        }
    }

    /// Conservative: "the profile is rebuilt from the running jobs and every waiting job, in
    /// arrival order, gets its earliest feasible start; those whose start is now start."
    fn reserve_all(&mut self) {
        // (from, to, processors), half-open: "one may start where another ends".
        let mut profile: Vec<(i64, i64, i64)> = Vec::new();
        for job in self.all(State::Running) {
            profile.push((self.now, self.inflated_end(job), self.jobs[job].procs));
        }
        for job in self.all(State::Waiting) {
            let (length, procs) = (self.inflated(job), self.jobs[job].procs);
            let used = |instant: i64| -> i64 {
                let covers = profile.iter().filter(|r| r.0 <= instant && instant < r.1);
                covers.map(|r| r.2).sum()
            };
            // Use changes only where something in the profile begins or ends.
            let feasible = |&from: &i64| {
                let breakpoints = profile.iter().flat_map(|r| [r.0, r.1]);
                let inside = breakpoints.filter(|&b| from < b && b < from + length);
                let mut instants = [from].into_iter().chain(inside);
                instants.all(|instant| used(instant) + procs <= self.settings.procs)
            };
            // The earliest start is now, or where something that stood in the way ends.
            let mut candidates: Vec<i64> = profile.iter().map(|r| r.1).collect();
            candidates.push(self.now);
            candidates.sort();
            let from = candidates.into_iter().find(feasible).expect("the machine is wide enough");
            profile.push((from, from + length, procs));
            if from == self.now {
                self.start(job);
            }
        }
    }

    /// The outcome, when everything is over; AI and RA are "weighted over [submit, end] by how long
    /// each prediction held" (Equation 2).
    fn outcome(&self, job: usize) -> OracleOutcome {
        let (submit, runtime) = (self.jobs[job].submit, self.jobs[job].runtime);
        let (start, end) = (self.start[job], self.end(job));
        // "Several predictions at one instant: the last holds, the others weigh nothing."
        let mut held: Vec<(i64, i64)> = Vec::new();
        for &(instant, prediction) in &self.predictions[job] {
            held.retain(|earlier| earlier.0 != instant);
            held.push((instant, prediction));
        }
        // At the instant of a start all predictions come before the pass.
        let at_start = held.iter().rfind(|(instant, _)| *instant <= start);
        let prediction_start = at_start.unwrap().1;
        // A prediction equal to the one before it makes no new segment.
        held.dedup_by_key(|segment| segment.1);
        let (mut ai, mut ra) = (0, 0.0);
        for (i, &(from, prediction)) in held.iter().enumerate() {
            let to = held.get(i + 1).map_or(end, |next| next.0);
            let (low, high) = (runtime.min(prediction), runtime.max(prediction));
            ai += (high - low) * (to - from);
            ra += low as f64 / high as f64 * (to - from) as f64;
        }
        let span = (end - submit) as f64;
        OracleOutcome {
            start,
            prediction_arrival: self.predictions[job][0].1,
            prediction_start,
            prediction_last: self.prediction(job),
            misses: self.misses[job],
            backfilled: self.backfilled[job],
            ai: ai as f64 / span,
            ra: ra / span,
        }
    }
}

/// The metric of a set that is not empty; "means and medians of whole seconds are rounded down".
fn measure(metric: OracleMetric, values: &[i64]) -> i64 {
    let mut sorted = values.to_vec();
    sorted.sort();
    let middle = sorted.len() / 2;
    match metric {
        // "The median of an even number is the mean of the middle two."
        OracleMetric::Median if sorted.len().is_multiple_of(2) => (sorted[middle - 1] + sorted[middle]) / 2,
        OracleMetric::Median => sorted[middle],
        OracleMetric::Mean => values.iter().sum::<i64>() / values.len() as i64,
        OracleMetric::Min => sorted[0],
        OracleMetric::Max => sorted[sorted.len() - 1],
        OracleMetric::Last => values[values.len() - 1],
    }
}
