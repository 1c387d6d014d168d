//! The embedded log: its figures must not change, and the command in its header must generate it.

use crate::support::{assert_golden, demo_text, sim, sim_fed, sim_ok};

const SCHEDULERS: [&str; 5] = ["fcfs", "easy", "sjbf", "conservative", "replay"];
const PREDICTORS: [&str; 8] = [
    "perfect",
    "constant",
    "constant:seconds=600",
    "estimate",
    "ruh",
    "ruh:propagate=on",
    "ruh:metric=max,running=on,cap=on",
    "easy++",
];

#[test]
fn the_embedded_log_under_every_scheduler_with_every_predictor() {
    let mut text = String::new();
    for scheduler in SCHEDULERS {
        for predictor in PREDICTORS {
            let header: &[&str] = if text.is_empty() { &[] } else { &["--no-header"] };
            let args = ["--format", "csv", "--scheduler", scheduler, "--predictor", predictor];
            text += &sim_ok(&[&args, header].concat());
        }
    }
    assert_golden("demo.csv", &text);
}

#[test]
fn the_embedded_log_under_slurm() {
    let keys = ["", ":running=prediction", ":order=multifactor,age_weight=1000,fairshare_weight=2000"];
    let schedulers = keys.map(|keys| format!("slurm{keys}")).join(",");
    let args = ["--format", "csv", "--baseline", "none", "--scheduler", &schedulers, "--predictor", "estimate,ruh"];
    assert_golden("slurm.csv", &sim_ok(&args));
}

#[test]
fn the_embedded_log_with_session_based_predictors() {
    let mut text = String::new();
    for predictor in [
        "sbh",
        "sbh:criteria=E/P/X",
        "sbh:criteria=PEX/PX/EX,search=bfs,sessions=3",
        "sbh:criteria=PQ/*,think=1h,metric=mean,propagate=off",
        "sbh-noest",
        "sbh-noest:growth=unbalanced,propagate=on",
        "sbh-noest:criteria=X/*,factor=2.5,limit=4h,default=10m,metric=last",
    ] {
        text += &sim_ok(&["--format", "csv", "--no-header", "--predictor", predictor]);
    }
    assert_golden("sessions.csv", &text);
}

#[test]
fn the_embedded_log_with_template_predictors() {
    let mut text = String::new();
    for scheduler in ["sjbf", "replay"] {
        for predictor in [
            "smith",
            "smith:templates=(u,e,n=4,lr,rel,h=16);(u,h=4);(),at=start",
            "smith:templates=(q,p,lr);(g,n=1),confidence=50",
            "gibbons",
            "gibbons:data=rel",
            "downey",
            "downey:by=user,point=mean",
            "downey:by=none",
        ] {
            text += &sim_ok(&["--format", "csv", "--no-header", "--scheduler", scheduler, "--predictor", predictor]);
        }
    }
    assert_golden("templates.csv", &text);
}

#[test]
fn the_embedded_log_with_predictors_that_learn() {
    let mut text = String::new();
    for scheduler in ["sjbf", "replay"] {
        for predictor in [
            "kin",
            "kin:learn=off",
            "kin:learn=off,history=8,power=1,propagate=off",
            "learned",
            "learned:last=asrun",
            "learned:loss=squared,eta=100",
            "learned:loss=abs,lambda=0",
        ] {
            text += &sim_ok(&["--format", "csv", "--no-header", "--scheduler", scheduler, "--predictor", predictor]);
        }
    }
    assert_golden("learning.csv", &text);
}

#[test]
fn the_embedded_log_with_every_other_option() {
    let mut text = String::new();
    for options in [
        "--inflate 2 --scheduler easy --predictor estimate",
        "--inflate 1.5 --scheduler conservative",
        "--pass-on-miss --predictor ruh:propagate=on",
        "--overrun kill --procs 64",
        "--load 1.25",
        "--first 1000 --repeat 3",
        "--from 5d --to 20d",
        "--warmup 10% --cooldown 100",
        "--bsld-threshold 1m",
        "--shake 30s --seed 5",
        "--procs-field allocated --missing-estimate drop --baseline fcfs/perfect",
    ] {
        let options: Vec<&str> = options.split_whitespace().collect();
        let args = ["--format", "csv", "--no-header"];
        text += &format!("{}: {}", options.join(" "), sim_ok(&[&args[..], &options].concat()));
    }
    assert_golden("options.txt", &text);
}

#[test]
fn the_table_for_people() {
    assert_golden("table.txt", &sim_ok(&["--format", "table"]));
}

#[test]
fn the_embedded_log_is_what_its_recipe_makes() {
    let made = sim(&["-q", "generate", "sessions"]);
    let run = ["-q", "--trace", "-", "--scheduler", "easy", "--predictor", "estimate", "--swf-out", "-"];
    let waited = sim_fed(&run, made.out.as_bytes());
    assert_eq!((made.code, waited.code), (0, 0), "{}{}", made.err, waited.err);
    assert!(waited.out.as_bytes() == demo_text(), "the recipe makes another log than the one embedded");
    let packed = include_bytes!("../../traces/demo.swf.gz").len();
    assert!(packed < 200_000, "{packed} bytes");
}

#[test]
fn the_first_screen_of_the_readme_shows_what_is_printed() {
    let readme = include_str!("../../README.md");
    assert!(readme.contains("$ cargo run --release ") && readme.contains("$ cargo test "));
    let table = sim_ok(&["--format", "table"]);
    assert!(readme.contains(table.trim_end()), "the README's first screen shows another table than\n{table}");
}

/// Sweeps and reproductions recognise finished results by their revision: if any result has changed, the revision must too.
#[test]
fn a_changed_result_has_a_new_revision() {
    let read =
        |name: &str| std::fs::read_to_string(format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let folder = std::fs::read_dir(format!("{}/tests/golden", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut names: Vec<String> = folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    // All results, also those of new files. The table has the figures of demo.csv in another form.
    names.retain(|name| !["revisions.txt", "table.txt"].contains(&name.as_str()));
    names.sort();
    assert!(names.len() >= 12, "{names:?}");
    let golden: Vec<String> = names.iter().map(|name| format!("{name}\n{}", read(name))).collect();
    let fingerprint = golden
        .concat()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let line = format!("revision {} {fingerprint:016x}\n", shadowtime::runs::RESULTS_REVISION);
    assert!(
        read("revisions.txt").ends_with(&line),
        "the golden figures have changed: raise RESULTS_REVISION and add its line to tests/golden/revisions.txt: {line}"
    );
}
