//! One experiment: a workload, a scheduler and a predictor. The main command runs one; larger studies run many.
//!
//! [`Options`] has everything that changes a result, [`Setting`] is a scheduler with a predictor, [`simulate`] runs it.
//! Many runs are a plan: see the module `runs`.

mod effects;
mod episodes;
mod option_table;
mod options;
mod prepare;
mod run;
mod run_key;
mod used_program;
mod values;
mod what_if;

pub use effects::{acting_scheduler, is_idle, refuse_idle, refuse_idle_keys, refuse_overruled, runs_on};
pub use episodes::{EpisodeRun, Episodes};
pub use option_table::{OPTIONS, OptionForm, Section};
pub use options::Options;
pub use prepare::{CleanedAtSite, LeftOut};
pub use run::{Setting, simulate, split_pair};
pub use used_program::{ProgramRole, UsedProgram};
pub use what_if::{SLURM_CONF, SiteChange};
