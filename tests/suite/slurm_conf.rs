//! `--slurm-conf`: the scheduler of a site from its own configuration.

use std::fs;

use crate::support::{Folder, sim, sim_ok};

const CONF: &str = "ClusterName=big
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=60,bf_window=2880,bf_continue
KillWait=60
NodeName=n[1-9] CPUs=4
NodeName=n[10-19] CPUs=8
";

const SPEC: &str = "slurm:bf_interval=1m,bf_window=2d,kill_wait=1m";

fn conf(folder: &Folder, text: &str) -> String {
    let file = folder.path("slurm.conf");
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_string()
}

/// The values of a column of CSV without quotes before it.
fn column(csv: &str, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let at = reader.headers().unwrap().iter().position(|header| header == name).unwrap();
    reader.records().map(|record| record.unwrap()[at].to_string()).collect()
}

#[test]
fn the_file_is_the_scheduler_and_what_it_means_is_printed() {
    let folder = Folder::new();
    let file = conf(&folder, CONF);
    let ran = sim(&["--slurm-conf", &file, "--predictor", "estimate", "--format", "csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(column(&ran.out, "scheduler"), [SPEC]);
    assert!(ran.err.contains(&format!("slurm.conf means {SPEC}")), "{}", ran.err);
    let unused = "not used: ClusterName (line 1), bf_continue (line 3), NodeName (lines 5 to 6)";
    assert!(ran.err.contains(unused), "{}", ran.err);
    let plain = sim_ok(&["--scheduler", SPEC, "--predictor", "estimate", "--format", "csv"]);
    assert_eq!(ran.out, plain);
}

#[test]
fn keys_of_the_command_line_come_first() {
    let folder = Folder::new();
    let file = conf(&folder, CONF);
    let list = "easy,slurm:bf_interval=10s,slurm:running=prediction";
    let out = sim_ok(&["--slurm-conf", &file, "--scheduler", list, "--format", "csv"]);
    let completed = ["slurm:bf_interval=10s,bf_window=2d,kill_wait=1m", &format!("{SPEC},running=prediction")];
    assert_eq!(column(&out, "scheduler"), ["easy", completed[0], completed[1]]);
}

#[test]
fn the_baseline_has_the_keys_of_the_file_too() {
    let folder = Folder::new();
    let file = conf(&folder, CONF);
    let args = ["--slurm-conf", &file, "--scheduler", "slurm:running=prediction", "--baseline", "slurm/estimate"];
    let out = sim_ok(&[&args[..], &["--predictor", "ruh", "--format", "csv"]].concat());
    let baseline = format!("{SPEC}/estimate");
    assert_eq!(column(&out, "baseline"), std::slice::from_ref(&baseline));
    let study = folder.path("study");
    let study = study.to_str().unwrap();
    let sweep = [&["sweep"], &args[..], &["--predictor", "ruh", "--out", study, "--format", "csv"]].concat();
    assert_eq!(column(&sim_ok(&sweep), "baseline"), [baseline]);
}

#[test]
fn reports_and_fidelity_take_it_too() {
    let folder = Folder::new();
    let file = conf(&folder, CONF);
    let fidelity = ["fidelity", "--slurm-conf", &file, "--format", "csv"];
    assert_eq!(column(&sim_ok(&fidelity), "scheduler"), [SPEC]);
    let page = folder.path("report.html");
    sim_ok(&["report", "--slurm-conf", &file, "--first", "500", "--out", page.to_str().unwrap()]);
    assert!(fs::read_to_string(page).unwrap().contains(SPEC));
}

#[test]
fn sweeps_recommendations_and_waits_take_it_too() {
    let folder = Folder::new();
    let file = conf(&folder, CONF);
    let study = folder.path("study");
    let study = study.to_str().unwrap();
    let sweep = ["sweep", "--slurm-conf", &file, "--predictor", "estimate,ruh", "--out", study, "--format", "csv"];
    assert_eq!(column(&sim_ok(&sweep), "scheduler"), [SPEC, SPEC]);
    let candidates = ["--candidates", "slurm:running=prediction/ruh", "--replications", "2"];
    let recommend = [&["recommend", "--slurm-conf", &file][..], &candidates, &["--first", "2000"]].concat();
    let answer = sim_ok(&recommend);
    assert!(answer.contains(&format!("{SPEC}/estimate")), "{answer}");
    let wait = ["wait", "--slurm-conf", &file, "--first", "1500", "--method", "knn", "--format", "csv"];
    assert_eq!(column(&sim_ok(&wait), "scheduler"), [SPEC]);
}

#[test]
fn a_file_that_cannot_be_used_is_named() {
    let folder = Folder::new();
    let wrong = |text: &str| {
        let file = conf(&folder, text);
        let ran = sim(&["--slurm-conf", &file]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        ran.err
    };
    assert!(wrong("KillWait=30\nSchedulerParameters=bf_interval=x").contains("slurm.conf: line 2: bf_interval=x"));
    assert!(wrong("SchedulerType=sched/builtin").contains("only sched/backfill can be simulated"));
    assert!(wrong("").contains("there is no parameter"));
    let missing = sim(&["--slurm-conf", "/no/such/slurm.conf"]);
    assert!(missing.code == 2 && missing.err.contains("/no/such/slurm.conf"), "{}", missing.err);
}

#[test]
fn a_predictor_without_effect_is_told() {
    let ran = sim(&["--scheduler", "slurm", "--predictor", "ruh"]);
    assert!(ran.err.contains("ruh changes no start; slurm:running=prediction plans with it"), "{}", ran.err);
    let ran = sim(&["--scheduler", "slurm:running=prediction", "--predictor", "ruh"]);
    assert!(!ran.err.contains("changes no start"), "{}", ran.err);
}
