//! `sim meta`: several sites with one stream of jobs. `tests/twins/meta.rs` checks the simulation itself.

use crate::live_waits::rows;
use crate::support::{assert_golden, demo_text, sim, sim_ok};

const POLICIES: [&str; 6] =
    ["static", "least-loaded", "k-distributed", "k-distributed:k=1", "redundant", "least-predicted"];

/// The embedded log as a site's log in a folder, and the folder.
fn demo_file() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("demo.swf");
    std::fs::write(&path, demo_text()).unwrap();
    let path = path.to_str().unwrap().to_string();
    (folder, path)
}

#[test]
fn with_one_site_the_program_prints_the_jobs_of_the_plain_simulation_byte_for_byte() {
    let (_folder, log) = demo_file();
    let plain = sim_ok(&["--trace", &log, "--scheduler", "sjbf", "--predictor", "ruh:window=2", "--jobs-out", "-"]);
    let site = format!("only={log}:scheduler=sjbf:predictor=ruh:window=2");
    for policy in POLICIES {
        let csv = sim_ok(&["meta", "--site", &site, "--policy", policy, "--jobs-out", "-"]);
        let prefix = format!("{policy},only,only,");
        let mut lines = csv.lines();
        assert_eq!(lines.next().unwrap().strip_prefix("policy,origin,site,"), plain.lines().next());
        let stripped: Vec<_> =
            lines.map(|line| line.strip_prefix(&prefix).unwrap_or_else(|| panic!("{line}"))).collect();
        assert!(stripped.iter().eq(plain.lines().skip(1).collect::<Vec<_>>().iter()), "{policy}");
    }
}

/// A site that is alone has the schedule of the plain simulation with the same outages, from time 0 on.
#[test]
fn a_site_has_its_outages() {
    let (folder, log) = demo_file();
    let first =
        rows(&sim_ok(&["--trace", &log, "--first", "1", "--jobs-out", "-"]))[0]["submit"].parse::<i64>().unwrap();
    let write = |text: String| {
        let path = folder.path().join("outages.csv");
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let day = |day: i64| first + day * 86_400;
    let rows_of =
        |starts: &str| rows(starts).iter().map(|row| row["start"].parse::<i64>().unwrap()).collect::<Vec<_>>();
    let maintenance = format!("{},{},all,maintenance,{first}\n", day(3), day(4));
    let outages = write(format!("start,end,procs,kind,announced\n{maintenance}{},{},40,down,\n", day(5), day(9)));
    let shared = ["--trace", &log, "--scheduler", "easy", "--predictor", "estimate", "--baseline", "none"];
    let plain = sim_ok(&[&shared[..], &["--outages", &outages, "--jobs-out", "-"]].concat());
    assert!(rows(&plain).iter().any(|row| row["requeues"] != "0"));
    let site = format!("only={log}:outages={outages}");
    let meta = rows_of(&sim_ok(&["meta", "--site", &site, "--policy", "static", "--jobs-out", "-"]));
    assert_eq!(meta, rows_of(&plain).iter().map(|start| start - first).collect::<Vec<_>>());
    for (row, why) in [("1,,1,drain,,", "has no end"), ("1,2,1,reserved,,3", "leave out the column for")] {
        write(format!("start,end,procs,kind,announced,for\n{row}\n"));
        let ran = sim(&["meta", "--site", &site, "--policy", "static"]);
        assert!(ran.code == 2 && ran.err.contains(why), "{}", ran.err);
    }
}

#[test]
fn rows_have_the_columns_promised_and_do_not_depend_on_threads() {
    let (folder, log) = demo_file();
    let (a, b) = (format!("A={log}:first=1500"), format!("B={log}:procs=160:first=1000:load=0.8"));
    let sites = folder.path().join("sites.csv");
    let jobs = folder.path().join("jobs.csv");
    let run = |threads: &str| {
        let (sites, jobs) = (sites.to_str().unwrap(), jobs.to_str().unwrap());
        let out = ["--sites-out", sites, "--jobs-out", jobs, "--threads", threads, "--format", "csv"];
        let summary = sim_ok(&[&["meta", "--site", &a, "--site", &b], &out[..]].concat());
        (summary, std::fs::read_to_string(sites).unwrap(), std::fs::read_to_string(jobs).unwrap())
    };
    let (summary, sites, jobs) = run("1");
    assert!(run("3") == (summary.clone(), sites.clone(), jobs.clone()));
    let lines: Vec<&str> = summary.lines().collect();
    let columns = "policy,jobs,wait_mean,wait_le_1h_pct,wait_ge_1d_pct,share_A_pct,share_B_pct,wait_p50,wait_p95,";
    assert!(lines[0].starts_with(columns), "{}", lines[0]);
    let policies: Vec<_> = lines[1..].iter().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(policies, ["static", "least-loaded", "k-distributed", "redundant", "least-predicted"]);
    assert!(lines[1..].iter().all(|line| line.contains(",2500,")));
    let shares: Vec<f64> = lines[1].split(',').skip(5).take(2).map(|share| share.parse().unwrap()).collect();
    assert_eq!(shares, [60.0, 40.0], "static leaves 1,500 and 1,000 jobs where they are");
    assert_eq!((sites.lines().count(), jobs.lines().count()), (1 + 2 * 5, 1 + 2500 * 5));
    // The rows agree with the summary: the mean wait of each policy over its jobs.
    for line in &lines[1..] {
        let cells: Vec<&str> = line.split(',').collect();
        let waits = jobs.lines().filter(|row| row.starts_with(&format!("{},", cells[0])));
        let waits: Vec<f64> = waits.map(|row| row.split(',').nth(8).unwrap().parse().unwrap()).collect();
        assert_eq!(format!("{:.3}", waits.iter().sum::<f64>() / 2500.0), cells[2], "{}", cells[0]);
    }
}

/// The figures of every policy, of all jobs and by site, on the embedded log and in a small scenario.
#[test]
fn golden_figures_of_every_policy() {
    let (_folder, log) = demo_file();
    let (a, b) = (format!("A={log}:first=1200"), format!("B={log}:procs=160:first=1100:load=0.8:scheduler=sjbf"));
    let narrow = format!("C={log}:procs=100:from=5d:first=700:predictor=ruh:window=2");
    let options = ["--warmup", "5%", "--cooldown", "20", "--format", "csv"];
    let mut text = sim_ok(&[&["meta", "--site", &a, "--site", &b, "--site", &narrow], &options[..]].concat());
    text += &sim_ok(&[&["meta", "--site", &a, "--site", &b, "--sites-out", "-"], &options[..]].concat());
    // Large enough for a site to be trained a second time.
    let (small, large) = (format!("A={log}"), format!("B={log}:procs=384"));
    let policy = ["--policy", "least-predicted", "--no-header"];
    text += &sim_ok(&[&["meta", "--site", &small, "--site", &large], &policy[..], &options].concat());
    text += &sim_ok(&["meta", "--scenario", "1K-*-II", "--days", "15", "--seed", "2", "--format", "csv"]);
    assert_golden("meta.csv", &text);
}

#[test]
fn a_grid_can_stand_in_a_file() {
    let (folder, log) = demo_file();
    let file = folder.path().join("grid.toml");
    let site = |name: &str, more: &str| format!("[[site]]\nname = \"{name}\"\nlog = '{log}'\n{more}\n");
    std::fs::write(&file, format!("policy = \"static\"\n{}{}", site("A", "first = 500"), site("B", "procs = 200")))
        .unwrap();
    let from_file = sim_ok(&["meta", file.to_str().unwrap(), "--format", "csv"]);
    let (a, b) = (format!("A={log}:first=500"), format!("B={log}:procs=200"));
    let from_line = sim_ok(&["meta", "--site", &a, "--site", &b, "--policy", "static", "--format", "csv"]);
    assert_eq!(from_file, from_line);
}

#[test]
fn what_is_wrong_with_a_grid_is_said_with_exit_code_2() {
    let (folder, log) = demo_file();
    let file = folder.path().join("bad.toml");
    std::fs::write(&file, "[[site]]\nname = 'A'\n").unwrap();
    let (a, replay) = (format!("A={log}"), format!("A={log}:scheduler=replay"));
    for (args, message) in [
        (vec!["meta"], "there is no site"),
        (vec!["meta", "--site", &log], "a site is NAME=LOG"),
        (vec!["meta", "--site", "A=nowhere.swf"], "nowhere.swf"),
        (vec!["meta", "--site", &a, "--site", &a], "two sites are called 'A'"),
        (vec!["meta", "--site", &a, "--policy", "luck"], "the policies are static, least-loaded"),
        (vec!["meta", "--site", &a, "--policy", "static,static"], "given twice"),
        (vec!["meta", "--site", &a, "--warmup", "5000"], "leave no job to measure: there are 5,000 jobs"),
        (
            vec!["meta", "--site", &a, "--policy", "k-distributed:k=1..2,k-distributed:k=2"],
            "k-distributed is given twice",
        ),
        (vec!["meta", "--site", &a, "--policy", "k-distributed:k=[1,2]"], "k: '[1' is not a whole number"),
        (vec!["meta", file.to_str().unwrap()], "site 1: 'log' is missing"),
        (vec!["meta", "--site", &replay], "log's own schedule"),
        (vec!["meta", "--scenario", "3K-equal-I"], "a scenario is SIZE-PARTITIONING-LOAD"),
        (vec!["meta", "--scenario", "1K-equal-I", "--first", "10"], "--first is for logs"),
        (vec!["meta", "--scenario", "all", "--site", &a], "cannot be used with"),
        (vec!["meta", "--site", &a, "--jobs-out", "x", "--sites-out", "x"], "go to the same place"),
    ] {
        let ran = sim(&args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(message), "{args:?}: {}", ran.err);
    }
}

#[test]
fn scenarios_are_the_same_for_any_number_of_threads_and_their_cost_is_told_first() {
    let args = ["meta", "--scenario", "1K-equal-I,16K-*-IV", "--days", "12", "--seed", "5", "--format", "csv"];
    let one = sim(&[&args[..], &["--threads", "1"]].concat());
    assert_eq!(one.code, 0, "{}", one.err);
    assert!(one.err.starts_with("note: 3 scenarios: 15 runs, "), "{}", one.err);
    let lines: Vec<&str> = one.out.lines().collect();
    assert!(lines[0].starts_with("scenario,policy,jobs,wait_mean,"), "{}", lines[0]);
    assert!(lines[1].starts_with("1K-equal-I,static,1728,") && lines.len() == 1 + 15, "{}", lines[1]);
    assert_eq!(sim(&[&args[..], &["--threads", "4"]].concat()).out, one.out);
    let table = sim_ok(&["meta", "--scenario", "1K-*-I", "--days", "3", "--policy", "redundant", "--format", "table"]);
    assert!(table.contains("mean over scenarios") && !table.contains("static"), "{table}");
}
