//! `sim fidelity`: simulated waits against recorded ones.

use std::collections::BTreeMap;

use shadowtime::fidelity::DEFAULT_SCHEDULERS;
use shadowtime::time::readable_duration;

use crate::support::{Folder, demo_text, real_log, real_logs, sim, sim_fed, sim_ok};

/// The rows of a CSV, each by the names of its columns.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

fn fidelity(more: &[&str]) -> Vec<BTreeMap<String, String>> {
    rows(&sim_ok(&[&["fidelity", "--format", "csv"], more].concat()))
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} is '{}'", row[column]))
}

/// An SWF log: (submit, wait, runtime, processors, estimate, user, queue).
fn swf(procs: u32, jobs: &[(i64, i64, i64, u32, i64, i32, i32)]) -> String {
    let mut text = format!("; MaxProcs: {procs}\n");
    for (at, (submit, wait, runtime, width, estimate, user, queue)) in jobs.iter().enumerate() {
        let number = at + 1;
        text += &format!(
            "{number} {submit} {wait} {runtime} {width} -1 -1 {width} {estimate} -1 1 {user} 1 -1 {queue} 1 -1 -1\n"
        );
    }
    text
}

fn assert_perfect(row: &BTreeMap<String, String>) {
    assert_eq!(row["wait_recorded"], row["wait_simulated"]);
    for (column, expected) in [
        ("wait_difference", "0.000"),
        ("wait_difference_pct", "0.000000"),
        ("moving_error_pct", "0.000000"),
        ("moving_error", "0.000"),
        ("start_error", "0.000"),
        ("rank_correlation", "1.000000"),
        ("within_1m_pct", "100.000000"),
        ("within_10m_pct", "100.000000"),
        ("within_60m_pct", "100.000000"),
    ] {
        assert_eq!(row[column], expected, "{column} of {}", row["scheduler"]);
    }
}

/// The whole chain, from the log to the figures: a replay is the recorded schedule. The waits of the embedded log were made by
/// EASY with the users' estimates, so that this is perfect too, and nothing else is.
#[test]
fn the_replay_of_a_log_is_perfectly_near() {
    let found = fidelity(&["--scheduler", "sjbf,replay,easy,conservative", "--predictor", "estimate"]);
    let order: Vec<&str> = found.iter().map(|row| row["scheduler"].as_str()).collect();
    // Equal ones are in the order in which they were given.
    assert_eq!(order[..2], ["replay", "easy"]);
    found[..2].iter().for_each(assert_perfect);
    for row in &found[2..] {
        assert!(number(row, "start_error") > 60.0 && number(row, "rank_correlation") < 0.9, "{row:?}");
        assert!(number(row, "moving_error_pct") > 1.0 && number(row, "within_60m_pct") < 90.0, "{row:?}");
    }
    assert!(found.iter().all(|row| row["jobs"] == "5000" && row["without_wait"] == "0" && row["window"] == "14d"));
    // By groups as well.
    let folder = Folder::new();
    let file = folder.text("groups.csv");
    fidelity(&["--scheduler", "replay", "--by-out", &file]);
    let groups = rows(&folder.read("groups.csv"));
    assert!(groups.len() > 50);
    for row in &groups {
        assert_eq!((row["start_error"].as_str(), row["within_1m_pct"].as_str()), ("0.000", "100.000000"), "{row:?}");
        assert!(["", "1.000000"].contains(&row["rank_correlation"].as_str()), "{row:?}");
    }
}

/// One processor, so that jobs run one after the other. Recorded waits as given, simulated ones by hand.
///
/// ```text
/// job     submit  runtime  starts under fcfs  waits  recorded  apart
/// 1            0      100                  0      0         0      0
/// 2           10       50                100     90        30     60
/// 3           20     4000                150    130       800    670
/// 4         7200       10               7200      0        -1
/// 5         7200       10               7210     10      3611   3601
/// ```
#[test]
fn a_small_log_by_hand() {
    let folder = Folder::new();
    let log = swf(
        1,
        &[
            (0, 0, 100, 1, 100, 1, 1),
            (10, 30, 50, 1, 50, 2, 1),
            (20, 800, 4000, 1, 4000, 1, 2),
            (7200, -1, 10, 1, 10, 2, 2),
            (7200, 3611, 10, 1, 10, 2, 2),
        ],
    );
    let log = folder.write("small.swf", log);
    let jobs = folder.text("jobs.csv");
    let windows = folder.text("windows.csv");
    let args = ["--scheduler", "fcfs", "--window", "1h", "--jobs-out", &jobs, "--windows-out", &windows];
    let found = fidelity(&[&[log.as_str()], &args[..]].concat());
    let row = &found[0];
    for (column, expected) in [
        ("trace", "small"),
        ("procs", "1"),
        ("jobs", "4"),
        ("without_wait", "1"),
        ("dropped", "0"),
        ("wait_recorded", "1110.250"),
        ("wait_simulated", "57.500"),
        ("wait_difference", "-1052.750"),
        ("start_error", "1082.750"),
        // The first window, with the first three jobs: sums of 830 and 220 seconds. The second hour has no jobs, and the last
        // job is the end of the time.
        ("windows", "1"),
        ("moving_error", "203.333"),
        ("moving_error_pct", "73.493976"),
        // Ranks 1 2 3 4 and 1 3 4 2: 1 - 6 * (1 + 1 + 4) / (4 * 15).
        ("rank_correlation", "0.400000"),
        ("within_1m_pct", "50.000000"),
        ("within_10m_pct", "50.000000"),
        ("within_60m_pct", "75.000000"),
    ] {
        assert_eq!(row[column], expected, "{column}");
    }
    assert!((number(row, "wait_difference_pct") + 1052.75 / 1110.25 * 100.0).abs() < 1e-6);
    assert_eq!(
        folder.read("jobs.csv"),
        "job,user,queue,submit,procs,wait_recorded,wait_simulated,difference,log_id\n1,1,1,0,1,0,0,0,1\n\
         2,2,1,10,1,30,90,60,2\n3,1,2,20,1,800,130,-670,3\n5,2,2,7200,1,3611,10,-3601,5\n"
    );
    assert_eq!(folder.read("windows.csv"), "time,jobs,wait_recorded,wait_simulated\n0,3,276.667,73.333\n");
    // With the replay in the list, the job without a wait cannot run.
    let both = fidelity(&[log.as_str(), "--scheduler", "replay,fcfs", "--window", "1h"]);
    assert!(both.iter().all(|row| row["jobs"] == "4" && row["without_wait"] == "1"), "{both:?}");
    assert_perfect(&both[0]);
    // The job before the last one is gone, so the last one does not wait.
    assert_eq!(both[1]["wait_simulated"], "55.000");
    // Measured jobs only.
    let rest = fidelity(&[log.as_str(), "--scheduler", "fcfs", "--warmup", "2"]);
    assert_eq!((rest[0]["jobs"].as_str(), rest[0]["start_error"].as_str()), ("2", "2135.500"));
    // Two hours are less than two weeks: without a moving mean, rows are in the order of the start error.
    assert_eq!((rest[0]["moving_error_pct"].as_str(), rest[0]["windows"].as_str()), ("", "0"));
}

/// The groups of each key are all jobs, and their means those of all jobs.
#[test]
fn groups_add_up() {
    let folder = Folder::new();
    let file = folder.text("groups.csv");
    let found = fidelity(&["--scheduler", "sjbf,fcfs", "--by-out", &file]);
    let groups = rows(&folder.read("groups.csv"));
    let mut keys: BTreeMap<(String, String), Vec<&BTreeMap<String, String>>> = BTreeMap::new();
    for row in &groups {
        keys.entry((row["setting"].clone(), row["key"].clone())).or_default().push(row);
    }
    assert_eq!(keys.len(), 2 * 9);
    for ((setting, key), groups) in keys {
        let all = found.iter().find(|row| format!("{}/{}", row["scheduler"], row["predictor"]) == setting).unwrap();
        let jobs: f64 = groups.iter().map(|row| number(row, "jobs")).sum();
        assert_eq!(jobs, number(all, "jobs"), "{setting} by {key}");
        for column in
            ["wait_recorded", "wait_simulated", "start_error", "within_1m_pct", "within_10m_pct", "within_60m_pct"]
        {
            let sum: f64 = groups.iter().map(|row| number(row, "jobs") * number(row, column)).sum();
            assert!((sum / jobs - number(all, column)).abs() < 0.001, "{column} of {setting} by {key}");
        }
        assert!(key != "week" || groups.iter().all(|row| row["moving_error_pct"].is_empty() && row["windows"] == "0"));
    }
}

/// What the windows say is what the figure says.
#[test]
fn the_moving_error_is_that_of_the_windows() {
    let folder = Folder::new();
    let file = folder.text("windows.csv");
    let found = fidelity(&["--scheduler", "sjbf", "--window", "3d", "--windows-out", &file]);
    let windows = rows(&folder.read("windows.csv"));
    assert_eq!(windows.len() as f64, number(&found[0], "windows"));
    let apart = |row: &BTreeMap<String, String>| {
        let (recorded, simulated) = (number(row, "wait_recorded"), number(row, "wait_simulated"));
        ((simulated - recorded).abs(), recorded)
    };
    let mean =
        |of: &dyn Fn((f64, f64)) -> f64| windows.iter().map(|row| of(apart(row))).sum::<f64>() / windows.len() as f64;
    assert!((mean(&|(apart, _)| apart) - number(&found[0], "moving_error")).abs() < 0.01);
    assert!(
        (mean(&|(apart, recorded)| apart / recorded * 100.0) - number(&found[0], "moving_error_pct")).abs() < 0.001
    );
    // Both files can be compared with those of another run.
    let same = sim(&["compare", &file, &file]);
    assert_eq!(same.code, 0, "{}", same.err);
}

#[test]
fn threads_do_not_matter_and_formats_agree() {
    let run = |threads: &str, format: &str| sim_ok(&["fidelity", "--threads", threads, "--format", format]);
    let one = run("1", "csv");
    assert_eq!(one, run("3", "csv"));
    let json: serde_json::Value = serde_json::from_str(&run("2", "json")).unwrap();
    let found = rows(&one);
    assert_eq!(json.as_array().unwrap().len(), found.len());
    for (object, row) in json.as_array().unwrap().iter().zip(&found) {
        assert_eq!(object["scheduler"].as_str(), Some(row["scheduler"].as_str()));
        assert_eq!(object["start_error"].as_f64().unwrap(), number(row, "start_error"));
    }
    let schedulers: Vec<&str> = found.iter().map(|row| row["scheduler"].as_str()).collect();
    assert_eq!(schedulers.len(), DEFAULT_SCHEDULERS.split(',').count());
    assert!(DEFAULT_SCHEDULERS.split(',').all(|name| schedulers.contains(&name)), "{schedulers:?}");
    let errors: Vec<f64> = found.iter().map(|row| number(row, "moving_error_pct")).collect();
    assert!(errors.is_sorted(), "{errors:?}");
    assert!(include_str!("../../src/cli/help/fidelity.md").contains(&format!("\n{DEFAULT_SCHEDULERS}\n")));
    // One setting is a list too.
    let one = sim_ok(&["fidelity", "--scheduler", "easy", "--format", "json"]);
    assert_eq!(serde_json::from_str::<Vec<serde_json::Value>>(&one).unwrap().len(), 1, "{one}");
}

#[test]
fn one_schedule_has_tables_of_groups() {
    let table = |more: &[&str]| sim_ok(&[&["fidelity", "--format", "table"], more].concat());
    let captions = |text: &str| {
        text.lines().filter(|line| line.contains("/estimate, by ")).map(str::to_string).collect::<Vec<_>>()
    };
    let one = table(&["--scheduler", "sjbf"]);
    assert_eq!(
        captions(&one),
        [
            "sjbf/estimate, by width",
            "sjbf/estimate, by queue",
            "sjbf/estimate, by user",
            "sjbf/estimate, by week (UTC)"
        ]
    );
    assert!(one.contains("20 others"), "{one}");
    assert!(captions(&table(&["--scheduler", "easy,sjbf"])).is_empty());
    let asked = table(&["--scheduler", "easy,sjbf", "--by", "hour,width,hour"]);
    assert_eq!(captions(&asked).len(), 4, "{asked}");
    assert!(table(&["--scheduler", "easy", "--by", "user", "--top", "3"]).contains("37 others"));
    assert!(table(&["--first", "200", "--scheduler", "easy"]).contains("There is no moving error"));
}

#[test]
fn wrong_questions_are_refused() {
    let folder = Folder::new();
    let without = folder.write("without.swf", swf(4, &[(0, -1, 10, 1, 20, 1, 1), (5, -1, 10, 1, 20, 1, 1)]));
    let late = folder.write("late.swf", swf(4, &[(0, -1, 10, 1, 20, 1, 1), (5, 3, 10, 1, 20, 1, 1)]));
    let empty = folder.write("empty.swf", "; MaxProcs: 4\n");
    for (arguments, part) in [
        (&[without.as_str()][..], "without.swf: the log has no recorded waits"),
        (&[&without, "--scheduler", "replay"], "the log has no recorded waits"),
        (&[&late, "--first", "1"], "none of the measured jobs has a recorded wait"),
        (&[&empty], "empty.swf"),
        (&["--by", "moon"], "cannot be grouped by 'moon'"),
        (&["--by", "user", "--format", "csv"], "--by-out"),
        (&["--top", "3"], "--top has no effect"),
        (&["--window", "90m"], "whole hours"),
        (&["--window", "0"], "whole hours"),
        (&["--scheduler", "esay"], "did you mean 'easy'"),
        (&["--predictor", "ruh:windw=3"], "did you mean 'window'"),
        // These change when jobs arrive. The waits of the log are then those of other jobs.
        (&["--load", "1.2"], "--load"),
        (&["--shake", "30s"], "--shake"),
        (&["--baseline", "easy/estimate"], "--baseline"),
        (&["no-such.swf"], "no-such.swf"),
    ] {
        let ran = sim(&[&["fidelity", "-q"], arguments].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(part), "{arguments:?}: {}", ran.err);
    }
    // An output must not overwrite the log.
    let ran = sim(&["fidelity", &late, "--jobs-out", &late]);
    assert!(ran.code == 2 && ran.err.contains("--jobs-out"), "{}", ran.err);
    // Jobs without a wait are counted, and standard input is a log.
    let ran = sim_fed(&["fidelity", "-", "--scheduler", "easy", "--format", "table"], late_text(&folder).as_bytes());
    assert!(ran.code == 0 && ran.out.contains("1 job compared; 1 job without a recorded wait is left out"), "{ran:?}");
    let ran = sim_fed(&["fidelity", "-", "--estimates-seed", "3", "--first", "50"], &demo_text());
    assert!(ran.code == 2 && ran.err.contains("--estimates-seed 3 has no effect"), "{}", ran.err);
}

fn late_text(folder: &Folder) -> String {
    folder.read("late.swf")
}

/// The table of `sim help results`: the scheduler that is nearest, beside plain EASY. All schedulers of the default, and
/// the two largest logs, take long.
#[test]
fn the_table_of_the_page_is_true() {
    let Some(logs) = real_logs("fidelity::the_table_of_the_page_is_true") else { return };
    let page = include_str!("../../src/cli/help/results.md");
    let (_, table) = page.split_once("\nlog        recorded  nearest").unwrap();
    let table = table.split("```").next().unwrap();
    let mut seen = 0;
    for line in table.lines().skip(1) {
        let name = line.split_whitespace().next().unwrap();
        let file = match name {
            "Curie" | "RICC" => continue,
            "Atlas" | "Thunder" => format!("LLNL-{name}"),
            name => name.to_string(),
        };
        seen += 1;
        let log = real_log(&logs, &file);
        let nearest = if line.contains("no recorded waits") { "easy" } else { line.split_whitespace().nth(3).unwrap() };
        let two = format!("{nearest},{}", if nearest == "easy" { "fcfs" } else { "easy" });
        let ran = sim(&["-q", "fidelity", log.to_str().unwrap(), "--format", "csv", "--scheduler", &two]);
        if line.contains("no recorded waits") {
            assert!(ran.code == 2 && ran.err.contains("no recorded waits"), "{name}: {}", ran.err);
            continue;
        }
        let row = &rows(&ran.out)[0];
        let [recorded, simulated, start] =
            ["wait_recorded", "wait_simulated", "start_error"].map(|column| readable_duration(number(row, column)));
        let [moving, one, ten, sixty] = ["moving_error_pct", "within_1m_pct", "within_10m_pct", "within_60m_pct"]
            .map(|column| format!("{:.1}%", number(row, column)));
        let (scheduler, rank) = (&row["scheduler"], number(row, "rank_correlation"));
        let expected =
            format!("{name} {recorded} {scheduler} {simulated} {moving} {start} {rank:.3} {one} {ten} {sixty}");
        assert_eq!(line.split_whitespace().collect::<Vec<_>>().join(" "), expected);
    }
    assert_eq!(seen, 11);
}

/// A real log's own schedule comes out as it was recorded.
#[test]
fn the_replay_of_a_real_log_is_perfectly_near() {
    let Some(logs) = real_logs("fidelity::the_replay_of_a_real_log_is_perfectly_near") else { return };
    for name in ["KTH", "CTC", "SDSC-Par"] {
        let log = real_log(&logs, name);
        assert_perfect(&fidelity(&[log.to_str().unwrap(), "--scheduler", "replay"])[0]);
    }
}
