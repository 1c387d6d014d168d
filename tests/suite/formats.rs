//! Logs of real sites: accounting files of Slurm, PBS, LSF and Grid Engine, tables, and SWF as it is found.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use shadowtime::experiment::{OptionForm, Options};
use shadowtime::job::Job;
use shadowtime::trace::{Log, LogReading, Record, RowCause, Source, TraceError, clean, peak, read};
use shadowtime::tres::Resource;

use crate::support::{real_logs, sim, sim_fed, sim_ok};

fn options(given: &[(&str, &str)]) -> Options {
    let mut options = Options::default();
    for (name, value) in given {
        OptionForm::find(name).unwrap().set(&mut options, value).unwrap();
    }
    options
}

fn read_source(source: &Source, given: &[(&str, &str)]) -> Result<Log, TraceError> {
    read(source, options(given).read_options(), &mut |_| ())
}

fn read_text(text: &str, given: &[(&str, &str)]) -> Result<Log, TraceError> {
    let bytes = Cow::Owned(text.as_bytes().to_vec());
    let log = read_source(&Source::Bytes { name: "log", bytes }, given);
    if let Ok(log) = &log {
        // Nothing is lost silently.
        assert_eq!(log.source.rows, log.source.dropped() + log.records.len() as u64);
    }
    log
}

/// The log of a text that can be read.
fn log(text: &str, given: &[(&str, &str)]) -> Log {
    read_text(text, given).unwrap()
}

/// The error of a text that cannot.
fn error(text: &str, given: &[(&str, &str)]) -> String {
    read_text(text, given).unwrap_err().to_string()
}

/// The names of a kind, by their numbers.
fn names(log: &Log, kind: &str) -> Vec<String> {
    let own = log.names.rows().filter(|(other, ..)| *other == kind).map(|(_, _, name)| name);
    let ids = log.ids.texts().filter(|_| kind == "job");
    own.chain(ids).map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// The jobs of a log, without their place in it, and the machine.
fn jobs(log: &Log, given: &[(&str, &str)]) -> (u32, Vec<Job>) {
    let workload = clean(log, &options(given).rules()).unwrap();
    (workload.procs, workload.jobs)
}

/// Converts a log and its requests with the program and reads the results: it must be the same workload.
fn assert_converts(file: &Path, given: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new.swf");
    let named: Vec<String> = given.iter().map(|(name, value)| format!("--{name}={value}")).collect();
    let file_text = file.to_str().unwrap();
    let asked = folder.path().join("asked.csv").to_str().unwrap().to_string();
    let mut arguments = vec!["-q", "trace", "convert", file_text, "--out", out.to_str().unwrap()];
    arguments.extend(["--requests-out", &asked]);
    arguments.extend(named.iter().map(String::as_str));
    let ran = sim(&arguments);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{arguments:?}: {}", ran.err);
    let log = read_source(&Source::File(file.to_path_buf()), given).unwrap();
    let new = read_source(&Source::File(out), &[("requests", &asked)]).unwrap();
    assert_eq!(new.requests.requests.all(), log.requests.requests.all());
    assert_eq!((new.source.format, new.records.len()), ("swf", log.records.len()));
    let procs: Vec<_> = given.iter().copied().filter(|(name, _)| *name == "procs").collect();
    let (old_procs, old_jobs) = jobs(&log, &procs);
    let (new_procs, new_jobs) = jobs(&new, &[]);
    assert_eq!(old_procs, new_procs);
    assert_eq!(new.header.number("UnixStartTime"), log.header.number("UnixStartTime"));
    if log.source.format == "swf" {
        let without_place = |jobs: Vec<Job>| jobs.into_iter().map(|job| Job { record: 0, ..job }).collect::<Vec<_>>();
        // Wide numbers have codes that depend on the order of the file.
        if old_jobs.iter().all(|job| job.submission.user >= -1) {
            assert_eq!(without_place(new_jobs), without_place(old_jobs));
        }
    } else {
        assert_eq!(new_jobs, old_jobs);
    }
}

const HEADER: &str = "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|Elapsed|State|NNodes|NCPUS|ReqCPUS|Timelimit|NodeList|JobName";

/// A row of [`HEADER`] on the first day of 2026: id, submit, start, end as HH:MM:SS, processors, state, name of the job.
fn row(id: &str, submit: &str, start: &str, end: &str, cpus: u32, state: &str, name: &str) -> String {
    let time = |text: &str| if text == "Unknown" { text.to_string() } else { format!("2026-01-01T{text}") };
    let (submit, start, end) = (time(submit), time(start), time(end));
    format!("{id}|ann|phys|batch|normal|{submit}|{submit}|{start}|{end}||{state}|1|{cpus}|{cpus}|01:00:00|n1|{name}")
}

fn sacct(rows: &[String]) -> String {
    format!("{HEADER}\n{}\n", rows.join("\n"))
}

fn times(record: &Record) -> (i64, i64, i64, i32, i32) {
    (record.submit, record.wait, record.runtime, record.allocated, record.status)
}

#[test]
fn an_sacct_file_becomes_records() {
    let text = sacct(&[
        row("7", "00:00:10", "00:01:00", "00:02:00", 4, "COMPLETED", "a|b"),
        row("7.batch", "00:00:10", "00:01:00", "00:02:00", 4, "COMPLETED", "batch"),
        row("7.0", "00:00:10", "00:01:00", "00:02:00", 4, "COMPLETED", "x"),
        row("8_[1-3]", "00:00:20", "Unknown", "Unknown", 1, "PENDING", "y"),
        row("9", "00:00:05", "00:00:30", "00:00:30", 2, "CANCELLED by 1234", "z"),
        row("10", "00:00:40", "00:00:50", "00:01:00", 2, "NEW_STATE", ""),
        row("11", "00:00:41", "Unknown", "Unknown", 2, "RUNNING", "z"),
        row("12", "00:00:42", "00:00:50", "00:01:00", 2, "REQUEUED", "z"),
        row("12", "00:00:43", "Unknown", "Unknown", 2, "REQUEUED", "z"),
        row("13", "00:00:44", "00:00:40", "00:01:00", 2, "TIMEOUT", "z").replace("|n1|", "|None assigned|"),
        row("14", "00:00:50", "00:00:40", "00:01:00", 2, "FAILED", "z"),
    ]);
    let log = log(&text, &[]);
    let report = &log.source;
    assert_eq!(
        (
            report.rows,
            report.causes[RowCause::Step],
            report.causes[RowCause::ArrayRange],
            report.causes[RowCause::NotEnded]
        ),
        (11, 2, 1, 2)
    );
    assert_eq!(
        (
            report.causes[RowCause::NeverStarted],
            report.causes[RowCause::WaitCut],
            report.causes[RowCause::UnknownState]
        ),
        (1, 1, 1)
    );
    assert_eq!(report.first_unknown_state.as_deref(), Some("NEW_STATE"));
    let expected = [
        (0, 25, 0, 2, 5),
        (5, 50, 60, 4, 1),
        (35, 10, 10, 2, 0),
        (37, 8, 10, 2, 0),
        (39, -1, -1, -1, 5),
        (45, 0, 20, 2, 0),
    ];
    assert_eq!(log.records.iter().map(times).collect::<Vec<_>>(), expected);
    assert_eq!(log.records[4].requested, 2, "the request of a job that never started");
    assert_eq!(log.header.number("UnixStartTime"), Some(1_767_225_605));
    let numbers: Vec<_> = log.records.iter().map(|record| record.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    assert_eq!(names(&log, "job"), ["9", "7", "10", "12", "13", "14"]);
    assert_eq!(names(&log, "executable"), ["z", "a|b"], "in order of submission");
    assert_eq!(log.records.iter().map(|record| record.executable).collect::<Vec<_>>(), [1, 2, -1, 1, 1, 1]);
    assert_eq!((names(&log, "user"), names(&log, "partition")), (vec!["ann".to_string()], vec!["batch".to_string()]));
    assert_eq!(report.states.get("CANCELLED"), Some(&1));
}

#[test]
fn columns_may_have_any_order_case_and_delimiter() {
    let plain =
        "jobidraw;SUBMIT;end;Start;ReqCPUS;UID\n5;2026-01-01T00:00:00;2026-01-01T00:01:00;2026-01-01T00:00:10;3;77\n";
    let first = log(plain, &[]);
    assert_eq!(first.records.iter().map(times).collect::<Vec<_>>(), [(0, 10, 50, 3, -1)]);
    assert_eq!(names(&first, "user"), ["77"], "outside SWF a number is a name");
    // The delimiter at the end of rows, where the header has one.
    let trailing = plain.replace('\n', ";\n").replace(';', "|");
    assert_eq!(log(&trailing, &[]).records, first.records);
    // Carriage returns, a byte order mark, blank lines.
    let windows = format!("\u{feff}{}\r\n\r\n", plain.trim_end().replace('\n', "\r\n"));
    assert_eq!(log(&windows, &[]).records, first.records);
    // Without a header, but with the names of the columns.
    let (header, rows) = plain.split_once('\n').unwrap();
    let columns = header.replace(';', ",");
    let columns = format!("sacct:columns=\"{columns}\"");
    let forced = [("log-format", columns.as_str())];
    assert_eq!(log(rows, &forced).records, first.records);
    assert!(error(plain, &forced).contains("leave out the key columns"));
    let lacking = error("JobID|Submit|Start|State\n", &[]);
    assert!(lacking.contains("needs the column End, NCPUS (or AllocCPUS or ReqCPUS)"), "{lacking}");
}

#[test]
fn limits_and_partitions() {
    let job = |limit: &str| {
        row("1", "00:00:00", "00:00:00", "00:00:01", 1, "COMPLETED", "x").replace("01:00:00|n1", &format!("{limit}|n1"))
    };
    for (limit, estimate) in
        [("1-02:03:04", 93_784), ("05:00", 300), ("UNLIMITED", -1), ("Partition_Limit", -1), ("INVALID", -1), ("", -1)]
    {
        let text = sacct(&[job(limit)]);
        assert_eq!(log(&text, &[]).records[0].estimate, estimate, "{limit}");
        let filled = log(&text, &[("log-format", r#"auto:partition-limit="other=1h,batch=2d""#)]);
        assert_eq!(filled.records[0].estimate, if estimate < 0 { 172_800 } else { estimate }, "{limit}");
    }
    let wrong = error(&sacct(&[job("soon")]), &[]);
    assert!(
        wrong.contains("log:2:") && wrong.contains("Timelimit is not a duration such as 1-02:03:04: \"soon\""),
        "{wrong}"
    );
}

#[test]
fn held_jobs_and_changes_of_clocks() {
    let held = row("1", "00:00:00", "00:10:00", "00:20:00", 1, "COMPLETED", "x").replacen(
        "T00:00:00|2026-01-01T00:00:00",
        "T00:00:00|2026-01-01T00:09:00",
        1,
    );
    assert_eq!(times(&log(&sacct(std::slice::from_ref(&held)), &[]).records[0]), (0, 60, 600, 1, 1));
    let submitted = log(&sacct(&[held]), &[("log-format", "auto:submit-time=submitted")]);
    assert_eq!(times(&submitted.records[0]), (0, 600, 600, 1, 1));
    // Elapsed, end - start, and the run time that is taken.
    for (elapsed, end, runtime) in
        [("00:10:00", "02:10:00", 600), ("00:10:00", "02:09:59", 4199), ("00:10:00", "00:30:00", 600)]
    {
        let changed = row("1", "00:00:00", "01:00:00", end, 1, "COMPLETED", "x")
            .replace("||COMPLETED", &format!("|{elapsed}|COMPLETED"));
        let log = log(&sacct(&[changed]), &[]);
        assert_eq!(log.records[0].runtime, runtime, "{end}");
        assert_eq!(log.source.causes[RowCause::ClockChange], u64::from(runtime == 600));
    }
    let backwards = row("1", "00:00:00", "01:00:00", "00:30:00", 1, "COMPLETED", "x");
    let wrong = error(&sacct(&[backwards]), &[]);
    assert!(wrong.contains("log:2:1: the job ends before it starts") && wrong.contains("--skip-bad-lines"), "{wrong}");
    let early =
        error(&sacct(&[row("1", "00:00:00", "00:00:00", "00:00:00", 1, "FAILED", "x").replace("2026", "1969")]), &[]);
    assert!(early.contains("is before 1970: \"1969-01-01T00:00:00\""), "{early}");
}

#[test]
fn rows_of_several_lines_and_rows_that_are_cut() {
    let good = row("1", "00:00:00", "00:00:00", "00:00:01", 1, "COMPLETED", "x");
    let header = "JobID|Submit|SubmitLine|Start|End|NCPUS";
    let text = format!("{header}\n1|2026-01-01T00:00:00|a\n\nb c\n d|2026-01-01T00:00:00|2026-01-01T00:01:00|2\n");
    assert_eq!(log(&text, &[]).records.len(), 1);
    // A row that was cut is not joined with a complete one.
    let other = good.replacen('1', "2", 1);
    let cut = sacct(&[good.clone(), good[..40].to_string(), other]);
    let wrong = error(&cut, &[]);
    assert!(wrong.starts_with("log:3:1: a row with 6 of the 17 columns: \"0|xxx|xxxx|xxxxx"), "{wrong}");
    let skipped = log(&cut, &[("skip-bad-lines", "on")]);
    assert_eq!((skipped.records.len(), skipped.skipped.count), (2, 1));
    let at_the_end = error(&sacct(&[good.clone(), good[..40].to_string()]), &[]);
    assert!(at_the_end.contains("log:3:1: a row with 6 of the 17 columns"), "{at_the_end}");
    // Two columns of free text.
    let text = format!("{header}|JobName\n1|2026-01-01T00:00:00|a|b|2026-01-01T00:00:00|2026-01-01T00:01:00|2|x\n");
    assert!(error(&text, &[]).contains("a row with 8 columns instead of 7: the delimiter is part of a value"));
}

#[test]
fn two_formats_in_one_file_and_several_clusters() {
    let good = row("1", "00:00:00", "00:00:00", "00:00:01", 1, "COMPLETED", "x");
    let pbs = "12/21/2009 15:27:00;E;6.edge;user=u ctime=1261424924 start=1261425023 end=1261427220";
    let mixed = sacct(&[good.clone(), pbs.to_string(), good.clone()]);
    let wrong = error(&mixed, &[]);
    assert!(wrong.contains("log:3:1: a line of the format pbs in a log of the format sacct"), "{wrong}");
    let wrong = error(&format!("; MaxProcs: 4\n{pbs}\n"), &[]);
    assert!(wrong.contains("log:2:1: a line of the format pbs in a log of the format swf"), "{wrong}");
    let wrong = error(&format!("{pbs}\n1 0 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n"), &[]);
    assert!(wrong.contains("log:2:1: a line of the format swf in a log of the format pbs"), "{wrong}");

    let clusters = "JobID|Cluster|Submit|Start|End|NCPUS\n\
        1|east|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:01:00|2\n\
        1|west|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:01:00|2\n";
    let wrong = error(clusters, &[]);
    assert!(
        wrong
            .contains("it has jobs of 2 clusters: \"east\", \"west\"; choose one with --log-format sacct:cluster=NAME"),
        "{wrong}"
    );
    let east = log(clusters, &[("log-format", "auto:cluster=east")]);
    assert_eq!((east.records.len(), east.source.causes[RowCause::OtherCluster]), (1, 1));
    assert!(error(&sacct(&[good]), &[("log-format", "auto:cluster=east")]).contains("no column Cluster"));
}

#[test]
fn units() {
    let text = "JobID|Submit|Start|End|NCPUS|NNodes|AllocTRES|ReqTRES\n\
        1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:01:00|8|2|cpu=8,gres/gpu=4|cpu=8,gres/gpu=4\n\
        2|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:01:00|8|1|cpu=8|cpu=8\n";
    let procs = |unit: &str| {
        log(text, &[("log-format", &format!("auto:unit={unit}"))])
            .records
            .iter()
            .map(|job| job.allocated)
            .collect::<Vec<_>>()
    };
    assert_eq!((procs("cpus"), procs("nodes"), procs("gpus")), (vec![8, 8], vec![2, 1], vec![4]));
    assert_eq!(log(text, &[("log-format", "auto:unit=gpus")]).source.without_device[Resource::Gpus], 1);
    let swf = error("1 0 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n", &[("log-format", "auto:unit=nodes")]);
    assert!(swf.contains("the format swf does not say the nodes of jobs: leave out unit=nodes"), "{swf}");
    let none = error("JobID|Submit|Start|End|NCPUS\n", &[("log-format", "auto:unit=nodes")]);
    assert!(none.contains("needs the column NNodes, for unit=nodes"), "{none}");
}

#[test]
fn a_table_with_named_columns() {
    let text = "id,when,queued,took,size,owner,ended,limit\n\
        a,1000.5,10,3632.92,4.0,u1,Pass,7200\n\
        b,1970-01-01T00:16:40,0,1:00,2,0.0,Killed,-1\n\
        c,1002,5,60,1,\"x,y\",Odd,1-00:00:00\n";
    let format = "csv:submit=when,wait=queued,run=took,procs=size,estimate=limit,user=owner{0.0:-1},status=ended{Pass:1,Killed:5},id=id";
    let table = log(text, &[("log-format", format)]);
    let expected = [(0, 0, 60, 2, 5), (1, 10, 3633, 4, 1), (2, 5, 60, 1, -1)];
    assert_eq!(table.records.iter().map(times).collect::<Vec<_>>(), expected);
    assert_eq!(table.records.iter().map(|record| record.estimate).collect::<Vec<_>>(), [-1, 7200, 86_400]);
    assert_eq!(
        (names(&table, "user"), names(&table, "job")),
        (vec!["u1".into(), "x,y".into()], vec!["b".into(), "a".into(), "c".to_string()])
    );
    assert_eq!((table.source.causes[RowCause::UnknownState], table.records[0].user), (1, -1));
    let semicolons = text.replace("\"x,y\"", "xy").replace(',', ";");
    assert_eq!(log(&semicolons, &[("log-format", format)]).records, table.records);
    let wrong = error(&text.replace("4.0", "four"), &[("log-format", format)]);
    assert!(wrong.contains("log:2:21: procs is not a number below 2^31: \"four\""), "{wrong}");
    let missing = error(text, &[("log-format", "csv:submit=when,wait=queued,run=took,procs=cores")]);
    assert!(missing.contains("there is no column 'cores'; its first line names the columns id, when"), "{missing}");
    assert!(LogReading::parse(&format!("{format},unit=nodes")).unwrap_err().0.contains("no key 'unit'"));
    assert!(error(text, &[]).contains("name its columns with --log-format csv:submit=COLUMN"));
}

#[test]
fn pbs_sge_and_lsf_rows() {
    let pbs = "01/26/2016 00:00:37;Q;2994.pbs;queue=workq\n\
        01/26/2016 00:00:37;E;2994.pbs;user=u group=g jobname=j queue=workq ctime=1453756297 etime=1453756397 start=1453766281 \
        exec_host=c1/0*13+c2/0*13 Resource_List.ncpus=26 Resource_List.soft_walltime=00:01:00 Resource_List.walltime=00:02:43 \
        end=1453766437 Exit_status=0 resources_used.walltime=99:00:00\n";
    let first = log(pbs, &[]);
    assert_eq!((first.source.causes[RowCause::OtherEvent], times(&first.records[0])), (1, (0, 9884, 156, 26, 1)));
    assert_eq!(first.records[0].estimate, 163);
    assert_eq!(log(pbs, &[("log-format", "pbs:estimate-field=soft_walltime")]).records[0].estimate, 60);
    assert_eq!(log(pbs, &[("log-format", "auto:unit=nodes")]).records[0].allocated, 2);
    assert!(error(&pbs.replace("end=1453766437 ", ""), &[]).contains("log:2:1: end is missing"));
    assert!(error(&pbs.replace("end=1453766437", "end=145376"), &[]).contains("the job ends before it starts"));
    assert!(error(&pbs.replace("E;2994", "E"), &[]).contains("not a row of the form MM/DD/YYYY"));

    let sge = format!(
        "# Version\nq1:h:g:o:name:5:a:0:1310761621:1311095354:1311095414:0:0:60{}:1:0:6.1:7.3:0.0:-l h_rt=1:00:00,s_rt=9 -pe m 1:0.0:NONE:1.0:0:0\n",
        ":0".repeat(20)
    );
    let first = log(&sge, &[]);
    assert_eq!((times(&first.records[0]), first.records[0].estimate), ((0, 333_733, 60, 1, 1), 3600));
    let task = log(&sge.replace(":NONE:1.0", ":7.node:1.0"), &[]);
    assert_eq!((task.source.causes[RowCause::Step], task.records.len()), (1, 0));
    let never = log(&sge.replace(":1311095354:1311095414:0:0", ":0:0:1:0"), &[]);
    assert_eq!((never.source.causes[RowCause::NeverStarted], times(&never.records[0])), (1, (0, -1, -1, -1, 5)));
    assert!(error(&sge, &[("log-format", "auto:unit=nodes")]).contains("the format sge does not say the nodes"));
    let short = error(&format!("{sge}q1:h:g\n"), &[]);
    assert!(short.contains("log:3:1: a row with 3 of the 40 columns: \"x0:x:x\""), "{short}");

    let lsf = format!(
        "\"JOB_START\" \"9.1\" 1\n\"JOB_FINISH\" \"9.1\" 1389683139 404 22 33 128 1389642318 1389642418 0 1389642771 \"u\" \"q\" {}0 2 \"16*h1\" \"h2\" 64 60.0 \
         \"name\" \"a \"\"b\"\" c\"{} \"\" \"proj\" 0 128\n",
        "\"\" ".repeat(9),
        " 0".repeat(19)
    );
    let first = log(&lsf, &[]);
    assert_eq!((first.source.causes[RowCause::OtherEvent], times(&first.records[0])), (1, (0, 353, 40_368, 17, 1)));
    assert_eq!(
        (names(&first, "group"), names(&first, "executable")),
        (vec!["proj".to_string()], vec!["name".to_string()])
    );
    assert_eq!(log(&lsf, &[("log-format", "auto:unit=nodes")]).records[0].allocated, 2);
    assert!(error(&lsf.replace("0 2 \"16", "0 200 \"16"), &[]).contains("all fields of a JOB_FINISH row"));
    assert!(error(&lsf.replace("\"proj\" 0", "\"proj 0"), &[]).contains("fields in closed quotes"));
}

/// The rows of the tasks of an array differ in the number of the task only.
#[test]
fn tasks_of_an_array_are_jobs_and_rows_that_repeat_one_are_not() {
    let sge = |task: u32| {
        let usage = ":0".repeat(20);
        format!(
            "q:h:g:o:name:5:a:0:1310761621:1311095354:1311095414:0:0:60{usage}:1:{task}:6.1:7.3:0.0:-u x:0.0:NONE:1.0:0:0\n"
        )
    };
    let lsf = |task: u32| {
        let (before, usage) = ("\"\" ".repeat(9), " 0".repeat(19));
        format!(
            "\"JOB_FINISH\" \"9.1\" 1389683139 404 22 33 128 1389642318 0 0 1389642771 \"u\" \"q\" {before}0 1 \"h\" 64 60.0 \"name\" \"run\"{usage} \
             \"\" \"proj\" 0 128 \"\" \"\" {task}\n"
        )
    };
    for row in [&sge as &dyn Fn(u32) -> String, &lsf] {
        let log = log(&[1, 2, 1].map(row).concat(), &[]);
        assert_eq!((log.records.len(), log.source.causes[RowCause::Repeated]), (2, 1), "{}", row(1));
    }
}

#[test]
fn jobs_that_were_submitted_together_keep_the_order_of_the_file() {
    let submitted = |id: &str, submit: &str| row(id, submit, "00:01:00", "00:02:00", 1, "COMPLETED", id);
    let rows = [("4", "00:00:20"), ("9", "00:00:10"), ("3", "00:00:10"), ("7", "00:00:20"), ("1", "00:00:10")];
    let log = log(&sacct(&rows.map(|(id, submit)| submitted(id, submit))), &[]);
    assert_eq!(names(&log, "job"), ["9", "3", "1", "4", "7"]);
    assert_eq!(names(&log, "executable"), names(&log, "job"));
}

#[test]
fn names_leave_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (file, swf, list) = (path("sacct.txt"), path("new.swf"), path("names.csv"));
    let rows = [
        row("17", "00:00:00", "00:00:10", "00:01:00", 2, "COMPLETED", "secret"),
        row("18", "00:00:05", "00:00:30", "00:01:00", 2, "FAILED", "=x"),
    ];
    fs::write(&file, sacct(&rows)).unwrap();
    let ran = sim(&["trace", "convert", &file, "--out", &swf, "--names-out", &list]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let written = fs::read_to_string(&list).unwrap();
    assert_eq!(
        written,
        "kind,number,name\nuser,1,ann\ngroup,1,phys\nexecutable,1,secret\nexecutable,2,'=x\nqueue,1,normal\npartition,1,batch\njob,1,17\njob,2,18\n"
    );
    let log = fs::read_to_string(&swf).unwrap();
    for part in
        ["; UnixStartTime: 1767225600", "; MaxProcs: 4", "; Note: converted by shadowtime from sacct.txt, format sacct"]
    {
        assert!(log.contains(part), "{part}: {log}");
    }
    let others = [
        sim(&["trace", "info", &file, "--format", "table"]),
        sim(&["--trace", &file, "--jobs-out", "-"]),
        sim(&["trace", "validate", &file]),
    ];
    for text in others.iter().flat_map(|ran| [&ran.out, &ran.err]).chain([&log, &ran.err]) {
        assert!(!text.contains("secret") && !text.contains("ann") && !text.contains("phys"), "{text}");
    }
    assert!(others.iter().all(|ran| ran.code == 0), "{others:?}");
    // The names of the main command are the same.
    let direct = sim(&["-q", "--trace", &file, "--names-out", "-"]);
    assert_eq!((direct.code, direct.out), (0, written));
    let none = sim(&["-q", "--names-out", "-"]);
    assert!(none.code == 2 && none.err.contains("it has no names for --names-out"), "{}", none.err);
}

#[test]
fn rotated_files_are_one_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let early = row("1", "00:00:00", "00:00:10", "00:01:00", 2, "COMPLETED", "x");
    let late = row("2", "01:00:00", "01:00:10", "01:01:00", 2, "COMPLETED", "y");
    fs::write(path("b"), sacct(std::slice::from_ref(&early))).unwrap();
    fs::write(path("a"), sacct(std::slice::from_ref(&late))).unwrap();
    fs::write(path("both"), sacct(&[early, late])).unwrap();
    let convert = |files: &[&str]| {
        let files: Vec<String> = files.iter().map(|file| path(file)).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let text = sim_ok(&[&["trace", "convert", "--out", "-"], &files[..]].concat());
        text.lines().filter(|line| !line.contains("Note")).map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(convert(&["a", "b"]), convert(&["both"]));
    // SWF logs keep their numbers. The instant 0 of each is its UnixStartTime.
    let line =
        |number: i64, submit: i64| format!("{number} {submit} 0.2 5 1 1 1 1 9 1 1 3000000000 1 1 1 1 1 1 extra\n");
    fs::write(path("s1"), format!("; UnixStartTime: 2000\n; MaxProcs: 4\n; MaxJobs: 1\n{}", line(8, 0))).unwrap();
    fs::write(path("s2"), format!("; UnixStartTime: 1000\n; MaxProcs: 4\n{}{}", line(5, 50), line(4, 40))).unwrap();
    let joined = convert(&["s1", "s2"]);
    assert_eq!(joined[..3], ["; UnixStartTime: 1000", "; MaxProcs: 4", "; MaxJobs: 3"]);
    let fields = |line: &String| line.split_whitespace().take(3).map(str::to_string).collect::<Vec<_>>().join(" ");
    assert_eq!(joined[3..].iter().map(fields).collect::<Vec<_>>(), ["4 40 0.2", "5 50 0.2", "8 1000 0.2"]);
    assert!(joined[3..].iter().all(|line| line.contains(" 3000000000 ") && line.split_whitespace().count() == 18));
    let mixed = sim(&["trace", "convert", &path("a"), &path("s1"), "--out", "-"]);
    assert!(mixed.code == 2 && mixed.err.contains("its format is swf, but that of"), "{}", mixed.err);
}

#[test]
fn validation_of_other_formats() {
    let good = row("1", "00:00:00", "00:00:10", "00:01:00", 2, "COMPLETED", "x");
    let sound =
        sim_fed(&["trace", "validate", "-"], sacct(&[good.clone(), good.replace("1|ann", "1.batch|ann")]).as_bytes());
    assert!(sound.code == 0 && sound.out.contains("1 row of steps of jobs: dropped"), "{}", sound.out);
    assert!(sound.out.ends_with("sound: 1 record, 0 faulty lines\n"), "{}", sound.out);
    let bad = sim_fed(&["trace", "validate", "-"], sacct(&[good.replace("2026", "20x6"), good]).as_bytes());
    assert!(
        bad.code == 2 && bad.out.contains("standard input:2:") && bad.out.contains("is not a time such as"),
        "{}",
        bad.out
    );
    assert!(bad.out.ends_with("not sound: 1 record, 1 faulty line\n"), "{}", bad.out);
}

/// A file of accounting in the folder of real logs.
fn accounting(test: &str) -> Option<PathBuf> {
    let folder = real_logs(test)?.join("accounting");
    assert!(folder.is_dir(), "there is no folder accounting among the real logs");
    Some(folder)
}

const LUMOS: &str = "csv:submit=submit_time,wait=wait_time,run=run_time,procs=node_num,estimate=wall_time,user=user{0.0:-1},group=project,status=new_status{Pass:1,Failed:0,Killed:5},id=job";

#[test]
fn real_files_have_the_figures_of_an_independent_reading() {
    let Some(folder) = accounting("real_files_have_the_figures_of_an_independent_reading") else { return };
    for (file, given, count, procs, wait, runtime, most) in [
        ("slurm-pozidriv.txt.gz", &[][..], 11_285, 108_672, 6_687.376, 2_143.088, 1_159),
        (
            "slurm-pozidriv.txt.gz",
            &[("log-format", "auto:submit-time=submitted")],
            11_285,
            108_672,
            6_687.762,
            2_143.088,
            1_159,
        ),
        ("slurm-micro.txt.gz", &[], 500, 7_982, 12_301.354, 529.738, 120),
        ("alcf-theta.csv.gz", &[("log-format", LUMOS)], 14_374, 2_295_292, 29_601.672, 5_151.675, 4_392),
        ("alcf-mira.csv.gz", &[("log-format", LUMOS)], 22_508, 39_539_952, 52_675.943, 8_068.790, 160_768),
    ] {
        let log = read_source(&Source::File(folder.join(file)), given).unwrap();
        let kept: Vec<&Record> = log.records.iter().filter(|record| record.runtime >= 0).collect();
        let mean =
            |value: fn(&Record) -> i64| kept.iter().map(|record| value(record) as f64).sum::<f64>() / kept.len() as f64;
        let sum: i64 = kept.iter().map(|record| i64::from(record.allocated)).sum();
        assert_eq!((kept.len(), sum), (count, procs), "{file}");
        let (waits, runtimes) = (mean(|record| record.wait), mean(|record| record.runtime));
        assert!((waits - wait).abs() < 0.0006 && (runtimes - runtime).abs() < 0.0006, "{file}: {waits} {runtimes}");
        assert_eq!(peak(&log.records, Default::default()), Some(most), "{file}");
        assert_eq!(log.source.rows, log.source.dropped() + log.records.len() as u64);
        assert_converts(&folder.join(file), given);
    }
    let log = read_source(&Source::File(folder.join("slurm-pozidriv.txt.gz")), &[]).unwrap();
    let states: Vec<_> = log.source.states.iter().map(|(state, count)| (state.as_str(), *count)).collect();
    assert_eq!(
        states,
        [("CANCELLED", 468), ("COMPLETED", 10_134), ("FAILED", 1_007), ("PREEMPTED", 86), ("TIMEOUT", 9)]
    );
    assert_eq!(
        (log.source.rows, log.source.causes[RowCause::NeverStarted], log.source.causes[RowCause::Held]),
        (11_704, 419, 40)
    );
}

#[test]
fn swf_as_it_is_found() {
    let Some(folder) = accounting("swf_as_it_is_found") else { return };
    let wagap = folder.join("wagap-2013.swf.gz");
    let log = read_source(&Source::File(wagap.clone()), &[]).unwrap();
    assert_eq!((log.records.len(), log.source.causes[RowCause::ExtraFields]), (17_900, 0));
    let (procs, jobs) = jobs(&log, &[]);
    assert_eq!((procs, jobs.len()), (1_531, 17_898));
    assert_converts(&wagap, &[]);
    let mira = folder.join("mira-walltime.swf.gz");
    let log = read_source(&Source::File(mira.clone()), &[]).unwrap();
    assert_eq!((log.records.len(), peak(&log.records, Default::default())), (22_508, None));
    assert_converts(&mira, &[("procs", "49152")]);
}

#[test]
fn hard_sacct_files() {
    let Some(folder) = accounting("hard_sacct_files") else { return };
    let folder = folder.join("hard");
    let simple = read_source(&Source::File(folder.join("sacct_simple.log")), &[]).unwrap();
    assert_eq!(names(&simple, "executable"), ["job_00001", "job_0||0002", "job_0|0003", "job_|00004"]);
    let expected = [(0, 0, 84_805, 32, 1), (0, 0, 12_688, 32, 1), (0, 3, 2_009, 18, 1), (0, 3, 2_003, 18, 1)];
    assert_eq!(simple.records.iter().map(times).collect::<Vec<_>>(), expected);
    assert_eq!(simple.records[0].estimate, 259_200);
    assert_converts(&folder.join("sacct_simple.log"), &[]);
    for (file, line, records, skipped) in [
        ("sacct_dump2101.log", "12:1: a row with 108 columns instead of 107", 8, 5),
        ("sacct_dump2110.log", "2:1: a row with 111 columns instead of 109", 0, 5),
        ("sacct_submitline_multiline.log", "2:1: a row with 111 columns instead of 109", 1, 5),
    ] {
        let source = Source::File(folder.join(file));
        let wrong = read_source(&source, &[]).unwrap_err().to_string();
        assert!(wrong.contains(line) && wrong.contains("another delimiter"), "{file}: {wrong}");
        let log = read_source(&source, &[("skip-bad-lines", "on")]).unwrap();
        assert_eq!((log.records.len(), log.skipped.count), (records, skipped), "{file}: {:?}", log.source);
    }
}

#[test]
fn fixtures_of_other_readers() {
    let Some(folder) = accounting("fixtures_of_other_readers") else { return };
    let folder = folder.join("fixtures");
    let read = |format: &str, file: &str, given: &[(&str, &str)]| {
        let path = folder.join(format).join("input").join(file);
        assert_converts(&path, &[given, &[("procs", "1000")]].concat());
        read_source(&Source::File(path), given).unwrap()
    };
    let json = |format: &str, file: &str| -> serde_json::Value {
        let path = folder.join(format).join("output").join(file);
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    };
    let number = |value: &serde_json::Value| value.as_i64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap());

    // PBS: the order of the records is that of submission, which the expected rows get too.
    let log = read("pbs", "accounting-logs.log", &[]);
    let expected = json("pbs", "accounting-logs.json");
    let mut rows: Vec<_> = expected.as_object().unwrap().values().collect();
    rows.sort_by_key(|row| (number(&row["ctime"]), number(&row["job_id"])));
    let start = log.header.number("UnixStartTime").unwrap();
    assert_eq!(log.records.len(), rows.len());
    for (record, row) in log.records.iter().zip(&rows) {
        let (submit, begin, end) = (number(&row["ctime"]), number(&row["start"]), number(&row["end"]));
        assert_eq!(
            (record.submit + start, record.wait, record.runtime),
            (submit, begin - submit, end - begin),
            "{row}"
        );
        // Without exec_host the other reader has no processors.
        if row["job_id"] != "3073070" && row["job_id"] != "7904" {
            assert_eq!(i64::from(record.allocated), number(&row["resources_used_cpus"]), "{row}");
        }
        let limit = row.get("resource_list_walltime").filter(|limit| !limit.is_null()).map_or(-1, number);
        assert_eq!(record.estimate, limit, "{row}");
        assert_eq!(record.status, i32::from(row["exit_status"] == "0"));
    }
    assert_eq!(log.records.last().unwrap().allocated, 48, "exec_host gives 0: the larger of ncpus and nodes x ppn");
    let gpus = read("pbs", "accounting-logs.log", &[("log-format", "auto:unit=gpus")]);
    assert_eq!(gpus.records.iter().map(|record| record.allocated).collect::<Vec<_>>(), [1, 4, 2, 4]);
    assert_eq!(gpus.source.without_device[Resource::Gpus], 5);
    let nodes = read("pbs", "accounting-logs.log", &[("log-format", "auto:unit=nodes")]);
    for (record, row) in nodes.records.iter().zip(&rows) {
        let expected = row.get("resources_used_nodes").filter(|nodes| !nodes.is_null()).map_or(1, number);
        assert_eq!(i64::from(record.allocated), expected, "{row}");
    }

    for (format, slots) in [("sge", [1, 1]), ("uge", [1, 16])] {
        let log = read(format, "accounting-logs.log", &[]);
        let expected = json(format, "accounting-logs.json");
        let start = log.header.number("UnixStartTime").unwrap();
        for (at, (record, row)) in log.records.iter().zip(expected.as_array().unwrap()).enumerate() {
            assert_eq!(record.submit + start, number(&row["submission_time"]), "{row}");
            // The expected times are cut to seconds, not rounded.
            let begins = record.submit + start + record.wait - number(&row["start_time"]);
            assert!((0..=1).contains(&begins), "{row}");
            assert!((record.runtime - (number(&row["end_time"]) - number(&row["start_time"]))).abs() <= 1, "{row}");
            assert_eq!((record.allocated, record.status), (slots[at], 1));
            assert_eq!(record.estimate, row.get("resource_list_h_rt").map_or(-1, number));
            assert_eq!(names(&log, "user")[record.user as usize - 1], row["owner"].as_str().unwrap());
            assert_eq!(names(&log, "queue")[record.queue as usize - 1], row["qname"].as_str().unwrap());
        }
    }

    let log = read("lsf", "accounting-logs.log", &[]);
    let expected = json("lsf", "accounting-logs.json");
    for (at, (record, row)) in log.records.iter().zip(expected.as_array().unwrap()).enumerate() {
        let (submit, begin, end) =
            (number(&row["submit_time"]), number(&row["start_time"]), number(&row["event_time"]));
        assert_eq!((record.wait, record.runtime), (begin - submit, end - begin));
        assert_eq!((record.allocated, record.estimate, record.status), ([128, 8][at], 43_200, 1));
        assert_eq!(names(&log, "group"), [row["project_name"].as_str().unwrap()]);
        assert_eq!(names(&log, "executable"), [row["job_name"].as_str().unwrap()]);
    }
    let hosts = read("lsf", "accounting-logs.log", &[("log-format", "auto:unit=nodes")]);
    assert_eq!(hosts.records.iter().map(|record| record.allocated).collect::<Vec<_>>(), [8, 4]);
    read("lsf", "utf8-multibyte-chars.log", &[]);

    let log = read("slurm", "accounting-logs.log", &[]);
    let expected = json("slurm", "accounting-logs.json");
    let start = log.header.number("UnixStartTime").unwrap();
    for (record, row) in log.records.iter().zip(expected.as_array().unwrap()) {
        let eligible = row["eligible_time"].as_i64().unwrap_or(0).max(number(&row["submit_time"]));
        assert_eq!(
            (record.submit + start, record.submit + start + record.wait),
            (eligible, number(&row["start_time"]))
        );
        assert_eq!((record.runtime, i64::from(record.allocated)), (number(&row["elapsed"]), number(&row["ncpus"])));
        assert_eq!(record.estimate, row["timelimit"].as_i64().unwrap_or(-1));
    }
    let gpus = read("slurm", "accounting-logs.log", &[("log-format", "auto:unit=gpus")]);
    assert_eq!((gpus.records.len(), gpus.records[0].allocated, gpus.source.without_device[Resource::Gpus]), (1, 2, 3));
    let arrays = read("slurm", "accounting-logs-with-job-arrays.log", &[]);
    assert_eq!((arrays.records.len(), arrays.source.causes[RowCause::ArrayRange]), (1, 5));
    let path = folder.join("slurm/input/non-ended-job-state.log");
    let none = read_source(&Source::File(path), &[]).unwrap();
    assert_eq!((none.records.len(), none.source.causes[RowCause::NotEnded]), (0, 2));
    let unknown = read("slurm", "unknown-job-state.log", &[]);
    assert_eq!((unknown.records.len(), unknown.source.causes[RowCause::UnknownState]), (2, 2));
    assert_eq!(names(&read("slurm", "utf8-multibyte-chars.log", &[]), "executable"), ["a\u{e0}b"]);
}
