//! What is shown of a machine of nodes: utilization of each resource, groups, reasons of waits, Gantt charts. By hand, and against
//! slow sums.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use shadowtime::engine::{Event, Observer, RunRecord};
use shadowtime::experiment::Setting;
use shadowtime::job::{Job, JobId};
use shadowtime::machine::{Cluster, NodeShare, Resource};
use shadowtime::metrics::{Gantt, Measure, NodeGrants, WaitReasonMeter, gantt_nodes, summarize};
use shadowtime::request::{Request, Requests};
use shadowtime::schedule::Machine;
use shadowtime::trace::{LogNames, PartitionMap, Unit, Workload, put_on_cluster};
use shadowtime_twins::random::check;
use shadowtime_twins::random_nodes::{Draft, clusters, drafts, request_of};

use crate::support::{Folder, job_of, sim, sim_ok, workload};

/// Two nodes of 4 CPUs and 8 GB, and one with a GPU in a partition of its own.
const SITE: &str = "[[nodes]]\nname = \"n[1-2]\"\ncpus = 4\nmemory = \"8G\"\n\n[[nodes]]\nname = \"g1\"\ncpus = 4\nmemory = \"8G\"\ngpus = 1\n\n\
    [[partitions]]\nname = \"batch\"\nnodes = \"n[1-2]\"\ndefault = true\n\n[[partitions]]\nname = \"gpu\"\nnodes = \"g1\"\n";

const FORMAT: &str = "csv:submit=submit,wait=wait,run=run,procs=procs,estimate=limit,memory=mem,gpus_per_node=gpus,partition=part,\
    account=account,qos=qos,user=user,exclusive=whole";

const HEADER: &str = "submit,wait,run,procs,limit,mem,gpus,part,account,qos,user,whole\n";

/// A folder with the site, and a log of these rows.
fn folder_of(rows: &str) -> Folder {
    let folder = Folder::new();
    std::fs::write(folder.path("site.toml"), SITE).unwrap();
    std::fs::write(folder.path("jobs.csv"), format!("{HEADER}{rows}")).unwrap();
    folder
}

/// The arguments of a run of that log without a baseline.
fn arguments(folder: &Folder, scheduler: &str, more: &[&str]) -> Vec<String> {
    let (jobs, machine) = (folder.text("jobs.csv"), folder.text("site.toml"));
    let args = [&jobs, "--log-format", FORMAT, "--scheduler", scheduler, "--predictor", "estimate"];
    let args = [&args[..], &["--baseline", "none", "--machine", &machine], more].concat();
    args.iter().map(|text| text.to_string()).collect()
}

fn run(folder: &Folder, scheduler: &str, more: &[&str]) -> String {
    let args = arguments(folder, scheduler, more);
    sim_ok(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The only row of a CSV by names of columns.
fn cells(csv: &str) -> BTreeMap<&str, &str> {
    let mut lines = csv.lines();
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    names.split(',').zip(values.split(',')).collect()
}

/// Job 3 asks for 4 GB and waits until 100, because jobs 1 and 2 have 6 GB of each node. All run within 150 s.
const WAITS_FOR_MEMORY: &str = "0,0,100,1,100,6G,0,batch,physics,normal,u1,\n1,0,100,1,100,6G,0,batch,physics,normal,u2,\n\
    2,0,50,1,50,4G,0,batch,biology,high,u1,\n3,0,20,2,20,1G,0,batch,biology,normal,u2,\n4,0,10,1,10,,1,gpu,,normal,u3,\n";

/// CPUs: 100 + 100 + 50 + 2 x 20 + 10 = 300 of 12 x 150. Memory: 6,144 x 200 + 4,096 x 50 + 1,024 x 20, and all
/// 8,192 of a node x 10, as job 5 does not say it: 1,536,000 of 24,576 x 150. GPUs: 10 of 150.
#[test]
fn utilization_by_hand() {
    let folder = folder_of(WAITS_FOR_MEMORY);
    let csv = run(&folder, "easy", &["--reasons", "--format", "csv"]);
    let row = cells(&csv);
    assert_eq!(row["utilization"], "0.166667");
    assert_eq!(row["utilization_cpus"], "0.166667");
    assert_eq!((row["utilization_memory"], row["utilization_gpus"]), ("0.416667", "0.066667"));
    // 98 s of job 3.
    assert_eq!((row["wait_hours_memory"], row["wait_hours_cpus"]), ("0.027222", "0.000000"));
    assert!(csv.lines().next().unwrap().ends_with("wait_hours_behind,options"), "{csv}");
    let table = run(&folder, "easy", &["--format", "table"]);
    for line in ["CPUs given to jobs 16.7%", "memory given to jobs 41.7%", "GPUs given to jobs 6.7%"] {
        let is_line = |found: &str| found.split_whitespace().collect::<Vec<_>>().join(" ") == line;
        assert!(table.lines().any(is_line), "{line}: {table}");
    }
    assert!(!table.contains("by reason"), "{table}");
    // A pool has none of this.
    let pool = sim_ok(&["--first", "100", "--format", "csv"]);
    assert!(!pool.contains("utilization_"), "{pool}");
    // A job that takes its node alone has all of it: 1 x 100 of 12 x 100 are asked for, and 4 are given.
    let whole = folder_of("0,0,100,1,100,1G,0,batch,,,u1,1\n");
    let csv = run(&whole, "easy", &["--format", "csv"]);
    let row = cells(&csv);
    assert_eq!((row["utilization"], row["utilization_cpus"]), ("0.083333", "0.333333"));
    assert_eq!((row["utilization_memory"], row["utilization_gpus"]), ("0.333333", "0.000000"));
}

/// A setting that has no nodes, `replay`, has empty cells beside one that has.
#[test]
fn every_row_has_the_same_columns() {
    let folder = folder_of(WAITS_FOR_MEMORY);
    let csv = run(&folder, "easy,replay", &["--format", "csv"]);
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let at = lines[0].iter().position(|name| *name == "utilization_memory").unwrap();
    assert_eq!((lines[1][at], lines[2][at]), ("0.416667", ""), "{csv}");
    // The options, the last column, have commas.
    assert_eq!(lines[2].iter().position(|cell| cell.starts_with('"')), Some(lines[0].len() - 1), "{csv}");
    let grid = ["sweep", "--trace", &folder.text("jobs.csv"), "--log-format", FORMAT, "--scheduler", "easy,replay"];
    let (machine, out) = (folder.text("site.toml"), folder.text("sweep"));
    let swept = sim_ok(&[&grid[..], &["--machine", &machine, "--out", &out, "--format", "csv"]].concat());
    assert!(
        swept.lines().next().unwrap().contains(",utilization_cpus,utilization_memory,utilization_gpus,"),
        "{swept}"
    );
}

/// First come, first served. On the GPU node job 2 waits for the GPU from 10 to 100. Job 3 has 7 of 8 CPUs until 60, so job 4, which
/// needs 8, waits for CPUs from 20 to 60. Job 5 needs one: it could be placed, but is behind job 4 from 30 to 60, and then waits for
/// CPUs until job 4 ends at 70.
const WAITS_FOR_ALL: &str = "0,0,100,1,100,,1,gpu,,,u1,\n10,0,10,1,10,,1,gpu,,,u1,\n10,0,50,7,50,,0,batch,,,u1,\n\
    20,0,10,8,10,,0,batch,,,u1,\n30,0,10,1,10,,0,batch,,,u1,\n";

#[test]
fn reasons_by_hand() {
    let folder = folder_of(WAITS_FOR_ALL);
    let csv = run(&folder, "fcfs", &["--reasons", "--format", "csv"]);
    let row = cells(&csv);
    let hours = ["cpus", "memory", "gpus", "behind"].map(|what| row[format!("wait_hours_{what}").as_str()]);
    assert_eq!(hours, ["0.013889", "0.000000", "0.025000", "0.008333"], "{csv}");
    let table = run(&folder, "fcfs", &["--reasons", "--format", "table"]);
    let lines: Vec<String> = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in ["for want of CPUs 0.0 (29.4%)", "for want of GPUs 0.0 (52.9%)", "behind others 0.0 (17.6%)"] {
        assert!(lines.iter().any(|found| found == line), "{line}: {table}");
    }
    assert!(!table.contains("for want of memory"), "{table}");
    // A job that takes a whole node waits as long as another job has anything of it: CPUs and memory, so CPUs are named.
    let whole = folder_of("0,0,100,1,100,1G,0,gpu,,,u1,\n10,0,10,1,10,,0,gpu,,,u1,1\n");
    let csv = run(&whole, "easy", &["--reasons", "--format", "csv"]);
    assert_eq!(cells(&csv)["wait_hours_cpus"], "0.025000", "{csv}");
    // On a pool of 8 processors: job 3 of 7 runs until 60, job 4 waits for processors, job 5 behind it.
    let jobs = folder.text("jobs.csv");
    let pool =
        [jobs.as_str(), "--log-format", FORMAT, "--scheduler", "fcfs", "--predictor", "estimate", "--procs", "12"];
    let pool = [&pool[..], &["--baseline", "none", "--reasons", "--format", "table"]].concat();
    assert!(sim_ok(&pool).contains("for want of processors"));
}

#[test]
fn groups_by_hand() {
    let folder = folder_of(WAITS_FOR_MEMORY);
    let out = folder.text("groups.csv");
    let groups = |more: &[&str], machine: bool| {
        let mut args = arguments(&folder, "easy", &["--by", "partition,qos,account,gpus,memory", "--by-out", &out]);
        args.extend(more.iter().map(|text| text.to_string()));
        if !machine {
            let at = args.iter().position(|text| text == "--machine").unwrap();
            args.splice(at..at + 2, ["--procs".to_string(), "8".to_string()]);
        }
        sim_ok(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let csv = folder.read("groups.csv");
        let row = |line: &str| line.split(',').take(3).collect::<Vec<_>>().join(" ");
        csv.lines().skip(1).map(row).collect::<Vec<_>>()
    };
    let expected = [
        "partition batch 4",
        "partition gpu 1",
        "qos 1 4",
        "qos 2 1",
        "account 1 2",
        "account 2 2",
        "account unknown 1",
        "gpus 0 4",
        "gpus 1 1",
        "memory up to 1G 1",
        "memory up to 4G 1",
        "memory up to 16G 2",
        "memory unsaid 1",
    ];
    assert_eq!(groups(&[], true), expected);
    let named = groups(&["--names"], true);
    assert_eq!(named[2..6], ["qos normal 4", "qos high 1", "account physics 2", "account biology 2"]);
    // On a pool partitions are those of the log, which are private.
    let pool = groups(&[], false);
    assert_eq!(pool[..2], ["partition 1 4", "partition 2 1"]);
    assert_eq!(pool[2..], expected[2..]);
    // The waits of the groups: of the five jobs only the third waits, which is the only one of the QOS `high`.
    let table = run(&folder, "easy", &["--by", "qos", "--names", "--format", "table"]);
    assert!(table.lines().any(|line| line.starts_with("high") && line.contains("1m 38s")), "{table}");
}

#[test]
fn a_key_that_the_log_does_not_have_is_an_error() {
    let ran = sim(&["-q", "--by", "qos"]);
    let why = "no job of demo asks for a QOS, so there are no groups by qos: this log has width, runtime, estimate, user, group, \
               queue, partition, week, hour";
    assert!(ran.code == 2 && ran.err.contains(why), "{}", ran.err);
    let folder = folder_of("0,0,100,1,100,1G,0,batch,,,u1,\n");
    let args = arguments(&folder, "easy", &["--by", "memory,gpus"]);
    let ran = sim(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(ran.code == 2 && ran.err.contains("asks for GPUs") && ran.err.contains("memory, week"), "{}", ran.err);
    // Without --by, the file has the keys that the log has.
    let out = folder.text("groups.csv");
    run(&folder, "easy", &["--by-out", &out]);
    let csv = folder.read("groups.csv");
    assert!(csv.contains("\nmemory,up to 1G,1,") && !csv.contains("\ngpus,") && !csv.contains("\nqos,"), "{csv}");
    let ran = sim(&["fidelity", "--scheduler", "easy", "--by", "account", "--format", "table"]);
    assert!(ran.code == 2 && ran.err.contains("asks for an account"), "{}", ran.err);
}

/// One processor, first come first served. The first job of the log may begin at 50, so that it arrives last: it waits from 50 until
/// 111, the third from 2 until 101. Without the first job of the log as a warm-up, only the 99 s of the third count.
#[test]
fn reasons_of_measured_jobs_follow_the_log_though_one_arrives_late() {
    let folder = Folder::new();
    let log = folder.write("late.csv", "submit,wait,run,procs,begin\n0,0,10,1,50\n1,0,100,1,\n2,0,10,1,\n");
    let format = "csv:submit=submit,wait=wait,run=run,procs=procs,begin=begin";
    let args = [&log, "--log-format", format, "--procs", "1", "--scheduler", "fcfs", "--reasons", "--format", "json"];
    let hours = |more: &[&str]| {
        let row: serde_json::Value = serde_json::from_str(&sim_ok(&[&args[..], more].concat())).unwrap();
        let row = &row[0];
        (row["wait_hours_cpus"].as_f64().unwrap() + row["wait_hours_behind"].as_f64().unwrap()) * 3600.0
    };
    assert_eq!(hours(&["--baseline", "none"]).round(), 160.0);
    assert_eq!(hours(&["--baseline", "none", "--warmup", "1"]).round(), 99.0);
}

// ---- Slow sums.

/// What ran when, with what.
#[derive(Default)]
struct Grants {
    started: BTreeMap<JobId, (i64, i64, Vec<NodeShare>)>,
    ended: Vec<(JobId, i64)>,
}

impl Observer for Grants {
    fn on(&mut self, time: i64, event: &Event<'_>, _machine: &Machine) {
        match event {
            Event::Start(start) => {
                self.started.insert(start.job.id, (time, time + start.runtime, start.grant.to_vec()));
            }
            Event::End(end) => self.ended.push((end.job.id, time)),
            _ => {}
        }
    }
}

/// These jobs on a cluster. None if none of them can run.
fn placed(cluster: &Arc<Cluster>, asked: &[Draft], whole: &[bool]) -> Option<Workload> {
    let (mut requests, mut submit, mut jobs) = (Requests::default(), 0, Vec::new());
    for (at, &(gap, runtime, more, cpus, partition, memory, gpus, nodes)) in asked.iter().enumerate() {
        submit += gap;
        let partition = &cluster.partitions[partition % cluster.partitions.len()];
        let asked = request_of(cpus, partition, (memory, gpus, nodes));
        let request = Request { exclusive: whole[at % whole.len()], ..asked };
        jobs.push(Job { request: requests.intern(request), ..job_of(1, submit, cpus, runtime, runtime + more) });
    }
    let all = Workload { requests: Arc::new(requests), ..workload(1000, &jobs) };
    put_on_cluster(all, cluster, &PartitionMap::new(), &LogNames::default(), Unit::Cpus).ok()
}

/// The resources in use, second by second.
fn slow_areas(grants: &Grants) -> [i128; 3] {
    let (first, last) = (0, grants.started.values().map(|(_, end, _)| *end).max().unwrap_or(0));
    let mut sums = [0; 3];
    for second in first..last {
        for (_, _, shares) in grants.started.values().filter(|(start, end, _)| (*start..*end).contains(&second)) {
            for share in shares {
                sums[0] += i128::from(share.what.cpus());
                sums[1] += i128::from(share.what.memory());
                sums[2] += i128::from(share.what.count(Resource::Gpus));
            }
        }
    }
    sums
}

#[test]
fn areas_equal_a_slow_sum_and_every_wait_has_a_reason() {
    let schedulers = select(vec!["fcfs", "easy", "sjbf", "conservative"]);
    let whole = proptest::collection::vec(proptest::bool::weighted(0.2), 7);
    check(711, 300, (clusters(), drafts(), schedulers, whole), |(cluster, asked, scheduler, whole)| {
        let cluster = Arc::new(cluster);
        let Some(workload) = placed(&cluster, &asked, &whole) else { return Ok(()) };
        let (setting, measure) = (Setting::parse(scheduler, "estimate").unwrap(), Measure::default());
        let (mut grants, mut meter) = (Grants::default(), WaitReasonMeter::new(&workload, &measure));
        let record: RunRecord = setting.run(&workload, Some(&mut (&mut grants, &mut meter)), &mut |_| ()).unwrap();
        prop_assert!(grants.ended.iter().all(|(id, time)| grants.started[id].1 == *time));
        let given = record.given.unwrap();
        let [cpus, memory, gpus] = slow_areas(&grants);
        prop_assert_eq!((given[Resource::Cpus], given[Resource::Memory], given[Resource::Gpus]), (cpus, memory, gpus));
        let summary = summarize(&workload, &record, &measure);
        let share = |used: i128, all: u64| used as f64 / (all as f64 * summary.makespan as f64);
        prop_assert_eq!(summary.utilization_of[0], Some(share(cpus, cluster.cpus())));
        prop_assert_eq!(summary.utilization_of[1], Some(share(memory, cluster.total().memory())));
        let gpu_share = (cluster.total()[Resource::Gpus] > 0).then(|| share(gpus, cluster.total()[Resource::Gpus]));
        prop_assert_eq!(summary.utilization_of[2], gpu_share);
        let waits: i64 = record.finished(&workload.jobs).map(|job| job.wait()).sum();
        prop_assert_eq!(meter.sums().all_seconds(), i128::from(waits));
        Ok(())
    });
}

/// What is said of a site that is not near does not name what is simulated.
#[test]
fn fidelity_has_partitions_and_says_what_is_missing() {
    let folder = folder_of(WAITS_FOR_MEMORY);
    let (jobs, machine) = (folder.text("jobs.csv"), folder.text("site.toml"));
    let site = ["--log-format", FORMAT, "--machine", &machine];
    let table = sim_ok(&[&["fidelity", &jobs, "--scheduler", "easy", "--format", "table"], &site[..]].concat());
    assert!(table.contains("easy/estimate, by partition") && table.contains("\nbatch "), "{table}");
    let page = folder.text("page.html");
    sim_ok(&[&["report", &jobs, "--out", &page, "--predictor", "estimate"], &site[..]].concat());
    let page = folder.read("page.html");
    let said = page.split("<p class=\"site").nth(1).unwrap().split("</p>").next().unwrap();
    assert!(said.contains("Priorities, limits and downtimes are not simulated") && !said.contains("--procs"), "{said}");
}

/// In a Gantt chart every job has its CPUs on its nodes, and no CPU has two jobs.
#[test]
fn rows_of_a_gantt_chart_are_the_cpus_of_nodes() {
    check(712, 300, (clusters(), drafts(), select(vec!["fcfs", "easy"])), |(cluster, asked, scheduler)| {
        let cluster = Arc::new(cluster);
        let Some(workload) = placed(&cluster, &asked, &[false, false, true]) else { return Ok(()) };
        let mut grants = NodeGrants::default();
        let setting = Setting::parse(scheduler, "estimate").unwrap();
        let record = setting.run(&workload, Some(&mut grants), &mut |_| ()).unwrap();
        let window = 20..200;
        let gantt = Gantt::of(&workload, &record, &grants, &window);
        let (nodes, left_out) = gantt_nodes(&cluster, &[&gantt], &window);
        prop_assert_eq!((nodes.len(), left_out), (cluster.nodes.len(), 0));
        for (at, job) in gantt.jobs.iter().enumerate() {
            for (node, place) in nodes.iter().zip(0..) {
                let share = job.shares.iter().find(|share| share.node == place).map_or(0, |share| share.what.cpus());
                let inside = job.rows.iter().filter(|row| node.rows.contains(&row.start));
                prop_assert!(inside.clone().all(|row| row.end <= node.rows.end));
                prop_assert_eq!(inside.map(|row| row.end - row.start).sum::<u32>(), share);
            }
            for other in gantt.jobs[at + 1..].iter().filter(|other| other.start < job.end) {
                let meets = job.rows.iter().any(|a| other.rows.iter().any(|b| a.start < b.end && b.start < a.end));
                prop_assert!(!meets, "{:?} and {:?}", job, other);
            }
        }
        Ok(())
    });
}

#[test]
fn a_report_shows_nodes_reasons_and_partitions() {
    let folder = folder_of(WAITS_FOR_MEMORY);
    let (page, svg) = (folder.text("page.html"), folder.text("svg"));
    let files = ["--out", &page, "--svg", &svg];
    let args = arguments(&folder, "easy", &files);
    sim_ok(&std::iter::once("report").chain(args.iter().map(String::as_str)).collect::<Vec<_>>());
    let page = folder.read("page.html");
    for text in [
        "3 nodes, 12 CPUs, 24G of memory, 1 GPU, 2 partitions",
        "memory given to jobs",
        "The machine",
        "job 3 of user 1: 1 CPU, 4G of memory on n1, waited 1m 38s",
        "job 5 of user 3: 1 CPU, 8G of memory, 1 GPU on g1",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let gantt = folder.read("svg/the-schedule-of-a-window.csv");
    let row = |number: usize| gantt.lines().nth(number).unwrap().split(',').map(str::to_string).collect::<Vec<_>>();
    // Job 3 starts on the first node when job 1 leaves.
    assert_eq!(row(3)[..8].join(","), "3,1,1,2,100,150,98,0");
    assert_eq!(row(3)[8..].join(","), "n1,1,4096,0");
    assert_eq!(row(5)[8..].join(","), "g1,1,8192,1");
    let reasons = folder.read("svg/why-jobs-wait.csv");
    assert!(reasons.contains("for want of memory,easy/estimate,1,98\n"), "{reasons}");
    let partitions = folder.read("svg/mean-wait-by-partition.csv");
    assert!(partitions.contains("easy/estimate,1,24.5\n") && partitions.contains("gpu: 3.3%"), "{partitions}");
    // Of 40 nodes the 32 that are used most are shown.
    std::fs::write(folder.path("site.toml"), "[[nodes]]\nname = \"n[1-40]\"\ncpus = 4\n[[partitions]]\nname = \"batch\"\nnodes = \"ALL\"\n[[partitions]]\nname = \"gpu\"\nnodes = \"ALL\"\n").unwrap();
    std::fs::write(
        folder.path("jobs.csv"),
        format!("{HEADER}0,0,50,4,50,,0,batch,,,u1,\n0,0,60,4,60,,0,batch,,,u1,\n"),
    )
    .unwrap();
    let page = folder.text("wide.html");
    let args = arguments(&folder, "easy", &["--out", &page]);
    sim_ok(&std::iter::once("report").chain(args.iter().map(String::as_str)).collect::<Vec<_>>());
    assert!(folder.read("wide.html").contains("8 other nodes with the least CPU time in the window are left out."));
}

/// With one more node job 3 starts at once, and the last job ends at 101 instead of 150: CPUs 300 of 16 x 101, memory 1,536,000 of
/// 32,768 x 101, GPUs 10 of 101.
#[test]
fn a_page_of_a_change_shows_the_machine_before_and_after() {
    let folder = folder_of(WAITS_FOR_MEMORY);
    let (page, svg) = (folder.text("page.html"), folder.text("svg"));
    let args = arguments(&folder, "easy", &["--what-if", "more: add-nodes=n3 as n1", "--out", &page, "--svg", &svg]);
    let args: Vec<&str> = args.iter().map(String::as_str).filter(|arg| !["--baseline", "none"].contains(arg)).collect();
    sim_ok(&[&["report"], &args[..]].concat());
    let bars = |chart: &str| -> Vec<(String, f64)> {
        let csv = folder.read(&format!("svg/{chart}.csv"));
        let bar = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            let number: f64 = cells[3].parse().unwrap();
            (cells[..2].join(": "), (number * 1e6).round() / 1e6)
        };
        csv.lines().skip(1).map(bar).collect()
    };
    let expected =
        |bars: &[(&str, f64)]| bars.iter().map(|(name, number)| (name.to_string(), *number)).collect::<Vec<_>>();
    let used = [
        ("CPUs given to jobs: as it is", 0.166667),
        ("CPUs given to jobs: more", 0.185644),
        ("memory given to jobs: as it is", 0.416667),
        ("memory given to jobs: more", 0.464109),
        ("GPUs given to jobs: as it is", 0.066667),
        ("GPUs given to jobs: more", 0.099010),
    ];
    assert_eq!(bars("use-of-the-machine"), expected(&used));
    let reasons = [
        ("for want of CPUs: as it is", 0.0),
        ("for want of CPUs: more", 0.0),
        ("for want of memory: as it is", 98.0),
        ("for want of memory: more", 0.0),
        ("behind others: as it is", 0.0),
        ("behind others: more", 0.0),
    ];
    assert_eq!(bars("why-jobs-wait"), expected(&reasons));
    let waits = bars("mean-wait-by-partition");
    assert_eq!((waits[0].1, waits[1].1), (24.5, 0.0), "{waits:?}");
    assert!(folder.read("page.html").contains("4G of memory on n3, waited 0.0 s"));
}
