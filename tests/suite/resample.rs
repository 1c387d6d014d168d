//! Another year of a site: resampled logs, and what they say of a setting.

use crate::recommend::rows;
use crate::support::{Folder, real_log, real_logs, sim, sim_ok};

/// The columns of the only row of a CSV, by name.
fn row(text: &str) -> impl Fn(&str) -> String + use<> {
    let mut rows = rows(text);
    assert_eq!(rows.len(), 1, "{text}");
    let row = rows.remove(0);
    move |name| row.get(name).unwrap_or_else(|| panic!("no column {name} in {row:?}")).clone()
}

/// A log of 20 users over 16 weeks: every user has a batch in some weeks.
pub fn log() -> String {
    let mut text = "; MaxProcs: 8\n; UnixStartTime: 1700000000\n".to_string();
    let mut jobs: Vec<(i64, i64, i64, i64)> = Vec::new();
    for user in 0..20i64 {
        for batch in 0..12 {
            let week = (user * 5 + batch * (1 + user % 3)) % 16;
            let begin = week * 604_800 + user * 20_000 % 500_000;
            jobs.extend((0..8).map(|job| (begin + job * 60, 1 + (user + job) % 8, 3_000 + user * 400, user)));
        }
    }
    jobs.push((16 * 604_800, 1, 60, 0));
    jobs.sort();
    for ((submit, procs, run, user), number) in jobs.iter().zip(1..) {
        let estimate = 2 * run;
        text +=
            &format!("{number} {submit} 5 {run} {procs} -1 -1 {procs} {estimate} -1 1 {} 1 1 1 1 -1 -1\n", user + 1);
    }
    text
}

#[test]
fn a_resample_that_is_written_gives_the_same_run() {
    let folder = Folder::new();
    let log = folder.write("log.swf", log());
    let made = folder.text("made.swf");
    for (how, seed) in [("users", "1"), ("users:profile=0", "2"), ("weeks:block=2", "3")] {
        let direct = sim_ok(&[&log, "--resample", how, "--seed", seed, "--format", "csv", "--scheduler", "easy"]);
        sim_ok(&["trace", "convert", &log, "--resample", how, "--seed", seed, "--out", &made]);
        let text = folder.read("made.swf");
        assert!(text.contains(&format!("; Note: resampled by shadowtime, {how}, seed {seed}")), "{how}");
        let read = sim_ok(&[&made, "--format", "csv", "--scheduler", "easy"]);
        for column in ["jobs", "wait_mean", "bsld_mean", "ra_mean", "utilization", "jain", "makespan"] {
            assert_eq!(row(&direct)(column), row(&read)(column), "{how}: {column}");
        }
        assert_eq!(row(&direct)("options"), format!("resample={how} seed={seed}"));
    }
    // Links go with their copies: none is between users.
    sim_ok(&["trace", "convert", &log, "--resample", "users", "--feedback", "think:limit=60d", "--out", &made]);
    let text = folder.read("made.swf");
    let jobs: Vec<Vec<i64>> = text
        .lines()
        .filter(|line| !line.starts_with(';'))
        .map(|line| line.split_whitespace().map(|field| field.parse().unwrap()).collect())
        .collect();
    let linked = jobs.iter().filter(|job| job[16] > 0);
    assert!(linked.clone().count() > 100 && linked.clone().all(|job| jobs[job[16] as usize - 1][11] == job[11]));
}

#[test]
fn replications_are_other_years_where_the_log_allows_it() {
    let folder = Folder::new();
    let log = folder.write("log.swf", log());
    let setting = ["--scheduler", "sjbf", "--predictor", "estimate", "--baseline", "easy/estimate"];
    let run = |more: &[&str]| sim(&[&[log.as_str()], &setting[..], more].concat());
    let csv = run(&["--replications", "5", "--format", "csv"]);
    assert!(csv.err.contains("another year; --resample none shakes the same year"), "{}", csv.err);
    let get = row(&csv.out);
    assert_eq!((get("rows"), get("options")), ("5".to_string(), "resample=users".to_string()));
    let number = |name: &str| get(name).parse::<f64>().unwrap();
    assert!(number("wait_mean_q10") <= number("wait_mean") && number("wait_mean") <= number("wait_mean_q90"));
    assert!(number("wait_improvement_pct_low") < number("wait_improvement_pct"));
    assert!(number("wait_better_in") <= 5.0 && !csv.out.contains("_ci95"));
    // The log itself is beside the resamples, and each of these is a run of its own.
    let alone =
        |more: &[&str]| row(&run(&[more, &["--format", "csv"]].concat()).out)("wait_mean").parse::<f64>().unwrap();
    assert!((number("wait_mean_log") - alone(&[])).abs() < 1e-3);
    let years: Vec<f64> =
        ["1", "2", "3", "4", "5"].iter().map(|seed| alone(&["--resample", "users", "--seed", seed])).collect();
    assert!((number("wait_mean") - years.iter().sum::<f64>() / 5.0).abs() < 1e-3);
    let same = alone(&["--resample", "users", "--replication", "3"]);
    assert_eq!(same, years[2]);
    // One thread or several.
    let again = run(&["--replications", "5", "--format", "csv", "--threads", "1"]);
    assert_eq!(again.out, csv.out);
    let table = run(&["--replications", "5", "--format", "table"]).out;
    for words in ["the log", " of 5", "Another year: means of 5 resamples of the log (seeds 1 to 5)"] {
        assert!(table.contains(words), "{words}: {table}");
    }
    let shaken = run(&["--replications", "5", "--resample", "none", "--format", "table"]);
    assert!(shaken.out.contains("They are the same year, shaken") && !shaken.err.contains("another year"));
    // The embedded log has three weeks.
    let short = sim(&["--replications", "3", "--first", "300", "--format", "table"]);
    assert!(short.out.contains("the same year, shaken"), "{}", short.out);
}

/// The log and N resamples in every command, and each way to resample has runs of its own.
#[test]
fn replications_are_as_many_resamples_in_every_command() {
    let folder = Folder::new();
    let log = folder.write("log.swf", log());
    let setting = ["--scheduler", "sjbf", "--predictor", "estimate", "--baseline", "easy/estimate", "--format", "csv"];
    let of = |how: &str, more: &[&str]| {
        sim(&[&[log.as_str(), "--replications", "3", "--resample", how], &setting[..], more].concat())
    };
    let [users, weeks] = ["users", "weeks"].map(|how| row(&of(how, &[]).out));
    let both = of("users,weeks", &[]).out;
    let sweep = |how: &str, name: &str| {
        let folder = folder.text(name);
        let args = ["sweep", &log, "--replications", "3", "--resample", how, "--out", &folder];
        sim(&[&args, &setting[..]].concat())
    };
    let swept = sweep("users,weeks", "swept");
    assert!(swept.err.contains("8 cells"), "{}", swept.err);
    for table in [rows(&both), rows(&swept.out)] {
        assert_eq!(table.len(), 2, "{table:?}");
        for (found, alone) in table.iter().zip([&users, &weeks]) {
            for column in ["rows", "wait_mean", "wait_mean_log", "wait_mean_q90", "bsld_better_in"] {
                assert_eq!(found[column], alone(column), "{column}");
            }
        }
    }
    assert!(users("rows") == "3" && users("wait_mean") != weeks("wait_mean"));
    let grid = folder.read("swept/grid.toml");
    assert!(grid.contains("replications = 3"), "{grid}");
    let again = sim(&["sweep", "--out", &folder.text("swept"), "--resume", "--format", "csv"]);
    assert!(again.err.contains("8 reused") && again.out == swept.out, "{}", again.err);
    // Both at once would be two numbers of runs.
    for mixed in [of("none,users", &[]), sweep("users,none", "mixed")] {
        assert!(mixed.code == 2 && mixed.err.contains("give one of the two"), "{}", mixed.err);
    }
}

/// Without `--resample` a sweep is the same as `sim`: of other years if all its logs allow it.
#[test]
fn a_sweep_is_of_other_years_where_all_logs_allow_it() {
    let folder = Folder::new();
    let (long, short) = (
        folder.write("long.swf", log()),
        folder.write("short.swf", log().lines().take(300).collect::<Vec<_>>().join("\n")),
    );
    let setting = ["--scheduler", "sjbf", "--predictor", "estimate", "--baseline", "easy/estimate", "--format", "csv"];
    let sweep = |more: &[&str], out: &str| {
        let out = folder.text(out);
        sim(&[&["sweep", "--replications", "3", "--out", &out], &setting[..], more].concat())
    };
    let is_noted = |err: &str| err.contains("another year; --resample none shakes the same year");
    let swept = sweep(&[&long], "swept");
    let alone = sim(&[&[long.as_str(), "--replications", "3"], &setting[..]].concat());
    assert!(is_noted(&swept.err) && swept.err.contains("4 cells"), "{}", swept.err);
    for column in ["rows", "wait_mean", "wait_mean_log", "bsld_better_in"] {
        assert_eq!(row(&swept.out)(column), row(&alone.out)(column), "{column}");
    }
    // The folder says how it was made.
    let resumed = sim(&["sweep", "--out", &folder.text("swept"), "--resume", "--format", "csv"]);
    assert!(resumed.err.contains("4 reused") && resumed.out == swept.out, "{}", resumed.err);
    // The list of replications may stand before the other.
    folder.write("grid.toml", "replications = 3\nresample = \"users\"\nscheduler = \"sjbf\"\n");
    let first =
        sim(&[&["sweep", &folder.text("grid.toml"), "--trace", &long, "--out", &folder.text("first")], &setting[2..]]
            .concat());
    assert_eq!(row(&first.out)("wait_mean_log"), row(&swept.out)("wait_mean_log"), "{}", first.err);
    for (more, name) in [
        (&[long.as_str(), &short][..], "both"),
        (&[&long, "--resample", "none"], "none"),
        (&[&long, "--first", "1000,200"], "part"),
    ] {
        let swept = sweep(more, name);
        assert!(
            !is_noted(&swept.err) && swept.out.contains("_ci95") && !swept.out.contains("_better_in"),
            "{name}: {}",
            swept.err
        );
    }
}

/// Of 20 users each has the whole machine at another hour of the week, so nobody waits. Two copies of one user wait for each other.
#[test]
fn a_log_that_is_not_like_its_resamples_says_so() {
    let folder = Folder::new();
    let mut text = "; MaxProcs: 8\n; UnixStartTime: 1700000000\n".to_string();
    for job in 0..16 * 20 {
        let (submit, user) = (job / 20 * 604_800 + job % 20 * 28_800, job % 20 + 1);
        text += &format!("{} {submit} 0 25200 8 -1 -1 8 25200 -1 1 {user} 1 1 1 1 -1 -1\n", job + 1);
    }
    let (apart, log) = (folder.write("apart.swf", text), folder.write("log.swf", log()));
    let said = |args: &[&str]| sim(&[args, &["--replications", "10"]].concat()).err;
    let setting = ["--scheduler", "easy", "--predictor", "estimate", "--format", "csv"];
    let page = folder.text("page.html");
    for args in [&[&[apart.as_str()], &setting[..]].concat()[..], &["report", &apart, "--out", &page]] {
        let err = said(args);
        let warning = "warning: the log is not like its resamples: under easy/estimate its jobs wait 0.0 s on the mean";
        assert!(err.contains(warning) && err.contains("users submit when the machine is free"), "{err}");
    }
    let err = said(&[&[log.as_str()], &setting[..]].concat());
    assert!(err.contains("another year") && !err.contains("not like its resamples"), "{err}");
}

#[test]
fn what_cannot_be_resampled_says_why() {
    for (args, why) in [
        (&["--resample", "users"][..], "the log has 3 weeks; --resample needs 8"),
        (&["--resample", "users", "--repeat", "2"], "--repeat has no effect together with --resample"),
        (&["--resample", "users:load=0%"], "a share from 1% to 100%"),
        (&["--resample", "years"], "the resampling methods are users, weeks"),
        (&["--scheduler", "replay", "--baseline", "none", "--resample", "users"], "remove --resample"),
        (&["--baseline", "replay/estimate", "--resample", "users"], "remove --resample"),
        (&["--resample", "users:load=101%"], "'101%' is not a share from 1% to 100%"),
        (&["--resample", "users:lod=15%"], "the keys of users are load, profile; did you mean 'load'?"),
        (&["--resample", "weeks:block=0"], "'0' is not a whole number of at least 1"),
        (&["--resample", "users", "--replications", "0"], "0 is not in 2..=100000"),
        (
            &["--resample", "users", "--replication", "1", "--seed", "2"],
            "--seed has no effect together with --replication",
        ),
        (&["sweep", "--resample", "users", "--repeat", "2", "--dry-run"], "--repeat has no effect together with"),
        // The first part.
        (&["recommend", "--resample", "users"], "the log has 2 weeks; --resample needs 8"),
        (&["recommend", "--replications", "0"], "0 is not in 2..=1000"),
        (&["recommend", "--guard-risk", "20%"], "--guard-risk has no effect without resamples"),
        (&["fidelity", "--resample", "users"], "it compares with the recorded waits, and a resample has none"),
        (&["trace", "convert", "-", "--first", "7", "--out", "-"], "--resample <HOW>"),
    ] {
        let ran = sim(args);
        assert!(ran.code != 0 && ran.err.contains(why), "{args:?}: {}", ran.err);
    }
    let folder = Folder::new();
    let log = folder.write("log.swf", log());
    for how in ["weeks:block=17", "users:profile=17"] {
        for more in [&["--replications", "2"][..], &["--seed", "4"]] {
            let ran = sim(&[&[log.as_str(), "--resample", how], more].concat());
            assert!(ran.code == 2 && ran.err.contains("is at most 16, the weeks of the log"), "{how}: {}", ran.err);
        }
    }
}

/// Twelve users of equal areas in 8.4 weeks: on the circle of 8 weeks no draw is within 1% of the load.
#[test]
fn each_resample_without_the_load_of_the_log_has_a_note() {
    let job = |at: i64| format!("{at} {} -1 3600 1 -1 -1 1 3600 -1 1 {} 1 1 1 1 -1 -1\n", at * 108_000, at % 12 + 1);
    let folder = Folder::new();
    let text: String = (0..48).map(job).collect();
    let log = folder.write("log.swf", format!("; MaxProcs: 8\n{text}"));
    // The first part are the same jobs.
    let longer = folder.write("longer.swf", format!("; MaxProcs: 8\n{text}{}", job(48)));
    let how = ["--resample", "users:load=1%", "--replications", "3"];
    let setting = ["--scheduler", "easy", "--predictor", "estimate"];
    let (out, candidates) = (folder.text("sweep"), ["--candidates", "sjbf/estimate", "--choose", "0.98"]);
    let in_sim = sim(&[&[log.as_str()], &setting[..], &how].concat());
    let in_sweep = sim(&[&["sweep", &log, "--out", &out], &setting[..], &how].concat());
    let in_recommend = sim(&[&["recommend", &longer], &candidates[..], &how].concat());
    let calibrated = sim(&[&["recommend", "--calibrate", &longer], &candidates[..], &how].concat());
    for ran in [in_sim, in_sweep, in_recommend, calibrated] {
        assert_eq!(ran.code, 0, "{}", ran.err);
        for seed in 1..=3 {
            let note = format!("resample {seed}: no draw of 1000 had the load of the log");
            assert_eq!(ran.err.matches(&note).count(), 1, "{}", ran.err);
        }
        assert_eq!(ran.err.matches("the log has 12 users only").count(), 1, "{}", ran.err);
    }
    let one = sim(&[&[log.as_str(), "--resample", "users:load=1%", "--seed", "5"], &setting[..]].concat());
    assert!(one.err.contains("resample 5: no draw of 1000"), "{}", one.err);
    let met = sim(&[&[log.as_str(), "--resample", "users", "--seed", "5"], &setting[..]].concat());
    assert!(!met.err.contains("no draw"), "{}", met.err);
}

/// A log, how it is resampled, and figures with half of their intervals.
type FoundElsewhere = (&'static str, &'static str, [(f64, f64); 4]);

/// What another program found over 20 resamples, within three standard errors of a difference of two means: of EASY the mean wait and
/// the mean bounded slowdown, the relative accuracy of `sjbf/sbh`, and the slowdown of `sjbf:running=estimate/kin` over that of EASY.
const FOUND: [FoundElsewhere; 7] = [
    ("KTH-SP2-1996", "users", [(7450.0, 1240.0), (97.5, 15.1), (0.626, 0.009), (0.71, 0.04)]),
    ("KTH-SP2-1996", "weeks", [(6950.0, 780.0), (92.9, 10.1), (0.627, 0.008), (0.63, 0.04)]),
    ("CTC-SP2-1996", "users", [(16300.0, 7400.0), (57.3, 25.9), (0.645, 0.006), (0.42, 0.14)]),
    ("CTC-SP2-1996", "weeks", [(15900.0, 1820.0), (53.3, 6.5), (0.639, 0.006), (0.34, 0.06)]),
    ("SDSC-SP2-1998", "users", [(27400.0, 7800.0), (119.3, 34.1), (0.638, 0.011), (0.66, 0.08)]),
    ("SDSC-SP2-1998", "weeks", [(21850.0, 2840.0), (95.4, 12.6), (0.639, 0.010), (0.68, 0.07)]),
    ("SDSC-BLUE-2000", "users", [(7940.0, 1720.0), (34.7, 7.2), (0.662, 0.012), (0.45, 0.04)]),
];

fn compare_with_another_program(test: &str, is_wanted: impl Fn(&str) -> bool) {
    let Some(folder) = real_logs(test) else { return };
    for (log, how, found) in FOUND.iter().filter(|(log, ..)| is_wanted(log)) {
        let file = real_log(&folder, log);
        let run = |setting: &str, predictor: &str| {
            let how = format!("{how}:load=5%");
            let args = ["--replications", "20", "--scheduler", setting, "--predictor", predictor, "--format", "csv"];
            let base = ["--baseline", "easy/estimate", "--resample", &how];
            sim_ok(&[&[file.to_str().unwrap()], &args[..], &base[..]].concat())
        };
        let (kin, sbh) = (run("sjbf:running=estimate", "kin"), run("sjbf", "sbh"));
        let number = |text: &str, name: &str| row(text)(name).parse::<f64>().unwrap();
        let [wait, bsld] = ["base_wait_mean", "base_bsld_mean"].map(|name| number(&kin, name));
        let measured = [wait, bsld, number(&sbh, "ra_mean"), number(&kin, "bsld_mean") / bsld];
        for (value, (expected, half)) in measured.iter().zip(found) {
            assert!(
                (value - expected).abs() <= *half,
                "{log}, {how}: {value}, not {expected} +- {half} ({measured:?})"
            );
        }
    }
}

#[test]
fn resamples_of_kth_are_those_of_another_program() {
    compare_with_another_program("resamples_of_kth_are_those_of_another_program", |log| log.starts_with("KTH"));
}

/// Takes minutes: `cargo test --test suite -- --ignored resamples_of_other_logs`.
#[test]
#[ignore = "takes minutes"]
fn resamples_of_other_logs_are_those_of_another_program() {
    compare_with_another_program("resamples_of_other_logs_are_those_of_another_program", |log| !log.starts_with("KTH"));
}

/// Candidates compete in other years of the first part of the log; a guard counts by the share of them in which it is broken.
#[test]
fn candidates_compete_in_other_years() {
    let folder = Folder::new();
    let log = folder.write("log.swf", log());
    let recommend = |more: &[&str]| {
        let args = ["recommend", &log, "--candidates", "sjbf/estimate,easy/perfect,fcfs/estimate", "--choose", "0.7"];
        sim_ok(&[&args, more].concat())
    };
    let found =
        rows(&recommend(&["--replications", "4", "--guard", "none", "--guard", "wait_max=0.99x", "--format", "csv"]));
    let years: Vec<_> =
        found.iter().filter(|row| row["options"].contains("resample") || !row["wait_mean_log"].is_empty()).collect();
    assert!(!years.is_empty() && years.iter().all(|row| row["rows"] == "4" && row["part"] == "choose"), "{found:?}");
    let mut is_anything_broken = false;
    for row in &years {
        let times: usize =
            row["broken_in"].split_once(':').map_or(0, |(_, text)| text.split('/').next().unwrap().parse().unwrap());
        assert_eq!(times > 2, row["broken_guards"] == "wait_max=0.99x", "{row:?}");
        is_anything_broken |= times > 0;
    }
    assert!(is_anything_broken);
    // The gain of the first is that of the main command on the same resamples.
    let first = years[0];
    let jobs = (1921.0f64 * 0.7).floor().to_string();
    let args = ["--scheduler", &first["scheduler"], "--predictor", &first["predictor"], "--baseline", "easy/estimate"];
    let same =
        sim_ok(&[&[log.as_str(), "--first", &jobs, "--replications", "4", "--format", "csv"], &args[..]].concat());
    for column in ["bsld_improvement_pct", "bsld_mean", "wait_max_q90", "bsld_better_in"] {
        assert_eq!(row(&same)(column), first[column], "{column}");
    }
    // The same if it is asked for: the log is divided, not a resample of it.
    let asked = ["--resample", "users", "--replications", "4", "--guard", "none", "--guard", "wait_max=0.99x"];
    assert_eq!(rows(&recommend(&[&asked[..], &["--format", "csv"]].concat())), found);
    let none = recommend(&["--resample", "none", "--replications", "2", "--format", "csv"]);
    assert!(!none.contains("wait_mean_log") && rows(&none).iter().all(|row| row["rows"] == "2"));
    let table = recommend(&["--replications", "3", "--guard-risk", "20%", "--format", "table"]);
    for words in ["guards", "they competed on 3 resamples of the first part", "in more than 20% of them"] {
        assert!(table.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{words}: {table}");
    }
}

/// Candidates that did not run on resamples cannot win, so they do not say that none was better.
#[test]
fn finalists_that_break_guards_are_named_as_the_reason() {
    let folder = Folder::new();
    // Enough jobs and users on the rest for an answer.
    let job = |at: i64| {
        let (user, procs, run) = (at % 40 + 1, at % 6 + 1, 3_000 + at % 7 * 4_000);
        format!("{at} {} 5 {run} {procs} -1 -1 {procs} {} -1 1 {user} 1 1 1 1 -1 -1\n", at * 3_100, 3 * run)
    };
    let text: String = (0..2_600).map(job).collect();
    let log = folder.write("log.swf", format!("; MaxProcs: 8\n{text}"));
    // Nine, of which eight are finalists. Their longest waits are near the present one, and over 0.6 times it.
    let list = "sjbf/estimate,sjbf/ruh,sjbf/easy++,sjbf/sbh,easy/ruh,easy/easy++,easy/sbh,easy/perfect,sjbf/perfect";
    let guard = ["--guard", "none", "--guard", "wait_max=0.6x", "--replications", "2", "--candidates", list];
    let words = sim_ok(&[&["recommend", &log, "--format", "table"], &guard[..]].concat());
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("every candidate that ran on resamples breaks a guard"), "{words}");
    assert!(words.contains("(wait_max=0.6x by 8 of 8)"), "{words}");
}

/// The predicted improvement is that of the first part, the measured one that of the rest.
#[test]
fn intervals_are_compared_with_what_happened() {
    let folder = Folder::new();
    let log = folder.write("log.swf", log());
    let args =
        ["recommend", "--calibrate", &log, "--candidates", "sjbf/estimate", "--choose", "0.7", "--replications", "4"];
    let text = sim_ok(&[&args[..], &["--format", "csv"]].concat());
    let cases: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(cases.iter().map(|case| case[2]).collect::<Vec<_>>(), ["bsld_mean", "wait_max", "wide_wait_mean"]);
    let setting = ["--scheduler", "sjbf", "--predictor", "estimate", "--baseline", "easy/estimate", "--format", "csv"];
    let first = sim_ok(&[&[log.as_str(), "--first", "1344", "--replications", "4"], &setting[..]].concat());
    let rest = sim_ok(&[&[log.as_str(), "--warmup", "1344"], &setting[..]].concat());
    let number = |text: &str| text.parse::<f64>().unwrap();
    for (case, short) in cases.iter().zip(["bsld", "wait_max", "wide_wait"]) {
        for (at, column) in [(3, ""), (4, "_low"), (5, "_high")] {
            assert_eq!(case[at], row(&first)(&format!("{short}_improvement_pct{column}")), "{short}{column}");
        }
        let [low, high, measured] = [4, 5, 6].map(|at| number(case[at]));
        assert_eq!(case[7], if (low..=high).contains(&measured) { "yes" } else { "no" });
    }
    assert_eq!(cases[0][6], row(&rest)("bsld_improvement_pct"));
    let table = sim_ok(&[&args[..], &["--format", "table"]].concat());
    assert!(table.contains("outcomes") && table.contains("are inside the 95% intervals"), "{table}");
}
