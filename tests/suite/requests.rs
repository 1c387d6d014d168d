//! What jobs ask for beside processors: from accounting files, tables and SWF, and through files of requests.

use std::borrow::Cow;

use shadowtime::experiment::{OptionForm, Options};
use shadowtime::request::{DeviceAsked, MemoryAsked, Request};
use shadowtime::trace::{Log, RowCause, Source, TraceError, clean, read, read_joined};
use shadowtime::tres::Resource;

use crate::support::{Folder, real_logs, sim, sim_ok};

fn options(given: &[(&str, &str)]) -> Options {
    let mut options = Options::default();
    for (name, value) in given {
        OptionForm::find(name).unwrap().set(&mut options, value).unwrap();
    }
    options
}

fn read_with(source: &Source, given: &[(&str, &str)]) -> Result<Log, TraceError> {
    read(source, options(given).read_options(), &mut |_| ())
}

fn log(text: &str, given: &[(&str, &str)]) -> Log {
    let bytes = Cow::Owned(text.as_bytes().to_vec());
    read_with(&Source::Bytes { name: "log", bytes }, given).unwrap()
}

/// The requests by record.
fn asked(log: &Log) -> Vec<Option<Request>> {
    (0..log.records.len()).map(|at| log.requests.get(at).cloned()).collect()
}

/// Four jobs of Slurm: the second row was submitted first, the third repeats the first, and the fifth has not ended.
const SACCT: &str = "\
JobID|Submit|Start|End|NCPUS|NNodes|State|Partition|QOS|Account|ReqMem|ReqTRES|ReqGRES|Constraints|JobName
2|2026-01-01T00:01:00|2026-01-01T00:02:00|2026-01-01T00:03:00|8|2|COMPLETED|short,long|normal|physics|4Gn|cpu=8,mem=8G,node=2|||a
1|2026-01-01T00:00:00|2026-01-01T00:02:00|2026-01-01T00:03:00|3|2|COMPLETED|gpu|high||2800Mc|cpu=3,gres/gpu=4,node=2||ib&a100|b
2|2026-01-01T00:01:00|2026-01-01T00:02:00|2026-01-01T00:03:00|8|2|COMPLETED|short,long|normal|physics|4Gn|cpu=8,mem=8G,node=2|||a
3|2026-01-01T00:02:00|2026-01-01T00:02:00|2026-01-01T00:03:00|8|2|COMPLETED|short,long|normal|physics|4Gn|cpu=8,mem=8G,node=2|||c
4|2026-01-01T00:02:00|2026-01-01T00:02:00|Unknown|16|1|RUNNING|other|normal|physics|9Gn|cpu=16,mem=9G,node=1|||d
5|2026-01-01T00:03:00|2026-01-01T00:04:00|2026-01-01T00:05:00|16|1|COMPLETED||||||||e
";

fn two_nodes() -> Request {
    Request {
        cpus: 8,
        min_nodes: 2,
        max_nodes: 2,
        tasks: 8,
        tasks_per_node: 4,
        memory: MemoryAsked::PerNode(4096),
        partitions: vec!["short".into(), "long".into()],
        qos: "normal".into(),
        account: "physics".into(),
        ..Request::default()
    }
}

fn with_gpus() -> Request {
    Request {
        cpus: 3,
        min_nodes: 2,
        tasks: 3,
        memory: MemoryAsked::PerCpu(2800),
        devices: DeviceAsked::PerNode(2).of(Resource::Gpus),
        constraint: "ib&a100".into(),
        partitions: vec!["gpu".into()],
        qos: "high".into(),
        ..Request::default()
    }
}

fn one_node() -> Request {
    Request { cpus: 16, min_nodes: 1, tasks: 16, ..Request::default() }
}

#[test]
fn requests_follow_the_records_of_an_accounting_file() {
    let read = log(SACCT, &[]);
    assert_eq!(asked(&read), [Some(with_gpus()), Some(two_nodes()), Some(two_nodes()), Some(one_node())]);
    // That of the job which has not ended is not kept, and they are numbered in the order of the records.
    assert_eq!(read.requests.requests.all(), [with_gpus(), two_nodes(), one_node()]);
    let workload = clean(&read, &options(&[("procs", "100")]).rules()).unwrap();
    let of_jobs: Vec<_> = workload.jobs.iter().map(|job| workload.requests.get(job.request).cloned()).collect();
    assert_eq!(of_jobs, asked(&read));
    // The CPUs are CPUs, whatever a processor is.
    assert_eq!(asked(&log(SACCT, &[("log-format", "auto:unit=nodes")])), asked(&read));
    assert_eq!(asked(&log(SACCT, &[("log-format", "auto:unit=gpus")])), [Some(with_gpus())]);
}

#[test]
fn a_log_that_only_has_processors_has_no_requests() {
    let rows = "JobID|Submit|Start|End|NCPUS\n1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:01:00|4\n";
    let swf = "1 0 0 9 4 -1 -1 4 60 -1 1 1 1 1 3 2 -1 -1\n2 0 0 9 4 -1 -1 4 60 0 1 1 1 1 3 2 -1 -1\n";
    for text in [rows, swf] {
        let read = log(text, &[]);
        assert!(read.requests.requests.is_empty() && read.requests.by_record.is_empty(), "{text}");
    }
}

#[test]
fn memory_of_swf_is_kilobytes_for_each_processor() {
    let records = "; MaxProcs: 8\n1 0 0 9 4 -1 -1 4 60 -1 1 1 1 1 3 2 -1 -1\n\
                   2 0 0 9 4 -1 -1 4 60 2048 1 1 1 1 3 2 -1 -1\n3 0 0 9 4 -1 -1 4 60 -1 1 1 1 1 3 2 -1 -1\n";
    let request = Request {
        cpus: 4,
        memory: MemoryAsked::PerCpu(2),
        partitions: vec!["2".into()],
        qos: "3".into(),
        ..Request::default()
    };
    assert_eq!(asked(&log(records, &[])), [None, Some(request), None]);
}

#[test]
fn requests_follow_swf_logs_that_are_joined() {
    let folder = Folder::new();
    let record = |number: i64, submit: i64, memory: i64| {
        format!("{number} {submit} 0 9 1 -1 -1 1 60 {memory} 1 1 1 1 -1 -1 -1 -1\n")
    };
    let head = "; UnixStartTime: 1000000000\n; MaxProcs: 8\n";
    let first = folder.write("a.swf", format!("{head}{}{}", record(1, 0, 1024), record(2, 100, -1)));
    // The record that repeats one of the first file is left out.
    let second =
        folder.write("b.swf", format!("{head}{}{}{}", record(2, 100, -1), record(3, 50, 3072), record(4, 200, 1024)));
    let sources = [first, second].map(|file| Source::from_argument(&file));
    let joined = read_joined(&sources, &options(&[]).read_options(), &mut |_| ()).unwrap();
    let numbers: Vec<i64> = joined.records.iter().map(|record| record.number).collect();
    assert_eq!(numbers, [1, 3, 2, 4]);
    let memory = |request: &Option<Request>| request.as_ref().map(|request| request.memory);
    let expected = [Some(1), Some(3), None, Some(1)].map(|memory| memory.map(MemoryAsked::PerCpu));
    assert_eq!(asked(&joined).iter().map(memory).collect::<Vec<_>>(), expected);
}

#[test]
fn columns_of_a_table() {
    let text = "t,w,r,p,n,ntpn,m,mc,g,feature,whole,queue,q,a\n\
                0,0,9,8,2-4,4,8G,,2,ib,yes,short,normal,physics\n1,0,9,8,,,,,,,,,,\n2,0,9,8,,,,2G,,,no,,,x\n";
    let columns = "csv:submit=t,wait=w,run=r,procs=p,nodes=n,tasks_per_node=ntpn,memory=m,memory_per_cpu=mc,gpus=g,\
                   constraint=feature,exclusive=whole,partition=queue,qos=q,account=a{x:-1}";
    let first = Request {
        cpus: 8,
        min_nodes: 2,
        max_nodes: 4,
        tasks_per_node: 4,
        memory: MemoryAsked::PerNode(8192),
        devices: DeviceAsked::Total(2).of(Resource::Gpus),
        constraint: "ib".into(),
        exclusive: true,
        partitions: vec!["short".into()],
        qos: "normal".into(),
        account: "physics".into(),
        ..Request::default()
    };
    let third = Request { cpus: 8, memory: MemoryAsked::PerCpu(2048), ..Request::default() };
    assert_eq!(asked(&log(text, &[("log-format", columns)])), [Some(first), None, Some(third)]);
    let bytes = Cow::Owned(text.replace("8G", "8X").into_bytes());
    let error = read_with(&Source::Bytes { name: "log", bytes }, &[("log-format", columns)]).unwrap_err().to_string();
    assert!(
        error.starts_with("log:2:") && error.contains("memory is not a size in MB, or such as 8G: \"8X\""),
        "{error}"
    );
}

#[test]
fn requests_come_back_as_they_were_written() {
    let folder = Folder::new();
    let (file, out, asked_for) = (folder.write("sacct.txt", SACCT), folder.text("new.swf"), folder.text("asked.csv"));
    sim_ok(&["trace", "convert", &file, "--procs", "64", "--out", &out, "--requests-out", &asked_for]);
    assert_eq!(
        folder.read("asked.csv"),
        "job,cpus,nodes,tasks,tasks_per_node,cpus_per_task,memory,memory_per_cpu,gpus,gpus_per_node,constraint,exclusive,\
         partition,qos,account,nice\n\
         1,3,2-,3,,,,2800,,2,ib&a100,,gpu,high,,\n\
         2,8,2,8,4,,4096,,,,,,\"short,long\",normal,physics,\n\
         3,8,2,8,4,,4096,,,,,,\"short,long\",normal,physics,\n\
         4,16,1-,16,,,,,,,,,,,,\n"
    );
    let plain = read_with(&Source::from_argument(&out), &[]).unwrap();
    assert!(plain.requests.requests.is_empty());
    let new = read_with(&Source::from_argument(&out), &[("requests", &asked_for)]).unwrap();
    assert_eq!(asked(&new), asked(&log(SACCT, &[])));
    // A second conversion writes the same file.
    let (again, twice) = (folder.text("again.swf"), folder.text("twice.csv"));
    sim_ok(&["trace", "convert", &out, "--requests", &asked_for, "--out", &again, "--requests-out", &twice]);
    assert_eq!(folder.read("twice.csv"), folder.read("asked.csv"));
}

#[test]
fn faults_of_a_file_of_requests_are_named() {
    let folder = Folder::new();
    let swf = folder.write("log.swf", "; MaxProcs: 8\n1 0 0 9 4 -1 -1 4 60 -1 1 1 1 1 -1 -1 -1 -1\n");
    for (content, message) in [
        ("job,cpus,memory\n1,4,much\n", "asked.csv:2: memory is not a size in MB, or such as 8G: \"much\""),
        ("job,cpus,memory\n\n1,4,5\n1,4,6\n", "asked.csv:4: a second row of job 1"),
        ("job,cpus,memory\nx,4,5\n", "asked.csv:2: job is not a job number: \"x\""),
        ("job,cpus\n1,0\n", "asked.csv:2: cpus is not a whole number above 0: \"0\""),
        ("job,cpus,nodes\n1,4\n", "asked.csv:2: 2 values, but the first line has 3 columns"),
        ("job,cpus,memory,memory_per_cpu\n1,4,5,6\n", "asked.csv:2: memory_per_cpu is given beside memory"),
        ("job,memory\n1,4\n", "asked.csv:1: its first line must have the columns job and cpus"),
        ("job,cpus,mem\n1,4,5\n", "asked.csv:1: no column 'mem' is known; the columns are job, cpus, nodes"),
        ("job,cpus,qos\n7,4,5\n", "it has no job of"),
    ] {
        let file = folder.write("asked.csv", content);
        let ran = sim(&["trace", "info", &swf, "--requests", &file]);
        assert_eq!(ran.code, 2, "{content}: {}", ran.err);
        assert!(ran.err.contains(message), "{content}: {}", ran.err);
    }
    let ran = sim(&["trace", "info", &swf, "--requests", &folder.text("none.csv")]);
    assert!(ran.code == 2 && ran.err.contains("none.csv"), "{}", ran.err);
    let ran = sim(&["trace", "info", &swf, "--requests", "-"]);
    assert!(ran.code == 2 && ran.err.contains("cannot be read from standard input"), "{}", ran.err);
}

#[test]
fn a_job_number_that_is_not_unique_has_no_request() {
    let folder = Folder::new();
    let record = "1 0 0 9 4 -1 -1 4 60 -1 1 1 1 1 -1 -1 -1 -1\n";
    let swf = folder.write("log.swf", format!("; MaxProcs: 8\n{record}{record}{}", record.replacen('1', "2", 1)));
    let file = folder.write("asked.csv", "job,cpus,memory\n2,4,5\n9,4,5\n");
    let read = read_with(&Source::from_argument(&swf), &[("requests", &file)]).unwrap();
    assert_eq!((read.source.causes[RowCause::UnmatchedRequest], asked(&read).iter().flatten().count()), (1, 1));
    let file = folder.write("other.csv", "job,cpus,memory\n1,4,5\n");
    let error = read_with(&Source::from_argument(&swf), &[("requests", &file)]).unwrap_err().to_string();
    assert!(error.contains("other.csv:2:") && error.contains("has more than one job 1"), "{error}");
}

#[test]
fn the_content_of_a_file_of_requests_identifies_a_run() {
    let folder = Folder::new();
    let with = |name: &str, content: &str| options(&[("requests", &folder.write(name, content))]).canonical();
    let first = with("a.csv", "job,cpus\n1,4\n");
    assert_eq!(first, with("b.csv", "job,cpus\n1,4\n"));
    assert_ne!(first, with("c.csv", "job,cpus\n1,5\n"));
    assert_ne!(first, Options::default().canonical());
    assert!(!Options::default().canonical().contains("requests="));
}

#[test]
fn info_shows_what_is_asked_for() {
    let folder = Folder::new();
    let file = folder.write("sacct.txt", SACCT);
    let shown = sim_ok(&["trace", "info", &file, "--format", "table"]);
    let expected = "\
Asked for by the 4 jobs
  jobs             4
  nodes            4 jobs, most 2
  memory per node  2 jobs, median 4,096 MB, largest 4,096 MB
  memory per CPU   1 job, median 2,800 MB, largest 2,800 MB
  GPUs             1 job, 4 in all, most 4
  constraints      1 job, 1 different
  partitions       3
  QOS              2
  accounts         1
";
    assert!(shown.contains(expected), "{shown}");
    assert!(!shown.contains("physics") && !shown.contains("short"), "{shown}");
    assert!(!sim_ok(&["trace", "info", "--format", "table"]).contains("Asked for"));
    assert!(shown.contains("  CPUs given       100% of what 4 jobs asked for, none has more\n"), "{shown}");
    let more =
        sim_ok(&["trace", "info", &folder.write("more.txt", SACCT.replace("cpu=8", "cpu=4")), "--format", "table"]);
    // 8, 8, 3 and 16 CPUs of 4, 4, 3 and 16.
    assert!(more.contains("  CPUs given       130% of what 4 jobs asked for, 2 jobs with more\n"), "{more}");
    let row = sim_ok(&["trace", "info", &file, "--format", "csv"]);
    let (names, values) = row.trim_end().split_once('\n').unwrap();
    let value = |name: &str| names.split(',').zip(values.split(',')).find(|(other, _)| *other == name).unwrap().1;
    let figures = ["asked_jobs", "asked_partitions", "node_memory_median", "cpu_memory_max", "gpus", "constraints"];
    assert_eq!(figures.map(value), ["4", "3", "4096", "2800", "4", "1"]);
}

/// Figures of the real files, found by other programs (zcat, awk): the sums of what their columns say.
#[test]
fn requests_of_real_files() {
    let Some(folder) = real_logs("requests_of_real_files").map(|folder| folder.join("accounting")) else { return };
    let of = |file: &str| read_with(&Source::File(folder.join(file)), &[]).unwrap();
    let micro = asked(&of("slurm-micro.txt.gz"));
    let count =
        |asked: &[Option<Request>], is: &dyn Fn(&Request) -> bool| asked.iter().flatten().filter(|r| is(r)).count();
    assert_eq!(micro.len(), 500);
    assert_eq!(count(&micro, &|request| request.memory == MemoryAsked::PerCpu(2800)), 457);
    assert_eq!(count(&micro, &|request| request.memory == MemoryAsked::PerNode(500_000)), 43);
    assert_eq!(count(&micro, &|request| request.devices[Resource::Gpus] == DeviceAsked::PerNode(1)), 22);
    assert_eq!(count(&micro, &|request| request.devices[Resource::Gpus] == DeviceAsked::PerNode(2)), 31);
    // Its ReqMem has the bit for memory of each CPU within the number, and its ReqTRES has the sum.
    let pozidriv = asked(&of("slurm-pozidriv.txt.gz"));
    assert_eq!(count(&pozidriv, &|request| request.memory == MemoryAsked::PerCpu(2800)), 10_587);
    let wagap = asked(&of("wagap-2013.swf.gz"));
    assert_eq!(count(&wagap, &|_| true), 17_900);
    assert_eq!(count(&wagap, &|request| request.exclusive), 231);
    assert_eq!(count(&wagap, &|request| request.partitions == ["q_2h"]), 4_392);
    assert_eq!(count(&wagap, &|request| request.constraint == "x86_64&brno&nfs4"), 2_681);
    let mut memory: Vec<u64> = wagap
        .iter()
        .flatten()
        .map(|request| match request.memory {
            MemoryAsked::PerNode(memory) => memory,
            other => panic!("{other:?}"),
        })
        .collect();
    memory.sort_unstable();
    // 50 MB, 4 GB and 512 GB; two rows have 2 GB and 3 GB for each node beside the memory of the job.
    assert_eq!((memory[0], memory[8_949], memory[17_899]), (50, 4096, 524_288));
}

#[test]
fn a_pool_says_once_what_is_not_simulated() {
    let folder = Folder::new();
    let file = folder.write("sacct.txt", SACCT);
    let note = "sacct.txt: nodes, memory, GPUs, constraints and 3 partitions are not simulated: --machine FILE";
    for command in
        [&["--trace", &file, "--procs", "64", "--scheduler", "easy,fcfs"][..], &["wait", &file, "--procs", "64"]]
    {
        let ran = sim(command);
        assert_eq!((ran.code, ran.err.matches(note).count()), (0, 1), "{command:?}: {}", ran.err);
        assert!(!sim(&[&["-q"], command].concat()).err.contains("simulated"));
    }
    let ran = sim(&["--trace", &file, "--procs", "64", "--log-format", "auto:unit=gpus"]);
    assert!(ran.err.contains("nodes, memory and constraints are not simulated"), "{}", ran.err);
    assert!(!sim(&["--first", "10"]).err.contains("not simulated"));
    let nodes = "[[nodes]]\nname = \"n[1-4]\"\ncpus = 16\nmemory = \"64G\"\ngpus = 4\nfeatures = [\"ib\", \"a100\"]\n";
    let partition = |name: &str| format!("[[partitions]]\nname = \"{name}\"\nnodes = \"n[1-4]\"\n");
    let machine = [nodes, &partition("short"), &partition("long"), &partition("gpu")].concat();
    let ran = sim(&["--trace", &file, "--machine", &folder.write("machine.toml", machine), "--scheduler", "easy"]);
    assert!(ran.code == 0 && !ran.err.contains("not simulated"), "{}", ran.err);
}

/// Options after the script, in quotes or after a command that is wrapped are not those of sbatch. Each row: the line, whether the
/// job is exclusive, its nice and whether it has all memory of its nodes.
#[test]
fn the_options_of_a_submit_line_end_at_the_script() {
    let header = "JobID|Submit|Start|End|NCPUS|ReqMem|SubmitLine\n";
    for (line, exclusive, nice, all_memory) in [
        ("sbatch --exclusive job.sh -N 4", true, 0, false),
        ("sbatch -p short job.sh --exclusive --nice=7 --mem=0", false, 0, false),
        ("sbatch --wrap \"srun --exclusive --mem=0 x\" --nice=5", false, 5, false),
        ("sbatch --nice=5 --wrap srun --exclusive x", false, 5, false),
        ("sbatch --comment 'a --exclusive b' --mem=0 job.sh", false, 0, true),
        ("srun -N 1 -n 4 ./solver --exclusive", false, 0, false),
        ("salloc --mem 0 --nice bash --exclusive", false, 100, true),
    ] {
        let row = format!("7|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:01:00|4|4Gn|{line}\n");
        let request = asked(&log(&format!("{header}{row}"), &[])).remove(0).expect("it has memory");
        let memory = MemoryAsked::PerNode(if all_memory { 0 } else { 4096 });
        assert_eq!((request.exclusive, request.nice, request.memory), (exclusive, nice, memory), "{line}");
    }
}

/// 0 is all memory of each node, in every format that says it, and in the file that has what jobs ask for.
#[test]
fn no_memory_is_all_memory() {
    let all = MemoryAsked::PerNode(0);
    let sacct = |columns: &str, values: &str| {
        let header = format!("JobID|Submit|Start|End|NCPUS|NNodes|{columns}\n");
        log(&format!("{header}7|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:01:00|4|2|{values}\n"), &[])
    };
    let memory = |log: &Log| asked(log).remove(0).expect("it asks for nodes").memory;
    for (columns, values) in [("ReqMem", "0"), ("ReqMem", "0n"), ("ReqTRES", "cpu=4,mem=0,node=2")] {
        assert_eq!(memory(&sacct(columns, values)), all, "{columns} {values}");
    }
    assert_eq!(memory(&sacct("ReqTRES", "cpu=4,node=2")), MemoryAsked::Unsaid);
    let events = "-dt 0 -e submit_batch_job | -sim-walltime 10 --uid=ann -J jobid_7 -t 5 -n 2 --mem=0 pseudo.job\n";
    assert_eq!(memory(&log(events, &[])), all);
    let table = "submit,run,cpus,mb\n0,10,2,0\n5,10,2,2048\n";
    let columns = [("log-format", "csv:submit=submit,run=run,procs=cpus,memory=mb"), ("procs", "4")];
    assert_eq!(memory(&log(table, &columns)), all);
    // Written and read again.
    let folder = Folder::new();
    let (file, out, swf) = (folder.write("log.events", events), folder.text("asked.csv"), folder.text("log.swf"));
    sim_ok(&["trace", "convert", &file, "--out", &swf, "--requests-out", &out, "--procs", "4"]);
    let again = read_with(&Source::from_argument(&swf), &[("requests", &out)]).unwrap();
    assert_eq!(memory(&again), all);
    let info = sim_ok(&["trace", "info", &file, "--procs", "4", "--format", "table"]);
    assert!(info.contains("all memory of nodes"), "{info}");
}
