//! What reservations of the administrator leave to a job that would start at some time.

use std::borrow::Cow;

use super::NodeSet;
use super::closed::SiteReservation;
use super::job::QueueEntry;
use super::state::SlurmNodes;
use crate::time::Time;

/// Why reservations keep a job from starting at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptOut {
    /// A maintenance has all nodes of its partition.
    Maintenance,
    /// Its own has not begun.
    NotYet,
    /// Its own is over.
    Over,
}

/// How often a start is moved behind maintenance.
const MOST_MOVES: u32 = 10;

impl<'a> SlurmNodes<'a> {
    /// All nodes that are not down or drained.
    pub(crate) fn up(&self) -> Cow<'a, NodeSet> {
        let mut up = Cow::Borrowed(&self.site.all);
        if let Some(out) = &self.state.closed.out {
            up.to_mut().take_out(out);
        }
        up
    }

    /// All nodes, in a set of the kind that passes have.
    pub(crate) fn every(&self) -> NodeSet {
        self.state.in_use.pool.as_ref().map_or_else(|| self.site.all.clone(), |pool| pool.all())
    }

    /// A set of the same kind as another one. On a pool there are two kinds.
    pub(crate) fn like<'s>(&self, set: &'s NodeSet, other: &NodeSet) -> Cow<'s, NodeSet> {
        match self.site.pool {
            Some(procs) if set.is_bits() != other.is_bits() => Cow::Owned(set.to_kind(procs, other.is_bits())),
            _ => Cow::Borrowed(set),
        }
    }

    /// What reservations leave of all nodes to an entry that would start at `start`, and whether they have taken any from it. If
    /// `moves`, the start moves behind maintenance of the whole partition.
    pub(crate) fn unreserved(
        &self,
        entry: QueueEntry<'_>,
        start: &mut Time,
        moves: bool,
    ) -> Result<(NodeSet, bool), KeptOut> {
        let SlurmNodes { site, state, .. } = self;
        let (all, own_nodes) = (&state.closed.reservations, &site.partition_nodes[entry.partition]);
        let (limit, mut nodes, mut has_taken) = (site.limit(&entry), self.every(), false);
        let Some(number) = entry.job.reservation else {
            let covers = |other: &&SiteReservation, start: Time| {
                other.meets(start, start + limit)
                    && (other.has_all
                        || other.of_partition == Some(entry.partition)
                        || other.is_maintenance && own_nodes.is_within(&other.nodes))
            };
            let mut moved = 0;
            while let Some(covering) = all.iter().find(|other| covers(other, *start)) {
                if !moves || moved == MOST_MOVES || covering.end == Time::MAX {
                    return Err(KeptOut::Maintenance);
                }
                (*start, moved) = (covering.end, moved + 1);
            }
            for other in all.iter().filter(|other| other.meets(*start, *start + limit)) {
                nodes.take_out(&other.nodes);
                has_taken |= own_nodes.meets(&other.nodes);
            }
            return Ok((nodes, has_taken));
        };
        let own = state.closed.reservation(number).ok_or(KeptOut::Over)?;
        if !own.is_flexible {
            if *start < own.start {
                return Err(KeptOut::NotYet);
            }
            if *start > own.end {
                return Err(KeptOut::Over);
            }
            nodes.keep(&self.like(&own.nodes, &nodes));
        }
        let takes = |other: &&SiteReservation| {
            let has_none = own.is_maintenance || own.overlaps && !other.is_maintenance;
            other.number != number && !has_none && other.meets(*start, *start + limit)
        };
        for other in all.iter().filter(takes) {
            has_taken |= nodes.meets(&self.like(&other.nodes, &nodes));
            nodes.take_out(&other.nodes);
        }
        Ok((nodes, has_taken))
    }

    /// What is left to an entry on a pool of processors now.
    pub(crate) fn open_on_pool(
        &self,
        entry: QueueEntry<'_>,
        left: &NodeSet,
        mut now: Time,
    ) -> Result<(NodeSet, bool), KeptOut> {
        let (mut open, has_taken) = self.unreserved(entry, &mut now, false)?;
        open.keep(&self.like(left, &open));
        Ok((open, has_taken))
    }
}
