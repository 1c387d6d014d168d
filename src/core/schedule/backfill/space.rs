//! What differs between machines when jobs are backfilled: where there is room, and what reservations leave of it.

use super::fitting_job::FittingJob;
use super::scan_index::ScanIndex;
use crate::job::JobId;
use crate::schedule::arrivals::Arrivals;
use crate::schedule::machine::Machine;
use crate::schedule::policy::{Decisions, NeverStarts};
use crate::schedule::queue::{QueuePlace, Waiting};
use crate::time::{Seconds, Time};

/// What a pass reads.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    pub machine: &'a Machine,
    pub arrivals: &'a Arrivals,
}

/// The room of a machine, and the plan of the reservations. It alone knows what will be free when: what running jobs give back at
/// their ends, less what is reserved. The walk knows nothing of that, so that whatever else will change what is free, such as nodes
/// that go out of service, is known here alone.
pub trait Space: Send + 'static {
    /// A pass begins without reservations. False if no waiting job has room.
    fn begin(&mut self, pass: &Pass<'_>, index: Option<&ScanIndex>) -> bool;

    /// Begins without reservations, to list them.
    fn begin_anew(&mut self, machine: &Machine);

    /// A pass begins with the reservation of the last one. False if it must be made again, or if this is never so.
    fn goes_on(&mut self, _machine: &Machine) -> bool {
        false
    }

    /// Whether it is known that none of the jobs can start that the walk has not reached. `is_protected`: they must fit by their
    /// estimates.
    fn is_over(&mut self, pass: &Pass<'_>, index: Option<&ScanIndex>, is_protected: bool, starts: &[JobId]) -> bool;

    /// The number of reservations.
    fn count(&self) -> usize;

    /// Whether no job can get a reservation any more.
    fn are_all_closed(&self) -> bool;

    /// Whether this job can start or get a reservation in the order of the queue.
    fn is_open(&self, _id: JobId, _machine: &Machine) -> bool {
        true
    }

    /// Whether it is known that no job of this width can start.
    fn is_too_wide(&self, _procs: u32) -> bool {
        false
    }

    /// Starts a job if there is room for it from now on. `in_queue`: only where it can get a reservation.
    fn try_start(&mut self, job: FittingJob, in_queue: bool, pass: &Pass<'_>) -> bool;

    /// Makes a reservation for a job that cannot start.
    fn reserve(&mut self, job: &Waiting, length: Seconds, pass: &Pass<'_>);

    /// A job that cannot start blocks all that are behind it.
    fn block(&mut self, id: JobId, machine: &Machine);

    /// Adds the jobs of these places that may have room. All that have room are among them.
    fn list(&mut self, part: &[QueuePlace], pass: &Pass<'_>, jobs: &mut Vec<Waiting>);

    /// The length of the longest job of a width that can start now; None if no such job, and no wider one, can.
    fn limits(&mut self, pass: &Pass<'_>) -> impl Fn(i64) -> Option<Seconds>;

    /// A job that overtakes others has started with the one length and counts with the other from the next pass on.
    fn counts_as(&mut self, _fitted: Seconds, _counted: Seconds, _now: Time) {}

    /// Whether a job has a reservation and could start all the same.
    fn has_reservation(&self, _id: JobId) -> bool {
        false
    }

    /// Adds the jobs with reservations and their starts, in the order in which these were made.
    fn list_reservations(&mut self, machine: &Machine, reserved: &mut Vec<(JobId, Time)>);

    /// A pass is over. On nodes: adds what the started jobs get.
    fn end(&mut self, _out: &mut Decisions) {}

    /// Why a job can never start.
    fn why_never(&mut self, _id: JobId, _machine: &Machine) -> Option<NeverStarts> {
        None
    }
}
