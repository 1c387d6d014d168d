//! The keys of the backfilling schedulers, and the policy for their values.

use super::arrivals::Arrivals;
use super::order::Order;
use crate::job::JobId;
use crate::machine::Placement;
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::{Seconds, parse_duration, print_duration};

/// By what the end of a running job is counted in reservations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// By its prediction.
    #[default]
    Prediction,
    /// By the user's estimate, until the job outlives it; then by its prediction.
    Estimate,
}

impl Counting {
    /// The length that a job counts with when it runs. `length` is its prediction as the scheduler computes with it.
    pub(super) fn running_length(self, id: JobId, length: Seconds, arrivals: &Arrivals) -> Seconds {
        match self {
            Counting::Prediction => length,
            Counting::Estimate => arrivals.estimate(id),
        }
    }
}

/// The rules of a backfilling scheduler. The default is EASY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// By what running jobs are counted. Waiting jobs are always ordered and fitted by their predictions.
    pub running: Counting,
    /// The order in which jobs start or get reservations.
    pub queue: Order,
    /// The order in which the other jobs are tried.
    pub scan: Order,
    /// The number of reservations. None: every waiting job has one, and no jobs are left for the scan. 0: the first job that cannot
    /// start blocks the others.
    pub reservations: Option<usize>,
    /// If the first job with a reservation has waited this long, in seconds, other jobs are fitted by their estimates, where those
    /// are longer than their predictions. So they do not delay it. None: never.
    pub protect: Option<Seconds>,
    /// Jobs that have waited this long, in seconds, come first in the queue, in order of arrival. None: never.
    pub starve: Option<Seconds>,
}

impl Default for Rules {
    fn default() -> Rules {
        let (queue, scan) = (Order::Arrival, Order::Arrival);
        Rules { running: Counting::Prediction, queue, scan, reservations: Some(1), protect: None, starve: None }
    }
}

const ORDER: Kind = Kind::Choice(&Order::NAMES);

pub(super) const RUNNING: Key = Key::choice(
    "running",
    &["prediction", "estimate"],
    "what the end of a running job is computed from; a job that outlives its estimate counts by its prediction",
);

const QUEUE: Key = queue("the order in which jobs start or get a reservation");

const fn queue(about: &'static str) -> Key {
    Key { name: "queue", kind: ORDER, default: "fcfs", about }
}

pub(super) const fn scan(default: &'static str) -> Key {
    Key { name: "scan", kind: ORDER, default, about: "the order in which the other jobs are tried" }
}

pub(super) const RESERVATIONS: Key =
    Key::new("reservations", Kind::COUNT_OR_ALL, "1", "how many jobs that do not fit have a reservation");

const PROTECT: Key = Key {
    name: "protect",
    about: "jobs that overtake one that has waited this long must fit by their estimates, so that they do not delay it",
    ..STARVE
};

const STARVE: Key = Key {
    name: "starve",
    kind: Kind::Text {
        what: "a duration, or never",
        canonical: |text| match text {
            "never" => Ok(text.to_string()),
            _ => parse_duration(text).map(print_duration).map_err(|why| format!("{why} (or never)")),
        },
    },
    default: "never",
    about: "jobs that have waited this long come first in the queue, in order of arrival",
};

/// Has an effect on nodes only.
pub(super) const PLACEMENT: Key = Key::choice(
    "placement",
    &["pack", "spread", "consolidate"],
    "with --machine: the nodes that are taken first, the fullest (pack) or the emptiest (spread); consolidate: the fullest, \
            and the GPUs of a job are on as few nodes as could hold them",
);

pub const EASY: Form = Form {
    name: "easy",
    about: "backfilling in arrival order, with a reservation for the first job that does not fit",
    keys: &[RUNNING, QUEUE, scan("fcfs"), RESERVATIONS, PROTECT, STARVE, PLACEMENT],
};

pub const SJBF: Form = Form {
    name: "sjbf",
    about: "shortest job backfilled first: easy, scanning by ascending prediction",
    keys: &[RUNNING, QUEUE, scan("spf"), RESERVATIONS, PROTECT, STARVE, PLACEMENT],
};

pub const CONSERVATIVE: Form = Form {
    name: "conservative",
    about: "every waiting job has a reservation; each pass makes all of them again",
    keys: &[RUNNING, PLACEMENT],
};

pub const FCFS: Form = Form {
    name: "fcfs",
    about: "first come, first served: the head of the queue starts when it fits",
    keys: &[queue("the order in which jobs start"), PLACEMENT],
};

impl Rules {
    /// First come, first served: jobs start in this order.
    pub fn fcfs(queue: Order) -> Rules {
        Rules { queue, reservations: Some(0), ..Rules::default() }
    }

    /// The rules of a spec of `fcfs`, `easy`, `sjbf` or `conservative`, or of one with some of their keys.
    pub(super) fn of(spec: &Spec) -> Rules {
        if spec.name() == FCFS.name {
            return Rules::fcfs(order(spec, QUEUE.name));
        }
        let running = match spec.text(RUNNING.name) {
            "estimate" => Counting::Estimate,
            _ => Counting::Prediction,
        };
        if spec.name() == CONSERVATIVE.name {
            return Rules { running, reservations: None, ..Rules::default() };
        }
        Rules {
            running,
            queue: spec.get(QUEUE.name).and_then(Order::from_name).unwrap_or(Order::Arrival),
            scan: order(spec, "scan"),
            reservations: spec.text(RESERVATIONS.name).parse().ok(),
            protect: duration(spec, &PROTECT),
            starve: duration(spec, &STARVE),
        }
    }
}

/// The duration of a key. None if it is never, or if the form has no such key.
fn duration(spec: &Spec, key: &Key) -> Option<Seconds> {
    spec.get(key.name).and_then(|text| parse_duration(text).ok())
}

/// Which nodes are taken first.
pub(super) fn placement(spec: &Spec) -> Placement {
    match spec.text(PLACEMENT.name) {
        "spread" => Placement::Spread,
        "consolidate" => Placement::Consolidate,
        _ => Placement::Pack,
    }
}

/// The order that a key of a spec names.
pub(super) fn order(spec: &Spec, key: &str) -> Order {
    Order::from_name(spec.text(key)).expect("an order was checked when it was read")
}
