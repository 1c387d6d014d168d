//! A scheduler whose gains few jobs pay for: beside the real schedule it runs a virtual one, EASY with the users' estimates, and
//! protects the jobs that would have run there by now.

mod accounts;
mod job;
mod late;
mod policy;
mod precedence;
mod schedule;
mod virtual_machine;

use std::sync::Arc;

use super::backfill::{AmidOutages, Easy, OnNodes};
use super::order::Order;
use super::policy::Scheduler;
use super::rules::{PLACEMENT, Rules};
use crate::machine::{Placement, Shapes};
use crate::spec::{Form, Key, Kind, Spec};

use policy::Fair;
use precedence::FairRules;

pub const FORM: Form = Form {
    name: "fair",
    about: "backfills short jobs, but protects jobs that would have started by now in a virtual EASY: meant for kin",
    keys: &[
        Key::choice(
            "accounts",
            &["off", "users"],
            "users: jobs are also protected, and tried early, whose users wait longer than in the virtual EASY",
        ),
        Key {
            name: "wide",
            kind: Kind::AT_LEAST_0,
            default: "0.5",
            about: "jobs that need at least this share of the machine are tried first when jobs are backfilled",
        },
        Key {
            name: "urgent",
            kind: Kind::AT_LEAST_0,
            default: "0.75",
            about: "jobs that need at least this share start first when they fit, and are protected when they are next in the virtual EASY",
        },
        Key::choice(
            "scan",
            &["buckets", "spf"],
            "the order in which the other jobs are tried: by classes of predictions, each four times as long, or by prediction",
        ),
        PLACEMENT,
    ],
};

impl FairRules {
    fn of(spec: &Spec) -> FairRules {
        let scan = match spec.text("scan") {
            "spf" => Order::ShortestPrediction,
            _ => Order::PredictionClass,
        };
        let has_accounts = spec.text("accounts") == "users";
        FairRules { has_accounts, wide: spec.real("wide"), urgent: spec.real("urgent"), scan }
    }
}

/// The scheduler of a spec, on a pool of processors. The virtual schedule has no outages.
pub(super) fn on_pool(spec: &Spec, has_outages: bool) -> Scheduler {
    let rules = FairRules::of(spec);
    let easy = Easy::new(Order::Arrival).into();
    match has_outages {
        false => Fair::scheduler(&rules, easy, Easy::of_rules(&rules.backfilling())),
        true => Fair::scheduler(&rules, easy, AmidOutages::backfilling(&rules.backfilling())),
    }
}

/// The scheduler of a spec, on nodes. The virtual schedule has the same machine.
pub(super) fn on_nodes(spec: &Spec, shapes: &Arc<Shapes>, placement: Placement) -> Scheduler {
    let rules = FairRules::of(spec);
    let easy = |rules: &Rules| OnNodes::backfilling(rules, shapes, placement);
    Fair::scheduler(&rules, easy(&Rules::default()).into(), easy(&rules.backfilling()))
}
