//! Who gains and who pays: several settings, groups of jobs, fairness, series, replications. The figures are computed again
//! from the CSV of jobs, in plain loops.

use std::collections::BTreeMap;

use crate::support::{Folder, Ran, demo_text, real_log, real_logs, sim, sim_ok};

/// Rows of CSV without quotes, by the names of their columns.
fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), names.len(), "{line}");
        names.iter().zip(cells).map(|(name, cell)| (name.to_string(), cell.to_string())).collect()
    };
    lines.map(row).collect()
}

fn number(row: &BTreeMap<String, String>, name: &str) -> f64 {
    row[name].parse().unwrap_or_else(|_| panic!("{name}: '{}' is not a number", row[name]))
}

fn assert_near(got: f64, expected: f64, what: &str) {
    assert!((got - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{what}: {got} instead of {expected}");
}

/// The files of one run.
struct Files {
    folder: tempfile::TempDir,
    ran: Ran,
}

impl Files {
    fn of(args: &[&str]) -> Files {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
        let outs = ["--jobs-out".to_string(), file("jobs.csv"), "--by-out".to_string(), file("by.csv")];
        let series = ["--series-out".to_string(), file("series.csv")];
        let all: Vec<&str> = outs.iter().chain(&series).map(String::as_str).chain(args.iter().copied()).collect();
        let ran = sim(&[&["-q"], &all[..]].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        Files { folder, ran }
    }

    fn rows(&self, name: &str) -> Vec<BTreeMap<String, String>> {
        rows(&std::fs::read_to_string(self.folder.path().join(name)).unwrap())
    }
}

const TWO: [&str; 6] = ["--scheduler", "easy,sjbf", "--predictor", "estimate,ruh", "--baseline", "easy/estimate"];

#[test]
fn several_settings_give_the_rows_of_each_alone() {
    let together = sim_ok(&[&TWO[..], &["--first", "800"]].concat());
    let mut alone = String::new();
    for (scheduler, predictor) in [("easy", "estimate"), ("easy", "ruh"), ("sjbf", "estimate"), ("sjbf", "ruh")] {
        let args =
            ["--scheduler", scheduler, "--predictor", predictor, "--baseline", "easy/estimate", "--first", "800"];
        let csv = sim_ok(&args);
        alone += if alone.is_empty() { &csv } else { csv.split_once('\n').unwrap().1 };
    }
    assert_eq!(together, alone);
    // Whatever the number of threads, and however the list is written.
    let repeated =
        ["--scheduler", "easy", "--scheduler", "sjbf", "--predictor", "{estimate|ruh}", "--baseline", "easy/estimate"];
    assert_eq!(sim_ok(&[&repeated[..], &["--first", "800", "--threads", "1"]].concat()), together);
    // Nothing would tell the rows of a setting that is written twice apart.
    let twice = sim(&["--predictor", "ruh,ruh:window=3", "--first", "100", "--no-header"]);
    assert!(twice.code == 2 && twice.err.contains("the predictor ruh is given twice"), "{}", twice.err);
    let json = sim_ok(&["--predictor", "ruh,sbh", "--first", "100", "--format", "json"]);
    assert!(json.trim_start().starts_with('[') && json.contains("\"sbh\""), "{json}");
}

/// The rows are those of a sweep of the same lists, and the table has a block for settings with the same jobs.
#[test]
fn every_option_may_be_a_list() {
    let lists = [
        &["--estimates", "none,x2", "--load", "0.9..1.1:0.2", "--scheduler", "easy,sjbf", "--pass-on-miss=on,off"][..],
        &["--baseline", "easy/estimate"],
    ]
    .concat();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("study");
    let out = out.to_str().unwrap();
    let in_order = ["estimates", "load", "pass-on-miss", "scheduler"].map(|name| {
        let at = lists.iter().position(|word| word.trim_start_matches('-').split('=').next() == Some(name)).unwrap();
        let ends = if lists[at].contains('=') { at + 1 } else { at + 2 };
        lists[at..ends].to_vec()
    });
    let of_sweep =
        [vec!["sweep"], in_order.concat(), lists[7..].to_vec(), vec!["--out", out, "--format", "csv"]].concat();
    let (sweep, together) = (sim_ok(&of_sweep), sim_ok(&[&lists[..], &["--format", "csv"]].concat()));
    assert_eq!(together, sweep);
    assert_eq!(together.lines().count(), 1 + 16);
    let table = sim_ok(&["--inflate", "1,2", "--first", "500,600", "--format", "table"]);
    assert_eq!(table.matches("wait, mean").count(), 2 + 2, "{table}");
    assert!(table.contains("inflate=2") && table.contains("first=600"), "{table}");
    // With the same bytes for any number of threads, and with replications as many rows.
    let again = sim_ok(&[&lists[..], &["--format", "csv", "--threads", "1"]].concat());
    assert_eq!(again, together);
    let averaged = sim_ok(&["--load", "0.9,1.1", "--first", "300", "--replications", "3", "--format", "csv"]);
    let alone = sim_ok(&["--load", "1.1", "--first", "300", "--replications", "3", "--format", "json"]);
    let wait = alone.split("\"wait_mean\": ").nth(1).unwrap().split(',').next().unwrap();
    assert!(
        averaged.lines().count() == 3 && averaged.lines().nth(2).unwrap().contains(&format!(",{wait}")),
        "{averaged} {wait}"
    );
}

#[test]
fn what_several_settings_cannot_do_is_an_error() {
    for (args, message) in [
        (&["--load", "1,1.0"][..], "the load 1 is given twice"),
        (&["--load", "0.9,1.1", "--by", "user"], "--by, --by-out and --jobs-out are for settings with the same jobs"),
        (&["--skip-bad-lines=on,off"], "the log is read once"),
        (&["--baseline", "easy/estimate,fcfs/estimate"], "invalid value"),
        (&["--predictor", "ruh,sbh", "--swf-out", "x.swf"], "--swf-out writes one schedule"),
        (&["--predictor", "ruh,nosuch"], "nosuch"),
        (&["--by", "user", "--format", "csv"], "add --by-out FILE"),
        (&["--by", "site"], "write one or more of width, runtime"),
        (&["--series-out", "x.csv", "--series-step", "0"], "at least a second"),
        (&["--replications", "3", "--series-out", "x.csv"], "--series-out"),
    ] {
        let ran = sim(args);
        assert!(ran.code == 2 && ran.err.contains(message), "{args:?}: {} {}", ran.code, ran.err);
        assert!(ran.out.is_empty(), "{args:?}");
    }
}

/// The figures of jobs, computed again.
#[derive(Default)]
struct Slow {
    waits: Vec<f64>,
    bslds: Vec<f64>,
    ais: Vec<f64>,
    ras: Vec<f64>,
    /// Errors of the predictions at arrival, which are those at the start if nothing is propagated.
    errors: Vec<f64>,
    area: f64,
}

impl Slow {
    fn add(&mut self, job: &BTreeMap<String, String>) {
        self.waits.push(number(job, "wait"));
        self.bslds.push(number(job, "bsld"));
        self.ais.push(number(job, "ai"));
        self.ras.push(number(job, "ra"));
        self.errors.push((number(job, "runtime") - number(job, "prediction")).abs());
        self.area += number(job, "procs") * number(job, "runtime");
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Nearest rank.
    fn percentile(values: &[f64], percent: f64) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[((percent / 100.0 * sorted.len() as f64).ceil() as usize).max(1) - 1]
    }
}

/// The group of a job. `record` is its line of the log.
fn class(key: &str, job: &BTreeMap<String, String>, record: &str) -> String {
    let field = |number: usize| record.split_whitespace().nth(number - 1).unwrap().to_string();
    let limits = |seconds: f64| {
        let names = ["up to 1m", "up to 10m", "up to 1h", "up to 4h", "up to 12h", "up to 1d"];
        let limits = [60.0, 600.0, 3600.0, 14_400.0, 43_200.0, 86_400.0];
        let at = limits.iter().position(|&limit| seconds <= limit);
        at.map_or("more", |at| names[at]).to_string()
    };
    match key {
        "width" => {
            let (procs, mut top) = (number(job, "procs") as u64, 1);
            while top < procs {
                top *= 2;
            }
            if top <= 2 { top.to_string() } else { format!("{}-{top}", top / 2 + 1) }
        }
        "runtime" => limits(number(job, "runtime")),
        "estimate" => limits(number(job, "estimate")),
        "user" => job["user"].clone(),
        "group" => field(13),
        "queue" => field(15),
        "partition" => field(16),
        // The embedded log begins at midnight of 2026-01-01, a Thursday, in UTC.
        "hour" => format!("{:02}", number(job, "submit") as i64 % 86_400 / 3600),
        "week" => {
            let week = (number(job, "submit") as i64 / 86_400 + 3) / 7;
            ["2025-12-29", "2026-01-05", "2026-01-12", "2026-01-19", "2026-01-26", "2026-02-02"][week as usize]
                .to_string()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn groups_have_the_figures_of_their_jobs() {
    let args = [&TWO[..], &["--first", "1500", "--warmup", "100"]].concat();
    let files = Files::of(&args);
    let (jobs, by) = (files.rows("jobs.csv"), files.rows("by.csv"));
    let settings = ["easy/estimate", "easy/ruh", "sjbf/estimate", "sjbf/ruh"];
    let log = String::from_utf8(demo_text()).unwrap();
    let records: Vec<&str> = log.lines().filter(|line| !line.starts_with(';')).collect();
    let record = |job: &BTreeMap<String, String>| records[number(job, "job") as usize - 1];
    let of = |setting: &str| jobs.iter().filter(|job| job["setting"] == setting).skip(100).collect::<Vec<_>>();
    let base = of("easy/estimate");
    for setting in settings {
        let run = of(setting);
        assert_eq!(run.len(), 1400);
        let all_area: f64 = run.iter().map(|job| number(job, "procs") * number(job, "runtime")).sum();
        for key in ["width", "runtime", "estimate", "user", "group", "queue", "partition", "hour", "week"] {
            let mut groups: BTreeMap<String, (Slow, Slow, usize, usize)> = BTreeMap::new();
            for (job, base) in run.iter().zip(&base) {
                assert_eq!(job["job"], base["job"]);
                let (here, there, gain, lose) = groups.entry(class(key, job, record(job))).or_default();
                here.add(job);
                there.add(base);
                *gain += usize::from(number(job, "wait") < number(base, "wait"));
                *lose += usize::from(number(job, "wait") > number(base, "wait"));
            }
            let printed: Vec<_> = by.iter().filter(|row| row["setting"] == setting && row["key"] == key).collect();
            assert_eq!(printed.len(), groups.len(), "{setting} by {key}");
            for row in printed {
                let what = format!("{setting}, {key} {}", row["value"]);
                let (here, there, gain, lose) = &groups[&row["value"]];
                assert_eq!(number(row, "jobs") as usize, here.waits.len(), "{what}");
                assert_near(number(row, "area_pct"), here.area / all_area * 100.0, &what);
                for (slow, prefix) in [(here, ""), (there, "base_")] {
                    let got = |name: &str| number(row, &format!("{prefix}{name}"));
                    assert!((got("wait_mean") - Slow::mean(&slow.waits)).abs() < 0.001, "{what}");
                    assert!((got("bsld_mean") - Slow::mean(&slow.bslds)).abs() < 1e-5, "{what}");
                    assert_near(got("wait_p95"), Slow::percentile(&slow.waits, 95.0), &what);
                    assert_near(got("wait_max"), Slow::percentile(&slow.waits, 100.0), &what);
                    assert_near(got("bsld_p50"), Slow::percentile(&slow.bslds, 50.0), &what);
                    assert!((got("ai_mean") - Slow::mean(&slow.ais)).abs() < 0.001, "{what}");
                    assert!((got("ra_mean") - Slow::mean(&slow.ras)).abs() < 1e-5, "{what}");
                    assert!((got("mae") - Slow::mean(&slow.errors)).abs() < 0.001, "{what}");
                }
                for (name, sign, run, base) in [
                    ("wait_improvement_pct", -1.0, &here.waits, &there.waits),
                    ("bsld_improvement_pct", -1.0, &here.bslds, &there.bslds),
                    ("ai_improvement_pct", -1.0, &here.ais, &there.ais),
                    ("ra_improvement_pct", 1.0, &here.ras, &there.ras),
                ] {
                    let (run, base) = (Slow::mean(run), Slow::mean(base));
                    if base == 0.0 {
                        assert_eq!(row[name], "", "{what}: {name}");
                        continue;
                    }
                    let expected = sign * (run - base) / base * 100.0;
                    let off = (number(row, name) - expected).abs();
                    assert!(off <= 1e-3 * expected.abs().max(1.0), "{what}: {name} {} {expected}", row[name]);
                }
                assert_eq!(
                    (number(row, "jobs_gain") as usize, number(row, "jobs_lose") as usize),
                    (*gain, *lose),
                    "{what}"
                );
            }
        }
    }
    // The largest user comes first, and no area is lost.
    let users: Vec<_> = by.iter().filter(|row| row["setting"] == "sjbf/ruh" && row["key"] == "user").collect();
    let areas: Vec<f64> = users.iter().map(|row| number(row, "area_pct")).collect();
    assert!(areas.is_sorted_by(|a, b| a >= b));
    assert_near(areas.iter().sum::<f64>(), 100.0, "area");
    // With one setting there is no column for its name.
    let one = Files::of(&["--first", "300", "--by", "width"]);
    let header =
        |name: &str| std::fs::read_to_string(one.folder.path().join(name)).unwrap().lines().next().unwrap().to_string();
    assert!(header("by.csv").starts_with("key,value,jobs,area_pct,wait_mean,"), "{}", header("by.csv"));
    assert!(header("jobs.csv").starts_with("job,user,"));
    assert!(one.rows("by.csv").iter().all(|row| row["key"] == "width"));
}

#[test]
fn fairness_is_that_of_the_users() {
    let files =
        Files::of(&["--scheduler", "sjbf", "--predictor", "ruh,sbh", "--baseline", "easy/estimate", "--first", "2500"]);
    let base = Files::of(&["--scheduler", "easy", "--predictor", "estimate", "--first", "2500"]).rows("jobs.csv");
    let jobs = files.rows("jobs.csv");
    for row in rows(&files.ran.out) {
        let setting = format!("{}/{}", row["scheduler"], row["predictor"]);
        let run: Vec<_> = jobs.iter().filter(|job| job["setting"] == setting).collect();
        let mut users: BTreeMap<&str, (Slow, Slow)> = BTreeMap::new();
        for (job, base) in run.iter().zip(&base) {
            let (here, there) = users.entry(&job["user"]).or_default();
            here.add(job);
            there.add(base);
        }
        let slowdowns: Vec<f64> = users.values().map(|(here, _)| Slow::mean(&here.bslds)).collect();
        let (sum, squares): (f64, f64) = (slowdowns.iter().sum(), slowdowns.iter().map(|x| x * x).sum());
        assert_near(number(&row, "jain"), sum * sum / (slowdowns.len() as f64 * squares), "jain");
        let loses = |(here, there): &&(Slow, Slow)| {
            let (here, there) = (Slow::mean(&here.waits), Slow::mean(&there.waits));
            here > 1.1 * there && here > there + 60.0
        };
        let losers: Vec<_> = users.values().filter(loses).collect();
        assert!(!losers.is_empty() && losers.len() < users.len());
        assert_near(number(&row, "users_lose_pct"), losers.len() as f64 / users.len() as f64 * 100.0, "users");
        let area = |all: &mut dyn Iterator<Item = &(Slow, Slow)>| all.map(|(here, _)| here.area).sum::<f64>();
        let share = area(&mut losers.into_iter()) / area(&mut users.values()) * 100.0;
        assert_near(number(&row, "area_lose_pct"), share, "area");
        // The widest jobs: sorted by width, jobs of one width in workload order.
        let mut widest = run.clone();
        widest.sort_by_key(|job| std::cmp::Reverse(number(job, "procs") as u64));
        let all: f64 = widest.iter().map(|job| number(job, "procs") * number(job, "runtime")).sum();
        let (mut area, mut waits) = (0.0, Vec::new());
        for job in widest {
            if area * 100.0 >= all {
                break;
            }
            area += number(job, "procs") * number(job, "runtime");
            waits.push(number(job, "wait"));
        }
        assert!((number(&row, "wide_wait_mean") - Slow::mean(&waits)).abs() < 0.001);
    }
}

/// Two jobs 68e9 s apart: the error names the rows and a step with which there is a series, and comes before the simulation. A
/// long job is not known before.
#[test]
fn a_series_that_is_too_long_says_which_step_would_do() {
    let folder = tempfile::tempdir().unwrap();
    let (log, out) = (folder.path().join("log.swf"), folder.path().join("series.csv"));
    let series = |second: &str, step: &str| {
        let record = |start: &str| format!("{start} 2 -1 -1 2 2000000000 -1 1 1 1 1 1 -1 -1 -1\n");
        let records = record("1 0 0 50") + &record(second);
        std::fs::write(&log, format!("; MaxProcs: 4\n{records}")).unwrap();
        let [log, out] = [&log, &out].map(|path| path.to_str().unwrap());
        sim(&["--trace", log, "--series-out", out, "--series-step", step, "--baseline", "none"])
    };
    for (second, step, rows, enough) in [
        ("2 68000000000 0 50", "1h", "18,888,889", "2h"),
        ("2 68000000000 0 50", "1s", "68,000,000,000", "2h"),
        ("2 10 0 30000000", "1s", "30,000,010", "4s"),
    ] {
        let ran = series(second, step);
        let text =
            format!("the series would have {rows} rows, and 10,000,000 rows are the most: use --series-step {enough},");
        assert!(ran.code == 2 && ran.err.contains(&text) && !out.exists(), "{}", ran.err);
    }
    assert_eq!(series("2 68000000000 0 50", "10000h").code, 0);
    assert_eq!(std::fs::read_to_string(&out).unwrap().lines().count(), 1 + 1889);
}

#[test]
fn a_series_shows_the_jobs_that_wait_and_run() {
    for step in ["1h", "7m", "1d"] {
        let args = [
            "--scheduler",
            "sjbf",
            "--predictor",
            "ruh",
            "--baseline",
            "none",
            "--first",
            "400",
            "--series-step",
            step,
        ];
        let files = Files::of(&args);
        let jobs: Vec<[i64; 4]> = files
            .rows("jobs.csv")
            .iter()
            .map(|job| ["submit", "start", "end", "procs"].map(|name| number(job, name) as i64))
            .collect();
        let seconds = shadowtime::time::parse_duration(step).unwrap();
        let (first, last) = (jobs[0][0], jobs.iter().map(|job| job[2]).max().unwrap());
        let series = files.rows("series.csv");
        assert_eq!(series.len() as i64, (last - first + seconds - 1) / seconds);
        for (at, row) in series.iter().enumerate() {
            let (time, what) = (first + at as i64 * seconds, format!("{step} {at}"));
            let waiting = jobs.iter().filter(|[submit, start, ..]| *submit <= time && time < *start);
            let running = jobs.iter().filter(|[_, start, end, _]| *start <= time && time < *end);
            let procs = |jobs: Vec<&[i64; 4]>| (jobs.len() as f64, jobs.iter().map(|job| job[3]).sum::<i64>() as f64);
            let ((waiting, procs_waiting), (running, procs_used)) =
                (procs(waiting.collect()), procs(running.collect()));
            let got = ["time", "waiting", "running", "procs_used", "procs_waiting"].map(|name| number(row, name));
            assert_eq!(got, [time as f64, waiting, running, procs_used, procs_waiting], "{what}");
            let end = (time + seconds).min(last);
            let used: i64 = jobs.iter().map(|job| (job[2].min(end) - job[1].max(time)).max(0) * job[3]).sum();
            assert!((number(row, "utilization") - used as f64 / (128 * (end - time)) as f64).abs() < 1e-6, "{what}");
        }
    }
}

#[test]
fn replications_have_intervals_and_verdicts_in_the_same_table() {
    let args = ["--predictor", "ruh,sbh", "--baseline", "easy/estimate", "--first", "1000", "--replications", "4"];
    let together = rows(&sim_ok(&args));
    for (row, predictor) in together.iter().zip(["ruh", "sbh"]) {
        let single = |replication: u32| {
            let number = replication.to_string();
            let args =
                ["--predictor", predictor, "--baseline", "easy/estimate", "--first", "1000", "--replication", &number];
            rows(&sim_ok(&args)).remove(0)
        };
        let base = |replication: u32| {
            let number = replication.to_string();
            let args = ["--scheduler", "easy", "--predictor", "estimate", "--first", "1000", "--replication", &number];
            rows(&sim_ok(&args)).remove(0)
        };
        let runs: Vec<_> = (0..4).map(|at| (single(at), base(at))).collect();
        for name in ["wait_mean", "bsld_mean", "wait_max", "jain"] {
            let values: Vec<f64> = runs.iter().map(|(run, _)| number(run, name)).collect();
            assert_near(number(row, name), Slow::mean(&values), name);
        }
        // Who loses by more than chance, from the users' means of each run.
        let mut by_user: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        for replication in ["0", "1", "2", "3"] {
            let folder = Folder::new();
            let file = folder.text("users.csv");
            let args = ["--predictor", predictor, "--baseline", "easy/estimate", "--first", "1000", "--by", "user"];
            sim_ok(&[&args[..], &["--by-out", &file, "--replication", replication]].concat());
            for user in rows(&folder.read("users.csv")) {
                let waits = (number(&user, "wait_mean"), number(&user, "base_wait_mean"));
                by_user.entry(user["value"].clone()).or_default().push(waits);
            }
        }
        let loses = |waits: &&Vec<(f64, f64)>| {
            let of = |value: fn(&(f64, f64)) -> f64| waits.iter().map(value).collect::<Vec<f64>>();
            let (wait, base, more) = (Slow::mean(&of(|w| w.0)), Slow::mean(&of(|w| w.1)), of(|w| w.0 - w.1));
            let mean = Slow::mean(&more);
            let deviation = (more.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
            wait > 1.1 * base && wait > base + 60.0 && mean > 3.182_446 * deviation / 2.0
        };
        let losers = by_user.values().filter(loses).count() as f64 / by_user.len() as f64;
        assert_near(number(row, "users_lose_pct"), 100.0 * losers, "users who lose");
        let bases: Vec<f64> = runs.iter().map(|(_, base)| number(base, "wait_mean")).collect();
        assert_near(number(row, "base_wait_mean"), Slow::mean(&bases), "base");
        // The paired interval, with t of 3 degrees of freedom (tables).
        let gains: Vec<f64> =
            runs.iter().map(|(run, base)| number(base, "wait_mean") - number(run, "wait_mean")).collect();
        let mean = Slow::mean(&gains);
        let deviation = (gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
        let half = 3.182_446 * deviation / 2.0;
        let expected = if mean > half {
            "better"
        } else if mean < -half {
            "worse"
        } else {
            "within noise"
        };
        assert_eq!(row["wait_verdict"], expected);
        assert_eq!((row["rows"].as_str(), row["baseline"].as_str()), ("4", "easy/estimate"));
    }
    let table = sim_ok(&[&args[..], &["--format", "table"]].concat());
    for words in ["easy/estimate", "sjbf/ruh", "sjbf/sbh", "+-", "They are the same year, shaken", "seeds 1 to 3"] {
        assert!(table.contains(words), "{words}: {table}");
    }
    let verdicts = together.iter().map(|row| format!("%, {})", row["wait_verdict"]));
    let waits: Vec<_> = table.lines().filter(|line| line.starts_with("wait, mean")).collect();
    for verdict in verdicts {
        assert!(waits.iter().any(|line| line.contains(&verdict)), "{verdict}: {table}");
    }
}

/// Under sjbf with sbh the mean wait of CTC is 7% shorter, while the jobs over 64 processors wait 55 hours instead of 20, and
/// 132 of 679 users lose.
#[test]
fn on_ctc_the_mean_hides_who_pays() {
    let Some(folder) = real_logs("on_ctc_the_mean_hides_who_pays") else { return };
    let log = real_log(&folder, "CTC-SP2");
    let by = tempfile::tempdir().unwrap();
    let file = by.path().join("by.csv");
    let args = ["--trace", log.to_str().unwrap(), "--predictor", "sbh", "--baseline", "easy/estimate"];
    let csv = sim_ok(&[&args[..], &["--by", "width,user", "--by-out", file.to_str().unwrap()]].concat());
    let row = &rows(&csv)[0];
    let rows = rows(&std::fs::read_to_string(&file).unwrap());
    let wide: Vec<_> = rows.iter().filter(|row| row["key"] == "width" && number(row, "jobs") > 0.0).collect();
    let over_64: Vec<_> =
        wide.iter().filter(|row| row["value"].split('-').next().unwrap().parse::<u32>().unwrap() > 64).collect();
    let mean = |name: &str| {
        let sum: f64 = over_64.iter().map(|row| number(row, name) * number(row, "jobs")).sum();
        sum / over_64.iter().map(|row| number(row, "jobs")).sum::<f64>() / 3600.0
    };
    let users = rows.iter().filter(|row| row["key"] == "user").count() as f64;
    assert_eq!(users, 679.0);
    assert_near(number(row, "users_lose_pct"), 132.0 / 679.0 * 100.0, "losers");
    assert_eq!(format!("{:.1}", number(row, "wait_improvement_pct")), "7.2");
    assert!((19.0..21.0).contains(&mean("base_wait_mean")) && (53.0..57.0).contains(&mean("wait_mean")));
}
