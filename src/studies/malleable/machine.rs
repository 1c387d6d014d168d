//! The machine: running jobs with their ends, and free processors.

/// A running job.
#[derive(Clone, Copy, Debug)]
pub struct RunningMalleable {
    pub start: f64,
    /// The actual end, which only the oracle may use.
    pub end: f64,
    pub procs: u32,
}

/// The processors, and the jobs that run on them.
#[derive(Clone, Debug)]
pub struct MalleableMachine {
    pub free: u32,
    /// In descending order of their ends.
    running: Vec<RunningMalleable>,
    /// Jobs that have ended, in order: their ends and run times. The reader drains the list.
    pub ended: Vec<(f64, f64)>,
}

impl MalleableMachine {
    pub fn new(procs: u32) -> MalleableMachine {
        MalleableMachine { free: procs, running: Vec::new(), ended: Vec::new() }
    }

    pub fn running(&self) -> &[RunningMalleable] {
        &self.running
    }

    /// The running jobs in order of their ends.
    pub fn by_end(&self) -> impl Iterator<Item = &RunningMalleable> {
        self.running.iter().rev()
    }

    pub fn start(&mut self, now: f64, procs: u32, runtime: f64) {
        let end = now + runtime;
        let at = self.running.partition_point(|other| other.end > end);
        self.running.insert(at, RunningMalleable { start: now, end, procs });
        self.free -= procs;
    }

    /// Removes all jobs that end at or before `now`.
    pub fn release(&mut self, now: f64) {
        while let Some(job) = self.running.pop_if(|job| job.end <= now) {
            self.free += job.procs;
            self.ended.push((job.end, job.end - job.start));
        }
    }

    /// When `procs` processors will be free if no job starts: now, or at the end of a job. None if the machine has
    /// fewer.
    pub fn when_free(&self, procs: u32, now: f64) -> Option<f64> {
        let mut free = self.free;
        if free >= procs {
            return Some(now);
        }
        for job in self.by_end() {
            free += job.procs;
            if free >= procs {
                return Some(job.end);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_end_in_order_and_free_their_processors() {
        let mut machine = MalleableMachine::new(10);
        machine.start(0.0, 4, 30.0);
        machine.start(1.0, 3, 9.0);
        machine.start(2.0, 2, 8.0);
        assert_eq!(machine.free, 1);
        assert_eq!(machine.when_free(1, 2.0), Some(2.0));
        assert_eq!(machine.when_free(6, 2.0), Some(10.0));
        assert_eq!(machine.when_free(7, 2.0), Some(30.0));
        assert_eq!(machine.when_free(11, 2.0), None);
        machine.release(10.0);
        assert_eq!((machine.free, machine.ended.clone()), (6, vec![(10.0, 9.0), (10.0, 8.0)]));
        machine.release(29.999);
        assert_eq!(machine.free, 6);
        machine.release(30.0);
        assert_eq!((machine.free, machine.running().len()), (10, 0));
    }
}
