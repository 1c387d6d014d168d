//! What identifies a run: its options that differ from the defaults, and the keys made of them.

use std::sync::Arc;

use super::option_table::{OPTIONS, OptionForm, Section};
use super::options::Options;
use super::run::Setting;
use crate::machine::MachineFile;
use crate::metrics::{Column, More, RunLabel};
use crate::trace::{Cleaning, Resample, Workload};

impl Options {
    /// These options for a replication: 0 is the log as it is, any other number a shaken or resampled log with this seed.
    pub fn replicated(mut self, number: u32) -> Options {
        let option = OptionForm::find("replication").expect("the option exists");
        option.set(&mut self, &number.to_string()).expect("a whole number is a replication");
        self
    }

    /// The options that differ from the defaults, with their values. The seed of moved submissions is one of them even if it
    /// is the default, so that results and commands name it.
    pub fn given(&self) -> impl Iterator<Item = (&'static OptionForm, String)> {
        let default = Options::default();
        let is_given = move |option: &&OptionForm| {
            option.get(self) != option.get(&default) || (option.name == "seed" && !self.is_idle_seed("seed"))
        };
        OPTIONS.iter().filter(is_given).map(|option| (option, option.get(self)))
    }

    /// The label of a run with these options on this workload.
    pub fn label(&self, workload: &Workload) -> RunLabel {
        RunLabel {
            trace: workload.label.clone(),
            procs: workload.procs,
            scheduler: self.scheduler.to_string(),
            predictor: self.predictor.to_string(),
            dropped: workload.cleaning.dropped(),
            options: self.in_row(),
            what_if: self.what_if.clone().unwrap_or_default(),
            more: More::default(),
        }
    }

    /// The column `options`: the options that differ from the defaults, change the result and have no column, as
    /// `name=value` separated by blanks.
    pub fn in_row(&self) -> String {
        let matters = |name: &str| !Column::exists(name) && !self.is_idle_seed(name);
        let given = self.given().filter(|(option, _)| matters(option.name));
        given.map(|(option, value)| format!("{}={value}", option.name)).collect::<Vec<_>>().join(" ")
    }

    /// The key of a run on a given log: all options that change its result, with the defaults filled in.
    pub fn canonical(&self) -> String {
        let (mut text, default) = (String::new(), Options::default());
        for option in OPTIONS {
            let value = match option.name {
                "scheduler" => Some(self.scheduler.in_full()),
                "predictor" => Some(self.predictor.in_full()),
                "baseline" => Some(self.baseline.as_ref().map_or("none".to_string(), Setting::in_full)),
                seed if self.is_idle_seed(seed) => None,
                // Left out if it is not given, so that keys of sweeps are valid that are older than this option.
                "estimates" => self.estimates.as_ref().map(|model| model.spec().in_full()),
                "feedback" => self.feedback.as_ref().map(|model| model.spec().in_full()),
                "resample" => self.shaping.resample.as_ref().map(Resample::to_string),
                // Its content, whatever its name is.
                "requests" => self.reading.requests.as_ref().map(|file| format!("{:032x}", file.digest)),
                "outages" => self.outages.as_ref().map(|file| format!("{:?}", file.rows)),
                "machine" => self.machine.as_ref().map(|machine| machine.content()),
                "associations" => {
                    let of = |machine: &Arc<MachineFile>| self.associations.as_ref()?.of(&machine.cluster).ok();
                    self.machine.as_ref().and_then(of).map(|of| format!("{:?}", of.associations))
                }
                // The same for the options that are younger than the first sweeps.
                _ if matches!(option.section, Section::Reading | Section::Machine) => {
                    Some(option.get(self)).filter(|value| *value != option.get(&default))
                }
                _ => Some(option.get(self)),
            };
            text.extend(value.map(|value| format!("{}={value}\n", option.name)));
        }
        let site = self.baseline_site.as_ref().map(|_| Options { baseline_site: None, ..self.of_baseline() });
        text.extend(site.map(|site| format!("baseline on\n{}", site.canonical())));
        text
    }

    /// The key of the workload of a given log: runs with equal keys share one workload.
    pub fn workload_key(&self) -> String {
        use Section::{Estimates, Log, Machine, Reading, Shape, Users};
        let values = self.lines(&[Log, Machine, Reading, Estimates, Shape, Users]);
        let Cleaning { need_waits, keep_wide, .. } = self.rules();
        format!("{values}{need_waits} {keep_wide}\n{:?}", self.measure)
    }

    /// The key of the condition under which settings run: those with equal keys are compared with each other, on the machine of each.
    pub fn condition_key(&self) -> String {
        let Options { scheduler, predictor, .. } = Options::default();
        let (baseline, machine) = (None, None);
        Options { scheduler, predictor, baseline, machine, ..self.clone() }.workload_key()
    }

    /// The key of a log that was read: runs with equal keys can share the log of one file.
    pub fn reading_key(&self) -> String {
        format!("{}skip-bad-lines={}", self.lines(&[Section::Reading]), self.skip_bad_lines)
    }

    /// The options of some sections with their values, one per line.
    fn lines(&self, sections: &[Section]) -> String {
        let options = OPTIONS.iter().filter(|option| sections.contains(&option.section));
        options.map(|option| format!("{}={}\n", option.name, option.get(self))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_toml;

    /// A comparison of two machines is another run than one whose baseline has the same machine, or a third.
    #[test]
    fn both_machines_of_a_comparison_identify_a_run() {
        let machine = |cpus: u32| {
            let cluster = Arc::new(parse_toml(&format!("[[nodes]]\nname = \"n\"\ncpus = {cpus}")).unwrap());
            Some(Arc::new(MachineFile { file: "site.toml".to_string(), cluster, ignored: Vec::new() }))
        };
        let run = |own, of_baseline: Option<Arc<MachineFile>>| {
            let on = |machine| Arc::new(Options { machine, ..Options::default() });
            let baseline_site = of_baseline.map(|machine| on(Some(machine)));
            Options { machine: machine(own), baseline_site, ..Options::default() }
        };
        let keys = [None, machine(2), machine(3)].map(|baseline| run(1, baseline).canonical());
        assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
        assert_eq!(run(1, machine(3)).canonical(), keys[2]);
    }

    #[test]
    fn what_changes_a_result_changes_what_identifies_it() {
        let with = |pairs: &[(&str, &str)]| {
            let mut options = Options::default();
            for (name, value) in pairs {
                OptionForm::find(name).unwrap().set(&mut options, value).unwrap();
            }
            options.canonical()
        };
        let plain = with(&[]);
        assert!(plain.contains("predictor=kin:learn=on,history=32,power=0.5,propagate=on\n"));
        assert_eq!(with(&[("predictor", "kin:history=32"), ("load", "1.0"), ("seed", "5")]), plain);
        assert_ne!(with(&[("predictor", "kin:history=4")]), plain);
        assert_ne!(with(&[("baseline", "easy/estimate")]), plain);
        // Keys of sweeps from before these options stay valid.
        assert!(
            !plain.contains("unit=")
                && with(&[("log-format", "auto:unit=cpus")]) == plain
                && with(&[("log-format", "auto:unit=nodes")]) != plain
        );
        assert_ne!(with(&[("shake", "30"), ("seed", "1")]), with(&[("shake", "30"), ("seed", "2")]));
        // A row has the options that differ from the defaults and matter, except those with a column.
        let in_row = |pairs: &[(&str, &str)]| {
            let mut options = Options::default();
            pairs.iter().for_each(|(name, value)| OptionForm::find(name).unwrap().set(&mut options, value).unwrap());
            options.in_row()
        };
        assert_eq!(in_row(&[("predictor", "sbh"), ("procs", "7"), ("seed", "5"), ("load", "1.0")]), "");
        assert_eq!(in_row(&[("replication", "3"), ("first", "10")]), "first=10 shake=30s seed=3");
        assert_eq!(in_row(&[("shake", "30s")]), "shake=30s seed=1");
        assert_eq!(in_row(&[("estimates", "x2"), ("estimates-seed", "3")]), "estimates=x2");
        // The seed of estimates matters if the model is random.
        let seeds = |model| ["1", "2"].map(|seed| with(&[("estimates", model), ("estimates-seed", seed)]));
        let [[none, same], [f, other], [x2, again]] = ["none", "f", "x2"].map(seeds);
        assert_ne!(with(&[("feedback", "think")]), plain);
        assert!(with(&[("feedback", "none")]) == plain && !plain.contains("feedback"));
        assert!(none == plain && same == plain && f != plain && f != other && x2 != plain && x2 == again);
    }
}
