//! Jobs that a scheduler can never start are dropped and named, and the others run as if those had not been there. What a job was
//! placed with is what counts, not its processors in the log.

use std::time::Instant;

use crate::live_waits::{Row, cells, record, rows};
use crate::support::{Folder, Ran, sim, sim_ok};

/// Two nodes of 4 CPUs and 2 GPUs.
const NODES: &str = "[[nodes]]\nname = \"n[1-2]\"\ncpus = 4\nmemory = \"16G\"\ngpus = 2\n[[partitions]]\nname = \"p\"\nnodes = \"n[1-2]\"\ndefault = true\n";

/// User 1 is in the account a, whose jobs have the QOS normal.
const OWNERS: &str = "[[accounts]]\nname = \"a\"\ndefault_qos = \"normal\"\n[[users]]\nname = \"1\"\naccount = \"a\"\n";

const COLUMNS: &str = "csv:id=id,submit=submit,wait=wait,run=run,procs=procs,estimate=estimate,user=user,after=after,\
    nodes=nodes,gpus=gpus,memory_per_cpu=memory,exclusive=exclusive";

/// A log of `id,submit,run,procs,user` and what may follow: `after,nodes,gpus,memory,exclusive`. All estimates are 10 minutes.
fn log(jobs: &[&str]) -> String {
    let mut text = "id,submit,run,procs,user,after,nodes,gpus,memory,exclusive,wait,estimate\n".to_string();
    for job in jobs {
        let commas = ",".repeat(9 - job.matches(',').count());
        text.push_str(&format!("{job}{commas},0,600\n"));
    }
    text
}

/// Jobs that wait for each other, and the second is the one that can never start.
const JOBS: [&str; 4] = ["1,0,100,2,1", "2,10,100,6,1", "3,20,100,4,1", "4,30,100,8,2"];

/// A machine and its jobs in a folder.
struct Site {
    folder: Folder,
    machine: String,
}

impl Site {
    fn new(machine: &str) -> Site {
        let folder = Folder::new();
        let machine = folder.write("site.toml", machine);
        Site { folder, machine }
    }

    fn with(&self, command: &[&str], jobs: &[&str], more: &[&str]) -> Ran {
        let log = self.folder.write("log.csv", log(jobs));
        let shared = ["--trace", &log, "--log-format", COLUMNS, "--machine", &self.machine];
        sim(&[command, &shared, more].concat())
    }

    /// Jobs with their starts, and what was said.
    fn starts(&self, jobs: &[&str], scheduler: &str) -> (Vec<(String, i64)>, String) {
        let out = self.folder.text("jobs.csv");
        let ran = self.with(&[], jobs, &["--scheduler", scheduler, "--predictor", "estimate", "--jobs-out", &out]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let starts = rows(&self.folder.read("jobs.csv")).iter().map(started).collect();
        (starts, ran.err)
    }
}

fn started(row: &Row) -> (String, i64) {
    (row["job"].clone(), row["start"].parse().unwrap())
}

/// The job is dropped and named, and the others start as in a log without it, in every order of the queue.
fn is_dropped(machine: &str, jobs: &[&str], dropped: &str, schedulers: &[&str], why: &str) {
    let site = Site::new(machine);
    for scheduler in schedulers {
        let began = Instant::now();
        let (found, err) = site.starts(jobs, scheduler);
        assert!(began.elapsed().as_secs() < 20, "{scheduler}: {:?}", began.elapsed());
        assert!(err.contains(why), "{scheduler}: no {why:?} in {err}");
        let others: Vec<&str> = jobs.iter().copied().filter(|job| !job.starts_with(dropped)).collect();
        assert_eq!(others.len() + 1, jobs.len());
        assert_eq!(found, site.starts(&others, scheduler).0, "{scheduler}: {err}");
    }
}

const BOTH_ORDERS: [&str; 3] =
    ["slurm", "slurm:order=multifactor,age_weight=1000", "slurm:order=multifactor,calc_period=1s,running=prediction"];

#[test]
fn a_job_over_a_limit_for_ever_is_dropped_and_named_with_it() {
    for (limits, why) in [
        (
            "[[qos]]\nname = \"normal\"\nmax_tres_per_user = \"cpu=4\"\n",
            "QOS normal: MaxTRESPerUser cpu=4, it asks for 6",
        ),
        ("[[qos]]\nname = \"normal\"\ngroup_tres = \"cpu=5\"\n", "QOS normal: GrpTRES cpu=5, it asks for 6"),
        ("[[qos]]\nname = \"normal\"\nmax_tres_per_job = \"cpu=4\"\n", "QOS normal: MaxTRES cpu=4, it asks for 6"),
        (
            "[[qos]]\nname = \"normal\"\nmax_tres_minutes_per_job = \"cpu=59\"\n",
            "QOS normal: MaxTRESMins cpu=59, it asks for 60",
        ),
        (
            "[[qos]]\nname = \"normal\"\nmax_tres_per_job = \"cpu=4\"\ndeny_on_limit = true\n",
            "QOS normal: MaxTRES cpu=4, it asks for 6",
        ),
    ] {
        let machine = format!("{NODES}{limits}{OWNERS}");
        is_dropped(&machine, &JOBS, "2,", &BOTH_ORDERS, &format!("dropped: job 2: {why}"));
    }
    // A limit of an account is named with it, also where a user has it from there.
    for (limit, why) in [
        ("group_tres = \"cpu=5\"", "job 2: account a: GrpTRES cpu=5, it asks for 6"),
        ("max_tres_per_job = \"cpu=5\"", "job 2: account a: MaxTRES cpu=5, it asks for 6"),
    ] {
        let machine = format!("{NODES}{}", OWNERS.replace("default_qos = \"normal\"", limit));
        is_dropped(&machine, &JOBS, "2,", &BOTH_ORDERS, why);
    }
}

/// User 1 may run no job: three of four can never start.
#[test]
fn jobs_are_counted_by_cause() {
    let site = Site::new(&format!("{NODES}{OWNERS}max_jobs = 0\n"));
    let (found, err) = site.starts(&JOBS, "slurm");
    assert_eq!(found, [("4".to_string(), 31)]);
    assert!(err.contains("dropped: 3 jobs: user 1: MaxJobs 0, the first is job 1\n"), "{err}");
    // If there is no job left, that is an error.
    let ran = site.with(&[], &JOBS[..3], &["--scheduler", "slurm"]);
    assert!(ran.code == 1 && ran.err.contains("can start no job: 3 jobs: user 1: MaxJobs 0"), "{}", ran.err);
}

/// What Slurm or a placement can never place, though it would fit idle nodes in another way.
#[test]
fn a_job_that_can_never_be_placed_is_dropped() {
    // Two CPUs of a node, but one job has 3 CPUs on one node.
    let few = NODES.replace("default = true", "default = true\nmax_cpus_per_node = 2");
    let jobs = ["1,0,100,2,1", "2,10,100,3,1,,1", "3,20,100,2,1"];
    is_dropped(&few, &jobs, "2,", &BOTH_ORDERS, "job 2");
    // A whole node has 4 CPUs, for each of which the job wants 6 GB: of 16 GB that is too much.
    let jobs = ["1,0,100,2,1,,,,1G", "2,10,100,2,1,,,,6G,yes", "3,20,100,2,1,,,,1G"];
    is_dropped(NODES, &jobs, "2,", &BOTH_ORDERS, "job 2");
    // A node has 2 GPUs, so they are not divided; but it does not have 6 CPUs for them.
    let jobs = ["1,0,100,2,1", "2,10,100,6,1,,,2", "3,20,100,2,1,,,1"];
    let consolidating =
        ["fcfs", "easy", "sjbf", "conservative", "fair"].map(|name| format!("{name}:placement=consolidate"));
    let consolidating: Vec<&str> = consolidating.iter().map(String::as_str).collect();
    is_dropped(NODES, &jobs, "2,", &consolidating, "job 2");
}

/// A whole node has more CPUs than the limit allows, though the job asks for one. That is known only when nothing else can happen.
#[test]
fn a_job_that_waits_when_nothing_else_can_happen_is_dropped() {
    let machine = format!("{NODES}{}", OWNERS.replace("default_qos = \"normal\"", "group_tres = \"cpu=3\""));
    let jobs = ["1,0,100,2,1", "2,10,100,1,1,,,,,yes", "3,20,100,2,1"];
    for scheduler in BOTH_ORDERS {
        let (found, err) = Site::new(&machine).starts(&jobs, scheduler);
        assert_eq!(found.len(), 2, "{scheduler}: {found:?}");
        assert!(err.contains("job 2: account a: GrpTRES cpu=3, it asks for 4"), "{scheduler}: {err}");
    }
}

/// The first job uses 4 CPUs for 10 minutes. Without decay the account has used up its minutes for ever. With a half-life of an hour
/// some 37 of the 40 minutes are left when it ends, which are less than 30 after 60 log2(37 / 30) = 18 minutes; that is seen at the
/// next recalculation of priorities, 30 minutes after the beginning.
#[test]
fn use_that_decays_loosens_a_limit_and_use_that_does_not_never() {
    let machine = format!("{NODES}{}", OWNERS.replace("default_qos = \"normal\"", "group_tres_minutes = \"cpu=30\""));
    let (site, jobs) = (Site::new(&machine), ["1,0,600,4,1", "2,10,100,2,1", "3,20,100,4,2"]);
    for scheduler in ["slurm", "slurm:order=multifactor,halflife=36500d"] {
        let (found, err) = site.starts(&jobs, scheduler);
        // The second starts beside the first, whose minutes count when it ends or are recalculated.
        assert_eq!(found.len(), 3, "{scheduler}: {err}");
        let later = ["1,0,600,4,1", "2,900,100,2,1", "3,20,100,4,2"];
        let (found, err) = site.starts(&later, scheduler);
        assert_eq!(found.len(), 2, "{scheduler}: {found:?}");
        assert!(err.contains("job 2: account a: GrpTRESMins cpu=30, it is used up"), "{scheduler}: {err}");
    }
    let later = ["1,0,600,4,1", "2,900,100,2,1", "3,20,100,4,2"];
    let (found, _) = site.starts(&later, "slurm:order=multifactor,halflife=1h");
    let start = found.iter().find(|(job, _)| job == "2").unwrap().1;
    assert!((1800..1860).contains(&start), "{found:?}");
}

/// A job that waits for one that is dropped starts, as it does if cleaning drops that one.
#[test]
fn a_dependency_on_a_dropped_job_counts_as_met() {
    let machine = format!("{NODES}{}", OWNERS.replace("default_qos = \"normal\"", "group_tres = \"cpu=5\""));
    let jobs = ["1,0,100,2,1", "2,10,100,6,1", "3,20,100,4,2,afterok:2", "4,30,100,4,2,afterany:2"];
    let found = Site::new(&machine).starts(&jobs, "slurm").0;
    assert_eq!(found.iter().map(|(job, _)| job.as_str()).collect::<Vec<_>>(), ["1", "3", "4"]);
    // And one that waits for a job that is dropped at the end starts then.
    let machine = machine.replace("cpu=5", "cpu=3");
    let jobs = ["1,0,100,2,1", "2,10,100,1,1,,,,,yes", "3,20,100,2,2,afterok:2"];
    let found = Site::new(&machine).starts(&jobs, "slurm").0;
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn strict_runs_have_no_dropped_jobs() {
    let site = Site::new(&format!("{NODES}{OWNERS}max_tres_per_job = \"cpu=5\"\n"));
    let ran = site.with(&[], &JOBS, &["--scheduler", "slurm", "--strict"]);
    assert!(
        ran.code == 1 && ran.err.contains("job 2: user 1: MaxTRES cpu=5, it asks for 6; without --strict"),
        "{}",
        ran.err
    );
    // Nor those that fit no nodes.
    let ran = site.with(&[], &["1,0,100,2,1", "2,10,100,9,2"], &["--scheduler", "easy", "--strict"]);
    assert!(ran.code != 0 && ran.err.contains("job 2 can never run on the machine"), "{}", ran.err);
}

/// A lower limit is a question: runs with other limits have other jobs, and that is said.
#[test]
fn what_if_a_limit_were_lower() {
    let low = format!("{NODES}{OWNERS}max_tres_per_job = \"cpu=5\"\n");
    let site = Site::new(&low.replace("cpu=5", "cpu=6"));
    let low = site.folder.write("low.toml", low);
    let log = site.folder.write("log.csv", log(&JOBS));
    let out = site.folder.text("sweep");
    let lists = ["--machine", &format!("{},{low}", site.machine), "--scheduler", "slurm", "--out", &out];
    let csv =
        sim_ok(&[&["sweep", "--trace", &log, "--log-format", COLUMNS][..], &lists, &["--format", "csv"]].concat());
    let counts: Vec<Vec<String>> = rows(&csv)
        .iter()
        .map(|row| cells(row, &["jobs", "dropped"]).iter().map(|cell| cell.to_string()).collect())
        .collect();
    assert_eq!(counts, [["4", "0"], ["3", "1"]]);
    // In a comparison of schedulers only one side drops the job.
    let site = Site { machine: low, ..site };
    let by = site.folder.text("by.csv");
    let baseline =
        ["--scheduler", "slurm", "--baseline", "easy/estimate", "--by", "user", "--by-out", &by, "--format", "csv"];
    let ran = site.with(&[], &JOBS, &baseline);
    assert!(ran.code == 0 && ran.err.contains("the runs do not have the same jobs: from 3 to 4"), "{}", ran.err);
    let first = |text: &str, name: &str| rows(text)[0][name].clone();
    assert_eq!([first(&ran.out, "jobs"), first(&ran.out, "dropped")], ["3", "1"]);
    // User 1 has two of three jobs, and none of them gains or loses by a job of the other side.
    let user = rows(&site.folder.read("by.csv")).into_iter().find(|row| row["value"] == "1").unwrap();
    assert_eq!(user["jobs"], "2");
    let page = site.folder.text("page.html");
    let ran = site.with(&["report"], &JOBS, &["--scheduler", "slurm", "--baseline", "easy/estimate", "--out", &page]);
    assert!(ran.code == 0 && ran.err.contains("job 2: user 1: MaxTRES cpu=5"), "{}", ran.err);
    let ran = site.with(&["fidelity"], &JOBS, &["--scheduler", "slurm,easy", "--format", "csv"]);
    let counts: Vec<(String, String)> =
        rows(&ran.out).iter().map(|row| (row["jobs"].clone(), row["dropped"].clone())).collect();
    assert!(ran.code == 0 && counts.len() == 2, "{} {}", ran.out, ran.err);
    assert!(counts.contains(&("3".into(), "1".into())) && counts.contains(&("4".into(), "0".into())), "{counts:?}");
}

/// Two jobs wait beside a running one; the second is over the limit of its user for ever.
#[test]
fn a_waiting_job_of_now_that_can_never_start_is_listed_as_held() {
    let folder = Folder::new();
    let machine = folder.write("site.toml", format!("{NODES}{OWNERS}max_tres_per_job = \"cpu=5\"\n"));
    let past = (0..60).map(|at| record(at + 1, at * 100, 0, 50, 1, 50, 1 + at % 2)).collect::<String>();
    let log = folder.write("log.swf", format!("; MaxProcs: 8\n{past}"));
    let queue = [
        record(100, 9900, 0, -1, 8, 300, 2),
        record(101, 9950, -1, -1, 6, 100, 1),
        record(102, 9990, -1, -1, 4, 150, 1),
    ];
    let queue = folder.write("queue.swf", queue.concat());
    let shared =
        ["wait", "ask", &log, "--queue", &queue, "--machine", &machine, "--scheduler", "slurm", "--draws", "5"];
    let ran = sim(&[&shared[..], &["--recalibrate", "off", "--format", "csv"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let found: Vec<(String, String)> =
        rows(&ran.out).iter().map(|row| (row["job"].clone(), row["stage"].clone())).collect();
    assert_eq!(found, [("101".into(), "held".into()), ("102".into(), "waiting".into())], "{}", ran.out);
    assert!(ran.out.contains("user 1: MaxTRES cpu=5"), "{}", ran.out);
    let ran = sim(&[&shared[..], &["--recalibrate", "off", "--job", "procs=6,estimate=1h,user=1"]].concat());
    assert!(ran.code != 0 && ran.err.contains("the job can never start: user 1: MaxTRES cpu=5"), "{}", ran.err);
}

/// Three jobs that together have the machine's CPUs, though they had more in the log: in accounting, by option, in a file of requests,
/// and in nodes of which several jobs have a part.
#[test]
fn what_a_job_was_placed_with_counts() {
    let folder = Folder::new();
    let machine = folder.write("site.toml", NODES);
    let job = |id: u32, asked: u32, given: u32| {
        format!(
            "{id}|u|2024-01-01T00:00:{id}0|2024-01-01T00:00:{id}0|2024-01-01T01:00:00|COMPLETED|{asked}|{given}|1G|02:00:00|p|1|\
             cpu={asked},mem=1G,node=1\n"
        )
    };
    let header = "JobIDRaw|User|Submit|Start|End|State|ReqCPUS|NCPUS|ReqMem|Timelimit|Partition|NNodes|ReqTRES\n";
    let log = folder.write("sacct.txt", format!("{header}{}{}{}", job(1, 2, 8), job(2, 4, 8), job(3, 2, 8)));
    let (swf, asked) = (folder.text("log.swf"), folder.text("asked.csv"));
    sim_ok(&["trace", "convert", &log, "--out", &swf, "--requests-out", &asked]);
    let site = ["--machine", &machine, "--predictor", "estimate", "--format", "csv"];
    for more in [
        vec![&log[..]],
        vec![&log, "--procs-field", "allocated"],
        vec![&log, "--log-format", "auto:unit=nodes"],
        vec![&swf, "--requests", &asked],
    ] {
        for scheduler in ["easy", "fcfs", "conservative", "slurm"] {
            let ran = sim(&[&more[..], &site, &["--scheduler", scheduler]].concat());
            assert_eq!(ran.code, 0, "{more:?} {scheduler}: {}", ran.err);
            let row = &rows(&ran.out)[0];
            let waits: f64 = row["wait_max"].parse().unwrap();
            assert!(waits <= 3.0, "{more:?} {scheduler}: all fit at once, but one waits {waits} s");
            // 8 CPUs for nearly the hour.
            let used: f64 = row["utilization_cpus"].parse().unwrap();
            assert!((0.98..=1.0).contains(&used), "{more:?} {scheduler}: {used}");
            if more.len() < 3 || more[1] != "--log-format" {
                assert_eq!(row["utilization"], row["utilization_cpus"], "{more:?} {scheduler}");
            }
        }
    }
}

/// User 1 may run one job at a time: the second waits for 100 seconds beside an idle node, and the third for the second.
#[test]
fn waits_because_of_a_limit_are_a_reason_of_their_own() {
    let site = Site::new(&format!("{NODES}{OWNERS}max_jobs = 1\n"));
    let jobs = ["1,0,100,2,1", "2,0,100,2,1", "3,0,100,2,2"];
    let ran = site.with(&[], &jobs, &["--scheduler", "slurm", "--reasons", "--format", "csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let row = &rows(&ran.out)[0];
    let seconds = |name: &str| (row[name].parse::<f64>().unwrap() * 3600.0).round();
    // Until the first pass, a second after the arrivals, jobs wait behind others or because of the limit.
    assert!((100.0..=102.0).contains(&seconds("wait_hours_limit")), "{}", ran.out);
    assert_eq!(seconds("wait_hours_cpus"), 0.0, "{}", ran.out);
    let waits = row["wait_mean"].parse::<f64>().unwrap() * 3.0;
    let all = ["cpus", "memory", "gpus", "limit", "behind"].map(|name| seconds(&format!("wait_hours_{name}")));
    assert!((all.iter().sum::<f64>() - waits).abs() < 2.0, "{all:?} {waits}");
    let table = site.with(&[], &jobs, &["--scheduler", "slurm", "--reasons", "--format", "table"]).out;
    assert!(table.contains("because of a limit"), "{table}");
}

/// Slurm enforces limits only with AccountingStorageEnforce, whatever orders the queue. Where no slurm.conf is given, limits hold.
#[test]
fn limits_hold_only_if_the_conf_enforces_them() {
    let folder = Folder::new();
    let qos = folder.write("qos.txt", "Name|Priority|MaxJobsPU\none|0|1\n");
    let log =
        folder.write("log.csv", "submit,wait,run,procs,limit,user,qos\n0,0,100,1,600,1,one\n0,0,100,1,600,1,one\n");
    let columns = "csv:submit=submit,wait=wait,run=run,procs=procs,estimate=limit,user=user,qos=qos";
    let longest = |lines: &str| {
        let conf = format!(
            "SchedulerType=sched/backfill\n{lines}NodeName=n[1-2] CPUs=4\nPartitionName=p Nodes=ALL Default=YES\n"
        );
        let conf = folder.write("slurm.conf", conf);
        let site = ["--trace", &log, "--log-format", columns, "--slurm-conf", &conf, "--associations", &qos];
        let ran = sim(&[&site[..], &["--format", "csv"]].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        let is_said = ran.err.contains("limits of QOS, accounts and users are not enforced");
        (rows(&ran.out)[0]["wait_max"].parse::<f64>().unwrap() > 50.0, is_said)
    };
    for order in ["", "PriorityType=priority/basic\n", "PriorityType=priority/multifactor\n"] {
        assert_eq!(longest(order), (false, true), "{order}");
        assert_eq!(longest(&format!("{order}AccountingStorageEnforce=associations,qos\n")), (false, true), "{order}");
        for enforced in ["limits", "safe", "all", "associations,limits,qos"] {
            assert_eq!(
                longest(&format!("{order}AccountingStorageEnforce={enforced}\n")),
                (true, false),
                "{order} {enforced}"
            );
        }
    }
    let machine = folder.write("site.toml", "[[nodes]]\nname = \"n[1-2]\"\ncpus = 4\n");
    let site = ["--trace", &log, "--log-format", columns, "--machine", &machine, "--associations", &qos];
    let csv = sim_ok(&[&site[..], &["--scheduler", "slurm", "--format", "csv"]].concat());
    assert!(rows(&csv)[0]["wait_max"].parse::<f64>().unwrap() > 50.0, "{csv}");
}

/// Four nodes of one CPU. The first job has all of them for 100 seconds; then the wide one comes first, or with `favor_small` the
/// narrow one that was submitted after it.
#[test]
fn nodes_of_one_cpu_have_all_keys() {
    let site = Site::new("[[nodes]]\nname = \"n[1-4]\"\ncpus = 1\n");
    let jobs = ["1,0,100,4,1", "2,1,100,4,1", "3,2,100,1,2"];
    let order = |keys: &str| {
        let found = site.starts(&jobs, &format!("slurm:batch_sched_delay=0s{keys}")).0;
        let of = |job: &str| found.iter().find(|(id, _)| id == job).unwrap().1 / 100;
        [of("2"), of("3")]
    };
    let sizes = ",order=multifactor,size_weight=1000";
    assert_eq!(order(sizes), [1, 2]);
    assert_eq!(order(&format!("{sizes},favor_small=yes")), [2, 1]);
    assert_eq!(order(&format!("{sizes},favor_small=yes,tres_weights=cpu=9000")), [1, 2]);
    // Nodes of jobs that have ended take no other for a while, whatever orders the queue.
    let later = |keys: &str| site.starts(&jobs, &format!("slurm:batch_sched_delay=0s{keys}")).0[1].1;
    assert_eq!(later(",epilog=30s") - later(""), 30);
}
