//! Units of times in tables: stated by the user, or doubted with a warning that names the likely one.

use std::fs;
use std::io::Read;

use crate::support::{real_log, real_logs, sim_fed};

/// A table of jobs on 32 processors, read with these columns: times in Unix seconds, durations divided by `unit`. The jobs run
/// for an hour in the mean and for two days at most.
fn table(unit: f64) -> String {
    let row = |at: i64| {
        let run = if at % 50 == 7 { 172_800 } else { 30 + at * 7919 % 3600 };
        let value = |seconds: i64| format!("{:.4}", seconds as f64 / unit);
        let (submit, wait) = (1_000_000_000 + at * 1000, at * 37 % 900);
        format!("{submit},{},{},{},{}\n", value(wait), value(run), at % 8 + 1, value(4 * run))
    };
    format!("when,queued,took,size,limit\n{}", (0..400).map(row).collect::<String>())
}

const TABLE: &str = "csv:submit=when,wait=queued,run=took,procs=size,estimate=limit";

/// What is printed on standard error about a table.
fn said(text: &str, format: &str, more: &[&str]) -> String {
    let ran = sim_fed(&[&["--trace", "-", "--log-format", format, "--procs", "32"], more].concat(), text.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.err
}

#[test]
fn durations_in_another_unit_are_doubted() {
    let seconds = said(&table(1.0), TABLE, &[]);
    assert!(!seconds.contains("probably in"), "{seconds}");
    for (unit, written, words) in [(60.0, "min", "minutes"), (3600.0, "h", "hours"), (0.001, "ms", "milliseconds")] {
        let text = table(unit);
        let warned = said(&text, TABLE, &[]);
        let expected =
            format!("the run times are probably in {words}. If so, write run=took{{{written}}} in --log-format");
        assert!(warned.contains(&expected) && warned.contains("% of the machine"), "{warned}");
        for command in ["info", "convert"] {
            let out = if command == "convert" { &["--out", "/dev/null"][..] } else { &[] };
            let given = ["trace", command, "-", "--log-format", TABLE, "--procs", "32"];
            let ran = sim_fed(&[&given[..], out].concat(), text.as_bytes());
            assert!(ran.code == 0 && ran.err.contains(&expected), "{command}: {}", ran.err);
        }
        assert!(!said(&text, TABLE, &["-q"]).contains("probably in"));
        // The unit that was named, and the one that was said to be right.
        let stated = TABLE.replace("took", &format!("took{{{written}}}"));
        let all =
            stated.replace("queued", &format!("queued{{{written}}}")).replace("limit", &format!("limit{{{written}}}"));
        assert!(!said(&text, &all, &[]).contains("probably in"));
        assert!(!said(&text, &TABLE.replace("took", "took{s}"), &[]).contains("probably in"));
        // It is the same log then, but for the decimals.
        let jobs = |text: &str, format: &str| {
            let given = ["-q", "--trace", "-", "--log-format", format, "--procs", "32", "--jobs-out", "-"];
            sim_fed(&given, text.as_bytes()).out
        };
        assert_eq!(jobs(&text, &all), jobs(&table(1.0), TABLE));
    }
}

#[test]
fn a_table_whose_times_are_all_in_hours_is_doubted_and_clocks_are_not() {
    // Every time is in hours: the machine is as full as it was.
    let run = |at: i64| if at % 20 == 7 { 40 } else { 1 + at % 3 };
    let hours = |at: i64| format!("{},{},{},{}\n", 1000 + at, at % 3, run(at), at % 8 + 1);
    let text = format!("when,queued,took,size\n{}", (0..400).map(hours).collect::<String>());
    let format = "csv:submit=when,wait=queued,run=took,procs=size";
    let warned = said(&text, format, &[]);
    assert!(warned.contains("the longest run time is 40.0 s and the jobs use"), "{warned}");
    assert!(
        warned.contains("write run=took{h} in --log-format, and {h} behind submit= and all other times"),
        "{warned}"
    );
    let all = "csv:submit=when{h},wait=queued{h},run=took{h},procs=size";
    assert!(!said(&text, all, &[]).contains("probably in"));
    // Short run times that are written as clocks have a unit.
    let clock = |at: i64| format!("{},{},00:00:{:02},{}\n", 1_000_000_000 + at * 1000, at % 3, 1 + at % 40, at % 8 + 1);
    let text = format!("when,queued,took,size\n{}", (0..400).map(clock).collect::<String>());
    assert!(!said(&text, format, &[]).contains("probably in"));
}

/// The unit is right, but the machine is not: the warning says so, and no other unit is named.
#[test]
fn an_unusual_utilization_is_doubted_whatever_the_unit() {
    let usual = said(&table(1.0), TABLE, &[]);
    assert!(!usual.contains("look like seconds"), "{usual}");
    let given = ["--trace", "-", "--log-format", TABLE, "--procs", "3200"];
    let ran = sim_fed(&given, table(1.0).as_bytes());
    assert!(
        ran.code == 0 && ran.err.contains("run times look like seconds: is the machine of the right size"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("probably in"), "{}", ran.err);
    let stated = TABLE.replace("took", "took{s}");
    let ran = sim_fed(&["--trace", "-", "--log-format", &stated, "--procs", "3200"], table(1.0).as_bytes());
    assert!(!ran.err.contains("look like seconds"), "{}", ran.err);
}

/// Writes a log as a table, with durations in this unit.
fn as_table(log: &str, unit: f64) -> String {
    let mut text = "when,queued,took,size\n".to_string();
    for line in log.lines().filter(|line| !line.starts_with(';')) {
        let fields: Vec<f64> = line.split_whitespace().map(|field| field.parse().unwrap()).collect();
        let [submit, wait, run, allocated, requested] = [1, 2, 3, 4, 7].map(|field| fields[field]);
        let procs = if requested > 0.0 { requested } else { allocated };
        if run >= 0.0 && procs > 0.0 && submit >= 0.0 {
            text += &format!("{submit},{:.2},{:.2},{procs}\n", wait.max(0.0) / unit, run / unit);
        }
    }
    text
}

#[test]
fn real_logs_in_seconds_are_not_doubted_and_others_are() {
    let Some(folder) = real_logs("real_logs_in_seconds_are_not_doubted_and_others_are") else { return };
    let format = "csv:submit=when,wait=queued,run=took,procs=size";
    for name in ["KTH-SP2-1996-2.1-cln.swf.gz", "NASA-iPSC-1993-3.1-cln.swf.gz", "LANL-CM5-1994-4.1-cln.swf.gz"] {
        let mut log = String::new();
        let file = fs::File::open(real_log(&folder, name)).unwrap();
        flate2::read::GzDecoder::new(file).read_to_string(&mut log).unwrap();
        for (unit, words) in
            [(1.0, None), (60.0, Some("minutes")), (3600.0, Some("hours")), (0.001, Some("milliseconds"))]
        {
            let given = ["trace", "info", "-", "--log-format", format];
            let ran = sim_fed(&given, as_table(&log, unit).as_bytes());
            assert_eq!(ran.code, 0, "{name}: {}", ran.err);
            let named = ran.err.split("probably in ").nth(1).map(|rest| rest.split('.').next().unwrap());
            assert_eq!(named, words, "{name} in units of {unit} s: {}", ran.err);
        }
    }
}
