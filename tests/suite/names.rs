//! Names of users, groups, queues and partitions: shown with `--names`, by the right number, and never without it.

use std::fs;

use crate::html::check_fetches_nothing;
use crate::support::{Folder, sim, sim_ok};

const HEADER: &str = "JobIDRaw|User|Account|JobName|QOS|Partition|Submit|Start|End|State|NCPUS|Timelimit";

/// An sacct file of these jobs, one per minute: user, account, QOS, partition, processors. Each runs for an hour.
fn sacct(jobs: &[(&str, &str, &str, &str, u32)]) -> String {
    let row = |(at, (user, account, qos, partition, procs)): (usize, &(&str, &str, &str, &str, u32))| {
        let (hour, minute) = (at / 60, at % 60);
        let time = |hours: usize| format!("2026-01-{:02}T{:02}:{minute:02}:00", 1 + hours / 24, hours % 24);
        let (submit, end) = (time(hour), time(hour + 1));
        format!("{at}|{user}|{account}|secret|{qos}|{partition}|{submit}|{submit}|{end}|COMPLETED|{procs}|02:00:00")
    };
    let rows: Vec<String> = jobs.iter().enumerate().map(row).collect();
    format!("{HEADER}\n{}\n", rows.join("\n"))
}

/// Two users, of which the second has more area.
const TWO: [(&str, &str, &str, &str, u32); 3] = [
    ("alice", "acc-physics", "qos-normal", "part-batch", 1),
    ("b<i>ob", "acc-chemistry", "qos-gold", "part-large", 4),
    ("alice", "acc-physics", "qos-normal", "part-batch", 1),
];

const NAMES: [&str; 9] = [
    "alice",
    "b<i>ob",
    "i&gt;ob",
    "acc-physics",
    "acc-chemistry",
    "qos-normal",
    "qos-gold",
    "part-batch",
    "part-large",
];

fn shown(text: &str) -> Vec<&'static str> {
    NAMES.into_iter().filter(|name| text.contains(name)).collect()
}

/// The values of a column of CSV.
fn column(csv: &str, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let at = reader.headers().unwrap().iter().position(|other| other == name).unwrap();
    reader.records().map(|row| row.unwrap()[at].to_string()).collect()
}

#[test]
fn no_output_has_names_by_default() {
    let folder = Folder::new();
    let log = folder.write("sacct.txt", sacct(&TWO));
    let page = folder.text("page.html");
    let by = ["--by", "user,group,queue,partition", "--by-out", &folder.text("by.csv")];
    let jobs = ["--jobs-out", &folder.text("jobs.csv")];
    let commands: [Vec<&str>; 5] = [
        [&[log.as_str(), "--procs", "4", "--baseline", "easy/estimate", "--format", "table"], &by[..], &jobs].concat(),
        [&["fidelity", &log, "--procs", "4", "--scheduler", "easy", "--format", "table"], &by[..], &jobs].concat(),
        ["report", &log, "--procs", "4", "--gantt-colors", "user", "--out", &page].to_vec(),
        [&["meta", &log, "--policy", "static"], &jobs[..]].concat(),
        ["recommend", &log, "--procs", "4", "--replications", "2", "--format", "table"].to_vec(),
    ];
    for command in commands {
        let ran = sim(&command);
        // Three jobs are too few for a recommendation, and the message has no names either.
        assert!(ran.code == 0 || command[0] == "recommend", "{command:?}: {}", ran.err);
        let files =
            ["by.csv", "jobs.csv", "page.html"].map(|file| fs::read_to_string(folder.path(file)).unwrap_or_default());
        for text in [&ran.out, &ran.err].into_iter().chain(&files) {
            assert_eq!(shown(text), [""; 0], "{command:?}");
        }
    }
}

#[test]
fn groups_have_names_in_tables_and_files() {
    let folder = Folder::new();
    let log = folder.write("sacct.txt", sacct(&TWO));
    let by = folder.text("by.csv");
    for command in [&[log.as_str()][..], &["fidelity", &log, "--scheduler", "easy"]] {
        let options = ["--procs", "4", "--by", "user,group,queue,partition", "--by-out", &by, "--names"];
        let ran = sim(&[command, &options, &["--format", "table"]].concat());
        assert!(ran.code == 0 && !ran.err.contains("--names"), "{}", ran.err);
        // The largest comes first.
        let values =
            ["b<i>ob", "alice", "acc-chemistry", "acc-physics", "qos-gold", "qos-normal", "part-large", "part-batch"];
        assert_eq!(column(&folder.read("by.csv"), "value"), values);
        let lines: Vec<_> = ran.out.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert!(values.iter().all(|value| lines.contains(value)), "{}", ran.out);
        assert!(!ran.out.contains("secret"));
    }
    let cut = sim_ok(&[&log, "--procs", "4", "--by", "user", "--top", "1", "--names", "--format", "table"]);
    assert!(cut.contains("b<i>ob") && cut.contains("1 others") && !cut.contains("alice"), "{cut}");
}

#[test]
fn jobs_have_names_of_their_own_site() {
    let folder = Folder::new();
    let log = folder.write("a.txt", sacct(&TWO));
    assert_eq!(column(&sim_ok(&[&log, "--jobs-out", "-", "--names"]), "user"), ["alice", "b<i>ob", "alice"]);
    assert_eq!(column(&sim_ok(&[&log, "--jobs-out", "-"]), "user"), ["1", "2", "1"]);
    let compared = sim_ok(&["fidelity", &log, "--scheduler", "easy", "--jobs-out", "-", "--names"]);
    assert_eq!(column(&compared, "user"), ["alice", "b<i>ob", "alice"]);
    assert_eq!(column(&compared, "queue"), ["qos-normal", "qos-gold", "qos-normal"]);
    // User 1 of one site is not user 1 of another.
    let other = folder.write("b.txt", sacct(&[("zoe", "", "", "", 1), ("", "", "", "", 2)]));
    let jobs = sim_ok(&["meta", &log, &other, "--policy", "static", "--jobs-out", "-", "--names"]);
    let mut users: Vec<_> = column(&jobs, "origin").into_iter().zip(column(&jobs, "user")).collect();
    users.sort();
    let expected = [("a.txt", "alice"), ("a.txt", "alice"), ("a.txt", "b<i>ob"), ("b.txt", "-1"), ("b.txt", "zoe")];
    assert_eq!(users, expected.map(|(site, user)| (site.to_string(), user.to_string())));
}

#[test]
fn a_page_has_names_that_are_escaped() {
    let folder = Folder::new();
    let log = folder.write("sacct.txt", sacct(&TWO));
    let page = folder.text("page.html");
    sim_ok(&["report", &log, "--procs", "4", "--gantt-colors", "user", "--names", "--out", &page]);
    let html = folder.read("page.html");
    check_fetches_nothing(&html);
    assert!(html.contains("user b&lt;i&gt;ob: ") && html.contains("job 1 of user alice: "));
    assert!(!html.contains("b<i>") && !html.contains("secret") && !html.contains("acc-"));
    assert!(html.contains("The largest users have their names."));
    // The command on the page can be run again.
    let command = html.split("sim report ").nth(1).unwrap().split('<').next().unwrap();
    assert!(command.ends_with("--gantt-colors user --names") || command.contains(" --names "), "{command}");
    assert!(!command.contains("--names true"), "{command}");
}

#[test]
fn names_that_print_alike_stay_apart() {
    let folder = Folder::new();
    let jobs = [
        ("eve", "", "", "", 8),
        ("eve ", "", "", "", 7),
        ("e\u{200b}ve", "", "", "", 6),
        ("unknown", "", "", "", 5),
        ("", "", "", "", 4),
        ("=1+1", "", "", "", 3),
        ("\u{1b}[31mred", "", "", "", 2),
        ("mallory", "", "", "", 1),
    ];
    let log = folder.write("sacct.txt", sacct(&jobs));
    let text = sim_ok(&[&log, "--by", "user", "--by-out", "-", "--names"]);
    let mut values = column(&text, "value");
    assert!(!text.contains('\u{1b}'), "{text:?}");
    assert_eq!(values[3..], ["unknown (4)", "unknown", "'=1+1", "\\u{1b}[31mred", "mallory"], "{text}");
    assert!(values[0] == "eve (1)" && values[1] == "eve (2)" && values[2].ends_with("(3)"), "{text}");
    values.sort();
    values.dedup();
    assert_eq!(values.len(), jobs.len());
}

/// An SWF log of three jobs, in the queues 0, 1 and 2.
fn swf(header: &str) -> String {
    let record = |queue: i64| {
        format!("{} {} 0 100 1 -1 -1 1 200 -1 1 {} 1 -1 {queue} 1 -1 -1\n", queue + 1, queue * 10, 7 + queue)
    };
    format!("; MaxProcs: 4\n{header}{}", (0..3).map(record).collect::<String>())
}

#[test]
fn a_log_without_names_shows_numbers_and_says_so_once() {
    let folder = Folder::new();
    let plain = folder.write("plain.swf", swf(""));
    let ran = sim(&[&plain, "--by", "user,queue", "--by-out", "-", "--names"]);
    assert_eq!((ran.code, column(&ran.out, "value")), (0, ["7", "8", "9", "0", "1", "2"].map(String::from).to_vec()));
    assert_eq!(ran.err.matches("has numbers and no names").count(), 1, "{}", ran.err);
    let quiet = sim(&["-q", &plain, "--jobs-out", &folder.text("jobs.csv"), "--names"]);
    assert!(quiet.code == 0 && quiet.err.contains("warning: ") && quiet.err.lines().count() == 1, "{}", quiet.err);
}

#[test]
fn the_header_of_a_log_names_queues_and_partitions() {
    let folder = Folder::new();
    let header = "; Queues: by length\n; Queue: 0 interactive\n; Queue:  1  2   (up to 2 hours)\n; Partition: 1\n";
    let log = folder.write("named.swf", swf(header));
    let ran = sim(&[&log, "--by", "user,queue,partition", "--by-out", "-", "--names"]);
    // Queue 1 is called "2", and queue 2 has no name.
    assert_eq!(column(&ran.out, "value"), ["7", "8", "9", "interactive", "2 (1)", "2", "1"]);
    assert!(ran.err.contains("no names of users, groups and partitions"), "{}", ran.err);
    assert!(ran.err.contains("the names of queues in its header"), "{}", ran.err);
    let plain = sim_ok(&[&log, "--by", "queue", "--by-out", "-"]);
    assert_eq!(column(&plain, "value"), ["0", "1", "2"]);
}

#[test]
fn joined_logs_keep_the_names_of_all_their_queues() {
    let folder = Folder::new();
    let part = |name: &str, at: i64, header: &str| {
        let header = format!("; UnixStartTime: {}\n{header}", 1_000_000_000 + at);
        folder.write(name, swf(&header))
    };
    let first = part("first.swf", 0, "; Queue: 0 interactive\n");
    let second = part("second.swf", 1000, "; Queue: 0 interactive (short)\n; Queue: 2 batch\n");
    let joined = folder.text("joined.swf");
    sim_ok(&["trace", "convert", &first, &second, "--out", &joined]);
    let groups = sim_ok(&[&joined, "--by", "queue", "--by-out", "-", "--names"]);
    assert_eq!(column(&groups, "value"), ["interactive", "1", "batch"]);
    // A number that means another queue.
    let other = part("other.swf", 2000, "; Queue: 0 batch\n");
    let ran = sim(&["trace", "convert", &first, &other, "--out", &joined]);
    assert!(
        ran.code == 2 && ran.err.contains("other.swf: the header of") && ran.err.contains("queue 0"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("interactive"), "{}", ran.err);
    // Accounting files are numbered together.
    let files = [("a.txt", TWO[0]), ("b.txt", TWO[1])].map(|(name, job)| folder.write(name, sacct(&[job])));
    let swf = folder.text("site.swf");
    let names = sim_ok(&["trace", "convert", &files[0], &files[1], "--out", &swf, "--names-out", "-"]);
    assert!(names.contains("user,1,alice\nuser,2,b<i>ob\n"), "{names}");
}

#[test]
fn messages_about_faulty_rows_have_no_names() {
    let good = sacct(&TWO);
    let cut = good.replace("|COMPLETED|4|02:00:00", "");
    let ends_early = good.replacen("2026-01-01T01:00:00", "2025-01-01T01:00:00", 1);
    let binary = good.replacen("2026-01-01T00:00:00", "\0", 1);
    let pbs = "01/01/2026 00:00:00;E;1.srv;user=alice group=acc-physics\n";
    let table = "when,took,wait,size,who\n1,1,1,1,\"alice\n2,1,1,1,alice\n";
    let csv = ["--log-format", "csv:submit=when,run=took,wait=wait,procs=size,user=who"];
    for (log, options) in
        [(cut, &[][..]), (ends_early, &[]), (binary, &[]), (good + pbs, &[]), (table.to_string(), &csv[..])]
    {
        for command in [&["trace", "validate", "-"][..], &["--trace", "-"], &["--trace", "-", "--skip-bad-lines"]] {
            let ran = crate::support::sim_fed(&[command, options].concat(), log.as_bytes());
            let text = ran.out + &ran.err;
            assert!(shown(&text).is_empty() && text.contains("xxx"), "{command:?}: {text}");
        }
    }
}
