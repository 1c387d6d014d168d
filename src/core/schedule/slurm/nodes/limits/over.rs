//! A limit that a job is over, in words.

use super::SiteLimits;
use crate::machine::associations::LimitName;
use crate::machine::{Resource, Tres};
use crate::schedule::policy::NeverStarts;
use crate::text::printable;
use crate::time::{Seconds, print_duration};

/// Who has a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitHolder {
    /// A quality of service.
    Qos(usize),
    /// A user or an account.
    Owner(usize),
}

/// A limit that a job does not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverLimit {
    holder: LimitHolder,
    /// Its name in Slurm.
    name: &'static str,
    /// What it is of. None: jobs or seconds.
    tres: Option<Resource>,
    most: u64,
    asked: u64,
}

impl OverLimit {
    pub(super) fn new(
        holder: LimitHolder,
        (name, tres, most, asked): (&'static str, Option<Resource>, u64, u64),
    ) -> OverLimit {
        OverLimit { holder, name, tres, most, asked }
    }

    /// Whether the job keeps it when enough use of the past has decayed.
    pub fn is_of_the_past(&self) -> bool {
        matches!(self.name, "GrpTRESMins" | "GrpWall")
    }

    /// The limit, whoever has it.
    pub fn limit(&self) -> LimitName {
        LimitName::of(self.name, self.tres)
    }

    /// The limit and the number that is over it.
    fn amounts(&self) -> [String; 2] {
        let written = |amount: u64| match self.tres {
            Some(kind) => Tres::default().with(kind, Some(amount)).to_string(),
            None if self.name.ends_with("Wall") => print_duration(amount as Seconds),
            None => amount.to_string(),
        };
        [self.most, self.asked].map(written)
    }
}

impl SiteLimits {
    /// Why a job over this limit does not start.
    pub fn in_words(&self, over: &OverLimit) -> NeverStarts {
        let holder = match over.holder {
            LimitHolder::Qos(at) => format!("QOS {}", printable(&self.cluster.associations.qos[at].name)),
            LimitHolder::Owner(at) => self.owners[at].name.clone(),
        };
        let [most, asked] = over.amounts();
        // `cpu=6` is 6 after a limit of `cpu=4`.
        let asked = asked.split_once('=').map_or(asked.as_str(), |(_, number)| number);
        let asks = match over {
            _ if over.is_of_the_past() => "it is used up".to_string(),
            OverLimit { tres: None, name, .. } if !name.ends_with("Wall") => String::new(),
            _ => format!("it asks for {asked}"),
        };
        NeverStarts { cause: format!("{holder}: {} {most}", over.name), asks }
    }
}
