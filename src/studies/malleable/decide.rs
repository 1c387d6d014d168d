//! The decision of a job at the head of the queue: how many processors, from what is free to the most it can use, give
//! the shortest turnaround Q(n) + R(n)?

use super::line::CorrectionLine;
use super::machine::MalleableMachine;
use super::strategy::Objective;
use super::workload::MalleableJob;
use crate::model::{Outlook, QueueTimeMethod, SHORTEST_QUEUE_TIME};

/// A job that decides, the processors it can have now, and the most it can use.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    pub job: &'a MalleableJob,
    /// Processors that are free: at least 1, fewer than `most`.
    pub free: u32,
    /// The most processors that the job can use on this machine.
    pub most: u32,
    /// The number of waiting jobs, including this one.
    pub waiting: usize,
}

/// The decision to wait for more processors than are free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HoldOut {
    /// The number of processors to wait for.
    pub procs: u32,
    /// The time until they are free, in seconds, actual or predicted.
    pub wait: f64,
    /// The same before the correction by a line.
    pub uncorrected: f64,
}

impl Decision<'_> {
    fn weight(&self, objective: Objective) -> f64 {
        if objective.whole_queue { self.waiting as f64 } else { 1.0 }
    }

    /// The turnaround that waiting must stay below: the run time on the free processors, less the required saving
    /// (section 6.1).
    fn limit_of_turnaround(&self, objective: Objective) -> f64 {
        self.job.runtime(self.free) * (1.0 - objective.risk)
    }
}

/// Decides by the actual ends of the running jobs. None means docility: to start on what is free.
pub fn by_oracle(
    decision: &Decision<'_>,
    machine: &MalleableMachine,
    now: f64,
    objective: Objective,
) -> Option<HoldOut> {
    let weight = decision.weight(objective);
    let (mut best, mut shortest) = (None, decision.limit_of_turnaround(objective));
    let mut free = decision.free;
    for job in machine.by_end() {
        free += job.procs;
        // Fewer processors than are free then would mean the same wait and a longer run.
        let (procs, wait) = (free.min(decision.most), job.end - now);
        let turnaround = weight * wait + decision.job.runtime(procs);
        if turnaround < shortest {
            shortest = turnaround;
            best = Some(HoldOut { procs, wait, uncorrected: wait });
        }
        if free >= decision.most {
            break;
        }
    }
    best
}

/// Decides by predicted queue times, corrected by `line` if there is one. None means docility: to start on what is
/// free.
pub fn by_prediction(
    decision: &Decision<'_>,
    outlook: impl FnOnce() -> Outlook,
    method: QueueTimeMethod,
    line: Option<CorrectionLine>,
    objective: Objective,
) -> Option<HoldOut> {
    let weight = decision.weight(objective);
    let shortest = decision.limit_of_turnaround(objective);
    // The most common case: waiting is no gain even if the processors were free after a second.
    if weight * SHORTEST_QUEUE_TIME + decision.job.runtime(decision.most) >= shortest {
        return None;
    }
    let outlook = outlook();
    let mut search = AllocationSearch { decision, outlook: &outlook, method, line, weight, shortest, best: None };
    for requests in outlook.rising(method, decision.most - decision.free) {
        search.among(*requests.start(), *requests.end());
    }
    search.best
}

/// The search for the best number of processors. Within a range in which more processors take longer to get and shorten
/// the run, the whole range can be skipped if the smallest request cannot be satisfied in time for the run time of the
/// largest.
struct AllocationSearch<'a> {
    decision: &'a Decision<'a>,
    outlook: &'a Outlook,
    method: QueueTimeMethod,
    line: Option<CorrectionLine>,
    weight: f64,
    /// The shortest turnaround so far.
    shortest: f64,
    best: Option<HoldOut>,
}

impl AllocationSearch<'_> {
    /// Examines requests for `fewest` to `most` processors more than are free.
    fn among(&mut self, fewest: u32, most: u32) {
        if fewest > most || !self.outlook.is_within(self.method, fewest, self.limit(most)) {
            return;
        }
        let middle = fewest.midpoint(most);
        self.examine(middle);
        self.among(middle + 1, most);
        self.among(fewest, middle - 1);
    }

    fn examine(&mut self, more: u32) {
        let limit = self.limit(more);
        let Some(uncorrected) = self.outlook.queue_time_within(self.method, more, limit) else { return };
        let wait = self.line.map_or(uncorrected, |line| line.correct(uncorrected)).max(SHORTEST_QUEUE_TIME);
        let procs = self.decision.free + more;
        let turnaround = self.weight * wait + self.decision.job.runtime(procs);
        // Of equal turnarounds the fewest processors win; but waiting must be shorter than starting at once.
        if turnaround < self.shortest || self.best.is_some_and(|best| turnaround == self.shortest && procs < best.procs)
        {
            self.shortest = turnaround;
            self.best = Some(HoldOut { procs, wait, uncorrected });
        }
    }

    /// The longest wait for `more` further processors with which the turnaround is as short as the best so far.
    fn limit(&self, more: u32) -> f64 {
        let wait = (self.shortest - self.decision.job.runtime(self.decision.free + more)) / self.weight;
        self.line.map_or(wait, |line| line.uncorrect(wait))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::malleable::LIFETIMES;
    use crate::model::Aged;
    use crate::rng::stream;
    use rand::RngExt;

    /// Every number of processors, one by one.
    fn plain(
        decision: &Decision<'_>,
        outlook: &Outlook,
        method: QueueTimeMethod,
        line: Option<CorrectionLine>,
        objective: Objective,
    ) -> Option<(u32, f64)> {
        let (mut best, mut shortest) = (None, decision.limit_of_turnaround(objective));
        for procs in decision.free + 1..=decision.most {
            let Some(time) = outlook.queue_time(method, procs - decision.free) else { continue };
            let wait = line.map_or(time, |line| line.correct(time)).max(SHORTEST_QUEUE_TIME);
            let turnaround = decision.weight(objective) * wait + decision.job.runtime(procs);
            if turnaround < shortest {
                shortest = turnaround;
                best = Some((procs, turnaround));
            }
        }
        best
    }

    #[test]
    fn the_search_finds_the_same_as_trying_every_number() {
        let mut rng = stream(1, "decisions");
        let mut rebels = 0;
        for _ in 0..1000 {
            let (mut free, mut running) = (128, Vec::new());
            while free > 0 && rng.random_bool(0.95) {
                let procs = (LIFETIMES.quantile(rng.random()).ln().exp2() as u32).clamp(1, free);
                free -= procs;
                running.push((procs, LIFETIMES.at_age(LIFETIMES.quantile(rng.random()) * rng.random::<f64>())));
            }
            if rng.random_bool(0.3) {
                running = running.into_iter().map(|(procs, life)| (procs, life.map(Aged::without_age))).collect();
            }
            let most = rng.random_range(2..=128);
            let free = free.clamp(1, most - 1);
            let outlook = Outlook::new(running.into_iter());
            let lifetime = LIFETIMES.quantile(rng.random());
            let parallelism = f64::from(most) - rng.random::<f64>();
            let job = MalleableJob { arrival: 0.0, lifetime, parallelism, sigma: rng.random::<f64>() * 2.0 };
            let decision = Decision { job: &job, free, most, waiting: rng.random_range(1..4) };
            let line = rng.random_bool(0.5).then_some(CorrectionLine { slope: 0.7, intercept: 1.1 });
            let objective = Objective { risk: [0.0, 0.2][rng.random_range(0..2)], whole_queue: rng.random_bool(0.5) };
            for method in
                [QueueTimeMethod::Benefactors, QueueTimeMethod::Release, QueueTimeMethod::Combined { least: 2 }]
            {
                let found = by_prediction(&decision, || outlook.clone(), method, line, objective);
                let expected = plain(&decision, &outlook, method, line, objective);
                assert_eq!(
                    found.map(|hold_out| hold_out.procs),
                    expected.map(|(procs, _)| procs),
                    "{decision:?} {method:?}"
                );
                if let (Some(hold_out), Some((procs, turnaround))) = (found, expected) {
                    rebels += 1;
                    let ours = decision.weight(objective) * hold_out.wait + job.runtime(procs);
                    assert!((ours / turnaround - 1.0).abs() < 1e-8);
                }
            }
        }
        assert!(rebels > 150, "{rebels}");
    }
}
