//! What has room on the free nodes: kept for each kind of job while nothing is given back.

use crate::machine::{NodeShape, Nodes, Resources};
use crate::request::RequestId;

/// What is known of the room for jobs on what is free now.
#[derive(Default)]
pub(super) struct Rooms {
    /// By kind: the CPUs of which the nodes have room, and the state for which that holds.
    by_kind: Vec<(u64, u64)>,
    /// The number of the present state.
    state: u64,
    /// By request: whether no job that asks for this fits, as far as that is known.
    roomless: Vec<bool>,
}

impl Rooms {
    /// What is free has changed in any way.
    pub fn forget(&mut self) {
        self.state += 1;
        self.roomless.fill(false);
    }

    /// What is free has become less: what did not fit does not fit now.
    pub fn shrink(&mut self) {
        self.state += 1;
    }

    /// The CPUs of which all nodes together have room in one of the places of a job.
    pub fn cpus(&mut self, shape: &NodeShape, at: usize, nodes: &Nodes, free: &[Resources]) -> u64 {
        if self.by_kind.is_empty() {
            self.by_kind = vec![(0, u64::MAX); nodes.shapes().kinds()];
            self.roomless = vec![false; nodes.shapes().len()];
        }
        let (cpus, state) = &mut self.by_kind[shape.places[at].kind as usize];
        if *state != self.state {
            (*cpus, *state) = (shape.cpus_on_all(at, nodes.cluster(), free), self.state);
        }
        *cpus
    }

    /// Whether a job can be placed now in one of its places.
    pub fn fits(&mut self, shape: &NodeShape, at: usize, nodes: &Nodes, free: &[Resources]) -> bool {
        self.cpus(shape, at, nodes, free) >= shape.cpus.into()
            && (shape.is_divisible() || shape.fits(at, nodes.cluster(), free))
    }

    /// Whether a job fits nowhere now, so that it need not be tried.
    pub fn is_roomless(&mut self, request: RequestId, nodes: &Nodes, free: &[Resources]) -> bool {
        let number = request.index().expect("every job on nodes has a request");
        if self.roomless.get(number) == Some(&true) {
            return true;
        }
        let shape = nodes.shapes().get(request);
        let is_roomless = (0..shape.places.len()).all(|at| !self.fits(shape, at, nodes, free));
        self.roomless[number] = is_roomless;
        is_roomless
    }
}
