//! What of the machine is closed to jobs: nodes that are down or drained, and the reservations of the administrator.

use super::NodeSet;
use super::choice::{NodeWeight, plain_weight};
use super::site::SlurmSite;
use crate::time::{Seconds, Time};

/// A reservation of the administrator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteReservation {
    /// Its number, by which jobs name it.
    pub number: u32,
    /// When it begins.
    pub start: Time,
    /// When it is over.
    pub end: Time,
    /// Its nodes.
    pub nodes: NodeSet,
    /// `MAINT`.
    pub is_maintenance: bool,
    /// `OVERLAP`: its jobs may also have the nodes of others.
    pub overlaps: bool,
    /// `FLEX`: its jobs may also start before it and beside it.
    pub is_flexible: bool,
    /// `ALL_NODES`.
    pub has_all: bool,
    /// `PART_NODES`: it has all nodes of this partition.
    pub of_partition: Option<usize>,
}

impl SiteReservation {
    /// Whether a job that runs from `start` to `end` meets it.
    pub(super) fn meets(&self, start: Time, end: Time) -> bool {
        self.start < end && self.end > start
    }
}

/// The nodes that are out, and all reservations that are known and not over.
#[derive(Clone, Debug, Default)]
pub struct SiteClosures {
    /// Nodes that are down or drained. None: there are none.
    pub out: Option<NodeSet>,
    /// In the order in which they were made.
    pub reservations: Vec<SiteReservation>,
    /// Jobs that are too large for the reservation that they name. They never start.
    pub(super) held: Vec<u64>,
}

impl SiteClosures {
    /// Whether all nodes are open to all jobs.
    pub fn is_empty(&self) -> bool {
        self.out.is_none() && self.reservations.is_empty()
    }

    /// A reservation that is known and not over.
    pub fn reservation(&self, number: u32) -> Option<&SiteReservation> {
        self.reservations.iter().find(|own| own.number == number)
    }

    /// Takes out the jobs that are too large for the reservation that they name, as main passes have found since the last call.
    pub fn take_held(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.held)
    }

    /// Whether a job that names a reservation is in the queue.
    pub fn admits(&self, number: Option<u32>, now: Time) -> bool {
        let is_open = |own: &SiteReservation| own.is_flexible || (own.start..=own.end).contains(&now);
        number.is_none_or(|number| self.reservation(number).is_some_and(is_open))
    }

    /// Until when reservations mean the same for a job of this limit that starts now.
    pub(crate) fn same_until(&self, now: Time, limit: Seconds) -> Time {
        let changes =
            self.reservations.iter().flat_map(|own| [own.start - limit + 1, own.end, own.end.saturating_add(1)]);
        changes.filter(|&change| change > now).min().unwrap_or(Time::MAX)
    }

    /// The time after the first end of a reservation at or after `time`, at which a job is planned that a reservation has kept out.
    pub(crate) fn after_next_end(&self, time: Time, resolution: Seconds, unix_start: Time) -> Option<Time> {
        let end = self.reservations.iter().map(|own| own.end).filter(|&end| end >= time && end < Time::MAX).min()?;
        let up = (end + unix_start + resolution - 1).div_euclid(resolution) * resolution;
        Some(up - unix_start + 1)
    }

    /// The weight of a node before a test of a job that names this reservation.
    pub fn weight(&self, site: &SlurmSite, number: Option<u32>, node: u32) -> NodeWeight {
        let flexible = number.and_then(|number| self.reservation(number)).filter(|own| own.is_flexible);
        // Nodes outside come last.
        let is_outside = flexible.is_some_and(|own| !own.nodes.has(node));
        plain_weight(site, node) | NodeWeight::from(is_outside) << 40
    }
}
