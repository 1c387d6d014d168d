//! Counts and bounds that are easily wrong by one, through the program.

use crate::support::sim_fed;

/// An SWF log on 8 processors of (submit, wait, runtime, processors, estimate, user) records.
fn log(records: &[(i64, i64, i64, u32, i64, i64)]) -> String {
    let record = |((submit, wait, runtime, procs, estimate, user), number): (&(i64, i64, i64, u32, i64, i64), u32)| {
        format!("{number} {submit} {wait} {runtime} {procs} -1 -1 {procs} {estimate} -1 1 {user} 1 1 1 1 -1 -1\n")
    };
    let lines: String = records.iter().zip(1..).map(record).collect();
    format!("; MaxProcs: 8\n{lines}")
}

/// Runs the program on a log; the first row that it prints, by column name.
fn row(args: &[&str], log: &str) -> std::collections::BTreeMap<String, String> {
    let ran = sim_fed(&[&["-q"], args].concat(), log.as_bytes());
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    csv::Reader::from_reader(ran.out.as_bytes()).deserialize().next().unwrap().unwrap()
}

/// Of four jobs two outlive their estimates. They are counted whether they run on or are ended there.
#[test]
fn overruns_are_counted_under_either_rule() {
    let log = log(&[(0, 0, 90, 1, 60, 1), (1, 0, 60, 1, 60, 1), (2, 0, 59, 1, 60, 1), (3, 0, 61, 1, 60, 1)]);
    for (rule, mean) in [("extend", 67.5), ("kill", 59.75)] {
        let row = row(&["trace", "info", "-", "--overrun", rule, "--format", "csv"], &log);
        assert_eq!(row["overruns"], "2", "--overrun {rule}");
        assert_eq!(row["runtime_mean"].parse::<f64>().unwrap(), mean, "--overrun {rule}");
    }
}
