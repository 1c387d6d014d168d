//! Limits that are some times as high: `--scale-limit`.

use std::fmt;

use super::limits::{LIMITS, Slot};
use super::{Associations, Limits};
use crate::similar::did_you_mean;
use crate::text::shortened;
use crate::time::Seconds;
use crate::tres::Resource;

/// Limits of all qualities of service, accounts and users by their names in Slurm, each with a factor: `GrpTRES=2,MaxJobs=0.5`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScaledLimits(Vec<ScaledLimit>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ScaledLimit {
    limit: LimitName,
    factor: Factor,
}

/// A limit of Slurm, or of one kind of its amounts. It is printed by its name: `MaxJobs`, `GrpTRES`, `GrpTRES/gres/gpu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LimitName {
    /// Its place in [`LIMITS`].
    place: usize,
    kind: Option<Resource>,
}

/// A decimal number. Its product with a limit is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Factor {
    digits: u64,
    decimals: u32,
}

/// A factor has so many digits.
const MOST_DIGITS: usize = 9;

impl LimitName {
    /// Reads `NAME` or `NAME/KIND`, in capitals or not.
    ///
    /// # Errors
    /// If there is no such limit, or it has no such kinds of amounts.
    pub fn parse(text: &str) -> Result<LimitName, String> {
        let (name, kind) = text.split_once('/').map_or((text, None), |(name, kind)| (name, Some(kind)));
        let all = LIMITS.iter().flat_map(|form| form.names().iter().copied());
        let is_own = |own: &str| own.eq_ignore_ascii_case(name);
        let place = LIMITS.iter().position(|form| form.names().iter().any(|own| is_own(own))).ok_or_else(|| {
            let names = LIMITS.iter().map(|form| form.names()[0]).collect::<Vec<_>>().join(", ");
            format!("there is no limit '{}'; there are {names}{}", shortened(name), did_you_mean(name, all))
        })?;
        let Some(kind) = kind else { return Ok(LimitName { place, kind: None }) };
        let amounts = matches!(LIMITS[place].slot(&mut Limits::default()), Slot::Tres(_));
        let found = Resource::of_slurm(kind).filter(|_| amounts).ok_or_else(|| match amounts {
            true => format!("{text}: the kinds of amounts are {}", Resource::ALL.map(Resource::slurm).join(", ")),
            false => format!("{text}: this limit is a number, without kinds of amounts"),
        })?;
        Ok(LimitName { place, kind: Some(found) })
    }

    /// The limit with this first name in Slurm, of this kind of amounts if it has kinds.
    ///
    /// # Panics
    /// If there is none.
    pub fn of(name: &str, kind: Option<Resource>) -> LimitName {
        let place = LIMITS.iter().position(|form| form.names()[0] == name);
        LimitName { place: place.expect("a limit of the table"), kind }
    }

    fn change(&self, limits: &mut Limits, factor: Factor) {
        match LIMITS[self.place].slot(limits) {
            Slot::Count(count) => {
                *count = count.map(|count| u32::try_from(factor.times(count.into())).unwrap_or(u32::MAX));
            }
            Slot::Time(time) => {
                *time = time.map(|time| Seconds::try_from(factor.times(time as u64)).unwrap_or(Seconds::MAX));
            }
            Slot::Tres(amounts) => {
                for kind in Resource::ALL.into_iter().filter(|kind| self.kind.is_none_or(|own| own == *kind)) {
                    amounts[kind] = amounts[kind].map(|amount| factor.times(amount));
                }
            }
        }
    }

    /// Whether a limit is of one name and of the other.
    fn overlaps(&self, other: &LimitName) -> bool {
        self.place == other.place && (self.kind.is_none() || other.kind.is_none() || self.kind == other.kind)
    }
}

impl fmt::Display for LimitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(LIMITS[self.place].names()[0])?;
        self.kind.map_or(Ok(()), |kind| write!(f, "/{}", kind.slurm()))
    }
}

impl Factor {
    fn parse(text: &str) -> Option<Factor> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let decimals = decimals.trim_end_matches('0');
        let digits = format!("{whole}{decimals}");
        let is_number = !whole.is_empty() && digits.len() <= MOST_DIGITS && digits.bytes().all(|c| c.is_ascii_digit());
        let digits: u64 = digits.parse().ok().filter(|digits| is_number && *digits > 0)?;
        Some(Factor { digits, decimals: decimals.len() as u32 })
    }

    /// A limit times this, rounded up: a limit above 0 is never 0.
    fn times(self, limit: u64) -> u64 {
        let product = u128::from(limit) * u128::from(self.digits);
        u64::try_from(product.div_ceil(10u128.pow(self.decimals))).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.decimals as usize;
        let text = format!("{:0>1$}", self.digits, width + 1);
        let (whole, decimals) = text.split_at(text.len() - width);
        f.write_str(whole)?;
        if width > 0 { write!(f, ".{decimals}") } else { Ok(()) }
    }
}

impl ScaledLimits {
    /// Reads `NAME=FACTOR`, several with commas between them.
    ///
    /// # Errors
    /// If it is of another form, there is no such limit, or one has two factors.
    pub fn parse(text: &str) -> Result<ScaledLimits, String> {
        let mut all: Vec<ScaledLimit> = Vec::new();
        for item in text.split(',').map(str::trim) {
            let (name, factor) = item.rsplit_once('=').ok_or_else(|| {
                format!(
                    "'{}' is not NAME=FACTOR, such as GrpTRES=2, GrpTRES/gres/gpu=2 or MaxJobs=0.5",
                    shortened(item)
                )
            })?;
            let limit = LimitName::parse(name)?;
            let factor = Factor::parse(factor).ok_or_else(|| {
                let factor = shortened(factor);
                format!("{name}: '{factor}' is no factor above 0 of at most {MOST_DIGITS} digits, such as 2 or 0.5")
            })?;
            if let Some(other) = all.iter().find(|other| other.limit.overlaps(&limit)) {
                return Err(format!("{} and {limit} are the same limit: give it one factor", other.limit));
            }
            all.push(ScaledLimit { limit, factor });
        }
        Ok(ScaledLimits(all))
    }

    /// With this limit twice as high too. None if it has a factor already.
    pub fn and_doubled(&self, limit: LimitName) -> Option<ScaledLimits> {
        let is_new = !self.0.iter().any(|own| own.limit.overlaps(&limit));
        let factor = Factor { digits: 2, decimals: 0 };
        is_new.then(|| ScaledLimits(self.0.iter().cloned().chain([ScaledLimit { limit, factor }]).collect()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Changes the limits of all qualities of service, accounts and users.
    ///
    /// # Errors
    /// If none of them has one of these limits.
    pub fn apply(&self, associations: &mut Associations) -> Result<(), String> {
        for ScaledLimit { limit, factor } in &self.0 {
            let before = names_of(associations);
            if !before.iter().any(|own| own.overlaps(limit)) {
                let names = before.iter().map(LimitName::to_string).collect::<Vec<_>>().join(", ");
                let there = if names.is_empty() {
                    "there is no limit at all".to_string()
                } else {
                    format!("there are {names}")
                };
                return Err(format!("--scale-limit {limit}: no QOS, account or user has this limit; {there}"));
            }
            for limits in all_limits(associations) {
                limit.change(limits, *factor);
            }
        }
        Ok(())
    }
}

fn all_limits(associations: &mut Associations) -> impl Iterator<Item = &mut Limits> {
    let of_qos = associations.qos.iter_mut().map(|qos| &mut qos.limits);
    let of_accounts = associations.accounts.iter_mut().map(|account| &mut account.own.limits);
    of_qos.chain(of_accounts).chain(associations.users.iter_mut().map(|user| &mut user.own.limits))
}

/// The limits that somebody has, by kinds of amounts.
fn names_of(associations: &Associations) -> Vec<LimitName> {
    let mut names = Vec::new();
    for limits in all_limits(&mut associations.clone()) {
        for (place, form) in LIMITS.iter().enumerate() {
            let own = match form.slot(limits) {
                Slot::Count(count) => Vec::from_iter(count.map(|_| None)),
                Slot::Time(time) => Vec::from_iter(time.map(|_| None)),
                Slot::Tres(amounts) => {
                    let is_there = |kind: &Resource| amounts[*kind].is_some();
                    Resource::ALL.into_iter().filter(is_there).map(Some).collect()
                }
            };
            names.extend(own.into_iter().map(|kind| LimitName { place, kind }));
        }
    }
    names.sort();
    names.dedup();
    names
}

impl fmt::Display for ScaledLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |one: &ScaledLimit| format!("{}={}", one.limit, one.factor);
        f.write_str(&self.0.iter().map(one).collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_scaled_by_their_names() {
        let text = "Cluster - 'x'\nParent - 'root'\nAccount - 'a':GrpTRES=cpu=5,gres/gpu=3:MaxJobs=7:GrpJobs=0:MaxWallDurationPerJob=60\n\
                    Parent - 'a'\nUser - 'u':MaxJobs=1\n";
        let site = Associations::parse(text).unwrap().0;
        let scaled = |text: &str| {
            let mut site = site.clone();
            ScaledLimits::parse(text).unwrap().apply(&mut site).map(|()| site)
        };
        let of_account = |site: &Associations| {
            let own = site.accounts.iter().find(|account| account.name == "a").unwrap();
            own.own.limits.clone()
        };
        let limits = |text: &str| of_account(&scaled(text).unwrap());
        let amounts = |text: &str| Resource::ALL.map(|kind| limits(text).group_tres[kind]);
        assert_eq!(amounts("GrpTRES=2"), [Some(10), None, None, Some(6)]);
        assert_eq!(amounts("grptres/gres/gpu=0.5,MaxJobs=3"), [Some(5), None, None, Some(2)]);
        let both = scaled("MaxJobsPU=1.1").unwrap();
        // 7.7 and 1.1, rounded up.
        assert_eq!((of_account(&both).max_jobs, both.users[0].own.limits.max_jobs), (Some(8), Some(2)));
        // Exact: 1.1 times 10 would be above 11 as a floating-point number. A limit of 0 stays 0.
        assert_eq!(Factor::parse("1.1").unwrap().times(10), 11);
        assert_eq!((limits("GrpJobs=9").group_jobs, limits("MaxJobs=0.001").max_jobs), (Some(0), Some(1)));
        assert_eq!(limits("MaxWall=0.5").max_wall, Some(1800));
        let why = scaled("GrpTRES/mem=2").unwrap_err();
        assert!(
            why.ends_with("no QOS, account or user has this limit; there are GrpJobs, GrpTRES/cpu, GrpTRES/gres/gpu, MaxJobs, MaxWall"),
            "{why}"
        );
    }

    #[test]
    fn factors_are_printed_as_they_are_read() {
        for (text, printed) in [
            ("GrpTRES=2", "GrpTRES=2"),
            ("maxjobspu=0.50,GrpTRES/GRES/GPU=12.0", "MaxJobs=0.5,GrpTRES/gres/gpu=12"),
            ("MaxWall=0.025", "MaxWall=0.025"),
        ] {
            assert_eq!(ScaledLimits::parse(text).unwrap().to_string(), printed);
            assert_eq!(ScaledLimits::parse(printed).unwrap(), ScaledLimits::parse(text).unwrap());
        }
        for (text, why) in [
            ("GrpTRE=2", "there is no limit 'GrpTRE'; there are GrpJobs, "),
            ("GrpTRE=2", "; did you mean 'GrpTRES'?"),
            ("GrpTRES", "'GrpTRES' is not NAME=FACTOR"),
            ("GrpTRES=0", "'0' is no factor above 0"),
            ("GrpTRES=-1", "'-1' is no factor"),
            ("GrpTRES/disk=2", "the kinds of amounts are cpu, mem, node, gres/gpu"),
            ("MaxJobs/cpu=2", "without kinds of amounts"),
            ("MaxJobs=2,MaxJobsPerUser=3", "MaxJobs and MaxJobs are the same limit"),
            ("GrpTRES=2,GrpTRES/cpu=3", "are the same limit"),
        ] {
            let error = ScaledLimits::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
