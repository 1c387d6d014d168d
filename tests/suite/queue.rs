//! The present queue of a site, read from what a real Slurm printed, from files made by hand and from random ones.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use shadowtime::request::{DeviceAsked, MemoryAsked};
use shadowtime::trace::{
    PresentJob, PresentQueue, PresentStage, ProcsField, QueueReading, RowCause, Source, TraceError, Unit, read_queue,
};
use shadowtime::tres::Resource;

fn recorded(name: &str) -> Source {
    Source::File(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/queue").join(name))
}

fn bytes(text: impl Into<Vec<u8>>) -> Source {
    Source::Bytes { name: "queue", bytes: text.into().into() }
}

/// The queue without what its jobs ask of nodes.
fn read(source: &Source) -> PresentQueue {
    let mut queue = read_queue(source, &QueueReading::default()).unwrap();
    queue.jobs.iter_mut().for_each(|job| (job.request, job.nodes) = (None, None));
    queue
}

/// The text does not say whether memory is for each node; JSON says it. The recorded queue is of Slurm 22.05, which has only sums.
#[test]
fn what_jobs_of_a_queue_ask_for() {
    let asked = |source: &Source| {
        let queue = read_queue(source, &QueueReading::default()).unwrap();
        let job = |job: &PresentJob| {
            let asked = job.request.as_ref().map(|asked| {
                (
                    asked.cpus,
                    asked.min_nodes,
                    asked.memory,
                    asked.devices[Resource::Gpus],
                    asked.constraint.clone(),
                    asked.partitions.clone(),
                )
            });
            (job.name.clone(), asked, job.nodes.as_deref().map(str::to_string))
        };
        queue.jobs.iter().map(job).collect::<Vec<_>>()
    };
    let text = "JOBID|PARTITION|CPUS|NODES|TIME_LIMIT|TIME|STATE|SUBMIT_TIME|START_TIME|REASON|MIN_MEMORY|TRES_PER_NODE|\
                FEATURES|NODELIST\n\
                7|gpu|8|2|1:00:00|30:00|RUNNING|2026-01-31T11:00:00|2026-01-31T12:00:00|None|4G|gres/gpu:1|(null)|n[1-2]\n\
                8|a,b|1|1|1:00:00|0:00|PENDING|2026-01-31T12:10:00|N/A|Priority|500M|N/A|ib&big|\n";
    let [a, b] = ["a", "b"].map(str::to_string);
    let expected = [
        (
            "7".to_string(),
            Some((8, 2, MemoryAsked::PerNode(4096), DeviceAsked::PerNode(1), String::new(), vec!["gpu".to_string()])),
            Some("n[1-2]".to_string()),
        ),
        (
            "8".to_string(),
            Some((1, 1, MemoryAsked::PerNode(500), DeviceAsked::None, "ib&big".to_string(), vec![a, b])),
            None,
        ),
    ];
    assert_eq!(asked(&bytes(text)), expected);
    assert!(failure(text.replace("4G", "4X")).contains("MIN_MEMORY is not a size of memory"));
    let json = r#"{"jobs":[{"job_id":9,"job_state":["PENDING"],"submit_time":1700000000,"cpus":{"set":true,"number":4},
        "node_count":{"set":true,"number":2},"partition":"gpu","memory_per_cpu":{"set":true,"number":2000},"time_limit":60,
        "tres_req_str":"cpu=4,mem=8000M,node=2,gres/gpu=2","features":"v100","exclusive":["true"],"nodes":""}]}"#;
    let [(_, Some(found), None)] = &asked(&bytes(json))[..] else { panic!("one job") };
    let gpu = vec!["gpu".to_string()];
    assert_eq!(*found, (4, 2, MemoryAsked::PerCpu(2000), DeviceAsked::PerNode(1), "v100".to_string(), gpu));
    let recorded = asked(&recorded("squeue.json.gz"));
    let (_, found, _) = recorded.iter().find(|job| job.2.as_deref() == Some("n2")).unwrap();
    let found = found.as_ref().unwrap();
    assert_eq!(found.2, MemoryAsked::PerNode(1000));
}

/// The message of the error. It must name the file.
fn failure(text: impl Into<Vec<u8>>) -> String {
    let message = read_queue(&bytes(text), &QueueReading::default()).unwrap_err().to_string();
    assert!(message.starts_with("queue:"), "{message}");
    message
}

/// The stage in one word: the reason, if it is held.
fn stage(job: &PresentJob) -> &str {
    match &job.stage {
        PresentStage::Running { .. } => "running",
        PresentStage::Waiting => "waiting",
        PresentStage::Held { reason } => reason,
    }
}

fn by_name(queue: &PresentQueue) -> BTreeMap<&str, &PresentJob> {
    let jobs: BTreeMap<_, _> = queue.jobs.iter().map(|job| (job.name.as_str(), job)).collect();
    assert_eq!(jobs.len(), queue.jobs.len());
    jobs
}

/// 2026-11-16T12:16:00, the minute before the jobs of the recorded queue were submitted.
const NOON: i64 = 1_794_831_360;

#[test]
fn what_a_real_slurm_printed() {
    let queue = read(&recorded("squeue_r.txt"));
    assert_eq!(queue.report.format, "squeue");
    let jobs = by_name(&queue);
    let alone = |name: &str| {
        let job = jobs[name];
        let user = job.user.as_deref().unwrap();
        let start = job.expected_start.map(|time| time - NOON);
        (stage(job), job.procs, job.estimate, job.submit - NOON, start, user)
    };
    const H: i64 = 3600;
    for (name, expected) in [
        ("1", ("running", 4, Some(2 * H), 22, None, "alice")),
        ("2", ("running", 2, Some(30 * H), 22, None, "bob")),
        ("3", ("SUSPENDED", 1, None, 22, None, "bob")),
        ("4_2", ("JobArrayTaskLimit", 1, Some(1800), 22, Some(H + 180), "alice")),
        ("6", ("waiting", 8, Some(H), 24, Some(30 * H + 22), "alice")),
        ("7", ("waiting", 2, Some(2700), 24, Some(5580), "bob")),
        ("8", ("waiting", 2, Some(24 * H), 24, Some(2 * H + 22), "alice")),
        ("9", ("JobHeldUser", 1, Some(600), 24, None, "alice")),
        ("10", ("Dependency", 1, Some(600), 24, None, "bob")),
        ("11", ("BeginTime", 1, Some(600), 24, Some(48 * H + 24), "bob")),
        ("12_7", ("waiting", 4, Some(1200), 24, Some(30 * H + 22), "bob")),
        ("14", ("PartitionTimeLimit", 1, Some(72 * H), 24, None, "alice")),
        ("15", ("PartitionDown", 1, Some(600), 24, None, "alice")),
        ("16", ("waiting", 1, Some(600), 24, Some(2 * H + 1080), "bob")),
        ("17+1", ("waiting", 1, Some(600), 24, Some(2 * H + 2880), "bob")),
        ("19", ("JobHeldAdmin", 1, Some(600), 24, None, "bob")),
        ("20_6", ("JobHeldUser", 1, Some(600), 24, None, "bob")),
        ("21", ("waiting", 4, Some(600), 24, None, "bob")),
        ("24_399", ("Dependency", 1, Some(900), 193, None, "bob")),
    ] {
        assert_eq!(alone(name), expected, "{name}");
    }
    assert_eq!(jobs["1"].stage, PresentStage::Running { start: NOON + 22 });
    let names = |job: &PresentJob| {
        let PresentJob { group, executable, queue, partition, .. } = job;
        [group, executable, queue, partition].map(|name| name.as_deref().unwrap_or("-").to_string())
    };
    assert_eq!(names(jobs["7"]), ["chem", "new\nline", "-", "main"]);
    assert_eq!(names(jobs["4_3"]), ["phys", "a|b", "-", "main"]);
    assert_eq!(names(jobs["12_1"]), ["chem", "arr \"q\"", "-", "main"]);
    assert_eq!(names(jobs["16"]), ["-", "twoparts", "-", "main,open"]);
    // Jobs 13 and 4_1 are completing.
    assert_eq!((queue.report.rows, queue.report.causes[RowCause::Ending], queue.jobs.len()), (191, 2, 189));
    assert_eq!(jobs.values().filter(|job| job.stage == PresentStage::Waiting).count(), 112);
    // Job 1 has run for 2:55.
    assert_eq!(queue.now, Some(NOON + 22 + 175));
    assert_eq!(queue.report.unusable() + queue.report.causes[RowCause::CutArray] + queue.skipped.count, 0);
}

#[test]
fn all_forms_of_the_same_queue_agree() {
    let expanded = read(&recorded("squeue_r.txt"));
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/queue/squeue_r.txt")).unwrap();
    let (_, without_header) = text.split_once('\n').unwrap();
    let without_header = read(&bytes(without_header));
    assert_eq!((&without_header.jobs, without_header.now), (&expanded.jobs, expanded.now));

    let json = read(&recorded("squeue.json.gz"));
    assert_eq!(json.report.format, "squeue --json");
    // Slurm 22.05 forgets the last task of `23_[1-298:3]` in `squeue -r`.
    let (text_jobs, mut json_jobs) = (by_name(&expanded), by_name(&json));
    assert_eq!(json_jobs["23_298"].procs, 1);
    // Only JSON says since when a job is eligible. Jobs that their users hold and dependent ones are not.
    for job in json_jobs.values() {
        assert_eq!(job.eligible.is_none(), ["JobHeldUser", "Dependency"].contains(&stage(job)), "{}", job.name);
    }
    let json_jobs_as_text: Vec<_> =
        json_jobs.values().map(|job| PresentJob { eligible: None, ..(**job).clone() }).collect();
    json_jobs = json_jobs_as_text.iter().map(|job| (job.name.as_str(), job)).collect();
    let last = json_jobs.remove("23_298").unwrap();
    assert_eq!(text_jobs, json_jobs);
    json_jobs.insert("23_298", last);
    assert_eq!(json.report.causes[RowCause::Ending], 2);
    // The scheduler looked at the jobs three seconds after the last submission.
    assert_eq!(json.now, Some(NOON + 196));

    let arrays = read(&recorded("squeue.txt"));
    for (name, job) in by_name(&arrays) {
        assert_eq!(job, json_jobs[name]);
    }
    // Of `24_[6-7,15,18,21,32-33,49,66,68` the last number may be cut.
    let listed = arrays.jobs.iter().filter(|job| job.name.starts_with("24_")).map(|job| &job.name[3..]);
    assert_eq!(listed.collect::<Vec<_>>(), ["6", "7", "15", "18", "21", "32", "33", "49", "66"]);
    assert_eq!(arrays.jobs.len() + 60 - 9, json.jobs.len());
    assert_eq!((arrays.report.causes[RowCause::CutArray], arrays.report.first_cut_array.as_deref()), (1, Some("24")));
}

#[test]
fn json_of_later_versions() {
    let queue = read(&recorded("v0.0.39.json"));
    let jobs = by_name(&queue);
    assert_eq!(jobs.keys().copied().collect::<Vec<_>>(), ["11", "12_1", "12_2", "12_3"]);
    assert_eq!(jobs["11"].stage, PresentStage::Running { start: 1_700_003_600 });
    assert_eq!((jobs["11"].procs, jobs["11"].estimate, jobs["11"].submit), (64, Some(7200), 1_700_000_000));
    let waiting = jobs["12_2"];
    assert_eq!((stage(waiting), waiting.procs, waiting.estimate), ("waiting", 4, None));
    assert_eq!((waiting.expected_start, waiting.eligible), (Some(1_700_010_800), Some(1_700_002_000)));
    assert_eq!((waiting.user.as_deref(), waiting.queue.as_deref()), (Some("bob"), Some("normal")));
    assert_eq!(queue.now, Some(1_700_003_800));

    let queue = read(&recorded("v0.0.41.json"));
    let jobs = by_name(&queue);
    let stages: Vec<_> = jobs.iter().map(|(name, job)| (*name, stage(job), job.procs)).collect();
    assert_eq!(
        stages,
        [
            ("21", "running", 128),
            ("22_0", "running", 2),
            ("24", "JobHeldUser", 8),
            ("25", "JobHeld", 8),
            ("26", "QOSMaxJobsPerUserLimit", 8),
            ("27", "waiting", 16),
        ]
    );
    assert_eq!((jobs["21"].user.as_deref(), jobs["22_0"].user.as_deref()), (Some("alice"), Some("1001")));
    assert_eq!((jobs["21"].estimate, jobs["22_0"].estimate, jobs["27"].estimate), (Some(3600), None, None));
    assert_eq!((jobs["24"].expected_start, jobs["27"].expected_start), (None, Some(1_700_090_000)));
    let report = &queue.report;
    assert_eq!(
        (
            report.rows,
            report.causes[RowCause::Ending],
            report.causes[RowCause::Ended],
            report.causes[RowCause::UnknownState]
        ),
        (9, 1, 1, 1)
    );
    assert_eq!((report.first_unknown_state.as_deref(), report.unusable()), (Some("TELEPORTED"), 1));
    assert_eq!(queue.now, Some(1_700_004_400));
}

#[test]
fn json_with_odd_values() {
    // As `--json=...+complex` writes it, and as 21.08 writes a limit that is not set. Names need not be UTF-8.
    let text = b"[{\"job_id\": 7, \"job_state\": \"PENDING\", \"submit_time\": 1700000000, \"cpus\": null, \
                 \"tres_req_str\": \"mem=4G,cpu=12,node=1\", \"time_limit\": \"Infinity\", \"name\": \"a\xffb\"},\
                 {\"job_id\": 8, \"job_state\": \"PENDING\", \"submit_time\": 1700000000.0, \"cpus\": 2, \
                 \"time_limit\": 4294967294, \"name\": null, \"start_time\": 4294967294},\
                 {\"job_id\": 9, \"job_state\": \"RUNNING\", \"submit_time\": 1700000000, \"cpus\": 2},\
                 {\"job_id\": 10, \"job_state\": \"PENDING\", \"submit_time\": 1700000000}]";
    let queue = read(&bytes(text));
    let jobs: Vec<_> =
        queue.jobs.iter().map(|job| (job.name.as_str(), job.procs, job.estimate, job.executable.as_deref())).collect();
    assert_eq!(jobs, [("7", 12, None, Some("a\u{fffd}b")), ("8", 2, None, None)]);
    assert_eq!((queue.jobs[0].expected_start, queue.jobs[1].expected_start), (None, None));
    let report = &queue.report;
    assert_eq!(
        (report.causes[RowCause::WithoutStart], report.causes[RowCause::WithoutProcs], report.unusable()),
        (1, 1, 2)
    );
}

#[test]
fn processors_can_be_nodes_or_gpus() {
    let count = |source: &Source, unit| {
        read_queue(source, &QueueReading { unit, ..QueueReading::default() })
            .map(|queue| (queue.jobs.iter().map(|job| job.procs).collect::<Vec<_>>(), queue.report.left_out()))
    };
    let json = recorded("v0.0.39.json");
    assert_eq!(count(&json, Unit::Cpus).unwrap(), (vec![64, 4, 4, 4], 0));
    assert_eq!(count(&json, Unit::Nodes).unwrap(), (vec![2, 1, 1, 1], 0));
    assert_eq!(count(&json, Unit::Gpus).unwrap(), (vec![8], 1));
    let text = "JOBID|NODES|CPUS|TIME_LIMIT|STATE|SUBMIT_TIME|START_TIME|REASON\n\
                7|3|64|2:00:00|PENDING|2026-01-31T11:00:00|N/A|Priority\n";
    assert_eq!(count(&bytes(text), Unit::Nodes).unwrap().0, [3]);
    let message = count(&bytes(text), Unit::Gpus).unwrap_err().to_string();
    assert!(message.contains("squeue --json"), "{message}");
    let message = count(&recorded("squeue_r.txt"), Unit::Nodes).unwrap_err().to_string();
    assert!(message.contains("lacks the column NODES (%D)"), "{message}");
}

#[test]
fn columns_in_any_order_with_more_of_them() {
    // Other letters, padding, short states, reasons in parentheses, local line ends; the free text is not the last column.
    let text = "\u{feff}\nNAME;ST;  CPUS;NODES;START_TIME;SUBMIT_TIME;TIME_LIMIT;JOBID;NODELIST(REASON);PRIORITY\r\n\
                a;b;PD;     8;2;N/A;2026-01-31T12:00:00;1:00:00;6;(Priority);1\r\n\
                ;PD;     8;2;N/A;2026-01-31T12:00:00;NOT_SET;7;(Dependency);1\r\n\r\n\
                c;R;    16;2;2026-01-31T12:30:00;2026-01-31T12:00:00;UNLIMITED;8;n[1-2];1";
    let queue = read(&bytes(text));
    let jobs = by_name(&queue);
    let seen: Vec<_> =
        jobs.values().map(|job| (stage(job), job.procs, job.estimate, job.executable.as_deref())).collect();
    let expected =
        [("waiting", 8, Some(3600), Some("a;b")), ("Dependency", 8, None, None), ("running", 16, None, Some("c"))];
    assert_eq!(seen, expected);
    // There is no column TIME: the latest start is all that is known.
    assert_eq!(queue.now, Some(1_769_862_600));
    let repeated = format!("{text}\n{text}");
    let again = read(&bytes(repeated.replace("\n\u{feff}\n", "\n")));
    assert_eq!((again.jobs, again.report.rows, again.report.causes[RowCause::Repeated]), (queue.jobs, 6, 3));
}

const HEADER: &str = "JOBID|CPUS|TIME_LIMIT|TIME|STATE|SUBMIT_TIME|START_TIME|REASON|NAME";
const ROW: &str = "7|4|1:00:00|0:00|PENDING|2026-01-31T12:00:00|N/A|Priority|x";

#[test]
fn an_empty_queue_is_a_queue() {
    for text in [&format!("{HEADER}\n"), "{\"jobs\": [], \"errors\": []}", "[]", "; MaxProcs: 4\n"] {
        let queue = read(&bytes(text));
        assert_eq!((queue.jobs.len(), queue.now, queue.report.rows), (0, None, 0), "{text}");
    }
    for text in ["", "\n \n"] {
        assert!(failure(text).contains("it is empty; if the queue is empty, export it with its header"));
    }
}

#[test]
fn faults_name_the_place_and_the_way_out() {
    let row =
        |from: &str, to: &str| format!("{HEADER}\n{ROW}\n{}\n", ROW.replacen("7|", "8|", 1).replacen(from, to, 1));
    for (text, message) in [
        (row("|4|", "|four|"), "queue:3:3: CPUS is not a number below 2^31: \"four\" (--skip-bad-lines"),
        (row("1:00:00", "soon"), "queue:3:5: TIME_LIMIT is not a duration such as 1-02:03:04: \"soon\""),
        (row("2026-01-31", "31.1."), "queue:3:26: SUBMIT_TIME is not a time such as"),
        (row("2026-01-31T12:00:00", "N/A"), "queue:3:26: SUBMIT_TIME is missing"),
        (row("8|", "x8|"), "queue:3:1: JOBID is not a job id such as 123, 123_4, 123+0 or 123_[1-5,7]: \"x8\""),
        (row("|N/A|Priority|x", ""), "queue:3:1: a row with 6 of the 9 columns: \"0|0|"),
        (row("|4|", "|\0|"), "queue:3:3: not a line of text (it has a NUL byte)"),
        (format!("{HEADER}\n") + &"x".repeat(1 << 20), "queue:2:1: a line of more than a megabyte"),
        (
            HEADER.replace("CPUS|", "").replace("|REASON", ""),
            "it lacks the column CPUS (%C), REASON (%r): export it with `TZ=UTC",
        ),
        ("1 0 0 5\n".to_string(), "queue:1:8: 4 of the 18 fields of an SWF record"),
        ("1 0 -1 -1 4 -1 -1 4 60 -1 1 x 1 1 1 1 -1 -1\n".to_string(), "queue:1:29: field 12 (user) is not a number"),
        ("\u{7f}ELF\0\0\n".to_string(), "it is not text, so it is not a queue"),
        (
            "hello\n".to_string(),
            "its first line, \"hello\", is not of a queue: export it with `TZ=UTC squeue -r -a --format=",
        ),
        ("%YAML 1.1\n--- !!map\n".to_string(), "it looks like YAML: use --json"),
        ("             JOBID PARTITION     NAME     USER ST       TIME\n".to_string(), "it looks like squeue's table"),
        (
            "JobID|Submit|Start|End|State|NCPUS\n".to_string(),
            "it looks like a log in the format sacct, which has jobs that have ended",
        ),
        ("{\"jobs\": [{\"job_id\": 7,\n".to_string(), "queue:2:0: EOF while parsing a value; the file is incomplete"),
        ("{\"nodes\": []}".to_string(), "it has no list \"jobs\"; it should be the output of `squeue --json`"),
        ("{\"jobs\": []}\n{}".to_string(), "queue:2:1: trailing characters"),
        (
            "{\"jobs\": [],\n\"errors\": [{\"description\": \"no\\u001b way\"}]}".to_string(),
            "squeue had an error, \"no\\u{1b} way\", and gave no jobs",
        ),
        ("{\"jobs\":\n[{\"job_id\": 7}]}".to_string(), "queue: job 7 has no \"job_state\""),
        ("{\"jobs\": [{\"job_id\": 7, \"job_state\": \"RUNNING\"}]}".to_string(), "job 7 has no \"submit_time\""),
        ("{\"jobs\": [{\"job_state\": \"RUNNING\"}]}".to_string(), "job 1 of the list has no \"job_id\""),
        ("{\"jobs\": [{\"job_id\": \"seven\"}]}".to_string(), "\"seven\" is not a number"),
        ("{\"jobs\": [{\"job_id\": {\"set\": 7}}]}".to_string(), "invalid type"),
        (
            "{\"jobs\": [{\"job_id\": 7, \"array_job_id\": 7, \"array_task_string\": \"1-x\"}]}".to_string(),
            "job 7: array_task_string is not a list such as 1-5,7: \"1-x\"",
        ),
    ] {
        let found = failure(text);
        assert!(found.contains(message), "{found}\ndoes not contain\n{message}");
    }
    let missing = read_queue(&recorded("squeue_x.txt"), &QueueReading::default()).unwrap_err().to_string();
    assert!(missing.contains("; did you mean the file '") && missing.ends_with("squeue_r.txt'?"), "{missing}");
}

#[test]
fn a_download_that_was_cut_is_an_error() {
    let packed = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/queue/squeue.json.gz")).unwrap();
    for length in [20, packed.len() / 2, packed.len() - 9] {
        let error = read_queue(&bytes(&packed[..length]), &QueueReading::default()).unwrap_err();
        assert!(matches!(error, TraceError::Read { .. }), "{length}: {error}");
    }
}

#[test]
fn faulty_lines_are_skipped_on_request() {
    let text = format!("{HEADER}\n{ROW}\n8|4|x\n9|four|1:00:00\n{}\n", ROW.replacen("7|", "10|", 1));
    let queue = read_queue(&bytes(text), &QueueReading { skip_bad_lines: true, ..QueueReading::default() }).unwrap();
    assert_eq!(queue.jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["7", "10"]);
    assert_eq!((queue.skipped.count, queue.skipped.first.unwrap().line, queue.report.rows), (2, 3, 2));
}

#[test]
fn arrays_of_any_size_take_limited_room() {
    let text = format!("{HEADER}\n{}\n{ROW}\n", ROW.replacen("7|", "5_[0-4000000000]|", 1));
    let queue = read(&bytes(text));
    assert_eq!((queue.jobs.len(), queue.report.causes[RowCause::TaskLeftOut]), (1_000_001, 4_000_000_001 - 1_000_000));
    assert_eq!((queue.jobs[999_999].name.as_str(), queue.jobs[1_000_000].name.as_str()), ("5_999999", "7"));
}

#[test]
fn open_records_of_a_log() {
    let text = "; UnixStartTime: 1000000000\n; MaxProcs: 64\n\
                1 0 5 10 8 -1 -1 8 60 -1 1 1 1 1 1 1 -1 -1\n\
                2 100 20 -1 8 -1 -1 -1 3600 -1 -1 35012304659472 2 3 4 5 -1 -1\n\
                3 110 -1 -1 -1 -1 -1 16 -1 -1 1 2 -1 -1 -1 -1 -1 -1\n\
                ; a comment between records\n\
                4 110 -1 -1 -1 -1 -1 16 60 -1 5 2 1 1 1 1 -1 -1\n\
                5 111 -1 -1 4 -1 -1 16 60 -1 5 2 1 1 1 1 -1 -1\n\
                6 112 -1 -1 0 -1 -1 -1 60 -1 -1 2 1 1 1 1 -1 -1\n\
                7 -1 -1 -1 4 -1 -1 4 60 -1 -1 2 1 1 1 1 -1 -1\n\
                8 115 -1 0 4 -1 -1 4 60 -1 5 2 1 1 1 1 -1 -1\n";
    let queue = read(&bytes(text));
    assert_eq!((queue.report.format, queue.header.number("UnixStartTime")), ("swf", Some(1_000_000_000)));
    let jobs: Vec<_> = queue
        .jobs
        .iter()
        .map(|job| (job.name.as_str(), job.stage.clone(), job.submit, job.procs, job.estimate))
        .collect();
    assert_eq!(
        jobs,
        [
            ("2", PresentStage::Running { start: 120 }, 100, 8, Some(3600)),
            ("3", PresentStage::Waiting, 110, 16, None),
            ("5", PresentStage::Waiting, 111, 16, Some(60)),
        ]
    );
    let PresentJob { user, group, executable, queue: own_queue, partition, .. } = &queue.jobs[0];
    let names = [user, group, executable, own_queue, partition].map(|name| name.as_deref().unwrap());
    assert_eq!(names, ["35012304659472", "2", "3", "4", "5"]);
    assert_eq!((queue.jobs[1].user.as_deref(), queue.jobs[1].group.as_deref()), (Some("2"), None));
    let report = &queue.report;
    assert_eq!((report.rows, report.causes[RowCause::Ended], report.causes[RowCause::Cancelled]), (8, 2, 1));
    assert_eq!((report.causes[RowCause::WithoutProcs], report.causes[RowCause::WithoutSubmit]), (1, 1));
    assert_eq!(queue.now, Some(120));
    let allocated = QueueReading { procs_field: ProcsField::Allocated, ..QueueReading::default() };
    let procs: Vec<_> = read_queue(&bytes(text), &allocated).unwrap().jobs.iter().map(|job| job.procs).collect();
    assert_eq!(procs, [8, 16, 4]);
}

#[test]
fn a_job_without_a_runtime_does_not_run_for_ever() {
    // Submitted at 0, estimate 100 s: overdue one second after a day and 100 s. The second one has no estimate.
    let text = |now: i64| {
        format!(
            "1 0 0 -1 8 -1 -1 8 100 -1 5 1 1 1 1 1 -1 -1\n2 0 0 -1 8 -1 -1 8 -1 -1 5 1 1 1 1 1 -1 -1\n\
             3 {now} -1 -1 8 -1 -1 8 100 -1 1 1 1 1 1 1 -1 -1\n"
        )
    };
    for (now, overdue, names) in [(86_500, 0, &["1", "2", "3"][..]), (86_501, 1, &["2", "3"])] {
        let queue = read(&bytes(text(now)));
        assert_eq!(queue.jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), names);
        assert_eq!((queue.now, queue.report.causes[RowCause::Overdue]), (Some(now), overdue));
    }
}

/// A job of a random queue.
#[derive(Clone, Debug)]
struct Random {
    stage: u8,
    submit: i64,
    start: Option<i64>,
    procs: u32,
    minutes: Option<i64>,
    /// User, account, job name, quality of service, partition.
    names: [Option<&'static str>; 5],
}

fn random_jobs() -> impl Strategy<Value = Vec<Random>> {
    let name = || option::of(select(&["a", "b c", "Zoë", "x\"y\\z", "7"][..]));
    let job_name = option::of(select(&["a", "p|q", "|", "line\nend", "1\n2\n3", "{\"jobs\": []}", "9"][..]));
    let names = (name(), name(), job_name, name(), name()).prop_map(|(a, b, c, d, e)| [a, b, c, d, e]);
    let times = (1_600_000_000i64..1_700_000_000, option::of(1_600_000_000i64..1_700_000_000));
    let job = (0u8..4, times, 1u32..5000, option::of(1i64..100_000), names);
    let job = job.prop_map(|(stage, (submit, start), procs, minutes, names)| {
        let start = if stage == 0 { Some(start.unwrap_or(submit)) } else { start };
        Random { stage, submit, start, procs, minutes, names }
    });
    vec(job, 1..30)
}

/// State and reason of each kind of job.
const STAGES: [(&str, &str); 4] =
    [("RUNNING", "None"), ("PENDING", "Resources"), ("PENDING", "BeginTime"), ("COMPLETED", "None")];

/// The jobs that should be read.
fn expected(jobs: &[Random]) -> Vec<PresentJob> {
    let numbered = jobs.iter().zip(1..).filter(|(job, _)| job.stage != 3);
    let job = |(job, number): (&Random, i32)| {
        let [user, group, executable, queue, partition] = job.names.map(|name| name.map(Into::into));
        PresentJob {
            name: number.to_string(),
            stage: match job.stage {
                0 => PresentStage::Running { start: job.start.unwrap() },
                1 => PresentStage::Waiting,
                _ => PresentStage::Held { reason: "BeginTime".into() },
            },
            is_inner_task: false,
            submit: job.submit,
            eligible: None,
            expected_start: job.start.filter(|_| job.stage != 0),
            procs: job.procs,
            estimate: job.minutes.map(|minutes| minutes * 60),
            user,
            group,
            executable,
            queue,
            partition,
            request: None,
            nodes: None,
        }
    };
    numbered.map(job).collect()
}

/// The time as Slurm prints it, counted year by year.
fn iso(unix: i64) -> String {
    let (mut days, seconds) = (unix / 86_400, unix % 86_400);
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut year = 1970;
    while days >= 365 + i64::from(is_leap(year)) {
        days -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + i64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year}-{month:02}-{:02}T{h:02}:{m:02}:{s:02}", days + 1)
}

/// As `squeue` prints them, with the columns in this order; the job name is last.
fn as_text(jobs: &[Random], order: &[usize], delimiter: char) -> String {
    const NAMES: [&str; 13] = [
        "JOBID",
        "USER",
        "ACCOUNT",
        "PARTITION",
        "QOS",
        "CPUS",
        "TIME_LIMIT",
        "TIME",
        "STATE",
        "SUBMIT_TIME",
        "START_TIME",
        "REASON",
        "NAME",
    ];
    let mut text = String::new();
    let mut line = |cells: [String; 13]| {
        let cells: Vec<_> = order.iter().map(|&at| cells[at].clone()).collect();
        text.push_str(&cells.join(&delimiter.to_string()));
        text.push('\n');
    };
    line(NAMES.map(str::to_string));
    for (job, number) in jobs.iter().zip(1..) {
        let [user, account, name, qos, partition] = job.names.map(|name| name.unwrap_or("(null)").to_string());
        let limit = job.minutes.map_or("UNLIMITED".to_string(), |minutes| match minutes {
            1440.. => format!("{}-{:02}:{:02}:00", minutes / 1440, minutes / 60 % 24, minutes % 60),
            60.. => format!("{}:{:02}:00", minutes / 60, minutes % 60),
            _ => format!("{minutes}:00"),
        });
        let (state, reason) = STAGES[usize::from(job.stage)];
        let start = job.start.map_or("N/A".to_string(), iso);
        let [number, cpus] = [number.to_string(), job.procs.to_string()];
        let [elapsed, state, reason] = ["0:00", state, reason].map(str::to_string);
        line([
            number,
            user,
            account,
            partition,
            qos,
            cpus,
            limit,
            elapsed,
            state,
            iso(job.submit),
            start,
            reason,
            name,
        ]);
    }
    text
}

/// As `squeue --json` writes them, with plain numbers or with objects.
fn as_json(jobs: &[Random], objects: bool) -> String {
    let number = |value: Option<i64>| match (objects, value) {
        (true, Some(value)) => format!("{{\"set\": true, \"infinite\": false, \"number\": {value}}}"),
        (true, None) => "{\"set\": false, \"infinite\": true, \"number\": 0}".to_string(),
        (false, value) => value.map_or("null".to_string(), |value| value.to_string()),
    };
    let mut text = "{\"jobs\": [".to_string();
    for (job, at) in jobs.iter().zip(1..) {
        let (state, reason) = STAGES[usize::from(job.stage)];
        let state = if objects { format!("[\"{state}\"]") } else { format!("\"{state}\"") };
        let names = job.names.map(|name| serde_json_text(name.unwrap_or("")));
        let [user, account, name, qos, partition] = names;
        let [submit, start] = [Some(job.submit), Some(job.start.unwrap_or(0))].map(number);
        let [cpus, limit] = [Some(i64::from(job.procs)), job.minutes].map(number);
        let comma = if at == 1 { "" } else { "," };
        write!(
            text,
            "{comma}\n{{\"gres_detail\": [{{}}], \"job_id\": {at}, \"job_state\": {state}, \"state_reason\": \"{reason}\", \
             \"submit_time\": {submit}, \"start_time\": {start}, \"cpus\": {cpus}, \"time_limit\": {limit}, \
             \"user_name\": {user}, \"account\": {account}, \"name\": {name}, \"qos\": {qos}, \"partition\": {partition}}}"
        )
        .unwrap();
    }
    text + "]}"
}

fn serde_json_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

proptest! {
    #[test]
    fn random_queues_come_back(
        jobs in random_jobs(),
        order in Just((0..12).collect::<Vec<usize>>()).prop_shuffle(),
        delimiter in select(&['|', ';', '^', '\t'][..]),
    ) {
        let expected = expected(&jobs);
        for objects in [false, true] {
            prop_assert_eq!(&read(&bytes(as_json(&jobs, objects))).jobs, &expected);
        }
        let usual: Vec<usize> = (0..13).collect();
        let shuffled: Vec<usize> = order.into_iter().chain([12]).collect();
        for text in [as_text(&jobs, &usual, '|'), as_text(&jobs, &shuffled, delimiter)] {
            let queue = read(&bytes(text));
            prop_assert_eq!(&queue.jobs, &expected);
            prop_assert_eq!(queue.report.causes[RowCause::Ended] + queue.jobs.len() as u64, jobs.len() as u64);
        }
        let text = as_text(&jobs, &usual, '|');
        prop_assert_eq!(&read(&bytes(text.split_once('\n').unwrap().1)).jobs, &expected);
    }

    #[test]
    fn damaged_files_are_errors_or_queues(
        name in select(&["squeue.txt", "v0.0.39.json", "v0.0.41.json"][..]),
        changes in vec((any::<Index>(), any::<u8>()), 1..8),
        length in any::<Index>(),
    ) {
        let mut text = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/queue").join(name)).unwrap();
        text.truncate(text.len() / 2 + length.index(text.len() / 2));
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        for skip_bad_lines in [false, true] {
            match read_queue(&bytes(text.clone()), &QueueReading { skip_bad_lines, ..QueueReading::default() }) {
                Ok(queue) => prop_assert!(queue.jobs.is_empty() || queue.now.is_some()),
                Err(error) => prop_assert!(error.to_string().contains("queue"), "{}", error),
            }
        }
    }
}
