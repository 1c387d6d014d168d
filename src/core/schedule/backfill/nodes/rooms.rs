//! For which jobs there is room on the free nodes. It is kept for each kind of job, and changes with the nodes that change.

use crate::machine::{NodeShape, NodeShare, Nodes, Placement, Tres, take};
use crate::request::RequestId;

/// What is free, and what is known of the room for jobs there.
#[derive(Default)]
pub(super) struct Rooms {
    placement: Placement,
    free: Vec<Tres>,
    by_kind: Vec<KindRoom>,
    /// The nodes on which something has changed, one after the other.
    changes: Vec<u32>,
    /// By request: whether no job that asks for this fits, as far as that is known. The first 3,000 jobs of a week of UB's medium
    /// cluster under `easy:reservations=4` take 1.3 times as long without.
    roomless: Vec<bool>,
}

/// The CPUs of which nodes have room for jobs of one kind. A week of UB's medium cluster under `easy:reservations=4` takes twice as
/// long if they are counted anew for each question.
#[derive(Clone, Default)]
struct KindRoom {
    /// By node; 0 if jobs of the kind cannot have it. Empty if it is not known.
    by_node: Vec<u32>,
    sum: u64,
    /// The number of changes that are in these.
    seen: usize,
}

/// The list of changes begins again when it is this long.
const MOST_CHANGES: usize = 1 << 16;

impl Rooms {
    pub fn new(placement: Placement) -> Rooms {
        Rooms { placement, ..Rooms::default() }
    }

    /// What is free now, by node.
    pub fn free(&self) -> &[Tres] {
        &self.free
    }

    /// Jobs may have taken something or given it back since the last time. What did not fit may fit if that is so.
    pub fn renew(&mut self, nodes: &Nodes) {
        if self.free.is_empty() || self.changes.len() > MOST_CHANGES {
            self.free = nodes.free().to_vec();
            self.by_kind = vec![KindRoom::default(); nodes.shapes().kinds()];
            self.roomless = vec![false; nodes.shapes().len()];
            self.changes.clear();
        }
        let before = self.changes.len();
        // The limits of partitions are behind the nodes. None changes alone: who takes of a limit takes CPUs of its node.
        let changed = self.free.iter().zip(nodes.free()).take(nodes.cluster().nodes.len());
        let changed = changed.zip(0..).filter(|((free, new), _)| free != new).map(|(_, node)| node);
        self.changes.extend(changed);
        self.free.copy_from_slice(nodes.free());
        if self.changes.len() > before {
            self.roomless.fill(false);
        }
    }

    /// A job takes this.
    pub fn take(&mut self, grant: &[NodeShare]) {
        take(&mut self.free, grant);
        self.changes.extend(grant.iter().map(|share| share.node));
    }

    /// The CPUs of which all nodes together have room in one of the places of a job.
    pub fn cpus(&mut self, shape: &NodeShape, at: usize, nodes: &Nodes) -> u64 {
        let place = &shape.places[at];
        let KindRoom { by_node, sum, seen } = &mut self.by_kind[place.kind as usize];
        let room = |node: u32| shape.cpus_on(place, nodes.cluster(), &self.free, node);
        let changed = &self.changes[*seen..];
        if by_node.is_empty() || changed.len() > by_node.len() {
            by_node.clear();
            by_node.resize(self.free.len(), 0);
            place.nodes.nodes.iter().for_each(|&node| by_node[node as usize] = room(node));
            *sum = by_node.iter().map(|&room| u64::from(room)).sum();
        } else {
            for &node in changed.iter().filter(|&&node| place.nodes.has(node)) {
                let new = room(node);
                let old = std::mem::replace(&mut by_node[node as usize], new);
                *sum = *sum + u64::from(new) - u64::from(old);
            }
        }
        *seen = self.changes.len();
        *sum
    }

    /// Whether a job can be placed now in one of its places.
    pub fn fits(&mut self, shape: &NodeShape, at: usize, nodes: &Nodes) -> bool {
        self.cpus(shape, at, nodes) >= shape.cpus.into()
            && (shape.is_divisible(&shape.places[at]) || shape.fits(at, self.placement, nodes.cluster(), &self.free))
    }

    /// Whether a job fits nowhere now, so that it need not be tried.
    pub fn is_roomless(&mut self, request: RequestId, nodes: &Nodes) -> bool {
        let number = request.index().expect("every job on nodes has a request");
        if !self.roomless[number] {
            let shape = nodes.shapes().get(request);
            self.roomless[number] = (0..shape.places.len()).all(|at| !self.fits(shape, at, nodes));
        }
        self.roomless[number]
    }
}
