//! `sim recommend`: the answer, and the runs behind it.

use std::collections::BTreeMap;

use crate::support::{sim, sim_ok};

/// The rows of a CSV, each by the names of its columns.
pub fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().unwrap().clone();
    let named = |row: csv::StringRecord| names.iter().map(str::to_string).zip(row.iter().map(str::to_string)).collect();
    reader.records().map(|row| named(row.unwrap())).collect()
}

const TWO: [&str; 6] =
    ["recommend", "--candidates", "easy/ruh,easy:running=estimate/kin", "--guard", "none", "--replications"];

fn recommend(more: &[&str]) -> String {
    sim_ok(&[&TWO[..], &["3"], more].concat())
}

/// Candidates are run on the first part alone, the winner on everything, measured on the rest: the same figures as those of
/// the main command.
#[test]
fn the_figures_are_those_of_the_main_command() {
    let found = rows(&recommend(&["--format", "csv"]));
    assert_eq!(found.len(), 3);
    let plain = |more: &[&str]| {
        let options = ["--baseline", "easy/estimate", "--replications", "3", "--format", "csv"];
        rows(&sim_ok(&[&options, more].concat()))
    };
    let part = |setting: &str, more: &[&str]| {
        let (scheduler, predictor) = setting.split_once('/').unwrap();
        plain(&[&["--scheduler", scheduler, "--predictor", predictor], more].concat()).remove(0)
    };
    let first = ["easy/ruh", "easy:running=estimate/kin"].map(|setting| part(setting, &["--first", "3000"]));
    for row in &first {
        let same =
            found.iter().find(|other| other["part"] == "choose" && other["predictor"] == row["predictor"]).unwrap();
        for column in
            ["jobs", "rows", "wait_mean", "bsld_mean", "bsld_mean_ci95", "wait_max", "base_bsld_mean", "users_lose_pct"]
        {
            assert_eq!(same[column], row[column], "{column} of {}", row["predictor"]);
        }
    }
    // The winner is the better of the two by bounded slowdown, and comes first.
    let slowdown = |row: &BTreeMap<String, String>| row["bsld_mean"].parse::<f64>().unwrap();
    let best = first.iter().min_by(|a, b| slowdown(a).total_cmp(&slowdown(b))).unwrap();
    assert_eq!((&found[0]["predictor"], &found[2]["predictor"]), (&best["predictor"], &best["predictor"]));
    let judged = part(&format!("{}/{}", best["scheduler"], best["predictor"]), &["--warmup", "3000"]);
    assert_eq!(found[2]["part"], "judge");
    for column in ["jobs", "wait_mean", "bsld_mean", "bsld_mean_ci95", "wait_max", "bsld_verdict", "area_lose_pct"] {
        assert_eq!(found[2][column], judged[column], "{column}");
    }
    let expected = match judged["bsld_verdict"].as_str() {
        "better" => "change",
        "worse" => "keep: worse",
        _ => "keep: within noise",
    };
    assert_eq!(found[2]["answer"], expected);
}

#[test]
fn the_command_at_the_end_repeats_the_judgement() {
    let text = recommend(&["--format", "table"]);
    let (_, command) = text.split_once("The same judgement again:\n  sim ").unwrap_or_else(|| panic!("{text}"));
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let arguments: Vec<&str> = command.split_whitespace().filter(|word| *word != "\\").collect();
    let again = sim_ok(&[&arguments[..], &["--format", "csv"]].concat());
    let judged = rows(&recommend(&["--format", "csv"])).pop().unwrap();
    assert_eq!(rows(&again)[0]["bsld_mean"], judged["bsld_mean"]);
    assert_eq!(rows(&again)[0]["wait_verdict"], judged["wait_verdict"]);
}

/// The waits of the embedded log were made by `easy/estimate`.
#[test]
fn the_answer_begins_with_how_well_the_site_is_known() {
    let text = recommend(&["--format", "table"]);
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        plain.contains("Does the simulation know this site? The present setting comes near to this site"),
        "{text}"
    );
    let row = |more: &[&str]| rows(&recommend(&[more, &["--format", "csv"]].concat())).remove(0);
    assert_eq!(row(&[])["site"], "near");
    assert_eq!(row(&["--present", "fcfs/estimate"])["site"], "not this site");
    let other = recommend(&["--present", "fcfs/estimate", "--format", "table"]);
    assert!(other.contains("give --present easy/estimate") || other.contains("easy/estimate comes nearer"), "{other}");
    assert!(other.contains("\nNot this site: the simulated waits are far"), "{other}");
    // At another load the recorded waits say nothing.
    assert_eq!(row(&["--load", "1.1"])["site"], "");
}

/// The first sentence of advice has the gain and the price.
#[test]
fn the_price_stands_beside_the_gain() {
    let text =
        sim_ok(&["recommend", "--candidates", "sjbf:running=estimate/kin", "--guard", "none", "--format", "table"]);
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, answer) = plain.split_once("Use sjbf:running=estimate/kin: its mean bounded slowdown goes from ").unwrap();
    let (first, _) = answer.split_once(". ").unwrap();
    for part in ["more than chance", "the longest wait grows from", "the widest jobs wait", "of the users lose ("] {
        assert!(first.contains(part), "{text}");
    }
}

#[test]
fn a_small_part_gives_no_advice() {
    let found = rows(&recommend(&["--first", "2000", "--format", "csv"]));
    assert!(found.iter().all(|row| row["answer"] == "too little to tell"));
    let text = recommend(&["--first", "2000", "--format", "table"]);
    assert!(text.contains("Too little to tell: the judged part of the log has 800 jobs of "), "{text}");
}

#[test]
fn candidates_can_be_added() {
    let settings = |more: &[&str]| {
        let all = ["recommend", "--first", "100", "--replications", "2", "--guard", "none", "--format", "csv"];
        let found = rows(&sim_ok(&[&all[..], more].concat()));
        let pair = |row: &BTreeMap<String, String>| format!("{}/{}", row["scheduler"], row["predictor"]);
        found.iter().filter(|row| row["part"] == "choose").map(pair).collect::<Vec<_>>()
    };
    let default = settings(&[]);
    let more = settings(&["--candidates", "+fcfs/ruh", "--candidates", "+fcfs/sbh,fcfs/kin"]);
    assert!(default.iter().any(|pair| pair == "sjbf:running=estimate,protect=3d/kin"));
    assert_eq!(more.len(), default.len() + 3);
    let only = settings(&["--candidates", "fcfs/ruh", "--candidates", "+fcfs/sbh"]);
    assert_eq!(only.len(), 2);
}

/// A part of the log: the split is one of the jobs that are left.
#[test]
fn options_that_select_jobs_come_before_the_split() {
    let found = rows(&recommend(&["--first", "2000", "--choose", "0.5", "--format", "csv"]));
    let jobs: Vec<&str> = found.iter().map(|row| row["jobs"].as_str()).collect();
    assert_eq!(jobs, ["1000.000000"; 3]);
}

#[test]
fn the_answer_can_be_to_keep_what_is_there() {
    let keep = |more: &[&str]| {
        let text =
            sim_ok(&[&["recommend", "--guard", "none", "--format", "table", "--replications", "2"], more].concat());
        assert!(text.contains("Keep what you have"), "{text}");
        text
    };
    // FCFS without backfilling is worse than EASY on every log.
    let text = keep(&["--candidates", "fcfs/estimate"]);
    assert!(!text.contains("again") && text.contains("no candidate was better"), "{text}");
    let plain = ["recommend", "--candidates", "fcfs/estimate", "--replications", "2", "--format", "csv"];
    let rows = rows(&sim_ok(&[&plain[..], &["--guard", "none"]].concat()));
    assert_eq!((rows.len(), rows[0]["answer"].as_str()), (1, "keep: none better"));
    // The default guards, which another limit of the same figure replaces.
    let row = self::rows(&sim_ok(&plain)).remove(0);
    assert_eq!(row["answer"], "keep: all break guards");
    assert_eq!(row["broken_guards"], "users_lose_area=25%");
    let row = self::rows(&sim_ok(&[&plain[..], &["--guard", "users_lose_area=100%"]].concat())).remove(0);
    assert_eq!((row["broken_guards"].as_str(), row["answer"].as_str()), ("", "keep: none better"));
    let guarded = ["recommend", "--candidates", "sjbf/ruh", "--guard", "wait_max=0.01x", "--replications", "2"];
    let out = sim_ok(&[&guarded[..], &["--format", "csv"]].concat());
    assert_eq!(self::rows(&out)[0]["answer"], "keep: all break guards");
    // A guard that nobody can keep.
    let text = keep(&["--candidates", "sjbf/ruh,sjbf/perfect", "--guard", "wait_max=0.01x"]);
    assert_eq!(text.matches("(out: wait_max=0.01x)").count(), 2, "{text}");
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        plain.contains("every candidate breaks a guard on the first part of the log (wait_max=0.01x by 2 of 2). Wider"),
        "{text}"
    );
    // One candidate keeps the guard, and is not better.
    let text = keep(&["--candidates", "fcfs/estimate", "--guard", "wait_max=100x"]);
    assert!(text.contains("no candidate within the guards was better"), "{text}");
    assert!(text.contains("30 s (seed 1)."), "{text}");
}

#[test]
fn runs_are_kept_and_threads_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs");
    let run = |threads: &str| {
        let ran =
            sim(&[&TWO[..], &["2", "--format", "csv", "--threads", threads, "--keep", out.to_str().unwrap()]].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran
    };
    let (first, again) = (run("2"), run("1"));
    assert!(first.err.contains("6 runs: 0 reused, 6 computed"), "{}", first.err);
    assert!(again.err.contains("6 runs: 6 reused, 0 computed"), "{}", again.err);
    assert_eq!(first.out, again.out);
    assert_eq!(first.out, sim_ok(&[&TWO[..], &["2", "--format", "csv", "--threads", "1"]].concat()));
}

#[test]
fn wrong_questions_are_refused() {
    for (arguments, part) in [
        (&["--choose", "1.5"][..], "between 0 and 1"),
        (&["--choose", "0.00001"], "a part without jobs"),
        (&["--objective", "bsl"], "did you mean 'bsld"),
        (&["--objective", "users_lose_pct"], "use it as a guard"),
        (&["--guard", "wait_max"], "wait_max=2x"),
        (&["--candidates", "easy/estimate"], "no candidate besides"),
        (&["--candidates", "sjbf"], "SCHEDULER/PREDICTOR"),
        (&["--candidates", "replay/ruh"], "replay"),
        (&["--present", "replay/ruh"], "replay"),
        (&["-"], "standard input"),
        (&["no-such.swf"], "no-such.swf"),
        (&["--replications", "1"], "2..=1000"),
        (&["--what-if", "auto"], "`sim LOG --what-if auto`"),
        (
            &["--what-if", "scheduler=fair predictor=kin"],
            "which costs nothing: let it compete, as --candidates '+fair/kin'",
        ),
        (&["--what-if", "add-node=n2"], "did you mean 'add-nodes'?"),
        (&["--what-if", "procs=1"], "none is left to judge them by"),
        (&["--what-if", "procs=64", "--calibrate", "a.swf"], "cannot be used with"),
        // Copies of the first part would be part of the rest.
        (&["--repeat", "2"], "--repeat"),
    ] {
        let ran = sim(&[&["recommend", "-q"], arguments].concat());
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(part), "{arguments:?}: {}", ran.err);
    }
}

/// Changes of the site have the figures of `--what-if` on both parts, in comparison with the same runs as the candidates.
#[test]
fn changes_of_the_site_stand_below_the_settings() {
    let changes = ["--what-if", "procs=140", "--what-if", "busier: load=1.05 overrun=kill"];
    let found = rows(&recommend(&[&changes[..], &["--format", "csv"]].concat()));
    let site = ["--scheduler", "easy", "--predictor", "estimate", "--replications", "3", "--format", "csv"];
    let main = |more: &[&str]| rows(&sim_ok(&[&site[..], &changes, more].concat()));
    let [first, rest] = [&["--first", "3000"][..], &["--warmup", "3000"]].map(main);
    for (part, expected) in [("choose", first), ("judge", rest)] {
        for row in &expected[1..] {
            let is_own =
                |other: &&BTreeMap<String, String>| (&*other["part"], &other["what_if"]) == (part, &row["what_if"]);
            let own = found.iter().find(is_own).unwrap();
            for (name, value) in row.iter().filter(|(name, _)| *name != "site") {
                assert_eq!(&own[name], value, "{name} of {} on {part}", row["what_if"]);
            }
        }
    }
    // The winner is that of the settings alone.
    let alone = rows(&recommend(&["--format", "csv"]));
    assert_eq!(found.len(), alone.len() + 4);
    for (ours, alone) in found.iter().zip(&alone) {
        assert!(ours["what_if"].is_empty() && alone.iter().all(|(name, value)| &ours[name] == value));
    }
    let is_same = |row: &BTreeMap<String, String>| row["base_bsld_mean"] == found[0]["base_bsld_mean"];
    assert!(found.iter().filter(|row| row["part"] == "choose" && row["what_if"] != "busier").all(is_same));
    let table = recommend(&[&changes[..], &["--format", "table"]].concat());
    let plain = table.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["What if the site were another?", "a processor-day", "What if procs=140? On the rest of the log the mean"]
    {
        assert!(plain.contains(part), "{table}");
    }
    let of_guards = ["--guard", "users_lose_pct=0.01", "--what-if", "procs=128 load=1.1", "--format", "csv"];
    let found = rows(&recommend(&of_guards));
    let change = found.iter().filter(|row| !row["what_if"].is_empty()).map(|row| row["broken_guards"].as_str());
    assert_eq!(change.collect::<Vec<_>>(), ["users_lose_pct=0.01"; 2]);
    let less = recommend(&["--what-if", "procs=32", "--format", "table"]);
    let plain = less.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains("compared on the jobs that all can run"), "{less}");
}

/// Where the best candidates compete on resamples, changes run on the same ones.
#[test]
fn changes_run_on_the_resamples_of_the_candidates() {
    let folder = crate::support::Folder::new();
    let mut jobs = String::new();
    for at in 0..600i64 {
        let (submit, user, procs) = (at * 16_000, at * 7 % 13, 1 + at * at % 7);
        jobs += &format!("{submit},{},{procs},{},u{user}\n", 3000 + at * 37 % 30_000, 6000 + at % 3 * 9000);
    }
    let log = folder.write("log.csv", format!("submit,run,procs,estimate,user\n{jobs}"));
    let format = "csv:submit=submit,run=run,procs=procs,estimate=estimate,user=user";
    let log = [&*log, "--log-format", format, "--procs", "7", "--replications", "3", "--format", "csv"];
    // Some jobs end later, so users would be drawn otherwise.
    let change = ["--what-if", "procs=9 overrun=kill"];
    let found = rows(&sim_ok(&[&["recommend"], &log[..], &change, &["--candidates", "sjbf/ruh,easy/kin"]].concat()));
    let chosen: Vec<_> = found.iter().filter(|row| row["part"] == "choose").collect();
    assert_eq!(chosen.len(), 3);
    for name in ["base_wait_mean", "base_bsld_mean", "rows"] {
        assert!(chosen.iter().all(|row| row[name] == chosen[0][name]), "{name}");
    }
    let site = ["--scheduler", "easy", "--predictor", "estimate", "--first", "360", "--resample", "users"];
    let main = rows(&sim_ok(&[&log[..], &site, &change].concat()));
    for name in ["wait_mean", "wait_improvement_pct", "bsld_verdict", "wait_hours_saved"] {
        assert_eq!(chosen[2][name], main[1][name], "{name}");
    }
}
