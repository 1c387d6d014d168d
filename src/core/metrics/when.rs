//! When an output has a column.

/// Defines the conditions with their words.
macro_rules! conditions {
    ($($name:ident $words:literal;)*) => {
        /// When an output has a column.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum When {
            $(#[doc = concat!("\"", $words, "\".")] $name),*
        }

        impl When {
            /// In words, as in `only with a baseline`. Empty: always.
            pub fn words(self) -> &'static str {
                match self {
                    $(When::$name => $words),*
                }
            }
        }
    };
}

conditions! {
    Always "";
    WhatIf "with --what-if";
    Several "if there are several settings";
    Baseline "with a baseline";
    Nodes "with --machine";
    Preemption "with preemption";
    Outages "with --outages";
    Stops "with preemption or --outages";
    Feedback "with --feedback";
    Reasons "with --reasons";
    Fair "with the scheduler fair";
    Waits "if jobs wait for other jobs or for a time";
    WaitsOrArrays "if jobs wait for other jobs or for a time, or are tasks of arrays";
    Asked "if a job asks for it";
    Training "with --train";
    Scenarios "with --scenario";
    Replications "with --replications";
    Details "with --details";
    Views "without --view";
    SweepStatus "in sim sweep status";
}

/// The conditions that hold for an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given(u32);

impl Given {
    /// Those of these conditions that hold.
    pub fn of<const N: usize>(conditions: [(When, bool); N]) -> Given {
        conditions.into_iter().filter(|(_, holds)| *holds).map(|(when, _)| when.into()).collect()
    }

    /// Whether a condition holds.
    pub fn has(self, when: When) -> bool {
        match when {
            When::Always => true,
            When::Stops => self.has(When::Preemption) || self.has(When::Outages),
            when => self.0 & Given::from(when).0 != 0,
        }
    }
}

impl From<When> for Given {
    fn from(when: When) -> Given {
        Given(1 << when as u32)
    }
}

/// What holds for any of these holds for all of them together.
impl FromIterator<Given> for Given {
    fn from_iter<T: IntoIterator<Item = Given>>(all: T) -> Given {
        Given(all.into_iter().fold(0, |all, Given(own)| all | own))
    }
}
