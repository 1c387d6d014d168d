//! `--slurm-conf`: the scheduler of a site from its own configuration.

use std::fs;

use crate::support::{Folder, sim, sim_fed, sim_ok};

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

/// How the scheduler of a file is named.
fn label(file: &str) -> String {
    format!("slurm:conf={file}")
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
    let ran = sim(&["--slurm-conf", &file, "--predictor", "estimate", "--first", "1000", "--format", "csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(column(&ran.out, "scheduler"), [label(&file)]);
    assert!(
        ran.err.contains(&format!("slurm.conf means {SPEC},enforce_limits=no, on 19 nodes with 116 CPUs\n")),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("slurm.conf: not used: bf_continue (line 3)\n"), "{}", ran.err);
    assert!(!ran.err.contains("may change which jobs start"), "{}", ran.err);
    // The site's own setting is compared with nothing. It is the same as the keys on these nodes.
    let plain = ["--scheduler", SPEC, "--predictor", "estimate", "--first", "1000", "--format", "csv"];
    let with = |more: &[&str]| {
        sim_ok(&[&plain[..], &["--baseline", "none"], more].concat()).replace(&format!("\"{SPEC}\""), &label(&file))
    };
    assert_eq!(ran.out, with(&["--machine", &file]));
}

/// Its nodes are the machine, but for `--procs` and `--machine none`, which are a pool.
#[test]
fn the_file_is_the_machine() {
    let folder = Folder::new();
    let file = conf(&folder, CONF);
    let run = |more: &[&str]| {
        let run = ["--slurm-conf", &file, "--predictor", "estimate", "--first", "1000", "--format", "csv"];
        let ran = sim(&[&run[..], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran
    };
    let mattering = "may change which jobs start: NodeName (lines 5 to 6)\n";
    let own = run(&[]);
    for pool in [["--machine", "none"], ["--procs", "116"]] {
        let pool = run(&pool);
        assert!(pool.err.contains(", on 116 processors\n") && pool.err.contains(mattering), "{}", pool.err);
        assert_ne!(column(&pool.out, "wait_mean"), column(&own.out, "wait_mean"));
        let plain = ["--scheduler", SPEC, "--predictor", "estimate", "--procs", "116", "--first", "1000"];
        let plain = sim_ok(&[&plain[..], &["--baseline", "none", "--format", "csv"]].concat());
        assert_eq!(column(&pool.out, "wait_mean"), column(&plain, "wait_mean"));
    }
    // What of the nodes and partitions is not simulated is told too, and quiet runs tell it as well.
    let limited = conf(&folder, &format!("{CONF}PartitionName=all Nodes=ALL AllowGroups=staff\n"));
    let ran = sim(&["--slurm-conf", &limited, "--first", "20", "--format", "csv", "-q"]);
    assert!(ran.err.contains("PartitionName AllowGroups (line 7)\n"), "{}", ran.err);
    assert!(!ran.err.contains("ClusterName"), "{}", ran.err);
    // A pipe can be read once.
    let ran = sim_fed(&["--slurm-conf", "/dev/stdin", "--first", "20"], CONF.as_bytes());
    assert!(ran.code == 0 && ran.err.contains(", on 19 nodes with 116 CPUs"), "{}", ran.err);
}

/// The content counts, not the name: a kept run of a file that has changed is computed again.
#[test]
fn a_spec_may_name_the_file() {
    let folder = Folder::new();
    let (file, out) = (conf(&folder, CONF), folder.path("kept").to_str().unwrap().to_string());
    let spec = format!("{},bf_interval=20s", label(&file));
    let run = |spec: &str, more: &[&str]| {
        sim(&[&["--first", "300", "--scheduler", spec, "--predictor", "estimate", "--format", "csv"][..], more]
            .concat())
    };
    let kept = run(&spec, &["--keep", &out]);
    assert_eq!(column(&kept.out, "scheduler"), [spec.as_str()], "{}", kept.err);
    let same = "slurm:bf_interval=20s,bf_window=2d,kill_wait=1m";
    // Its nodes are the machine.
    assert_eq!(kept.out.replace(&spec, same), run(same, &["--machine", &file]).out);
    assert!(run(&spec, &["--keep", &out]).err.contains("1 reused"));
    conf(&folder, &CONF.replace("KillWait=60", "KillWait=600"));
    assert!(!run(&spec, &["--keep", &out]).err.contains("1 reused"));
    let wrong = run("slurm:conf=/no/such/file", &[]);
    assert!(wrong.code == 2 && wrong.err.contains("conf: cannot read /no/such/file"), "{}", wrong.err);
    // Slashes of the file's name are not those of SCHEDULER/PREDICTOR.
    let compared = sim_ok(&["--first", "300", "--baseline", &format!("{}/estimate", label(&file)), "--format", "csv"]);
    assert_eq!(column(&compared, "baseline"), [format!("{}/estimate", label(&file))]);
}

/// Everything that Slurm's own parser accepts means the same here.
#[test]
fn a_file_may_be_written_in_many_ways() {
    let folder = Folder::new();
    let meaning = |text: &str| {
        let ran = sim(&["--slurm-conf", &conf(&folder, text), "--first", "20", "--format", "csv"]);
        let means = ran.err.lines().find_map(|line| line.split_once(" means ")).map(|(_, spec)| spec.to_string());
        means.unwrap_or_else(|| panic!("{}", ran.err)).replace(", on 19 nodes with 116 CPUs", "")
    };
    let plain = meaning(CONF);
    fs::write(folder.path("sched.conf"), "SCHEDULERPARAMETERS = \"bf_interval=60, bf_window=2880\"\n").unwrap();
    for text in [
        "\u{feff}SchedulerParameters=bf_interval=60,bf_window=2880\nKillWait=60\n",
        "schedulerparameters = bf_interval=60,bf_window=2880\r\nkillwait\t=\t60\r\n",
        "SchedulerParameters=bf_interval=60,bf_window=2880\rKillWait=60\r",
        "SchedulerParameters=\"bf_interval=60, bf_window=2880\" # twice\nKillWait=60",
        "SchedulerParameters=bf_interval=5,bf_max_job_test=7\nSchedulerParameters=bf_interval=60,bf_window=2880\nKillWait=60",
        "SchedulerParameters=bf_interval=60,\\\nbf_window=2880\nKillWait=60\n",
        "include sched.conf\nKillWait=60\nNodeName=DEFAULT CPUs=4\nPartitionName=DEFAULT MaxTime=60",
    ] {
        assert_eq!(meaning(text), plain, "{text}");
    }
    for (text, why) in [
        ("SchedulerParameters bf_interval=60", "line 1: 'SchedulerParameters bf_interval=60' is not NAME=VALUE"),
        ("SchedulerParameters=bf_interval=60, bf_window=2880", "line 1: 'bf_window=2880' after SchedulerParameters"),
        ("KillWait=\"60", "line 1: 'KillWait=\"60' has a quote that is not closed"),
        ("Include nothing.conf", "line 1: cannot read"),
    ] {
        let ran = sim(&["--slurm-conf", &conf(&folder, text)]);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(why), "{}", ran.err);
    }
}

#[test]
fn keys_of_the_command_line_come_first() {
    let folder = Folder::new();
    let file = conf(&folder, CONF);
    let list = "easy,slurm:bf_interval=10s,slurm:running=prediction";
    let out = sim_ok(&["--slurm-conf", &file, "--scheduler", list, "--first", "1000", "--format", "csv"]);
    let own = label(&file);
    let completed = [format!("{own},bf_interval=10s"), format!("{own},running=prediction")];
    assert_eq!(column(&out, "scheduler"), ["easy", &completed[0], &completed[1]]);
    // Without --baseline, all are compared with the site's own.
    assert_eq!(
        column(&out, "baseline"),
        [format!("{own}/estimate"), format!("{own}/estimate"), format!("{own}/estimate")]
    );
    let same = sim_ok(&[
        "--scheduler",
        "slurm:bf_interval=10s,bf_window=2d,kill_wait=1m",
        "--machine",
        &file,
        "--first",
        "1000",
        "--format",
        "csv",
    ]);
    assert_eq!(column(&out, "wait_mean")[1], column(&same, "wait_mean")[0]);
}

#[test]
fn the_baseline_has_the_keys_of_the_file_too() {
    let folder = Folder::new();
    let file = conf(&folder, CONF);
    let args = ["--slurm-conf", &file, "--scheduler", "slurm:running=prediction", "--baseline", "slurm/estimate"];
    let out = sim_ok(&[&args[..], &["--predictor", "ruh", "--first", "1000", "--format", "csv"]].concat());
    let baseline = format!("{}/estimate", label(&file));
    assert_eq!(column(&out, "baseline"), [baseline.as_str()]);
    let study = folder.path("study");
    let study = study.to_str().unwrap();
    let sweep =
        [&["sweep"], &args[..], &["--predictor", "ruh", "--first", "1000", "--out", study, "--format", "csv"]].concat();
    assert_eq!(column(&sim_ok(&sweep), "baseline"), [baseline]);
}

#[test]
fn reports_and_fidelity_take_it_too() {
    let folder = Folder::new();
    let file = conf(&folder, CONF);
    let fidelity = ["fidelity", "--slurm-conf", &file, "--first", "1000", "--format", "csv"];
    assert_eq!(column(&sim_ok(&fidelity), "scheduler"), [label(&file)]);
    let page = folder.path("report.html");
    sim_ok(&[
        "report",
        "--slurm-conf",
        &file,
        "--first",
        "500",
        "--scheduler",
        "easy",
        "--out",
        page.to_str().unwrap(),
    ]);
    assert!(fs::read_to_string(page).unwrap().contains(&format!("{}/estimate", label(&file))));
}

#[test]
fn sweeps_recommendations_and_waits_take_it_too() {
    let folder = Folder::new();
    let file = conf(&folder, CONF);
    let study = folder.path("study");
    let study = study.to_str().unwrap();
    let sweep = ["sweep", "--slurm-conf", &file, "--predictor", "estimate,ruh", "--first", "1000", "--out", study];
    let rows = sim_ok(&[&sweep[..], &["--format", "csv"]].concat());
    assert_eq!(column(&rows, "scheduler"), [label(&file), label(&file)]);
    assert_eq!(column(&rows, "baseline")[1], format!("{}/estimate", label(&file)));
    assert_eq!(column(&rows, "procs"), ["116", "116"]);
    let candidates = ["--candidates", "slurm:running=prediction/ruh", "--replications", "2"];
    let recommend = [&["recommend", "--slurm-conf", &file][..], &candidates, &["--first", "1000"]].concat();
    let answer = sim_ok(&recommend);
    assert!(answer.contains(&format!("{}/estimate", label(&file))), "{answer}");
    let wait = ["wait", "--slurm-conf", &file, "--first", "1500", "--method", "knn", "--format", "csv"];
    assert_eq!(column(&sim_ok(&wait), "scheduler"), [label(&file)]);
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
