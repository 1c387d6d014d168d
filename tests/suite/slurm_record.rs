//! Records of a real Slurm: how one is made, and the scheduler `slurm` simulated freely beside them. (Their passes are made
//! again one by one in a test of the library.) `tests/slurm/README.md` describes the files.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rand::RngExt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shadowtime::rng::stream;
use shadowtime::schedule::slurm::conf::SlurmConf;
use shadowtime::time::parse_date_time;

use crate::slurm_cluster::{Cluster, NodeKind, Shape};
use crate::support::missing;
use crate::support::{job_of, run, starts, workload};

/// A folder with records that were made just now. They are checked too, if it is set.
pub const FRESH: &str = "SHADOWTIME_SLURM_RECORDS";
/// How many jobs of the workload a new record has.
pub const JOBS: &str = "SHADOWTIME_SLURM_JOBS";

const NODES: usize = 12;
/// As for the records A, D, E and F: passes come often, so that a short run has many.
const SHAPE: Shape = Shape {
    nodes: &[NodeKind { prefix: "n", count: NODES, line: "CPUs=1 RealMemory=1000" }],
    scheduling: "batch_sched_delay=0,sched_min_interval=0,bf_interval=2,bf_resolution=1,sched_interval=60",
    lines: "SlurmctldDebug=debug2
DebugFlags=Backfill,TraceJobs
PriorityType=priority/basic
SelectTypeParameters=CR_CPU
PartitionName=main Nodes=n[1-12] Default=YES MaxTime=60 State=UP
",
    gres: "",
    accounts: "",
};

#[derive(Deserialize)]
struct Record {
    t0: i64,
    conf: Vec<String>,
    jobs: Vec<RecordedJob>,
}

/// Times are seconds after `t0`.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct RecordedJob {
    id: u32,
    submit: i64,
    nodes: u32,
    limit: i64,
    run: i64,
    start: i64,
    end: i64,
    state: String,
    by: String,
    hosts: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slurm")
}

fn read(file: &Path) -> Record {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The records of a folder with their names, in order of their names.
fn records(folder: &Path) -> Vec<(String, Record)> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // A record on nodes has another form.
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json") && !file.ends_with("nodes.json"));
    files.sort();
    files.iter().map(|file| (file.file_stem().unwrap().to_str().unwrap().to_string(), read(file))).collect()
}

/// How a record and free simulations of the same jobs compare.
struct Likeness {
    recorded_wait: f64,
    simulated_wait: f64,
    /// The share of pairs of jobs that start in the same order.
    same_order: f64,
}

impl Likeness {
    fn difference(&self) -> f64 {
        self.simulated_wait / self.recorded_wait - 1.0
    }
}

/// Simulates the jobs of a record 40 times, each with runtimes that are 0 or 1 seconds longer at random, as they were in
/// the record.
fn simulate(record: &Record) -> Likeness {
    const RUNS: usize = 40;
    let scheduler = SlurmConf::parse(&record.conf.join("\n"), Path::new("")).unwrap().spec();
    let mut rng = stream(1, "slurm record");
    let mean = |waits: &mut dyn Iterator<Item = i64>| {
        let waits: Vec<i64> = waits.collect();
        waits.iter().sum::<i64>() as f64 / waits.len() as f64
    };
    let (mut wait, mut same, mut pairs) = (0.0, 0u32, 0u32);
    for _ in 0..RUNS {
        let jobs: Vec<_> = record
            .jobs
            .iter()
            .map(|job| {
                // What the machine or the daemon made longer or shorter than this is as recorded.
                let recorded = job.end - job.start;
                let is_usual = (job.run..=job.run + 1).contains(&recorded);
                let runtime = if is_usual { job.run + rng.random_range(0..=1) } else { recorded };
                job_of(1, job.submit, job.nodes, runtime.max(1), job.limit)
            })
            .collect();
        let mut simulated = workload(NODES as u32, &jobs);
        simulated.unix_start = Some(record.t0);
        let starts = starts(&run(&simulated, &scheduler, "estimate"));
        wait += mean(&mut starts.iter().zip(&jobs).map(|(start, job)| start - job.submission.submit)) / RUNS as f64;
        for first in 0..jobs.len() {
            for second in first + 1..jobs.len() {
                let recorded = record.jobs[first].start - record.jobs[second].start;
                let simulated = starts[first] - starts[second];
                // Starts within two seconds count as equal.
                let is_same = recorded.abs() <= 2 || simulated.abs() <= 2 || (recorded > 0) == (simulated > 0);
                (same, pairs) = (same + u32::from(is_same), pairs + 1);
            }
        }
    }
    Likeness {
        recorded_wait: mean(&mut record.jobs.iter().map(|job| job.start - job.submit)),
        simulated_wait: wait,
        same_order: f64::from(same) / f64::from(pairs),
    }
}

/// The daemon against itself differs by up to 13% in its mean wait, and has the same order in 94.4 to 99.3% of pairs.
#[test]
fn free_simulations_are_as_near_to_a_real_slurm_as_the_next_run_of_it() {
    let mut table = "run    recorded wait  simulated wait  difference  same order\n".to_string();
    let mut likenesses = Vec::new();
    for (name, record) in records(&folder()) {
        let likeness = simulate(&record);
        let Likeness { recorded_wait, simulated_wait, same_order } = likeness;
        let (difference, order) = (100.0 * likeness.difference(), 100.0 * same_order);
        let row =
            format!("{name:<5}  {recorded_wait:>11.1} s  {simulated_wait:>12.1} s  {difference:>+9.1}%  {order:>9.1}%");
        writeln!(table, "{row}").unwrap();
        likenesses.push(likeness);
    }
    assert_eq!(likenesses.len(), 11);
    for likeness in &likenesses {
        assert!(likeness.difference().abs() <= 0.15 && likeness.same_order >= 0.93, "{table}");
    }
    for three in likenesses.windows(3) {
        let sum = |of: fn(&Likeness) -> f64| three.iter().map(of).sum::<f64>();
        let difference = sum(|run| run.simulated_wait) / sum(|run| run.recorded_wait) - 1.0;
        assert!(difference.abs() <= 0.10, "{table}");
    }
    let page = include_str!("../../src/cli/help/results.md");
    assert!(page.contains(&table), "`sim help results` must have this table:\n{table}");
}

#[test]
fn a_fresh_record_of_a_real_slurm_is_met_too() {
    let Some(folder) = std::env::var_os(FRESH) else {
        return missing("a_fresh_record_of_a_real_slurm_is_met_too", &format!("{FRESH} is not set"));
    };
    let records = records(Path::new(&folder));
    if records.is_empty() {
        missing("a_fresh_record_of_a_real_slurm_is_met_too", &format!("no record in {}", folder.display()));
    }
    for (name, record) in records {
        let likeness = simulate(&record);
        let Likeness { recorded_wait, simulated_wait, same_order } = likeness;
        eprintln!("{name}: {recorded_wait:.1} s, simulated {simulated_wait:.1} s, same order {same_order:.3}");
        assert!(likeness.difference().abs() <= 0.15 && same_order >= 0.93);
    }
}

/// Makes a record of the workload of `tests/slurm/A-2.json` on a real Slurm: seven minutes, half of them for 30 jobs.
#[test]
#[ignore = "takes minutes: SHADOWTIME_SLURM_RECORDS=FOLDER cargo test --test suite -- --ignored slurm_record::"]
fn record_a_real_slurm() {
    let name = "record_a_real_slurm";
    let Some(folder) = std::env::var_os(FRESH).map(PathBuf::from) else {
        return missing(name, &format!("{FRESH} does not name a folder"));
    };
    let most = std::env::var(JOBS).map_or(usize::MAX, |count| count.parse().expect(JOBS));
    let mut jobs = read(&self::folder().join("A-2.json")).jobs;
    jobs.truncate(most);
    let Some(cluster) = Cluster::start(name, SHAPE) else { return };
    let t0 = submit(&cluster, &jobs);
    cluster.wait_until_idle(900);
    let log = fs::read_to_string(cluster.file("log/slurmctld.log")).unwrap();
    let events = events(&log, t0);
    fill_in(&mut jobs, &events);
    let conf = fs::read_to_string(cluster.file("slurm.conf")).unwrap();
    let conf = conf.replace(cluster.file("").to_str().unwrap(), "RUN/");
    let version = cluster.output("sinfo", &["--version"]).trim().replace("slurm-wlm ", "");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("fresh.json"), print(&version, t0, &conf, &jobs, &events)).unwrap();
}

/// Submits the jobs at their times. Returns the Unix time of the first whole second, from which times are counted.
fn submit(cluster: &Cluster, jobs: &[RecordedJob]) -> i64 {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let t0 = now().as_secs() + 2;
    for job in jobs {
        // A tenth of a second into the second, so that a late command is still in it.
        let at = Duration::from_secs(t0 + job.submit as u64) + Duration::from_millis(100);
        sleep(at.saturating_sub(now()));
        let began = Instant::now();
        let mut sbatch = cluster.command("sbatch");
        sbatch.args(["-N", &job.nodes.to_string(), "-t", &(job.limit / 60).to_string(), "-o", "/dev/null"]);
        sbatch.arg(format!("--wrap=sleep {}", job.run)).current_dir(cluster.file(""));
        let output = sbatch.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), format!("Submitted batch job {}", job.id));
        assert!(began.elapsed() < Duration::from_secs(5), "the machine is too busy for a record");
    }
    t0 as i64
}

/// What the daemon's log tells: `[seconds, kind, ...]`.
fn events(log: &str, t0: i64) -> Vec<Value> {
    let mut events = Vec::new();
    for line in log.lines() {
        let Some((time, text)) = line.strip_prefix('[').and_then(|line| line.split_once("] ")) else { continue };
        let at = (unix_seconds(time) - t0 as f64).max(0.0);
        let at = (at * 1000.0).round() / 1000.0;
        let id = || text.split_once("JobId=").and_then(|(_, rest)| leading_number(rest));
        let has = |part: &str| text.contains(part);
        if unix_seconds(time) < t0 as f64 {
            continue;
        } else if has("sched: Running job scheduler") {
            events.push(serde_json::json!([at, "main"]));
        } else if has("sched/backfill: _attempt_backfill: beginning") {
            events.push(serde_json::json!([at, "bf"]));
        } else if has("sched: Allocate JobId=") {
            let nodes = text.split_once("NodeList=").unwrap().1.split(' ').next().unwrap();
            events.push(serde_json::json!([at, "sm", id(), node_numbers(nodes)]));
        } else if has("sched/backfill: _start_job: Started JobId=") {
            let nodes = text.rsplit_once(" on ").unwrap().1;
            events.push(serde_json::json!([at, "sb", id(), node_numbers(nodes)]));
        } else if has("_slurm_rpc_submit_batch_job: JobId=") {
            events.push(serde_json::json!([at, "sub", id()]));
        } else if has("_job_complete: JobId=") && text.ends_with(" done") {
            events.push(serde_json::json!([at, "end", id()]));
        } else if has("cleanup_completing: JobId=") {
            events.push(serde_json::json!([at, "epi", id()]));
        }
    }
    events
}

pub fn leading_number(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The Unix time of `2026-11-16T15:00:01.250`; the daemon's clock shows UTC.
pub fn unix_seconds(text: &str) -> f64 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let seconds = parse_date_time(whole.as_bytes()).unwrap_or_else(|| panic!("'{text}' is not a time"));
    seconds as f64 + format!("0.{fraction}").parse::<f64>().unwrap()
}

/// The numbers of `n[1-3,7]`.
fn node_numbers(text: &str) -> Vec<u32> {
    let inside = text.trim().trim_start_matches('n').trim_start_matches('[').trim_end_matches(']');
    let numbers = |piece: &str| -> Vec<u32> {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        (first.parse().unwrap()..=last.parse().unwrap()).collect()
    };
    inside.split(',').flat_map(numbers).collect()
}

/// Takes starts and ends from the events.
fn fill_in(jobs: &mut [RecordedJob], events: &[Value]) {
    for job in jobs {
        for event in events.iter().filter(|event| event[2] == job.id) {
            let at = event[0].as_f64().unwrap().floor() as i64;
            match event[1].as_str().unwrap() {
                "end" => job.end = at,
                kind @ ("sm" | "sb") => {
                    (job.start, job.by) = (at, if kind == "sm" { "main" } else { "bf" }.to_string());
                    job.hosts = event[3].to_string();
                }
                _ => {}
            }
        }
        job.state = "COMPLETED".to_string();
    }
}

/// One line per line of the configuration, per job and per event.
fn print(version: &str, t0: i64, conf: &str, jobs: &[RecordedJob], events: &[Value]) -> String {
    let list = |lines: Vec<String>| lines.join(",\n");
    let conf = list(conf.lines().map(|line| serde_json::to_string(line).unwrap()).collect());
    let jobs = list(jobs.iter().map(|job| serde_json::to_string(job).unwrap()).collect());
    let events = list(events.iter().map(Value::to_string).collect());
    format!(
        "{{\n\"slurm\": \"{version}\",\n\"t0\": {t0},\n\"conf\": [\n{conf}\n],\n\"jobs\": [\n{jobs}\n],\n\"events\": [\n{events}\n]\n}}\n"
    )
}
