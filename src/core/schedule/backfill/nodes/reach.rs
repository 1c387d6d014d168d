//! Which requests a placement can never place.

use rustc_hash::FxHashMap;

use crate::job::JobId;
use crate::machine::{Nodes, Placement, Tres};
use crate::request::RequestId;
use crate::schedule::policy::NeverStarts;
use crate::text::counted;

/// Requests that fit idle nodes in some way are in the workload, but [`Placement::Consolidate`] does not divide devices in every way.
pub struct Reach {
    placement: Placement,
    idle: Vec<Tres>,
    known: FxHashMap<RequestId, bool>,
}

impl Reach {
    pub fn new(placement: Placement) -> Reach {
        Reach { placement, idle: Vec::new(), known: FxHashMap::default() }
    }

    /// Why a job can never be placed. None if it can.
    pub fn why_never(&mut self, id: JobId, nodes: &Nodes) -> Option<NeverStarts> {
        if self.placement != Placement::Consolidate {
            return None;
        }
        let (shape, cluster) = (nodes.shape(id), nodes.cluster());
        if self.idle.is_empty() {
            self.idle = cluster.resources();
        }
        let fits = || (0..shape.places.len()).any(|at| shape.fits(at, self.placement, cluster, &self.idle));
        let fits = *self.known.entry(nodes.request(id)).or_insert_with(fits);
        let (kind, count) = shape.parts.filter(|_| !fits)?;
        Some(NeverStarts {
            cause: format!(
                "placement=consolidate does not divide its {} over the idle nodes of its partition",
                kind.many()
            ),
            asks: format!(
                "it asks for {} with {}",
                counted(count.into(), kind.one()),
                counted(shape.cpus.into(), "CPU")
            ),
        })
    }
}
