//! The workloads of UB's Slurm simulator: submissions with options of sbatch, without waits.

use std::borrow::Cow;
use std::collections::BTreeSet;

use shadowtime::experiment::{OptionForm, Options};
use shadowtime::request::{DeviceAsked, MemoryAsked, Request};
use shadowtime::trace::{DependencyKind, Hold, Log, NameKind, Source, TraceError, read};
use shadowtime::tres::Resource;

use crate::support::{Folder, real_logs, sim, sim_ok};

fn read_with(source: &Source, given: &[(&str, &str)]) -> Result<Log, TraceError> {
    let mut options = Options::default();
    for (name, value) in given {
        OptionForm::find(name).unwrap().set(&mut options, value).unwrap();
    }
    read(source, options.read_options(), &mut |_| ())
}

fn read_text(text: &str, given: &[(&str, &str)]) -> Result<Log, TraceError> {
    read_with(&Source::Bytes { name: "log", bytes: Cow::Owned(text.as_bytes().to_vec()) }, given)
}

/// All forms of options, and an event that is not in order of time.
const WORKLOAD: &str = "\
# Four jobs.
-dt    10.50 -e submit_batch_job | -sim-walltime  84805.00 --uid=ann -J jobid_00007 -N 2 -n   32 -t 3-00:00:00 -q normal \
-p short,long -A physics --mem=500G pseudo.job
-e submit_batch_job -dt 10.99 | -J jobid_8 -sim-walltime 0 --uid bob -t 90 -n4 -c 2 -pshort --gres=gpu:a100:2 --exclusive \
-C \"ib&a100\" -o out.txt --parsable pseudo.job -sleep 5 --unknown

-dt 9 -e submit_batch_job | -jid 6 -sim-walltime -1 --uid=ann --time=0:30 --ntasks-per-node=3 --nodes 2-4 \
--mem-per-cpu=2G --dependency=afterok:7:8 pseudo.job
-dt 12.25 -e submit_batch_job | -sim-walltime 59.6 --uid=ann -J '' --gpus=4 -t 5 -H --exclusive=user pseudo.job
";

#[test]
fn submissions_become_jobs_without_waits() {
    let log = read_text(WORKLOAD, &[]).unwrap();
    assert_eq!((log.source.format, log.source.rows, log.header.number("UnixStartTime")), ("events", 4, None));
    // In order of submission: the job that runs until its limit of half a minute, which Slurm rounds up, comes first.
    let found: Vec<_> = log
        .records
        .iter()
        .map(|job| (job.submit, job.runtime, job.estimate, job.requested, job.user, job.status))
        .collect();
    let expected =
        [(9, 60, 60, 6, 1, 0), (10, 84_805, 259_200, 32, 1, -1), (10, 5400, 5400, 8, 2, 0), (12, 60, 300, 1, 1, -1)];
    assert_eq!(found, expected);
    assert!(log.records.iter().all(|job| job.wait == -1));
    let names = |kind| log.names.of_kind(kind).map(|(_, name)| name.escape_ascii().to_string()).collect::<Vec<_>>();
    assert_eq!(
        (names(NameKind::User), names(NameKind::Group)),
        (vec!["ann".into(), "bob".into()], vec!["physics".into()])
    );
    assert_eq!(names(NameKind::Partition), ["short,long", "short"]);
    assert_eq!(names(NameKind::Executable), ["jobid_00007", "jobid_8"]);
    assert_eq!(names(NameKind::Queue), ["normal"]);

    let words = |list: &[&str]| list.iter().map(|word| word.to_string()).collect();
    let requests = [
        Request {
            cpus: 6,
            tasks: 6,
            tasks_per_node: 3,
            min_nodes: 2,
            max_nodes: 4,
            memory: MemoryAsked::PerCpu(2048),
            ..Request::default()
        },
        Request {
            cpus: 32,
            tasks: 32,
            min_nodes: 2,
            max_nodes: 2,
            memory: MemoryAsked::PerNode(512_000),
            partitions: words(&["short", "long"]),
            qos: "normal".into(),
            account: "physics".into(),
            ..Request::default()
        },
        Request {
            cpus: 8,
            tasks: 4,
            cpus_per_task: 2,
            devices: DeviceAsked::PerNode(2).of(Resource::Gpus),
            constraint: "ib&a100".into(),
            exclusive: true,
            partitions: words(&["short"]),
            ..Request::default()
        },
        Request { cpus: 1, devices: DeviceAsked::Total(4).of(Resource::Gpus), ..Request::default() },
    ];
    for (at, request) in requests.iter().enumerate() {
        assert_eq!(log.requests.get(at), Some(request), "job {at}");
    }
    let after: Vec<_> = log.conditions.get(0).unwrap().after.iter().map(|other| (other.kind, other.record)).collect();
    assert_eq!(after, [(DependencyKind::AfterOk, 1), (DependencyKind::AfterOk, 2)]);
    assert_eq!(log.conditions.get(3).unwrap().hold, Hold::Forever);
}

#[test]
fn gpus_as_the_unit_and_limits_of_partitions() {
    let gpus = read_text(WORKLOAD, &[("log-format", "auto:unit=gpus")]).unwrap();
    assert_eq!(gpus.records.iter().map(|job| job.requested).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(gpus.source.without_device[Resource::Gpus], 2);
    let line = "-dt 0 -e submit_batch_job | -sim-walltime 0 -n 1 -p long pseudo.job\n";
    let limited = read_text(line, &[("log-format", "auto:partition-limit=long=2h")]).unwrap();
    assert_eq!((limited.records[0].estimate, limited.records[0].runtime), (7200, 7200));
}

#[test]
fn faulty_lines_are_named_with_their_places() {
    for (line, message) in [
        (
            "-dt 5 -e cancel_job | 7",
            "2:10: the event is not submit_batch_job, the only one that is read: \"cancel_job\"",
        ),
        ("-dt soon -e submit_batch_job | -t 5 a", "2:5: -dt is not a number of seconds from 0 on: \"soon\""),
        ("-dt -1 -e submit_batch_job | -t 5 a", "2:5: -dt is not a number of seconds from 0 on: \"-1\""),
        ("-dt 5 -x submit_batch_job | -t 5 a", "2:7: not a row of the form -dt SECONDS -e submit_batch_job |"),
        ("-e submit_batch_job | -t 5 a", "2:1: not a row of the form -dt SECONDS"),
        ("-dt 5 -e submit_batch_job -t 5 a", "2:1: not a row of the form -dt SECONDS"),
        (
            "-dt 5 -e submit_batch_job | -t 5 --licenses=x a",
            "2:34: the option is not read: see `sim help logs`: \"--licenses",
        ),
        ("-dt 5 -e submit_batch_job | -t 5 -n", "2:34: the option has no value: \"-n\""),
        ("-dt 5 -e submit_batch_job | -t 5 -n many a", "2:37: --ntasks is not an amount above 0: \"many\""),
        ("-dt 5 -e submit_batch_job | -t 5 -N4-2 a", "2:36: --nodes is not a number of nodes such as 4, 2-4 or 2-"),
        ("-dt 5 -e submit_batch_job | -t 5h a", "2:32: -t is not a duration such as 1-02:03:04: \"5h\""),
        ("-dt 5 -e submit_batch_job | -sim-walltime x -t 5 a", "2:43: -sim-walltime is not a number of seconds: \"x\""),
        ("-dt 5 -e submit_batch_job | -n 1 a", "2:1: -t is missing, and the job runs until its limit"),
        (
            "-dt 5 -e submit_batch_job | -t 5 -cancel-in 9 a",
            "2:45: -cancel-in is not simulated: jobs are not cancelled",
        ),
        ("-dt 5 -e submit_batch_job | -t 5 --wrap=\"a b", "2:34: not a row of the form options in closed quotes"),
        ("-dt 5 -e submit_batch_job | -t 5 -d soon a", "2:37: --dependency is not a list of jobs"),
        ("1 0 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1", "2:1: a line of the format swf in a log of the format events"),
    ] {
        let text = format!("-dt 0 -e submit_batch_job | -t 5 a\n{line}\n");
        let why = read_text(&text, &[]).unwrap_err().to_string();
        assert!(why.contains(message), "{line}: {why}");
        assert_eq!(read_text(&text, &[("skip-bad-lines", "on")]).unwrap().skipped.count, 1, "{line}");
    }
}

#[test]
fn what_needs_waits_or_a_machine_says_so() {
    let folder = Folder::new();
    let file = folder.write("week.events", WORKLOAD);
    for (arguments, message) in [
        (
            &["fidelity", &file, "--procs", "64"][..],
            "the log has no recorded waits: there is no schedule to compare with",
        ),
        (&[&file, "--procs", "64", "--scheduler", "replay"], "no job to simulate: the log has no recorded waits"),
        (&[&file], "say how large the machine is with --procs N"),
    ] {
        let ran = sim(arguments);
        assert!(ran.code == 2 && ran.err.contains(message), "{arguments:?}: {} {}", ran.code, ran.err);
    }
}

#[test]
fn a_week_of_a_real_workload() {
    let Some(logs) = real_logs("a_week_of_a_real_workload") else { return };
    let folder = logs.join("nodes/ub-medium");
    let file = folder.join("workload_week.events.gz");
    let log = read_with(&Source::File(file.clone()), &[]).unwrap();
    assert_eq!((log.records.len(), log.source.rows, log.skipped.count), (19_579, 19_579, 0));
    assert_eq!((log.records[0].submit, log.records[19_578].submit), (10, 599_349));
    assert_eq!(log.names.of_kind(NameKind::User).count(), 64);
    let partitions: Vec<_> = log.names.of_kind(NameKind::Partition).map(|(_, name)| name).collect();
    assert_eq!(partitions, [&b"general-compute"[..], b"debug"]);
    assert_eq!(log.records.iter().filter(|job| job.status == 0).count(), 27, "jobs that run until their limit");
    let asked: Vec<_> = (0..log.records.len()).map(|at| log.requests.get(at).unwrap()).collect();
    let count = |has: fn(&Request) -> bool| asked.iter().filter(|request| has(request)).count();
    assert_eq!(count(|request| request.exclusive), 177);
    // Each of these lines has the option twice.
    assert_eq!(count(|request| request.devices[Resource::Gpus] == DeviceAsked::PerNode(2)), 44);
    assert_eq!(count(|request| request.devices[Resource::Gpus] == DeviceAsked::PerNode(1)), 29);
    assert_eq!(count(|request| request.constraint == "CPU-Gold-6230"), 1225);
    assert_eq!(count(|request| request.memory == MemoryAsked::Unsaid), 19_579 - 19_154);
    let qos: BTreeSet<_> = asked.iter().map(|request| request.qos.as_str()).collect();
    let all_qos = ["debug", "general-compute", "priority", "priority-supporters", "supporters"];
    assert!(qos.into_iter().eq(all_qos));
    let third = Request {
        cpus: 18,
        tasks: 18,
        min_nodes: 2,
        max_nodes: 2,
        memory: MemoryAsked::PerNode(256_000),
        partitions: vec!["general-compute".into()],
        qos: "general-compute".into(),
        ..Request::default()
    };
    assert_eq!(asked[2], &third);
    let (file, conf) = (file.display().to_string(), folder.join("slurm.conf").display().to_string());
    let csv = sim_ok(&[&file, "--first", "200", "--machine", &conf, "--scheduler", "easy", "--format", "csv"]);
    let [names, row] = [0, 1].map(|at| csv.lines().nth(at).unwrap().split(',').collect::<Vec<_>>());
    assert_eq!(row[names.iter().position(|name| *name == "jobs").unwrap()], "200");
}
