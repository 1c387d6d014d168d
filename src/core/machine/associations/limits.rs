//! Limits of qualities of service, accounts and users, in one table: their names in TOML and in Slurm, and where they are kept.

use super::super::units::slurm_time;
use crate::text::{joined_with_and, shortened};
use crate::time::{Seconds, parse_duration, print_duration};
use crate::tres::{Resource, Tres, is_unlimited};

/// The limits of Slurm, of a quality of service or of an account or user. None: no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Running jobs of all together.
    pub group_jobs: Option<u32>,
    /// Jobs that run or wait, of all together.
    pub group_submit_jobs: Option<u32>,
    /// The sum of the run times of all together.
    pub group_wall: Option<Seconds>,
    /// What running jobs of all together use.
    pub group_tres: Tres<Option<u64>>,
    /// Use times minutes of all jobs that ended or run.
    pub group_tres_minutes: Tres<Option<u64>>,
    /// Use times minutes that running jobs may still need.
    pub group_tres_running_minutes: Tres<Option<u64>>,
    /// Running jobs of a user (of an account or user: in this association).
    pub max_jobs: Option<u32>,
    /// Jobs that run or wait, likewise.
    pub max_submit_jobs: Option<u32>,
    /// Running jobs of each account that uses a quality of service.
    pub max_jobs_per_account: Option<u32>,
    /// Jobs that run or wait, of each account that uses a quality of service.
    pub max_submit_jobs_per_account: Option<u32>,
    /// The longest estimate of a job.
    pub max_wall: Option<Seconds>,
    /// What one job uses.
    pub max_tres_per_job: Tres<Option<u64>>,
    /// What one job uses on each node.
    pub max_tres_per_node: Tres<Option<u64>>,
    /// What running jobs of each user of a quality of service use.
    pub max_tres_per_user: Tres<Option<u64>>,
    /// What running jobs of each account that uses a quality of service use.
    pub max_tres_per_account: Tres<Option<u64>>,
    /// Use times minutes of one job.
    pub max_tres_minutes_per_job: Tres<Option<u64>>,
}

/// Where a limit is kept.
pub enum Slot<'a> {
    /// A number of jobs.
    Count(&'a mut Option<u32>),
    /// A time.
    Time(&'a mut Option<Seconds>),
    /// Amounts.
    Tres(&'a mut Tres<Option<u64>>),
}

/// What has limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitOwner {
    /// A quality of service.
    Qos,
    /// An account or a user.
    Association,
}

/// A limit.
pub struct LimitForm {
    /// Its name in TOML, for a quality of service. Empty: it has none.
    of_qos: &'static str,
    /// Its name in TOML, for an account or a user. Empty: they have none.
    of_association: &'static str,
    /// Its names in scripts and in what `sacctmgr show` prints.
    slurm: &'static [&'static str],
    slot: fn(&mut Limits) -> Slot<'_>,
}

macro_rules! limit {
    ($kind:ident $field:ident, $of_qos:literal, $of_association:literal, $($slurm:literal)*) => {
        LimitForm {
            of_qos: $of_qos,
            of_association: $of_association,
            slurm: &[$($slurm),*],
            slot: |limits| Slot::$kind(&mut limits.$field),
        }
    };
}

/// All limits.
pub const LIMITS: [LimitForm; 16] = [
    limit!(Count group_jobs, "group_jobs", "group_jobs", "GrpJobs"),
    limit!(Count group_submit_jobs, "group_submit_jobs", "group_submit_jobs", "GrpSubmitJobs" "GrpSubmit"),
    limit!(Time group_wall, "group_wall", "group_wall", "GrpWall"),
    limit!(Tres group_tres, "group_tres", "group_tres", "GrpTRES"),
    limit!(Tres group_tres_minutes, "group_tres_minutes", "group_tres_minutes", "GrpTRESMins"),
    limit!(Tres group_tres_running_minutes, "group_tres_running_minutes", "group_tres_running_minutes", "GrpTRESRunMins"),
    limit!(Count max_jobs, "max_jobs_per_user", "max_jobs", "MaxJobs" "MaxJobsPerUser" "MaxJobsPU"),
    limit!(
        Count max_submit_jobs, "max_submit_jobs_per_user", "max_submit_jobs",
        "MaxSubmitJobs" "MaxSubmit" "MaxSubmitJobsPerUser" "MaxSubmitPU" "MaxSubmitJobsPU" "MaxSubmitPerUser"
    ),
    limit!(Count max_jobs_per_account, "max_jobs_per_account", "", "MaxJobsPerAccount" "MaxJobsPA"),
    limit!(
        Count max_submit_jobs_per_account, "max_submit_jobs_per_account", "",
        "MaxSubmitJobsPerAccount" "MaxSubmitPA" "MaxSubmitJobsPA" "MaxSubmitPerAccount"
    ),
    limit!(Time max_wall, "max_wall", "max_wall", "MaxWall" "MaxWallDurationPerJob" "MaxWallPJ"),
    limit!(Tres max_tres_per_job, "max_tres_per_job", "max_tres_per_job", "MaxTRES" "MaxTRESPerJob" "MaxTRESPJ"),
    limit!(Tres max_tres_per_node, "max_tres_per_node", "max_tres_per_node", "MaxTRESPerNode" "MaxTRESPN"),
    limit!(Tres max_tres_per_user, "max_tres_per_user", "", "MaxTRESPerUser" "MaxTRESPU"),
    limit!(Tres max_tres_per_account, "max_tres_per_account", "", "MaxTRESPerAccount" "MaxTRESPA"),
    limit!(
        Tres max_tres_minutes_per_job, "max_tres_minutes_per_job", "max_tres_minutes_per_job",
        "MaxTRESMins" "MaxTRESMinsPerJob" "MaxTRESMinsPJ"
    ),
];

impl LimitForm {
    /// Its name in TOML. None if the owner has no such limit.
    pub fn key(&self, owner: LimitOwner) -> Option<&'static str> {
        let key = if owner == LimitOwner::Qos { self.of_qos } else { self.of_association };
        Some(key).filter(|key| !key.is_empty())
    }

    /// Its names in Slurm. The first is that of its commands.
    pub fn names(&self) -> &'static [&'static str] {
        self.slurm
    }

    /// The limit with this name in Slurm.
    pub fn of_slurm(name: &str, owner: LimitOwner) -> Option<&'static LimitForm> {
        let has_name = |form: &&LimitForm| form.slurm.iter().any(|own| own.eq_ignore_ascii_case(name));
        LIMITS.iter().find(has_name).filter(|form| form.key(owner).is_some())
    }

    /// Where the limit is kept.
    pub fn slot<'a>(&self, limits: &'a mut Limits) -> Slot<'a> {
        (self.slot)(limits)
    }

    /// Sets the limit to a value as Slurm writes it; empty and -1 are no limit. Returns what it lists besides.
    pub fn set_from_slurm(&self, limits: &mut Limits, value: &str) -> Result<Vec<String>, String> {
        let is_none = value.is_empty() || is_unlimited(value);
        match self.slot(limits) {
            Slot::Count(count) => {
                let number = || value.parse().map_err(|_| format!("'{}' is no whole number", shortened(value)));
                *count = if is_none { None } else { Some(number()?) };
            }
            Slot::Time(time) => {
                let wrong = || format!("'{}' is no time such as 7-0 or 30:00", shortened(value));
                *time = if is_none { None } else { Some(slurm_time(value).ok_or_else(wrong)?) };
            }
            Slot::Tres(tres) => {
                if is_none {
                    *tres = Tres::default();
                } else {
                    return tres.set(value);
                }
            }
        }
        Ok(Vec::new())
    }

    /// Sets the limit to a value of TOML.
    pub fn set(&self, limits: &mut Limits, value: &str) -> Result<(), String> {
        match self.slot(limits) {
            Slot::Count(count) => *count = Some(value.parse().map_err(|_| "not a whole number".to_string())?),
            Slot::Time(time) => *time = Some(parse_duration(value)?),
            Slot::Tres(tres) => {
                if let Some(other) = tres.set(value)?.first() {
                    return Err(format!(
                        "no amount '{}'; there are {}",
                        shortened(other),
                        joined_with_and(&Resource::ALL.map(Resource::slurm))
                    ));
                }
            }
        }
        Ok(())
    }

    /// The value in TOML, and whether it is a number. None if there is no limit.
    pub fn written(&self, limits: &Limits) -> Option<(String, bool)> {
        match self.slot(&mut limits.clone()) {
            Slot::Count(count) => count.map(|count| (count.to_string(), true)),
            Slot::Time(time) => time.map(|time| (print_duration(time), false)),
            Slot::Tres(tres) => (!tres.is_unlimited()).then(|| (tres.to_string(), false)),
        }
    }
}

/// The names of the limits in TOML.
pub fn limit_keys(owner: LimitOwner) -> impl Iterator<Item = &'static str> {
    LIMITS.iter().filter_map(move |form| form.key(owner))
}

impl Limits {
    /// All limits: `group_jobs=3 max_wall=1d`. Empty if there are none.
    pub fn in_words(&self, owner: LimitOwner) -> String {
        let one = |form: &LimitForm| Some(format!("{}={}", form.key(owner)?, form.written(self)?.0));
        LIMITS.iter().filter_map(one).collect::<Vec<_>>().join(" ")
    }
}
