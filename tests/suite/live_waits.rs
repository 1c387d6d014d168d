//! When will jobs that wait now start? Answers for a present queue, against examples worked out by hand and against what the
//! same log says of the same moment.

use std::collections::BTreeMap;

use crate::support::{Folder, Ran, demo_text, real_log, real_logs, sim, sim_ok};

pub type Row = BTreeMap<String, String>;

pub fn rows(text: &str) -> Vec<Row> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

pub fn cells<'a>(row: &'a Row, names: &[&str]) -> Vec<&'a str> {
    names.iter().map(|name| row[*name].as_str()).collect()
}

/// A record of SWF: job, submit, wait, runtime, processors, estimate, user.
pub fn record(job: i64, submit: i64, wait: i64, runtime: i64, procs: i64, estimate: i64, user: i64) -> String {
    format!("{job} {submit} {wait} {runtime} {procs} -1 -1 {procs} {estimate} -1 1 {user} -1 -1 -1 -1 -1 -1\n")
}

/// A machine of 4 processors. All jobs of the past ran exactly as long as estimated, so all draws are equal.
fn small_log() -> String {
    let past = (0..60).map(|at| record(at + 1, at * 100, 0, 50, 1, 50, 1 + at % 2));
    format!("; MaxProcs: 4\n{}", past.collect::<String>())
}

/// Now is 10,000, when the last job arrives. Job 100 runs on three processors and is expected to end at 10,200.
fn small_queue() -> String {
    [
        record(100, 9900, 0, -1, 3, 300, 1),
        record(101, 9950, -1, -1, 4, 100, 1),
        record(102, 9990, -1, -1, 1, 150, 2),
        record(103, 10_000, -1, -1, 1, 250, 2),
    ]
    .concat()
}

/// Job 101 needs the whole machine and starts at 10,200. Job 102 ends at 10,150, so it is backfilled at once. Job 103 would end
/// after 10,200 and waits until 101 ends at 10,300. A job of two processors that is asked about starts then, too.
#[test]
fn a_queue_by_hand() {
    let folder = Folder::new();
    let (log, queue) = (folder.write("log.swf", small_log()), folder.write("queue.swf", small_queue()));
    let shared = ["wait", "ask", &log, "--queue", &queue, "--recalibrate", "off", "--draws", "5"];
    let found = rows(&sim_ok(&[&shared[..], &["--format", "csv"]].concat()));
    let waits =
        ["job", "stage", "waited", "wait50", "wait80", "wait95", "start50", "start95", "class_from", "class_to"];
    let expected = [
        ["101", "waiting", "50", "200", "200", "200", "10200", "10200", "0", "3600"],
        ["102", "waiting", "10", "0", "0", "0", "10000", "10000", "0", "3600"],
        ["103", "waiting", "0", "300", "300", "300", "10300", "10300", "0", "3600"],
    ];
    assert_eq!(found.iter().map(|row| cells(row, &waits)).collect::<Vec<_>>(), expected);
    assert_eq!(cells(&found[0], &["now", "class_probability", "seed"]), ["10000", "1.000000", "1"]);
    let ask = |more: &[&str]| sim_ok(&[&shared[..], &["--job", "procs=2,estimate=1h"], more].concat());
    let asked = &rows(&ask(&["--format", "csv"]))[0];
    assert_eq!(cells(asked, &["job", "wait50", "start50"]), ["", "300", "10300"]);
    let text = ask(&["--format", "table"]);
    assert!(text.contains("in half of the simulations of the queue it starts after 5m 00s, or earlier\n"), "{text}");
    assert!(text.contains("3 jobs waiting, 1 job running on 3 of 4 processors"), "{text}");
    let ran = sim(&shared);
    assert!(ran.err.contains("5 simulations cannot tell a time for 95%: at least 19 are needed"), "{}", ran.err);
    // Under FCFS nothing is backfilled: 102 waits for 101, and 103 with it.
    let fcfs = rows(&sim_ok(&[&shared[..], &["--scheduler", "fcfs", "--format", "csv"]].concat()));
    assert_eq!(fcfs.iter().map(|row| &row["wait50"]).collect::<Vec<_>>(), ["200", "300", "300"]);
    // 100 seconds later job 100 still runs, and 103 can start when it ends.
    let later = rows(&sim_ok(&[&shared[..], &["--now", "10100", "--format", "csv"]].concat()));
    assert_eq!(later.iter().map(|row| &row["wait50"]).collect::<Vec<_>>(), ["100", "200", "200"]);
    // One job of the queue.
    let at = rows(&sim_ok(&[&shared[..], &["--at", "103", "--format", "csv"]].concat()));
    assert_eq!((at.len(), cells(&at[0], &["job", "wait50"])), (1, vec!["103", "300"]));
    for (job, message) in [("100", "no job 100 waits in"), ("7", "no job 7 waits in")] {
        let ran = sim(&[&shared[..], &["--at", job]].concat());
        assert!(ran.code == 2 && ran.err.contains(message), "{}", ran.err);
    }
    // One file can be the history and the queue.
    let both = folder.write("both.swf", small_log() + &small_queue());
    let ran = sim(&["wait", "ask", &both, "--recalibrate", "off", "--job", "procs=2,estimate=1h", "--format", "csv"]);
    assert_eq!(cells(&rows(&ran.out)[0], &["wait50", "wait95", "now"]), ["300", "300", "10000"]);
    assert!(ran.err.contains("the present queue: 3 jobs waiting, 1 job running"), "{}", ran.err);
    let ran = sim(&["wait", "ask", &both, "--queue", &both, "--recalibrate", "off", "--format", "csv"]);
    assert_eq!(rows(&ran.out).len(), 3);
    assert!(!ran.err.contains("dropped"), "{}", ran.err);
}

/// The queue above with the whole machine out from 10,250 to 10,600: job 101 would reach into that at 10,200, so it starts at
/// 10,600. Job 102 ends before. Job 103 has no processor until 10,150, and then no time before the maintenance.
#[test]
fn no_start_is_promised_in_an_outage() {
    let folder = Folder::new();
    let (log, queue) = (folder.write("log.swf", small_log()), folder.write("queue.swf", small_queue()));
    let shared = ["wait", "ask", &log, "--queue", &queue, "--recalibrate", "off", "--draws", "5"];
    let ask = |outages: &str, more: &[&str]| {
        let file = folder.write("outages.csv", format!("start,end,procs,kind\n{outages}\n"));
        sim_ok(&[&shared[..], &["--outages", &file], more].concat())
    };
    let found = rows(&ask("10250,10600,all,maintenance", &["--format", "csv"]));
    let found: Vec<_> = found.iter().map(|row| cells(row, &["job", "wait95", "after"])).collect();
    let after = "maintenance in 4m 10s";
    assert_eq!(found, [["101", "600", after], ["102", "0", ""], ["103", "700", after]]);
    let text = ask("10250,10600,all,maintenance", &["--format", "table"]);
    assert!(text.contains("; 2 after the maintenance in 4m 10s\n"), "{text}");
    let text = ask("10250,10600,all,maintenance", &["--format", "table", "--at", "101"]);
    let answer = text.split("\n\n").next().unwrap().replace('\n', " ");
    assert!(answer.ends_with("; after the maintenance in 4m 10s"), "{text}");
    // One processor is out until 10,400. What runs goes on until 10,200. Then 102 has time before 101 needs all, and 103 has not.
    let found = rows(&ask("9000,10400,1,drain", &["--format", "csv"]));
    let found: Vec<_> = found.iter().map(|row| cells(row, &["wait95", "after"])).collect();
    assert_eq!(found, [["400", "present outage"], ["200", ""], ["500", ""]]);
    // One that is out for ever.
    let found = rows(&ask("9000,,1,down", &["--format", "csv"]));
    assert!(found.iter().any(|row| row["reason"].starts_with("it can never start: the outage (")), "{found:?}");
    let ran = sim(&["wait", &log, "--method", "knn", "--outages", &folder.text("outages.csv")]);
    assert!(ran.code == 2 && ran.err.contains("--outages has no effect"), "{}", ran.err);
    let simulate = ["wait", &log, "--method", "simulate", "--outages", &folder.text("outages.csv")];
    sim_ok(&simulate);
}

/// Past jobs that were simulated to start at once waited for ten minutes. So will a job that could start now.
#[test]
fn answers_are_recalibrated() {
    let folder = Folder::new();
    let past = (0..2500).map(|at| record(at + 1, at * 1000, 600, 50, 1, 50, 1));
    let log = folder.write("log.swf", format!("; MaxProcs: 4\n{}", past.collect::<String>()));
    let ask = |log: &str, more: &[&str]| -> (Row, Ran) {
        let ran = sim(&[&["wait", "ask", log, "--job", "procs=1,estimate=50s", "--format", "csv"], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        (rows(&ran.out)[0].clone(), ran)
    };
    let (found, ran) = ask(&log, &[]);
    assert_eq!(cells(&found, &["wait50", "wait80", "wait95"]), ["600", "600", "600"]);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
    assert_eq!(cells(&ask(&log, &["--recalibrate", "off"]).0, &["wait50", "wait95"]), ["0", "0"]);
    let text = sim_ok(&["wait", "ask", &log, "--job", "procs=1,estimate=50s", "--format", "table"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("of 50 past jobs (every 50th of the last 2,500), "), "{text}");
    // Too few past jobs, and a request unlike any of them.
    let small = folder.write("small.swf", small_log());
    let (_, ran) = ask(&small, &[]);
    assert!(ran.err.contains("the ranges come from only 12 past answers"), "{}", ran.err);
    let ran = sim(&["wait", "ask", &log, "--job", "procs=3,estimate=1h", "--format", "csv"]);
    assert!(ran.err.contains("1 job asks for more processors than any past job"), "{}", ran.err);
    assert!(ran.err.contains("1 job asks for a longer time than any past job"), "{}", ran.err);
}

/// The records of a log as they were at one moment.
pub fn cut(text: &str, now: i64, before: i64) -> String {
    let line = |line: &str| {
        let mut fields: Vec<String> = line.split_whitespace().map(str::to_string).collect();
        let number = |at: usize| fields[at].parse::<i64>().unwrap();
        let (job, submit, wait, runtime) = (number(0), number(1), number(2), number(3));
        if submit > now || submit == now && job >= before {
            return String::new();
        }
        if submit + wait >= now {
            (fields[2], fields[3]) = ("-1".to_string(), "-1".to_string());
        } else if submit + wait + runtime > now {
            fields[3] = "-1".to_string();
        }
        fields.join(" ") + "\n"
    };
    let (header, records): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with(';'));
    header.join("\n") + "\n" + &records.into_iter().map(line).collect::<String>()
}

/// What a log says of a job at its arrival is what the log that ends there says of a job that is asked about.
#[test]
fn a_cut_log_answers_as_the_whole_one() {
    let (folder, text) = (Folder::new(), String::from_utf8(demo_text()).unwrap());
    let text: String = text.split_inclusive('\n').take(4200).collect();
    let log = folder.write("log.swf", &text);
    let mut answers = std::collections::BTreeSet::new();
    for job in [2600, 4000] {
        let fields = text.lines().filter(|line| !line.starts_with(';')).map(|line| line.split_whitespace());
        let fields: Vec<&str> =
            fields.map(|fields| fields.collect::<Vec<_>>()).find(|fields| fields[0] == job.to_string()).unwrap();
        let part = folder.write("part.swf", cut(&text, fields[1].parse().unwrap(), job));
        let number = job.to_string();
        let question = format!("procs={},estimate={},user={}", fields[7], fields[8], fields[11]);
        let now = ["--queue", &part, "--now", fields[1], "--job", &question];
        let waits = ["wait50", "wait80", "wait95", "start80"];
        let mut at = String::new();
        for recalibrate in ["off", "on"] {
            let shared = ["--recalibrate", recalibrate, "--draws", "40", "--format", "csv"];
            at = sim_ok(&[&["wait", "ask", &log, "--at", &number], &shared[..]].concat());
            for history in [&part, &log] {
                let asked = sim_ok(&[&["wait", "ask", history], &now[..], &shared[..]].concat());
                let what = format!("{job}, recalibrate {recalibrate}, {history}");
                assert_eq!(cells(&rows(&at)[0], &waits), cells(&rows(&asked)[0], &waits), "{what}");
            }
        }
        answers.insert(rows(&at)[0]["wait80"].clone());
    }
    assert!(answers.len() > 1, "{answers:?}");
}

#[test]
fn threads_change_nothing() {
    let folder = Folder::new();
    let text = String::from_utf8(demo_text()).unwrap();
    let part = folder.write("part.swf", cut(&text, 1_500_000, 0));
    let answer =
        |threads: &str| sim_ok(&["wait", "ask", &part, "--queue", &part, "--format", "csv", "--threads", threads]);
    let one = answer("1");
    assert!(one.lines().count() > 1, "{one}");
    assert_eq!(one, answer("3"));
}

/// Names of an accounting log and of `squeue`: alice's jobs run for a tenth of their limits, bob's as long as they may.
#[test]
fn users_of_squeue_are_those_of_the_accounting_log() {
    let folder = Folder::new();
    let mut sacct = "JobIDRaw|User|Submit|Start|End|NCPUS|Timelimit|State\n".to_string();
    for job in 0..40 {
        let (user, end) = if job % 2 == 0 { ("alice", "06:00") } else { ("bob", "59:59") };
        let hour = format!("2026-01-30T{:02}", job % 24);
        sacct += &format!("{job}|{user}|{hour}:00:00|{hour}:00:00|{hour}:{end}|4|01:00:00|COMPLETED\n");
    }
    let log = folder.write("sacct.txt", sacct);
    let queue = |user: &str| {
        format!(
            "JOBID|USER|ACCOUNT|PARTITION|QOS|CPUS|TIME_LIMIT|TIME|STATE|SUBMIT_TIME|START_TIME|REASON|NAME\n\
             900|{user}|a|p|q|8|1:00:00|1:00|RUNNING|2026-01-31T11:00:00|2026-01-31T12:00:00|None|n\n\
             901|zoe|a|p|q|8|10:00|0:00|PENDING|2026-01-31T12:01:00|2026-01-31T13:00:00|Resources|n\n\
             902|zoe|a|p|q|1|10:00|0:00|PENDING|2026-01-31T12:01:00|N/A|Dependency|n\n\
             903|zoe|a|p|q|9|10:00|0:00|PENDING|2026-01-31T12:01:00|N/A|Priority|n\n"
        )
    };
    let answer = |user: &str, format: &str| {
        let queue = folder.write("squeue.txt", queue(user));
        let ran =
            sim(&["wait", "ask", &log, "--queue", &queue, "--procs", "8", "--recalibrate", "off", "--format", format]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran
    };
    let alice = rows(&answer("alice", "csv").out);
    // The running job has run for a minute, and ends after six.
    assert_eq!(cells(&alice[0], &["job", "wait50", "wait95", "start50"]), ["901", "300", "300", "1769861160"]);
    assert_eq!(cells(&alice[0], &["expected_start", "now"]), ["1769864400", "1769860860"]);
    assert_eq!(cells(&alice[1], &["job", "stage", "reason", "wait50"]), ["902", "held", "Dependency", ""]);
    assert_eq!(
        cells(&alice[2], &["job", "stage", "reason"]),
        ["903", "held", "wider than the machine of 8 processors, see --procs"]
    );
    let bob = rows(&answer("bob", "csv").out);
    assert_eq!(cells(&bob[0], &["wait50", "wait95"]), ["3539", "3539"]);
    let ran = answer("alice", "table");
    assert!(ran.err.contains("the users of 3 jobs of the queue are not in the log"), "{}", ran.err);
    for text in ["2026-01-31 12:01 (UTC): 1 job waiting, 1 job running on 8 of 8 processors", "12:06", "13:00"] {
        assert!(ran.out.contains(text), "{}", ran.out);
    }
    assert!(ran.out.contains("2 jobs held, not waiting for processors: 902 (Dependency)"), "{}", ran.out);
    let ask = ["--queue", &folder.text("squeue.txt"), "--procs", "8", "--job"];
    let ran = sim(&[&["wait", "ask", &log], &ask[..], &["procs=1,estimate=1h,user=eve"]].concat());
    assert!(ran.code == 2 && ran.err.contains("the log has no user 'eve'"), "{}", ran.err);
    let ran = sim(&[&["wait", "ask", &log], &ask[..], &["procs=1,estimate=1h,user=bob", "--format", "csv"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
}

pub const SQUEUE: &str =
    "JOBID|USER|ACCOUNT|PARTITION|QOS|CPUS|TIME_LIMIT|TIME|STATE|SUBMIT_TIME|ELIGIBLE_TIME|START_TIME|REASON|NAME\n";

/// A row of `squeue` for a job of 50 s that was submitted at noon.
pub fn pending(job: &str, procs: u32, eligible: &str, reason: &str) -> String {
    format!("{job}|u|a|p|q|{procs}|0:50|0:00|PENDING|2026-01-31T12:00:00|2026-01-31T{eligible}|N/A|{reason}|n\n")
}

/// 4,000 tasks of 50 s on 4 processors, and a job behind them that needs all. With one row per task the answers are the same.
#[test]
fn a_large_array_is_answered_by_its_first_and_its_last_task() {
    let folder = Folder::new();
    let past = (0..2500).map(|at| record(at + 1, at * 1000, 600, 50, 1, 50, 1));
    let log = folder.write("log.swf", format!("; MaxProcs: 4\n{}", past.collect::<String>()));
    let behind = pending("501", 4, "12:00:00", "Priority");
    let held = pending("502_[1-200]", 1, "12:00:00", "Dependency");
    let array = pending("500_[1-4000%7]", 1, "12:00:00", "Resources");
    let array = folder.write("array.txt", format!("{SQUEUE}{array}{behind}{held}"));
    let tasks: String = (1..=4_000).map(|task| pending(&format!("500_{task}"), 1, "12:00:00", "Resources")).collect();
    let tasks = folder.write("tasks.txt", format!("{SQUEUE}{tasks}{behind}"));
    let ask = |queue: &str, more: &[&str]| {
        let ran = sim(&[&["wait", "ask", &log, "--queue", queue, "--format", "csv", "--draws", "20"], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran
    };
    let ran = ask(&array, &["--recalibrate", "off"]);
    let found: Vec<Vec<String>> = rows(&ran.out)
        .iter()
        .map(|row| vec![row["job"].clone(), row["wait50"].clone(), row["wait95"].clone()])
        .collect();
    let expected = [
        ["500_1", "0", "0"],
        ["500_4000", "49950", "49950"],
        ["501", "50000", "50000"],
        ["502_1", "", ""],
        ["502_200", "", ""],
    ];
    assert_eq!(found, expected);
    assert!(
        ran.err.contains("only the first and the last task are listed, without 4,196 tasks between"),
        "{}",
        ran.err
    );
    let one = rows(&ask(&array, &["--recalibrate", "off", "--at", "500_777"]).out);
    assert_eq!((one.len(), cells(&one[0], &["job", "wait50"])), (1, vec!["500_777", "9700"]));
    // Of a longer one there are fewer simulations.
    let long = pending("500_[1-20000%7]", 1, "12:00:00", "Resources");
    let long = folder.write("long.txt", format!("{SQUEUE}{long}{behind}{held}"));
    let text = sim_ok(&["wait", "ask", &log, "--queue", &long, "--recalibrate", "off", "--format", "table"]);
    assert!(
        text.starts_with("3 of 20,001 waiting jobs: for 1, ") && text.contains("49 simulations of the queue"),
        "{text}"
    );
    let all = ask(&tasks, &[]).out;
    let known: Vec<&str> =
        all.lines().filter(|line| ["500_1,", "500_4000,", "501,"].iter().any(|job| line.starts_with(job))).collect();
    let few = ask(&array, &[]).out;
    assert_eq!((all.lines().count(), &few.lines().collect::<Vec<_>>()[1..4]), (4_002, &known[..]));
    // The past is that of the log, though more jobs than it has wait now.
    let text = sim_ok(&["wait", "ask", &log, "--queue", &tasks, "--at", "501", "--draws", "20", "--format", "table"]);
    assert!(text.contains("of 50 past jobs (every 50th of the last 2,500)"), "{text}");
    // Past jobs that arrived after the array count too.
    let since_yesterday = pending("500_[1-4000]", 1, "12:00:00", "Resources").replace("01-31", "01-30");
    let yesterday = folder.write("yesterday.txt", format!("{SQUEUE}{since_yesterday}{behind}"));
    let ran = ask(&yesterday, &[]);
    assert!(rows(&ran.out).len() == 3 && !ran.err.contains("past answers"), "{}", ran.err);
}

/// The first job waits for a time, not for processors: it may start from 13:00 on. Past jobs waited for ten minutes.
#[test]
fn no_job_starts_before_it_may() {
    let folder = Folder::new();
    let past = (0..2500).map(|at| record(at + 1, at * 1000, 600, 50, 1, 50, 1));
    let log = folder.write("log.swf", format!("; MaxProcs: 4\n{}", past.collect::<String>()));
    let jobs = pending("1", 1, "13:00:00", "Priority") + &pending("2", 4, "12:00:00", "Priority");
    let queue = folder.write("queue.txt", format!("{SQUEUE}{jobs}"));
    for (recalibrate, expected) in
        [("off", [["2", "0", "0"], ["1", "3600", "3600"]]), ("on", [["2", "600", "600"], ["1", "4200", "4200"]])]
    {
        let out = sim_ok(&["wait", "ask", &log, "--queue", &queue, "--recalibrate", recalibrate, "--format", "csv"]);
        let found = rows(&out);
        let found: Vec<_> = found.iter().map(|row| cells(row, &["job", "wait50", "wait95"])).collect();
        assert_eq!(found, expected, "{recalibrate}");
    }
}

/// An old history, a queue without jobs, and times that do not fit.
#[test]
fn odd_queues_are_answered_or_refused() {
    let folder = Folder::new();
    let log = folder.write("log.swf", small_log());
    let header = "JOBID|USER|ACCOUNT|PARTITION|QOS|CPUS|TIME_LIMIT|TIME|STATE|SUBMIT_TIME|START_TIME|REASON|NAME\n";
    let empty = folder.write("empty.txt", header);
    let text = sim_ok(&["wait", "ask", &log, "--queue", &empty, "--format", "table"]);
    assert!(text.contains("no job waits for processors"), "{text}");
    let one = "7|a|a|p|q|2|UNLIMITED|0:00|PENDING|2026-01-31T12:01:00|N/A|None|n\n";
    let one = folder.write("one.txt", header.to_string() + one);
    let asked = sim_ok(&["wait", "ask", &log, "--queue", &one, "--recalibrate", "off", "--format", "csv"]);
    assert_eq!(cells(&rows(&asked)[0], &["job", "wait50", "estimate", "now"]), ["7", "0", "50", "1769860860"]);
    let dated = folder.write("dated.swf", small_log().replace("; MaxProcs", "; UnixStartTime: 1000000\n; MaxProcs"));
    let ran = sim(&["wait", "ask", &dated, "--queue", &one, "--format", "csv"]);
    assert!(ran.err.contains("before the queue: its history is that of another time"), "{}", ran.err);
    let ran = sim(&["wait", "ask", &log, "--queue", &one, "--now", "9999-12-31T00:00:00"]);
    assert!(ran.code == 2 && ran.err.contains("--now is more than a year after the last event"), "{}", ran.err);
    // Dates of an SWF queue count from its beginning.
    let open = folder.write("open.swf", format!("; UnixStartTime: 1000000\n{}", small_queue()));
    let ask = |now: &str| {
        sim_ok(&["wait", "ask", &dated, "--queue", &open, "--now", now, "--recalibrate", "off", "--format", "csv"])
    };
    assert_eq!(ask("1970-01-12T16:34:00"), ask("10040"));
    assert_eq!(cells(&rows(&ask("10040"))[0], &["now", "wait50"]), ["1010040", "160"]);
    let bare = folder.write("bare.swf", small_queue());
    let ran = sim(&["wait", "ask", &log, "--queue", &bare, "--now", "1970-01-12T16:34:00"]);
    assert!(ran.code == 2 && ran.err.contains("does not say when it begins"), "{}", ran.err);
    let ran = sim(&["wait", "ask", "-", "--queue", "-"]);
    assert!(ran.code == 2 && ran.err.contains("only one of the log and --queue can be standard input"), "{}", ran.err);
    let ran = sim(&["wait", "ask", &log, "--queue", &one, "--now", "2026-01-31T11:00:00"]);
    assert!(ran.code == 2 && ran.err.contains("--now is 1h 01m before the last event"), "{}", ran.err);
    for (content, message) in
        [(&b"\0\x01\x02"[..], "not text"), (b"", "empty"), (b"hello\n", "\"hello\", is not of a queue")]
    {
        let bad = folder.write("bad", content);
        let ran = sim(&["wait", "ask", &log, "--queue", &bad]);
        assert!(ran.code == 2 && ran.err.contains(message), "{}", ran.err);
    }
}

/// KTH cut at job 12,224: 43 jobs wait before it and 5 run.
#[test]
fn kth_at_job_12224() {
    let Some(folder) = real_logs("kth_at_job_12224") else { return };
    let file = real_log(&folder, "KTH-SP2-1996");
    let (scratch, mut text) = (Folder::new(), String::new());
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(std::fs::File::open(file).unwrap()), &mut text)
        .unwrap();
    let submit = text.lines().find(|line| line.split_whitespace().next() == Some("12224")).unwrap();
    let submit: i64 = submit.split_whitespace().nth(1).unwrap().parse().unwrap();
    let part = scratch.write("kth.swf", cut(&text, submit, 12_224));
    let ran = sim(&["wait", "ask", &part, "--job", "procs=8,estimate=15m", "--format", "table"]);
    assert!(ran.err.contains("43 jobs waiting, 5 jobs running"), "{}", ran.err);
    assert!(ran.out.contains("43 jobs waiting, 5 jobs running on 27 of 100 processors"), "{}", ran.out);
    assert!(
        ran.out.contains("most likely (80%) within") && ran.out.contains(" past jobs (every 50th of the last 5,000)"),
        "{}",
        ran.out
    );
    let all = rows(&sim_ok(&["wait", "ask", &part, "--queue", &part, "--format", "csv"]));
    assert_eq!(all.len(), 43);
}

/// The 90% bounds hold for 87 to 93% of jobs, and errors are smaller than those of similar jobs alone.
#[test]
fn recalibrated_answers_are_honest_on_kth() {
    let Some(folder) = real_logs("recalibrated_answers_are_honest_on_kth") else { return };
    let log = real_log(&folder, "KTH-SP2-1996").to_str().unwrap().to_string();
    let methods = "knn,simulate:draws=30,recalibrate=on";
    let out = sim_ok(&["wait", &log, "--most", "5000", "--method", methods, "--format", "csv"]);
    let found = rows(&out);
    let number = |row: usize, name: &str| found[row][name].parse::<f64>().unwrap();
    assert!((87.0..=93.0).contains(&number(1, "covered90_pct")), "{out}");
    for (name, sign) in [("mean_error", -1.0), ("pinball", -1.0), ("class1_pct", 1.0)] {
        assert!((number(1, name) - number(0, name)) * sign > 0.0, "{name}: {out}");
    }
}
