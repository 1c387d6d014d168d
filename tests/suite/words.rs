//! What the pages and the messages say is so.

use shadowtime::predict::catalog::DEFAULT;
use shadowtime::reproduce::STUDIES;

use crate::support::{Folder, sim, sim_ok};

const README: &str = include_str!("../../README.md");
const LOGS: &str = include_str!("../../src/cli/help/logs.md");

#[test]
fn the_readme_names_the_default_and_all_studies() {
    assert!(README.contains(&format!("sjbf with the predictor {DEFAULT}, the defaults")));
    assert_eq!(STUDIES.len(), 8, "the README has the number as a word");
    assert!(README.contains("There are eight studies"));
    for study in STUDIES {
        assert!(README.contains(&format!("`{}`", study.name)), "{}", study.name);
    }
    assert!(!README.contains("no scripts"));
}

/// Bash sets these itself, so that what a page stores there is lost.
#[test]
fn pages_store_nothing_in_a_variable_of_the_shell() {
    for (name, page) in [("gpus", include_str!("../../src/cli/help/gpus.md")), ("logs", LOGS), ("README", README)] {
        for variable in ["COLUMNS", "LINES", "RANDOM", "SECONDS", "UID", "PWD"] {
            assert!(!page.contains(&format!("$ {variable}=")), "{name}: {variable}");
        }
    }
}

/// The columns and the delimiter of the command that pages recommend.
fn recommended(page: &str) -> (Vec<String>, char) {
    let command = page.split("$ TZ=UTC sacct ").nth(1).unwrap().split("> sacct.txt").next().unwrap();
    let delimiter = command.split("--delimiter='").nth(1).unwrap().chars().next().unwrap();
    let format = command.split("--format=").nth(1).unwrap().replace(['\\', '\n'], "");
    (format.trim().split(',').map(str::to_string).collect(), delimiter)
}

#[test]
fn what_the_recommended_sacct_command_prints_is_read() {
    let (columns, delimiter) = recommended(README);
    assert_eq!((columns.clone(), delimiter), recommended(LOGS));
    assert!(["Constraints", "Reservation"].iter().all(|name| columns.iter().any(|column| column == name)));
    assert_eq!(columns.last().unwrap(), "JobName");
    let row = |id: u32, constraints: &str, reservation: &str, name: &str| {
        let value = |column: &String| match column.as_str() {
            "JobIDRaw" | "JobID" => id.to_string(),
            "Submit" | "Eligible" | "Start" => "2026-01-01T00:00:00".to_string(),
            "End" => "2026-01-01T00:01:00".to_string(),
            "ElapsedRaw" => "60".to_string(),
            "State" => "COMPLETED".to_string(),
            "NNodes" | "NCPUS" | "ReqCPUS" => "1".to_string(),
            "Timelimit" => "01:00:00".to_string(),
            "NodeList" => "n1".to_string(),
            "Partition" => "gpu".to_string(),
            "Constraints" => constraints.to_string(),
            "Reservation" => reservation.to_string(),
            "JobName" => name.to_string(),
            _ => String::new(),
        };
        columns.iter().map(value).collect::<Vec<_>>().join(&delimiter.to_string())
    };
    let rows = [
        columns.join(&delimiter.to_string()),
        row(1, "", "", "plain"),
        row(2, "v100|a100", "", "a name|with^both, and more"),
        row(3, "[ib&(a|b)]", "course", "^"),
    ];
    let folder = Folder::new();
    let log = folder.write("sacct.txt", rows.join("\n") + "\n");
    let (swf, asked) = (folder.text("log.swf"), folder.text("asked.csv"));
    let ran = sim(&["trace", "convert", &log, "--out", &swf, "--requests-out", &asked]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("1 job ran in a reservation of the administrator, which is not simulated"), "{}", ran.err);
    let asked = folder.read("asked.csv");
    assert!(asked.contains(",v100|a100,") && asked.contains(",[ib&(a|b)],"), "{asked}");
    assert_eq!(asked.lines().count(), 4);
}

#[test]
fn a_single_study_has_a_quick_test() {
    let folder = Folder::new();
    let logs = folder.text("");
    let ran = sim(&["reproduce", "talby", "--logs", &logs, "--quick"]);
    assert!(ran.code == 2 && ran.err.contains("none of the logs of the study is in"), "{}", ran.err);
    let ran = sim(&["reproduce", "talby", "--logs", &logs, "--quick", "--replications", "3"]);
    assert!(ran.code == 2 && ran.err.contains("cannot be used with"), "{}", ran.err);
}

/// Ten jobs, of which so many have a user.
fn log_of(users: usize) -> String {
    let line = |at: usize| {
        let user = if at < users { 7 } else { -1 };
        format!("{} {} 0 50 1 -1 -1 1 100 -1 1 {user} 1 -1 1 -1 -1 -1\n", at + 1, 10 * at)
    };
    format!("; MaxProcs: 4\n{}", (0..10).map(line).collect::<String>())
}

#[test]
fn a_log_without_users_warns_if_the_predictor_needs_them() {
    let folder = Folder::new();
    let few = folder.write("few.swf", log_of(2));
    let many = folder.write("many.swf", log_of(8));
    let words = "80.0% of the jobs have no user";
    let warns = |args: &[&str]| {
        let ran = sim(args);
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.err.contains(words)
    };
    for predictor in ["kin", "ruh", "easy++", "sbh", "learned", "smith"] {
        assert!(warns(&[&few, "--predictor", predictor]), "{predictor}");
    }
    for predictor in ["estimate", "perfect", "smith:templates=(rel)", "downey"] {
        assert!(!warns(&[&few, "--predictor", predictor]), "{predictor}");
    }
    assert!(!sim(&[&many]).err.contains("have no user"));
}

/// A file or a pipe gets CSV from every command that prints figures.
#[test]
fn pipes_get_csv_from_info() {
    let info = ["trace", "info"];
    assert!(sim_ok(&info).starts_with("trace,computer,"));
    assert!(!sim_ok(&[&info[..], &["--format", "table"]].concat()).starts_with("trace,computer,"));
    assert!(sim_ok(&[&info[..], &["--format", "json"]].concat()).starts_with('{'));
}

#[test]
fn a_slurm_conf_alone_is_compared_with_what_it_could_be() {
    let folder = Folder::new();
    let conf = folder.write("slurm.conf", "SchedulerType=sched/backfill\nPriorityType=priority/basic\n");
    let ran = sim(&["--slurm-conf", &conf, "--first", "1500", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let rows: Vec<serde_json::Value> = serde_json::from_str(&ran.out).unwrap();
    let text = |name: &str| rows[0][name].as_str().unwrap().to_string();
    assert!(text("scheduler").ends_with(",running=prediction") && text("predictor") == DEFAULT, "{}", ran.out);
    assert!(text("baseline").ends_with("/estimate") && !text("baseline").contains("running"), "{}", ran.out);
    assert_ne!(rows[0]["wait_mean"], rows[0]["base_wait_mean"], "predictions have an effect");
    assert!(ran.err.contains("compared with what it could be: planning with predictions"), "{}", ran.err);
    // What is given is taken.
    let plain = sim(&["--slurm-conf", &conf, "--first", "300", "--predictor", "estimate", "--format", "csv"]);
    assert!(!plain.out.contains("running=prediction") && !plain.err.contains("could be"), "{}", plain.out);
}

/// The terminal and the page find the same best setting, and say of it whether it is clearly best.
#[test]
fn the_terminal_and_the_page_have_one_best_setting() {
    let folder = Folder::new();
    let page = folder.text("page.html");
    let mut seen = [0, 0];
    for settings in ["ruh,ruh:window=2", "estimate,constant:seconds=1,perfect"] {
        let args = ["--predictor", settings, "--first", "600", "--replications", "3", "--baseline", "easy/estimate"];
        let table = sim_ok(&[&args[..], &["--format", "table"]].concat());
        sim_ok(&[&["report"][..], &args, &["--out", &page, "-q"]].concat());
        let page = folder.read("page.html");
        let is_unclear = page.contains("within noise of it");
        let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words.contains("The best by mean wait is not clearly so"), is_unclear, "{table}");
        seen[usize::from(is_unclear)] += 1;
    }
    assert_eq!(seen, [1, 1], "one is clear and one is not");
}
