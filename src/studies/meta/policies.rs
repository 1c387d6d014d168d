//! The policies that choose the sites of a job.

use std::fmt;

use super::load::Load;
use crate::job::Submission;
use crate::spec::{Form, Key, Kind, Spec, SpecError};

/// What a policy may use of a site's state.
pub trait SiteView {
    /// Processors of the machine.
    fn procs(&self) -> u32;
    /// Its present load, by the users' estimates.
    fn load(&self) -> Load;
    /// The number of jobs that have started there.
    fn starts(&self) -> usize;
    /// Whether a job is predicted to wait less than an hour there; false if the site has no predictor of waits.
    fn is_quick(&self, job: &Submission) -> bool;
    /// How long a job is expected to wait there, in seconds. None if the site has no predictor of waits, or no history
    /// yet.
    fn expected_wait(&self, job: &Submission) -> Option<f64>;
}

const STATIC: Form = Form { name: "static", about: "every job at the site where it was submitted", keys: &[] };

const LEAST_LOADED: Form = Form {
    name: "least-loaded",
    about: "the site with the least work, queued and running, for its size (Subramani et al.)",
    keys: &[],
};

const K_DISTRIBUTED: Form = Form {
    name: "k-distributed",
    about: "queued at the least loaded sites; the first start cancels the others (Subramani et al.)",
    keys: &[Key { name: "k", kind: Kind::Whole { least: 1 }, default: "2", about: "at how many sites" }],
};

const REDUNDANT: Form =
    Form { name: "redundant", about: "queued everywhere; the first start cancels the others (Casanova)", keys: &[] };

const LEAST_PREDICTED: Form = Form {
    name: "least-predicted",
    about: "sites where it is predicted to start quickly, of those the least expected wait (Kumar and Vadhiyar)",
    keys: &[],
};

const FORMS: [&Form; 5] = [&STATIC, &LEAST_LOADED, &K_DISTRIBUTED, &REDUNDANT, &LEAST_PREDICTED];

/// All policies with their keys.
pub fn dispatch_forms() -> Vec<&'static Form> {
    FORMS.to_vec()
}

/// `least-predicted` uses predictions once this many jobs have started at each site where the job fits; before that the
/// load decides, because a shorter history predicts too little.
pub const LEAST_STARTS: usize = 500;

/// Which sites a job is sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DispatchPolicy {
    /// The site where it was submitted.
    Static,
    /// The site with the least load.
    LeastLoaded,
    /// The `k` least loaded sites; the first start cancels the other copies.
    KDistributed {
        /// The number of sites, or all if there are fewer.
        k: usize,
    },
    /// All sites; the first start cancels the other copies.
    Redundant,
    /// Of the sites where it is predicted to start quickly (or of all, if there is none) the one with the least
    /// expected wait.
    LeastPredicted,
}

impl DispatchPolicy {
    /// Reads a policy's spec; printing it gives the shortest spec with the same meaning.
    ///
    /// # Errors
    ///
    /// If the name, a key or a value is not one of [`dispatch_forms`].
    pub fn parse(text: &str) -> Result<DispatchPolicy, SpecError> {
        DispatchPolicy::parse_spec(text).map(|spec| DispatchPolicy::of(&spec))
    }

    /// The spec of a policy, from which [`DispatchPolicy::of`] makes the policy. In a list of policies it is printed with its
    /// swept keys.
    ///
    /// # Errors
    ///
    /// As [`DispatchPolicy::parse`].
    pub fn parse_spec(text: &str) -> Result<Spec, SpecError> {
        Spec::parse(text, "policy", &FORMS)
    }

    /// The policy of a spec of [`DispatchPolicy::parse_spec`].
    pub fn of(spec: &Spec) -> DispatchPolicy {
        match spec.name() {
            "static" => DispatchPolicy::Static,
            "least-loaded" => DispatchPolicy::LeastLoaded,
            "k-distributed" => DispatchPolicy::KDistributed { k: spec.whole("k") as usize },
            "redundant" => DispatchPolicy::Redundant,
            _ => DispatchPolicy::LeastPredicted,
        }
    }

    /// Whether sites need a predictor of waits.
    pub fn needs_waits(&self) -> bool {
        *self == DispatchPolicy::LeastPredicted
    }

    /// Puts the indices of the sites where a job is to be queued into `chosen`, at least one. Only sites with enough
    /// processors are chosen; the job's own site `own` must be one of them.
    pub fn place<S: SiteView>(&self, job: &Submission, own: usize, sites: &[S], chosen: &mut Vec<usize>) {
        chosen.clear();
        let eligible = (0..sites.len()).filter(|&at| sites[at].procs() >= job.procs);
        match *self {
            DispatchPolicy::Static => chosen.push(own),
            DispatchPolicy::Redundant => chosen.extend(eligible),
            DispatchPolicy::LeastLoaded => {
                chosen.extend(eligible);
                keep_least_loaded(1, own, sites, chosen);
            }
            DispatchPolicy::KDistributed { k } => {
                chosen.extend(eligible);
                keep_least_loaded(k, own, sites, chosen);
            }
            DispatchPolicy::LeastPredicted => {
                chosen.extend(eligible);
                match least_predicted(job, own, sites, chosen) {
                    Some(site) => *chosen = vec![site],
                    None => keep_least_loaded(1, own, sites, chosen),
                }
            }
        }
    }
}

impl fmt::Display for DispatchPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DispatchPolicy::Static => "static",
            DispatchPolicy::LeastLoaded => "least-loaded",
            DispatchPolicy::KDistributed { k: 2 } => "k-distributed",
            DispatchPolicy::KDistributed { k } => return write!(f, "k-distributed:k={k}"),
            DispatchPolicy::Redundant => "redundant",
            DispatchPolicy::LeastPredicted => "least-predicted",
        })
    }
}

/// Of equally loaded sites the job's own comes first, then the order of the system.
fn keep_least_loaded<S: SiteView>(count: usize, own: usize, sites: &[S], chosen: &mut Vec<usize>) {
    if chosen.len() > count {
        chosen.sort_by_cached_key(|&at| (sites[at].load(), at != own, at));
        chosen.truncate(count);
    }
}

/// The site with the least expected wait (Kumar and Vadhiyar, section 4). None if a site has too short a history.
fn least_predicted<S: SiteView>(job: &Submission, own: usize, sites: &[S], eligible: &[usize]) -> Option<usize> {
    if let &[only] = eligible {
        return Some(only);
    }
    if eligible.iter().any(|&at| sites[at].starts() < LEAST_STARTS) {
        return None;
    }
    let mut candidates: Vec<usize> = eligible.iter().copied().filter(|&at| sites[at].is_quick(job)).collect();
    match *candidates {
        // The paper's three cases: a single quick site is chosen; with none, all sites are candidates; else the quick
        // ones are.
        [only] => return Some(only),
        [] => candidates.extend(eligible),
        _ => {}
    }
    let ask = |&at: &usize| Some((at, sites[at].expected_wait(job)?));
    let waits: Vec<(usize, f64)> = candidates.iter().map(ask).collect::<Option<_>>()?;
    let least =
        waits.iter().min_by(|(a, one), (b, other)| one.total_cmp(other).then((*a != own, *a).cmp(&(*b != own, *b))));
    least.map(|&(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A site with a fixed state.
    #[derive(Clone, Copy)]
    struct Facts {
        procs: u32,
        work: i128,
        starts: usize,
        /// Quick, and the expected wait.
        expected: (bool, f64),
    }

    impl SiteView for Facts {
        fn procs(&self) -> u32 {
            self.procs
        }

        fn load(&self) -> Load {
            Load { work: self.work, procs: self.procs }
        }

        fn starts(&self) -> usize {
            self.starts
        }

        fn is_quick(&self, _: &Submission) -> bool {
            self.expected.0
        }

        fn expected_wait(&self, _: &Submission) -> Option<f64> {
            (self.starts > 0).then_some(self.expected.1)
        }
    }

    fn place(policy: &DispatchPolicy, procs: u32, own: usize, sites: &[Facts]) -> Vec<usize> {
        let mut chosen = vec![9];
        policy.place(&Submission::new(0, procs, 100), own, sites, &mut chosen);
        chosen
    }

    #[test]
    fn loads_are_relative_to_size_and_ties_go_to_the_own_site() {
        let site = |procs, work| Facts { procs, work, starts: 0, expected: (false, 0.0) };
        let sites = [site(8, 800), site(64, 1600), site(16, 400), site(4, 0)];
        let least = |procs, own| place(&DispatchPolicy::LeastLoaded, procs, own, &sites);
        assert_eq!(least(1, 0), [3], "no work there");
        assert_eq!(least(5, 0), [1], "too wide for 3; 1 and 2 are equal, and 1 comes first");
        assert_eq!(least(5, 2), [2], "equal, and the own site");
        assert_eq!(least(17, 1), [1], "the only one wide enough");
        let two = |procs, own| place(&DispatchPolicy::KDistributed { k: 2 }, procs, own, &sites);
        assert_eq!(two(1, 0), [3, 1]);
        assert_eq!(two(5, 2), [2, 1]);
        assert_eq!(place(&DispatchPolicy::KDistributed { k: 9 }, 16, 0, &sites), [1, 2]);
        assert_eq!(place(&DispatchPolicy::Redundant, 8, 0, &sites), [0, 1, 2]);
        assert_eq!(place(&DispatchPolicy::Static, 8, 0, &sites), [0]);
    }

    #[test]
    fn quick_sites_first_then_the_least_expected_wait() {
        let site = |quick, wait| Facts { procs: 8, work: 0, starts: LEAST_STARTS, expected: (quick, wait) };
        let choose = |sites: &[Facts], own| place(&DispatchPolicy::LeastPredicted, 4, own, sites);
        // m quick sites of n. m = 1: that site, however long the expected wait. m = 0 and m = n: the best of all.
        // Otherwise: the best of the quick ones.
        assert_eq!(choose(&[site(false, 1.0), site(true, 50.0), site(false, 2.0)], 0), [1]);
        assert_eq!(choose(&[site(false, 9.0), site(false, 50.0), site(false, 2.0)], 0), [2]);
        assert_eq!(choose(&[site(true, 9.0), site(true, 5.0), site(true, 20.0)], 0), [1]);
        assert_eq!(choose(&[site(true, 9.0), site(false, 5.0), site(true, 20.0)], 2), [0]);
        assert_eq!(choose(&[site(true, 9.0), site(true, 9.0), site(true, 9.0)], 2), [2], "ties go to the own site");
        assert_eq!(choose(&[site(true, 9.0), site(true, 5.0), site(true, 5.0)], 0), [1], "and then by order");
    }

    #[test]
    fn the_load_decides_until_all_eligible_sites_have_enough_starts() {
        let site = |starts, procs, work, wait| Facts { procs, work, starts, expected: (true, wait) };
        let choose = |sites: &[Facts], procs| place(&DispatchPolicy::LeastPredicted, procs, 0, sites);
        let sites = [site(500, 8, 80, 1.0), site(499, 8, 0, 5.0), site(500, 16, 800, 0.0)];
        assert_eq!(choose(&sites, 4), [1], "one site has one start too few: the least loaded");
        let sites = [site(500, 8, 80, 1.0), site(499, 4, 0, 5.0), site(500, 16, 800, 0.0)];
        assert_eq!(choose(&sites, 5), [2], "the site with too few starts is not eligible");
        assert_eq!(choose(&[site(0, 8, 0, 0.0)], 4), [0]);
    }

    #[test]
    fn specs_are_printed_as_they_are_read() {
        for (text, short) in [
            ("static", "static"),
            ("least-loaded", "least-loaded"),
            ("k-distributed:k=2", "k-distributed"),
            ("k-distributed:k=3", "k-distributed:k=3"),
            ("redundant", "redundant"),
            ("least-predicted", "least-predicted"),
        ] {
            let policy = DispatchPolicy::parse(text).unwrap();
            assert_eq!(policy.to_string(), short);
            assert_eq!(DispatchPolicy::parse(short).unwrap(), policy);
        }
        for (text, message) in [
            (
                "best",
                "unknown policy 'best': the policies are static, least-loaded, k-distributed, redundant, least-predicted",
            ),
            ("k-distributed:k=0", "k: '0' is not a whole number of at least 1"),
            ("redundant:k=2", "redundant takes no keys"),
        ] {
            let error = DispatchPolicy::parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
