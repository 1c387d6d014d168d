//! A time for 95% is said only as far as such times held for past jobs: hand-made logs for each reason, and real logs.

use std::path::Path;

use crate::html::check_fetches_nothing;
use crate::live_waits::{SQUEUE, cells, cut, pending, record, rows};
use crate::support::{Folder, missing, real_log, real_logs, sim, sim_ok};

/// The last of 2,590 jobs, which arrive every 1,000 s, arrives at this time.
const LAST: i64 = 2_589_000;

/// 2,590 jobs of 50 s on one of 4 processors, with these waits. Every 50th of them is judged: 52.
fn log_with(wait: impl Fn(i64) -> i64) -> String {
    log_of(0..2590, wait)
}

/// Some of these jobs.
fn log_of(jobs: std::ops::Range<i64>, wait: impl Fn(i64) -> i64) -> String {
    let past = jobs.map(|at| record(at + 1, at * 1000, wait(at), 50, 1, 50, 1));
    format!("; MaxProcs: 4\n{}", past.collect::<String>())
}

/// Each job waits for 25 minutes, so each finds its predecessor waiting.
pub fn one_waits() -> String {
    log_with(|_| 1500)
}

/// A question about a queue of SWF records, as text and as the cells of its first row.
fn ask(log: &str, queue: &str, more: &[&str]) -> (String, Vec<String>) {
    let folder = Folder::new();
    let (log, queue) = (folder.write("log.swf", log), folder.write("queue.swf", queue));
    let shared = ["wait", "ask", &log, "--queue", &queue];
    let text = sim_ok(&[&shared[..], more, &["--format", "table"]].concat());
    let csv = rows(&sim_ok(&[&shared[..], more, &["--format", "csv"]].concat()));
    let cells = cells(&csv[0], &["reliable", "wait95", "held95", "doubt"]).into_iter().map(str::to_string).collect();
    (first_line(&text), cells)
}

/// The first paragraph in one line.
fn first_line(text: &str) -> String {
    text.split("\n\n").next().unwrap().replace('\n', " ")
}

const SMALL: [&str; 2] = ["--job", "procs=1,estimate=50s"];

/// A job that runs, so that the queue shows the present time.
fn running(procs: i64) -> String {
    record(9000, LAST, 0, -1, procs, 50, 1)
}

/// All past jobs waited for ten minutes. The first four of the 52 judged had too few others to compare with: 48 held.
#[test]
fn a_time_that_held_is_said() {
    let (text, found) = ask(&log_with(|_| 600), &running(1), &SMALL);
    assert_eq!(text, "most likely (80%) within 10m 00s; 95% sure within 10m 00s");
    assert_eq!(found, ["yes", "600", "600", ""]);
}

/// 200 jobs do not wait, the next 200 wait for 15 minutes, and so on. Each change comes as a surprise: of 52 judged answers 6 did not
/// hold, which is 88.5%.
#[test]
fn a_time_that_did_not_hold_is_replaced_by_the_range_that_did() {
    let (text, found) = ask(&log_with(|at| at / 200 % 2 * 900), &running(1), &SMALL);
    let expected = "no time is 95% sure: of 52 past answers only 88.5% held; on this site, 95% of such jobs started within 15m 00s";
    assert_eq!(text, expected);
    assert_eq!((found[0].as_str(), found[2].as_str(), found[3].as_str()), ("no", "900", ""));
}

/// Jobs that already wait are judged by those that did: at 51 of 52 arrivals the job before waited, for 500 s more. At the first
/// three of them too little was known. One that arrives now is judged by arrivals.
#[test]
fn jobs_that_wait_are_judged_by_jobs_that_waited() {
    let queue = running(1) + &record(9001, LAST - 1000, -1, -1, 1, 50, 1);
    let folder = Folder::new();
    let (log, queue) = (folder.write("log.swf", one_waits()), folder.write("queue.swf", queue));
    let text = sim_ok(&["wait", "ask", &log, "--queue", &queue, "--at", "9001", "--format", "table"]);
    assert_eq!(first_line(&text), "most likely (80%) within 8m 20s; 95% sure within 8m 20s");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("For jobs that already waited at these moments: of 51 past jobs, 94.1% started by"),
        "{text}"
    );
    let row = &rows(&sim_ok(&["wait", "ask", &log, "--queue", &queue, "--format", "csv"]))[0];
    assert_eq!(cells(row, &["reliable", "waited", "wait95", "held95"]), ["yes", "1000", "500", "500"]);
    let row =
        &rows(&sim_ok(&["wait", "ask", &log, "--queue", &queue, "--job", "procs=1,estimate=50s", "--format", "csv"]))
            [0];
    assert_eq!(cells(row, &["reliable", "waited", "wait95", "held95"]), ["yes", "0", "1500", "1500"]);
}

/// Every reason to decline.
#[test]
fn what_the_past_has_not_seen_is_declined() {
    let waiting =
        |submit: i64, procs: i64, estimate: i64| running(1) + &record(9001, submit, -1, -1, procs, estimate, 1);
    let day_later = (LAST + 86_400 + 3600).to_string();
    let none = running(1);
    let wide = ["--job", "procs=2,estimate=50s"];
    let long = ["--job", "procs=1,estimate=1h"];
    let old = ["--job", "procs=1,estimate=50s", "--now", &day_later];
    let few = ["--job", "procs=1,estimate=50s", "--recalibrate", "off", "--draws", "5"];
    let cases: [(String, String, &[&str], &str); 9] = [
        (
            log_of(2530..2590, |_| 600),
            none.clone(),
            &SMALL,
            "only 2 past answers for jobs that arrived can be judged, 50 are needed",
        ),
        (log_with(|_| 600), waiting(LAST - 10, 1, 50), &[], "only 0 past answers for jobs that already waited can be"),
        (one_waits(), none.clone(), &wide, "asked for as many processors (at most 1 processor)"),
        (one_waits(), none.clone(), &long, "asked for so long a time (at most 50.0 s)"),
        (one_waits(), none.clone(), &old, "it ends 1d 01h before now (at most a day is allowed)"),
        (one_waits(), waiting(LAST - 1600, 1, 50), &[], "no past job waited for so long (at most 25m 00s)"),
        (one_waits(), waiting(LAST, 4, 36_000), &SMALL, "no past job found so much work in the queue (at most"),
        (one_waits(), running(8), &SMALL, "the running jobs use 8 processors, and its machine has 4 processors"),
        (one_waits(), none.clone(), &few, "5 simulations cannot give a time for 95%, 19 are needed"),
    ];
    for (log, queue, more, doubt) in cases {
        let (text, found) = ask(&log, &queue, more);
        assert!(text.contains("the past of this log does not tell: ") && text.contains(doubt), "{text}");
        assert!(found[0] == "unknown" && found[3].contains(doubt), "{found:?}");
        assert!(!text.contains("sure"), "{text}");
    }
    // Behind an array of 20,000 tasks. The array itself has only one job before it.
    let folder = Folder::new();
    let log = folder.write("log.swf", one_waits());
    let array = pending("500_[1-20000]", 1, "12:00:00", "Resources") + &pending("501", 1, "12:00:00", "Priority");
    let queue = folder.write("queue.txt", format!("{SQUEUE}{array}"));
    let found = rows(&sim_ok(&["wait", "ask", &log, "--queue", &queue, "--format", "csv"]));
    let found: Vec<Vec<&str>> = found.iter().map(|row| cells(row, &["job", "reliable", "doubt"])).collect();
    let doubt = "no past job found so long a queue (at most 1 job)";
    assert_eq!(found, [["500_1", "yes", ""], ["500_20000", "unknown", doubt], ["501", "unknown", doubt]]);
}

#[test]
fn a_queue_needs_a_log() {
    let folder = Folder::new();
    let queue = folder.write("queue.txt", SQUEUE);
    let ran = sim(&["wait", "ask", "--queue", &queue]);
    assert!(ran.code == 2 && ran.out.is_empty(), "{}", ran.err);
    assert!(
        ran.err.contains("--queue needs the log of the site's past jobs") && ran.err.contains("sim help logs"),
        "{}",
        ran.err
    );
}

/// Three users, one with a name that would be markup in a page.
#[test]
fn users_are_picked_and_named_only_if_asked_for() {
    let folder = Folder::new();
    let log = folder.write("log.swf", one_waits());
    let job = |id: &str, user: &str| {
        pending(id, 1, "12:00:00", "Priority").replace("|u|", &format!("|{user}|")).replace("|p|q|", "|debug|gold|")
    };
    let held = job("4", "alice").replace("Priority", "JobHeldUser");
    let queue = folder
        .write("queue.txt", [SQUEUE, &job("1", "alice"), &job("2", "<b>bob"), &job("3", "carol"), &held].concat());
    let shared = ["wait", "ask", &log, "--queue", &queue];
    let run = |more: &[&str]| sim_ok(&[&shared[..], more].concat());
    let jobs = |more: &[&str]| -> Vec<String> { rows(&run(more)).iter().map(|row| row["job"].clone()).collect() };
    assert_eq!(jobs(&["--format", "csv"]), ["1", "2", "3", "4"]);
    assert_eq!(jobs(&["--format", "csv", "--user", "alice"]), ["1", "4"]);
    assert_eq!(jobs(&["--format", "csv", "--user", "carol"]), ["3"]);
    let page = folder.text("waits.html");
    for format in ["csv", "json", "table"] {
        for (names, picked) in
            [(false, &[][..]), (false, &["--user", "alice"]), (true, &[]), (true, &["--user", "alice"])]
        {
            let mut more = vec!["--format", format, "--html", &page];
            more.extend(names.then_some("--names"));
            more.extend(picked);
            let (out, html) = (run(&more), folder.read("waits.html"));
            for name in ["alice", "debug", "gold"] {
                assert_eq!((out.contains(name), html.contains(name)), (names, names), "{name} {more:?}\n{out}");
            }
        }
    }
    let row = &rows(&run(&["--format", "csv", "--names"]))[1];
    assert_eq!(cells(row, &["user", "queue", "partition"]), ["<b>bob", "gold", "debug"]);
    let html = folder.read("waits.html");
    assert!(check_fetches_nothing(&html) > 40 && html.contains("the jobs of user alice that wait"), "{html}");
    run(&["--html", &page, "--names", "--format", "csv"]);
    let html = folder.read("waits.html");
    check_fetches_nothing(&html);
    assert!(html.contains("&lt;b&gt;bob") && !html.contains("<b>"), "{html}");
    assert!(html.contains("JobHeldUser") && html.contains("How good such answers were"), "{html}");
    // The page can be the output itself.
    let ran = sim(&[&shared[..], &["--html", "-", "--format", "table"]].concat());
    check_fetches_nothing(&ran.out);
    assert!(ran.err.contains("has waited"), "{}", ran.err);
    for (more, message) in [
        (&["--user", "dave"][..], "has a user 'dave'"),
        (&["--html", &queue], "--html"),
        (&["--html", "x", "--job", "procs=1,estimate=1h"], "cannot be used with"),
    ] {
        let ran = sim(&[&shared[..], more].concat());
        assert!(ran.code == 2 && ran.err.contains(message), "{}", ran.err);
    }
    let ran = sim(&["wait", "ask", &log, "--user", "alice"]);
    assert!(ran.code == 2 && ran.err.contains("--queue"), "{}", ran.err);
}

/// The answers for all waiting jobs at several moments of a log: of all, and of those that are said to be reliable, how many started
/// by their times for 95%.
fn honesty(log: &Path, moments: impl Iterator<Item = i64>) -> ((usize, usize), (usize, usize)) {
    let folder = Folder::new();
    let swf = folder.text("all.swf");
    sim_ok(&["trace", "convert", log.to_str().unwrap(), "--out", &swf]);
    let text = folder.read("all.swf");
    let records = text.lines().filter(|line| !line.starts_with(';'));
    let start = |line: &str| {
        let fields: Vec<i64> = line.split_whitespace().take(3).map(|field| field.parse().unwrap()).collect();
        (fields[0].to_string(), fields[1] + fields[2])
    };
    let starts: std::collections::BTreeMap<String, i64> = records.map(start).collect();
    let (mut all, mut said) = ((0, 0), (0, 0));
    for now in moments {
        let part = folder.write("part.swf", cut(&text, now, 0));
        let arguments = ["wait", "ask", &part, "--queue", &part, "--now", &now.to_string(), "--format", "csv"];
        for row in rows(&sim_ok(&arguments)) {
            let held = usize::from(starts[&row["job"]] <= now + row["wait95"].parse::<i64>().unwrap());
            all = (all.0 + held, all.1 + 1);
            if row["reliable"] == "yes" {
                said = (said.0 + held, said.1 + 1);
            }
        }
    }
    (all, said)
}

/// A small Slurm cluster: 500 jobs in seven hours, more than it can run. The waits grow all the time, and hardly any job starts by its
/// time for 95%: so no such time may be said.
#[test]
fn nothing_is_sure_on_a_cluster_whose_waits_grow() {
    let Some(folder) = real_logs("nothing_is_sure_on_a_cluster_whose_waits_grow") else { return };
    let log = folder.join("accounting/slurm-micro.txt.gz");
    if !log.exists() {
        return missing("nothing_is_sure_on_a_cluster_whose_waits_grow", "slurm-micro.txt.gz");
    }
    let ((held, all), said) = honesty(&log, [6000, 12_000, 18_000].into_iter());
    println!("{held} of {all} started by their times for 95%, {said:?} that were said to be reliable");
    assert!(all > 100 && held * 2 < all, "{held} of {all}");
    assert_eq!(said, (0, 0));
    let text = sim_ok(&["wait", "ask", log.to_str().unwrap(), "--job", "procs=12,estimate=10m", "--format", "table"]);
    assert!(text.starts_with("the past of this log does not tell: only ") && !text.contains("sure"), "{text}");
}

/// On KTH most times are said to be reliable, and they are.
#[test]
fn reliable_times_hold_on_kth() {
    let Some(folder) = real_logs("reliable_times_hold_on_kth") else { return };
    let log = real_log(&folder, "KTH-SP2-1996");
    let ((_, all), (held, said)) = honesty(&log, (0..6).map(|at| 10_000_000 + at * 3_000_000));
    println!("{said} of {all} times were said to be reliable, {held} of them held");
    assert!(said * 3 > all && held as f64 >= 0.9 * said as f64, "{held} of {said}, {all} in all");
}
