//! Options without effect. One rule for all commands: an option that can change nothing in any of the runs is an error that names
//! what it needs. Whether one has an effect that depends on the log is found when the log is read; then it is a warning.

use super::option_table::OptionForm;
use super::options::Options;
use crate::machine::associations::Associations;
use crate::predict;
use crate::schedule::catalog::{self, RunsOn};
use crate::spec::{Spec, SpecError, quote};

/// Pairs of options in which the first would overrule the second, with the reason.
const OVERRULING: [(&str, &str, &str); 5] = [
    ("machine", "procs", "the machine has the CPUs of its nodes"),
    ("replication", "shake", REPLICATION),
    ("replication", "seed", REPLICATION),
    ("resample", "repeat", "a resample is as long as the log"),
    ("estimates", "missing-estimate", "with --estimates every job has an estimate of the model"),
];
const REPLICATION: &str = "--replication I means --shake 30s --seed I, with --resample as --seed I";

/// An option that acts only in some runs.
struct Effect {
    option: &'static str,
    acts: fn(&Options) -> bool,
    /// What a run must have, in words that follow "has no effect".
    needs: &'static str,
}

const fn effect(option: &'static str, acts: fn(&Options) -> bool, needs: &'static str) -> Effect {
    Effect { option, acts, needs }
}

/// The options that act only in some runs.
const EFFECTS: [Effect; 12] = [
    effect(
        "associations",
        |options| options.machine.is_some(),
        "without --machine or --slurm-conf: accounts and limits are those of nodes",
    ),
    effect(
        "associations",
        |options| options.schedulers().any(catalog::is_slurm),
        "without the scheduler slurm: others have no accounts and limits",
    ),
    effect(
        "scale-limit",
        |options| {
            let mut slurm = options.schedulers().filter(|scheduler| catalog::is_slurm(scheduler));
            slurm.any(|scheduler| !catalog::ignores_limits(scheduler)) && options.have(Associations::has_limits)
        },
        "without limits that are enforced: those of --associations, or of the machine, under the scheduler slurm",
    ),
    effect(
        "partition-map",
        |options| options.machine.is_some(),
        "without --machine or --slurm-conf: a pool of processors has no partitions",
    ),
    effect(
        "outages",
        |options| options.schedulers().any(|scheduler| !catalog::is_replay(scheduler)),
        "with the scheduler replay: the log has its outages in it",
    ),
    effect("on-failure", |options| options.outages.is_some(), "without --outages"),
    effect(
        "add-nodes",
        |options| options.machine.is_some(),
        "without --machine or --slurm-conf: on a pool say --procs",
    ),
    effect(
        "remove-nodes",
        |options| options.machine.is_some(),
        "without --machine or --slurm-conf: on a pool say --procs",
    ),
    effect(
        "estimates-seed",
        |options| !options.is_idle_seed("estimates-seed"),
        "without a random model in --estimates",
    ),
    effect("seed", |options| !options.is_idle_seed("seed"), "without --shake or --resample"),
    effect(
        "inflate",
        |options| catalog::plans_with_predictions(&options.scheduler),
        "without a scheduler that plans with predictions, such as easy or sjbf",
    ),
    effect(
        "pass-on-miss",
        |options| {
            catalog::plans_with_predictions(&options.scheduler) && !predict::catalog::is_perfect(&options.predictor)
        },
        "without a scheduler that plans with predictions, such as easy or sjbf, and a predictor other than perfect",
    ),
];

/// Checks that no option overrules another one. `is_given` returns whether an option was given with a value other than
/// `none`.
///
/// # Errors
/// If an option would have no effect.
pub fn refuse_overruled(is_given: impl Fn(&str) -> bool) -> Result<(), SpecError> {
    match OVERRULING.iter().find(|(first, second, _)| is_given(first) && is_given(second)) {
        None => Ok(()),
        Some((first, second, why)) => {
            Err(SpecError(format!("--{second} has no effect together with --{first}: {why}; remove one of them")))
        }
    }
}

/// Checks that each option that is given changes at least one of these runs. A given default is no change that was asked for.
///
/// # Errors
/// If an option would have no effect.
pub fn refuse_idle(
    runs: impl Iterator<Item = Options> + Clone,
    is_given: impl Fn(&str) -> bool,
) -> Result<(), SpecError> {
    let default = Options::default();
    for Effect { option, acts, needs } in EFFECTS.iter().filter(|effect| is_given(effect.option)) {
        let form = OptionForm::find(option).expect("the option exists");
        let value = runs.clone().map(|run| form.get(&run)).find(|value| *value != form.get(&default));
        if let Some(value) = value.filter(|_| !runs.clone().any(|run| acts(&run))) {
            let value = if form.is_switch() { String::new() } else { format!(" {value}") };
            return Err(SpecError(format!("--{option}{value} has no effect {needs}; remove it")));
        }
    }
    Ok(())
}

/// Whether an option changes nothing in this run.
pub fn is_idle(run: &Options, option: &str) -> bool {
    EFFECTS.iter().any(|effect| effect.option == option && !(effect.acts)(run))
}

/// What decides on a run which keys of its scheduler have an effect.
pub fn runs_on(run: &Options) -> RunsOn {
    RunsOn { nodes: run.machine.is_some(), outages: run.outages.is_some() }
}

/// The scheduler of a run without written keys that change nothing in it.
pub fn acting_scheduler(run: &Options) -> Spec {
    let spec = &run.scheduler;
    let on = runs_on(run);
    let acts = |key: &str| catalog::idle_key(spec, key, on).is_none();
    if spec.written().all(|(key, _)| acts(key)) {
        return spec.clone();
    }
    let keys = spec.written().filter(|(key, _)| acts(key)).map(|(key, value)| format!("{key}={}", quote(value)));
    let keys = keys.collect::<Vec<_>>().join(",");
    let text = if keys.is_empty() { spec.name().to_string() } else { format!("{}:{keys}", spec.name()) };
    catalog::parse(&text).expect("some of the keys of a scheduler")
}

/// Checks that each key that is written in a scheduler has an effect in at least one of the runs. A scheduler comes with what
/// it runs on.
///
/// # Errors
/// If a key would have no effect.
pub fn refuse_idle_keys<'a>(schedulers: impl Iterator<Item = (&'a Spec, RunsOn)> + Clone) -> Result<(), SpecError> {
    for (spec, on) in schedulers.clone() {
        for (key, _) in spec.written() {
            let Some(why) = catalog::idle_key(spec, key, on) else { continue };
            let has_key = |other: &Spec| other.name() == spec.name() && other.written().any(|(name, _)| name == key);
            let acts = |(other, on): (&Spec, RunsOn)| has_key(other) && catalog::idle_key(other, key, on).is_none();
            if !schedulers.clone().any(acts) {
                return Err(SpecError(format!("{spec}: the key {key} has no effect {why}; remove it")));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_overrule_each_other_are_refused() {
        let refused = |given: &[&str]| refuse_overruled(|name| given.contains(&name)).err().map(|error| error.0);
        assert_eq!(refused(&["shake", "seed", "estimates", "load"]), None);
        assert!(
            refused(&["seed", "replication"]).unwrap().starts_with("--seed has no effect together with --replication")
        );
        assert!(refused(&["replication", "shake"]).is_some() && refused(&["missing-estimate", "estimates"]).is_some());
    }

    /// The first part of the message for these options in one run.
    fn idle(given: &[(&str, &str)]) -> Option<String> {
        let mut options = Options::default();
        given.iter().for_each(|(name, value)| OptionForm::find(name).unwrap().set(&mut options, value).unwrap());
        let is_given = |name: &str| given.iter().any(|(given, _)| *given == name);
        let refused = refuse_idle(std::iter::once(options), is_given).err();
        refused.map(|error| error.0.split(':').next().unwrap_or_default().to_string())
    }

    #[test]
    fn an_option_that_changes_no_run_is_refused() {
        for (given, why) in [
            (&[("partition-map", "a=b")][..], "--partition-map a=b has no effect without --machine or --slurm-conf"),
            (
                &[("estimates-seed", "7")],
                "--estimates-seed 7 has no effect without a random model in --estimates; remove it",
            ),
            (&[("seed", "7")], "--seed 7 has no effect without --shake or --resample; remove it"),
            (
                &[("inflate", "2"), ("scheduler", "fcfs")],
                "--inflate 2 has no effect without a scheduler that plans with predictions, such as easy or sjbf; remove it",
            ),
            (
                &[("pass-on-miss", "on"), ("predictor", "perfect")],
                "--pass-on-miss has no effect without a scheduler that plans with predictions, such as easy or sjbf, and a predictor \
                 other than perfect; remove it",
            ),
        ] {
            assert_eq!(idle(given).as_deref(), Some(why), "{given:?}");
        }
        for given in [
            &[("estimates-seed", "7"), ("estimates", "f")][..],
            &[("seed", "7"), ("shake", "30s")],
            &[("inflate", "2"), ("scheduler", "fcfs:queue=spf")],
            &[("inflate", "2"), ("scheduler", "slurm:running=prediction")],
            &[("pass-on-miss", "on")],
            // Nothing is asked for.
            &[("inflate", "1"), ("scheduler", "fcfs")],
        ] {
            assert_eq!(idle(given), None, "{given:?}");
        }
        assert!(idle(&[("inflate", "2"), ("scheduler", "slurm")]).is_some());
        // One run in which it acts is enough.
        let mut runs = [Options::default(), Options::default()];
        runs[0].scheduler = catalog::parse("fcfs").unwrap();
        runs.iter_mut().for_each(|run| run.inflate = 2.0);
        assert!(refuse_idle(runs.iter().cloned(), |name| name == "inflate").is_ok());
    }

    #[test]
    fn a_key_that_changes_no_run_is_refused() {
        let refused = |specs: &[(&str, bool)]| {
            let specs: Vec<_> =
                specs.iter().map(|(text, on_nodes)| (catalog::parse(text).unwrap(), *on_nodes)).collect();
            let on = |nodes: bool| RunsOn { nodes, outages: false };
            let refused = refuse_idle_keys(specs.iter().map(|(spec, on_nodes)| (spec, on(*on_nodes)))).err();
            refused.map(|error| error.0)
        };
        let (pool, nodes) = (false, true);
        for (spec, on_nodes, why) in [
            (
                "slurm:age_weight=5",
                pool,
                "slurm:age_weight=5: the key age_weight has no effect without order=multifactor; remove it",
            ),
            ("slurm:order=multifactor,shares=group", nodes, "the key shares has no effect on nodes"),
            (
                "slurm:order=multifactor,fairshare=classic",
                pool,
                "the key fairshare has no effect on a pool of processors",
            ),
            ("slurm:epilog=5s", pool, "the key epilog has no effect on a pool of processors"),
            ("slurm:requeue_delay=5s", nodes, "the key requeue_delay has no effect without preempt"),
            ("slurm:resv_over_run=5m", nodes, "the key resv_over_run has no effect without --outages"),
            ("easy:placement=spread", pool, "the key placement has no effect on a pool of processors"),
        ] {
            let message = refused(&[(spec, on_nodes)]).unwrap_or_default();
            assert!(message.contains(why), "{spec}: {message}");
        }
        for spec in [
            ("slurm:order=multifactor,age_weight=5,shares=group", pool),
            ("slurm:epilog=0s", pool),
            ("easy:placement=spread", nodes),
        ] {
            assert_eq!(refused(&[spec]), None, "{spec:?}");
        }
        // A list may have it where it acts.
        assert_eq!(refused(&[("slurm:age_weight=5", pool), ("slurm:order=multifactor,age_weight=5", pool)]), None);
    }
}
