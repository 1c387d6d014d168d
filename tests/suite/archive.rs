//! Real logs: golden figures, and published figures to compare ours with.
//!
//! These need the logs of the Parallel Workloads Archive, in a folder that `SHADOWTIME_LOGS` names.

use std::path::Path;

use crate::support::{assert_golden, dump_of_site, real_log, real_logs, sim_ok};

/// The four logs of Talby et al. with their machines. CTC's header says 338, its batch partition; the paper's 56%
/// utilization implies all 512.
const LOGS: [(&str, &str); 4] =
    [("KTH-SP2-1996", "100"), ("CTC-SP2-1996", "512"), ("SDSC-SP2-1998", "128"), ("SDSC-BLUE-2000", "1152")];

/// A CSV line's columns by name.
struct Row {
    names: Vec<String>,
    values: Vec<String>,
}

impl Row {
    /// Runs a log (name and processors) with these options.
    fn of(folder: &Path, (name, procs): (&str, &str), options: &[&str]) -> Row {
        let log = real_log(folder, name);
        let args = ["--trace", log.to_str().unwrap(), "--procs", procs, "--format", "csv"];
        let text = sim_ok(&[&args, options].concat());
        let lines: Vec<_> = text.lines().collect();
        // No label in these runs has a comma, so that splitting at commas is reading CSV.
        let split = |line: &str| line.split(',').map(str::to_string).collect::<Vec<_>>();
        let row = Row { names: split(lines[0]), values: split(lines[1]) };
        assert_eq!(row.names.len(), row.values.len());
        row
    }

    fn get(&self, name: &str) -> f64 {
        let at = self.names.iter().position(|other| other == name).unwrap();
        self.values[at].parse().unwrap_or_else(|_| panic!("{name} is {}", self.values[at]))
    }
}

fn percent_off(measured: f64, published: f64) -> f64 {
    (measured / published - 1.0).abs() * 100.0
}

#[test]
fn golden_figures_of_four_logs() {
    let Some(folder) = real_logs("golden_figures_of_four_logs") else { return };
    let mut text = String::new();
    for log in LOGS {
        for (scheduler, predictor) in [
            ("fcfs", "estimate"),
            ("easy", "estimate"),
            ("easy", "perfect"),
            ("easy", "ruh"),
            ("sjbf", "perfect"),
            ("sjbf", "estimate"),
            ("sjbf", "constant"),
            ("sjbf", "ruh"),
            ("sjbf", "ruh:propagate=on"),
            ("sjbf", "easy++"),
            ("sjbf", "sbh"),
            ("sjbf", "sbh:criteria=E/P/X"),
            ("sjbf", "sbh-noest"),
            ("conservative", "estimate"),
            ("replay", "ruh"),
            ("sjbf", "smith"),
            ("sjbf", "gibbons"),
            ("sjbf", "downey"),
            ("replay", "smith:at=start"),
        ] {
            let row = Row::of(&folder, log, &["--scheduler", scheduler, "--predictor", predictor]);
            if text.is_empty() {
                text = row.names.join(",") + "\n";
            }
            text += &(row.values.join(",") + "\n");
        }
    }
    assert_golden("archive.csv", &text);
}

/// predictsim (Gaussier et al., 2015) on the same log, runtimes cut at the estimate. It drops the 8 jobs recorded with a
/// runtime of 0, which we run for a second: without them we measure 92.73, 69.42 and 49.87. What is left in EASY's 0.2%
/// is due to its pass after each event; we have one pass per instant.
#[test]
fn kth_against_predictsim() {
    let Some(folder) = real_logs("kth_against_predictsim") else { return };
    for (scheduler, predictor, published) in
        [("easy", "estimate", 92.58), ("sjbf", "estimate", 69.41), ("sjbf", "perfect", 49.85)]
    {
        let options = ["--overrun", "kill", "--scheduler", scheduler, "--predictor", predictor];
        let measured = Row::of(&folder, LOGS[0], &options).get("bsld_mean");
        let off = percent_off(measured, published);
        assert!(off < 0.6, "{scheduler}/{predictor}: {measured} where predictsim has {published}");
    }
}

/// Another implementation of `learned` had these mean bounded slowdowns over replications, under SJBF with runtimes cut at the
/// estimate. The means of six replications here lie there within their 95% intervals, and are those that the help gives. (Gaussier et al. publish 51.4, 20.5
/// and 75.0; for SDSC-BLUE, where they have 13.0 and both implementations 20 to 48, no reading was found that explains it.)
#[test]
fn learned_against_another_implementation() {
    let Some(folder) = real_logs("learned_against_another_implementation") else { return };
    for (log, low, high, ours) in
        [(LOGS[0], 61.0, 64.0, 62.33), (("CTC-SP2-1996", "338"), 18.0, 20.0, 17.38), (LOGS[2], 94.0, 106.0, 98.83)]
    {
        let row = Row::of(
            &folder,
            log,
            &["--overrun", "kill", "--predictor", "learned", "--replications", "6", "--resample", "none"],
        );
        let (mean, interval) = (row.get("bsld_mean"), row.get("bsld_mean_ci95"));
        assert!(mean + interval >= low && mean - interval <= high, "{}: {mean} +- {interval}", log.0);
        assert!(percent_off(mean, ours) < 0.5, "{}: {mean} instead of {ours}", log.0);
    }
}

/// Tsafrir, Etsion and Feitelson (2007), runtimes kept, the first 1% of jobs left out: mean wait in minutes and mean
/// bounded slowdown. They use an older version of the log (28,490 jobs) and schedule at every event. EASY++'s slowdown
/// is the one figure we do not meet (64.2 for 57): neither propagation (62.4), nor a pass after each miss (64.8), nor
/// increments before the estimate (68.1) explains it, so the bound says only how far we are.
#[test]
fn kth_against_tsafrir() {
    let Some(folder) = real_logs("kth_against_tsafrir") else { return };
    for (scheduler, predictor, wait, bsld, bound) in [
        ("easy", "estimate", 114.2, 89.9, 3.0),
        ("sjbf", "estimate", 102.0, 73.0, 2.0),
        ("sjbf", "easy++", 94.0, 57.0, 13.0),
    ] {
        let options = ["--warmup", "1%", "--scheduler", scheduler, "--predictor", predictor];
        let row = Row::of(&folder, LOGS[0], &options);
        let (our_wait, our_bsld) = (row.get("wait_mean") / 60.0, row.get("bsld_mean"));
        assert!(percent_off(our_wait, wait) < 2.5, "{scheduler}/{predictor}: wait {our_wait}, published {wait}");
        assert!(percent_off(our_bsld, bsld) < bound, "{scheduler}/{predictor}: slowdown {our_bsld}, published {bsld}");
    }
}

/// Talby et al., Tables 2 and 6: improvement of SJBF over EASY in wait, bounded slowdown, AI and RA, the plain mean over
/// the four logs. Twelve of sixteen figures are met within two and a half points. The other four:
/// RUH's AI (32.6 for 40; capped by the estimate it is 50.5, and the paper does not say whether its RUH was), and
/// Constant's AI (46.5 for 41) and RA (24.0 for 37), which depend on the increments after a miss; the paper says
/// only that they are predefined. Estimate's and RUH's slowdowns are 2.5 points off, as the log versions differ.
#[test]
fn talby_tables_2_and_6() {
    let Some(folder) = real_logs("talby_tables_2_and_6") else { return };
    let columns = ["wait", "bsld", "ai", "ra"];
    let mut near = 0;
    for (predictor, published, bounds) in [
        ("perfect", [22.0, 47.0, 100.0, 176.0], [2.0, 2.0, 0.001, 2.0]),
        ("estimate", [11.0, 22.0, 0.0, 0.0], [2.0, 3.0, 0.5, 0.5]),
        ("ruh", [18.0, 32.0, 40.0, 69.0], [2.0, 3.0, 8.0, 2.0]),
        ("constant", [16.0, 13.0, 41.0, 37.0], [2.0, 2.0, 6.0, 14.0]),
    ] {
        let options = ["--predictor", predictor, "--baseline", "easy/estimate"];
        let rows: Vec<Row> = LOGS.iter().map(|log| Row::of(&folder, *log, &options)).collect();
        for ((column, published), bound) in columns.iter().zip(published).zip(bounds) {
            let name = format!("{column}_improvement_pct");
            let measured = rows.iter().map(|row| row.get(&name)).sum::<f64>() / rows.len() as f64;
            let off = (measured - published).abs();
            assert!(off <= bound, "{predictor} {column}: {measured:.1}, published {published}");
            near += usize::from(off <= 2.5);
        }
    }
    assert!(near >= 11, "only {near} of 16 figures are near");
}

/// Reservations that count running jobs by estimates, with `easy++` under SJBF: mean wait in seconds, by predictions and by
/// estimates, as an independent simulator has them.
#[test]
fn running_jobs_counted_by_estimates() {
    let Some(folder) = real_logs("running_jobs_counted_by_estimates") else { return };
    for (log, by_predictions, by_estimates) in [
        (("KTH-SP2-1996", "100"), 5728.0, 5264.0),
        (("CTC-SP2-1996", "338"), 11472.0, 8667.0),
        (("SDSC-SP2-1998", "128"), 19087.0, 17151.0),
        (("SDSC-BLUE-2000", "1152"), 5423.0, 4729.0),
    ] {
        for (scheduler, expected) in [("sjbf", by_predictions), ("sjbf:running=estimate", by_estimates)] {
            let wait = Row::of(&folder, log, &["--scheduler", scheduler, "--predictor", "easy++"]).get("wait_mean");
            assert!((wait - expected).abs() <= 0.5, "{log:?} {scheduler}: {wait}, expected {expected}");
        }
    }
}

/// Every available log of the archive can be simulated, and the written schedule has the same waits when it is read.
#[test]
fn every_log_runs_and_its_schedule_reads_back() {
    let Some(folder) = real_logs("every_log_runs_and_its_schedule_reads_back") else { return };
    let temporary = tempfile::tempdir().unwrap();
    let mut logs: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    logs.retain(|path| path.to_string_lossy().ends_with(".swf.gz"));
    logs.sort();
    assert!(!logs.is_empty());
    for log in logs {
        let schedule = temporary.path().join("schedule.swf");
        let (log, schedule) = (log.to_str().unwrap(), schedule.to_str().unwrap());
        let first = ["--first", "20000", "--format", "csv", "--no-header"];
        let simulated = sim_ok(&[&["--trace", log, "--swf-out", schedule], &first[..]].concat());
        let replayed = sim_ok(&[&["--trace", schedule, "--scheduler", "replay"], &first[..]].concat());
        let waits = |text: &str| text.split(',').skip(6).take(2).map(str::to_string).collect::<Vec<_>>();
        assert_eq!(waits(&simulated), waits(&replayed), "{log}");
    }
}

/// A row of the table in `sim help results`: a week of UB's medium cluster, whose submissions are known, but no real run.
///
/// It takes longest of all tests. Tests start in order of their names, so that others run beside it here.
#[test]
fn a_week_of_the_medium_cluster() {
    const ROW: &str = "medium   limits             11.5             150.4          99.9    256.9   8.6";
    let Some(logs) = real_logs("UB's medium cluster under slurm") else { return };
    let folder = logs.join("nodes/ub-medium");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let (log, conf, accounts) = (path("workload_week.events.gz"), path("slurm.conf"), dump_of_site("ub-medium"));
    let scheduler = format!("slurm:conf={conf}");
    let site = ["--trace", &log, "--machine", &conf, "--associations", &accounts, "--scheduler", &scheduler];
    let csv = sim_ok(&[&site[..], &["--predictor", "estimate", "--baseline", "none", "--format", "csv"]].concat());
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let names = reader.headers().unwrap().clone();
    let found = reader.records().next().unwrap().unwrap();
    let figure = |name: &str, unit: f64| {
        let at = names.iter().position(|other| other == name).unwrap();
        format!("{:.1}", found[at].parse::<f64>().unwrap() / unit)
    };
    let hours = |name: &str| figure(name, 3600.0);
    let figures =
        [hours("wait_mean"), figure("bsld_mean", 1.0), hours("wait_p95"), hours("wait_max"), hours("wide_wait_mean")];
    assert_eq!(ROW.split_whitespace().skip(2).collect::<Vec<_>>(), figures);
    assert!(include_str!("../../src/cli/help/results.md").contains(ROW));
}
