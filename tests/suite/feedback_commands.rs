//! `--feedback` in all commands, and the logs that say who waited for which job.

use shadowtime::trace::{Preceding, ReadOptions, Source, read, read_joined};

use crate::support::{Folder, sim, sim_ok};

/// A log with waits, as the program makes it.
fn log_with_waits(folder: &Folder) -> String {
    let log = folder.text("log.swf");
    sim_ok(&["--first", "800", "--scheduler", "easy", "--predictor", "estimate", "--swf-out", &log]);
    log
}

#[test]
fn a_log_that_was_converted_has_the_links_in_its_fields() {
    let folder = Folder::new();
    let (log, linked) = (log_with_waits(&folder), folder.text("linked.swf"));
    let run = |log: &str, feedback: &str| {
        let row = sim_ok(&[log, "--feedback", feedback, "--baseline", "easy/estimate", "--format", "csv"]);
        row.replace("linked.swf", "log.swf").replace("feedback=swf", "feedback=think")
    };
    for (model, name) in [("think", "think"), ("think:limit=1h", "think:limit=1h")] {
        sim_ok(&["trace", "convert", &log, "--feedback", model, "--out", &linked]);
        let by_fields =
            run(&linked, "swf").replace("linked,", "log,").replace("feedback=think", &format!("feedback={name}"));
        assert_eq!(by_fields, run(&log, model), "{model}");
        // Converted again without the option, they stay.
        let again = folder.text("again.swf");
        sim_ok(&["trace", "convert", &linked, "--out", &again]);
        let records = |log: &str| -> Vec<String> {
            folder.read(log).lines().filter(|line| !line.starts_with(';')).map(str::to_string).collect()
        };
        assert_eq!(records("again.swf"), records("linked.swf"));
        assert!(records("linked.swf").iter().any(|line| !line.ends_with("-1 -1")));
    }
    let refused = sim(&["trace", "convert", &log, "--feedback", "session", "--out", &linked]);
    assert!(refused.code == 2 && refused.err.contains("cannot be written as fields 17 and 18"), "{}", refused.err);
}

#[test]
fn what_has_no_links_says_so() {
    let folder = Folder::new();
    let log = log_with_waits(&folder);
    let made = folder.text("made.swf");
    sim_ok(&["generate", "sessions", "--jobs", "50", "--out", &made]);
    for (args, text) in [
        (&[&made, "--feedback", "think"][..], "no job has one (field 3"),
        (&[&made, "--feedback", "session"], "no job has one (field 3"),
        (&["--feedback", "swf"], "no job has a preceding job (field 17)"),
        (&["--feedback", "thinking"], "unknown feedback model 'thinking': the feedback models are think, session, swf"),
        (&["--feedback", "think:limit=-1"], "limit"),
        (&["--feedback", "swf:limit=1h"], "no key 'limit'"),
        (&["wait", "--feedback", "think"], "unexpected argument '--feedback'"),
        (&["meta", "--feedback", "think"], "unexpected argument '--feedback'"),
        (&["malleable", "--feedback", "think"], "unexpected argument '--feedback'"),
    ] {
        let ran = sim(args);
        assert!(ran.code == 2 && ran.err.contains(text), "{args:?}: {}", ran.err);
    }
    let ran = sim(&[&log, "--feedback", "think", "--first", "1"]);
    assert!(ran.code == 0 && ran.err.contains("--feedback has no effect"), "{}", ran.err);
    let ran = sim(&[&log, "--feedback", "session", "--from", "2d", "--format", "table"]);
    assert!(ran.err.contains("arrive after the ends of others, think time"), "{}", ran.err);
    assert!(ran.err.contains("own time") && ran.err.contains("the preceding job is not simulated"), "{}", ran.err);
    assert!(ran.out.contains("jobs a day") && ran.out.contains("Users react (--feedback)"), "{}", ran.out);
}

/// Lists, replications, sweeps, reports and recommendations have the option.
#[test]
fn all_comparisons_have_it() {
    let folder = Folder::new();
    let log = log_with_waits(&folder);
    let column = |csv: &str, name: &str| -> Vec<String> {
        let mut lines = csv.lines();
        let at = lines.next().unwrap().split(',').position(|column| column == name).unwrap_or_else(|| panic!("{csv}"));
        lines.map(|line| line.split(',').nth(at).unwrap().to_string()).collect()
    };
    let list = ["--scheduler", "easy,sjbf", "--predictor", "estimate", "--feedback", "think", "--format", "csv"];
    let both = sim_ok(&[&[&log[..]], &list[..]].concat());
    let linked = column(&both, "linked_jobs");
    assert!(linked.len() == 2 && linked[0] == linked[1] && linked[0] != "0");
    assert_eq!(column(&both, "options"), ["feedback=think", "feedback=think"]);
    let repeated = sim_ok(&[&[&log[..]], &list[..], &["--replications", "3"]].concat());
    assert_ne!(column(&repeated, "wait_mean_ci95")[0], "0.000");
    assert_eq!(column(&repeated, "linked_jobs")[0].parse::<f64>().unwrap(), linked[0].parse::<f64>().unwrap());
    let out = folder.text("sweep");
    let lists = ["--scheduler", "easy,sjbf", "--predictor", "estimate", "--feedback", "none,think,session"];
    sim_ok(&[&["sweep", "--trace", &log], &lists[..], &["--out", &out]].concat());
    let swept = folder.read("sweep/results.csv");
    let of_think: Vec<String> = column(&swept, "wait_mean").into_iter().skip(1).step_by(3).collect();
    assert_eq!(of_think, column(&both, "wait_mean"));
    assert_eq!(column(&swept, "linked_jobs")[..2], [String::new(), linked[0].clone()]);
    let page = folder.text("page.html");
    sim_ok(&["report", &log, "--predictor", "ruh", "--feedback", "think", "--out", &page]);
    assert!(folder.read("page.html").contains("Users react (--feedback)"));
    let advice = ["--candidates", "sjbf/ruh", "--feedback", "think", "--replications", "2", "--format", "csv"];
    let advised = sim_ok(&[&["recommend", &log], &advice[..]].concat());
    assert!(advised.contains("sjbf,ruh") || advised.contains("sjbf/ruh"), "{advised}");
    // On nodes of one CPU as on a pool.
    let machine = folder.write("site.toml", "[[nodes]]\nname = \"n[1-128]\"\ncpus = 1\n");
    let on_nodes = sim_ok(&[&[&log[..], "--machine", &machine], &list[..]].concat());
    assert_eq!(column(&on_nodes, "wait_mean"), column(&both, "wait_mean"));
}

/// The schedule that is written has the simulated submissions, in their order.
#[test]
fn the_schedule_has_the_simulated_submissions() {
    let folder = Folder::new();
    let (log, swf, jobs) = (log_with_waits(&folder), folder.text("out.swf"), folder.text("jobs.csv"));
    sim_ok(&[&log, "--feedback", "think", "--predictor", "ruh", "--swf-out", &swf, "--jobs-out", &jobs]);
    let job = |line: &str, blank: char| -> Vec<i64> {
        let fields = line.split(blank).filter(|field| !field.is_empty());
        fields.take(4).map(|field| field.parse().unwrap_or(0)).collect()
    };
    let text = folder.read("out.swf");
    let mut written: Vec<(i64, i64, i64)> =
        text.lines().filter(|l| !l.starts_with(';')).map(|l| job(l, ' ')).map(|f| (f[0], f[1], f[2])).collect();
    assert!(written.is_sorted_by_key(|job| job.1));
    // The columns are job, user, submit, start.
    let listed: Vec<(i64, i64, i64)> =
        folder.read("jobs.csv").lines().skip(1).map(|l| job(l, ',')).map(|f| (f[0], f[2], f[3] - f[2])).collect();
    written.sort_unstable();
    assert_eq!(written, listed);
    let own: Vec<i64> =
        folder.read("log.swf").lines().filter(|l| !l.starts_with(';')).map(|l| job(l, ' ')[1]).collect();
    assert!(listed.iter().zip(&own).any(|(job, own)| job.1 != *own));
}

#[test]
fn generated_logs_can_name_what_users_waited_for() {
    let folder = Folder::new();
    let log = folder.text("sessions.swf");
    sim_ok(&["generate", "sessions", "--jobs", "500", "--preceding", "--out", &log]);
    let ran = sim(&[&log, "--feedback", "swf", "--predictor", "ruh"]);
    assert!(ran.code == 0 && ran.err.contains("of 500 jobs arrive after the ends of others"), "{}", ran.err);
}

/// Joined logs keep the preceding jobs of their records, wherever these come to be.
#[test]
fn joined_logs_keep_their_links() {
    let folder = Folder::new();
    let line = |number: i64, submit: i64, preceding: i64| {
        format!(
            "{number} {submit} 0 10 1 -1 -1 1 60 -1 1 7 -1 -1 -1 -1 {preceding} {}\n",
            if preceding < 0 { -1 } else { 5 }
        )
    };
    let log = |lines: &[String]| format!("; MaxProcs: 4\n; UnixStartTime: 1000000000\n{}", lines.concat());
    let late = folder.write("late.swf", log(&[line(8, 40, 7), line(7, 20, -1), line(9, 60, 8)]));
    let early = folder.write("early.swf", log(&[line(1, 0, -1), line(2, 30, 1), line(3, 50, 2)]));
    let joined = folder.text("joined.swf");
    sim_ok(&["trace", "convert", &late, &early, "--out", &joined]);
    let source = |file: &str| Source::from_argument(file);
    let of_file = read(&source(&joined), ReadOptions::default(), &mut |_| ()).unwrap();
    let expected = [(2, 1), (3, 7), (4, 2), (5, 8)].map(|(record, number)| Preceding { record, number, think: 5 });
    assert_eq!(of_file.preceding, expected);
    let together = read_joined(&[source(&late), source(&early)], &ReadOptions::default(), &mut |_| ()).unwrap();
    assert_eq!(together.preceding, expected);
}
