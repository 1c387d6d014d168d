//! Measures speed relative to a floor: `cargo bench`, or `cargo bench -- LOG.swf.gz ...` for other logs.
//!
//! The floor is a program that only reads the log, parses 18 numbers per line, and pushes and pops two heap events per job.
//! Every case is a whole run from the log's bytes to its summary. Cases and floor are timed alternately and the best of
//! several times counts, because ratios vary less than times. Each run is a separate process, as with `sim`: a second run
//! in one process would reuse memory that the first has allocated. A digest of each case's result shows whether a change
//! of speed changed results. The bytes per job are the peak of allocated memory, without the bytes of the log itself if
//! they are in memory. `--only=sjbf/ruh,sjbf/sbh` selects cases. `cargo bench -- --instructions` counts instructions with
//! valgrind, if it is installed; this number is the same every time. Without cargo's `--bench` (that is, under
//! `cargo test`) the same cases run once on a small log.

#![allow(clippy::print_stdout)]

use std::alloc::System;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::io::{BufWriter, Read, Write};
use std::process::{Command, ExitCode};
use std::time::Instant;

use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};
use shadowtime::engine::RunRecord;
use shadowtime::experiment::{Setting, simulate};
use shadowtime::metrics::{Breakdown, GroupBy, Groupings, JOB_COLUMNS, JobMetrics, JobRow, Measure, summarize};
use shadowtime::model::{Sessions, generate_sessions};
use shadowtime::predict::templates::Template;
use shadowtime::report::write_settings;
use shadowtime::search::Judge;
use shadowtime::trace::{Cleaning, ReadOptions, Source, Workload, clean_out, read, write_header, write_record};
use shadowtime::wait::{EvaluationPlan, Learning, SiteSchedule, WaitMethod, evaluate};

#[global_allocator]
static ALLOCATED: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The cases that are whole runs: scheduler and predictor.
const RUNS: [&str; 21] = [
    "fcfs/estimate",
    "easy/estimate",
    "easy/perfect",
    "sjbf/estimate",
    "sjbf/constant",
    "sjbf/ruh",
    "sjbf/ruh:propagate=on",
    "sjbf/easy++",
    "sjbf/sbh",
    "sjbf/sbh-noest",
    "sjbf/smith",
    "sjbf/gibbons",
    "sjbf/downey",
    "sjbf/kin",
    "sjbf/kin:learn=off",
    "sjbf/learned",
    "sjbf:running=estimate/easy++",
    "sjbf:running=estimate/kin",
    "easy:queue=saf/estimate",
    "conservative/estimate",
    "replay/ruh",
];

/// The cases on a saturated machine, where the queue grows to a quarter of all jobs.
const DEEP_RUNS: [&str; 7] = [
    "easy/estimate",
    "easy/ruh",
    "sjbf/ruh",
    "sjbf:running=estimate/ruh",
    "fcfs:queue=saf/estimate",
    "easy:queue=saf/estimate",
    "easy:scan=saf/estimate",
];

/// More cases on a saturated machine, if the log has at most `PLANNED_JOBS` jobs: every waiting job (with `slurm`: many of them)
/// has a reservation, and more jobs take much longer.
const PLANNED_RUNS: [&str; 8] = [
    "conservative/estimate",
    "conservative/ruh",
    "conservative/perfect",
    "conservative/kin",
    "easy:reservations=all,queue=saf/estimate",
    "slurm/estimate",
    "slurm:order=multifactor,age_weight=1000,size_weight=1000,fairshare_weight=1000/estimate",
    "slurm:running=prediction/easy++",
];
const PLANNED_JOBS: usize = 20_000;

const TEN_TEMPLATES: &str = "(u,n=8,rel);(e,q,rel);(u,e,q,rel);(u,e,q,n=1,rel);(rel);(u,n=1);(q,h=64);\
    (u,n=2,lr,rel);(e,q,n=128,lr);(g,p)";

/// A log, and the cases run on it.
struct Bench {
    source: Source,
    cases: Vec<&'static str>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if has("--list") {
        // A test runner lists the names of tests; this program has none.
        return ExitCode::SUCCESS;
    }
    let full = has("--bench");
    // Under `cargo test` an argument is the name of a test, not of a log.
    let logs: Vec<_> = arguments.iter().filter(|argument| full && !argument.starts_with("--")).collect();
    if let ["--one", case, "--of", bench] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        return run_one(case, bench);
    }
    let names: Vec<String> = match (logs.is_empty(), full) {
        (true, true) => ["100000", "deep 20000", "deep 100000", "deep 400000"].map(String::from).to_vec(),
        (true, false) => ["1000", "deep 1000"].map(String::from).to_vec(),
        (false, _) => logs.into_iter().cloned().collect(),
    };
    let only = arguments.iter().find_map(|argument| argument.strip_prefix("--only="));
    for name in names {
        let mut bench = bench_of(&name);
        bench.cases.retain(|case| only.is_none_or(|only| only.split(',').any(|wanted| wanted == *case)));
        match has("--instructions") {
            true => count_instructions(&name, &bench),
            false => time_against_floor(&name, &bench, if full { 7 } else { 1 }),
        }
    }
    ExitCode::SUCCESS
}

/// The log and the cases of a name. `N` is a generated log of N jobs, `deep N` the same on a saturated machine. Any other name
/// is a file.
fn bench_of(name: &str) -> Bench {
    let whole =
        || ["read"].into_iter().chain(RUNS).chain(["all groups", "jobs-out", "ten templates", "waits"]).collect();
    match (name.strip_prefix("deep ").map(str::parse), name.parse()) {
        (Some(Ok(jobs)), _) => {
            let planned = PLANNED_RUNS.iter().filter(|_| jobs <= PLANNED_JOBS);
            Bench { source: generated(jobs, 1.3), cases: DEEP_RUNS.iter().chain(planned).copied().collect() }
        }
        (_, Ok(jobs)) => Bench { source: generated(jobs, 0.85), cases: whole() },
        _ => Bench { source: Source::from_argument(name), cases: whole() },
    }
}

/// A generated log. Its bytes are leaked, because a source of bytes must be static.
fn generated(jobs: usize, offered_load: f64) -> Source {
    let model = Sessions { jobs, procs: 1024, users: 200, offered_load, seed: 1, preceding: false };
    let (header, records) = generate_sessions(&model);
    let mut bytes = Vec::new();
    write_header(&mut bytes, &header).unwrap();
    records.iter().for_each(|record| write_record(&mut bytes, record).unwrap());
    let name = if offered_load > 1.0 { "generated, saturated" } else { "generated" };
    Source::Bytes { name, bytes: std::borrow::Cow::Borrowed(bytes.leak()) }
}

/// Times each case and the floor alternately, and prints the best of `rounds` times.
fn time_against_floor(name: &str, bench: &Bench, rounds: usize) {
    let jobs = workload(&bench.source).jobs.len();
    println!("{}: {jobs} jobs, best of {rounds}", bench.source.label());
    println!("{:<24} {:>10} {:>12} {:>9} {:>10}  digest", "case", "ms", "jobs/s", "x floor", "bytes/job");
    for case in &bench.cases {
        let (mut best_floor, mut best, mut digests) = (f64::MAX, f64::MAX, Vec::new());
        let mut bytes = 0;
        for _ in 0..rounds {
            let run = run_in_process(case, name);
            best = best.min(run.seconds);
            bytes = bytes.max(run.bytes);
            digests.push(run.digest);
            best_floor = best_floor.min(run_in_process("floor", name).seconds);
        }
        assert!(digests.windows(2).all(|pair| pair[0] == pair[1]), "{case} does not always give the same result");
        println!(
            "{case:<24} {:>10.2} {:>12.0} {:>9.2} {:>10}  {:016x}",
            best * 1e3,
            jobs as f64 / best,
            best / best_floor,
            bytes / jobs,
            digests[0]
        );
    }
    println!();
}

/// What a run in a separate process prints.
struct Run {
    seconds: f64,
    bytes: usize,
    digest: u64,
}

/// Runs a case in a separate process, as `--one CASE --of BENCH`.
fn run_in_process(case: &str, bench: &str) -> Run {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).args(["--one", case, "--of", bench]).output().unwrap();
    assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = text.split_whitespace();
    let mut word = || words.next().unwrap_or_default();
    Run { seconds: word().parse().unwrap(), bytes: word().parse().unwrap(), digest: word().parse().unwrap() }
}

/// Runs each case alone under valgrind, as `--one CASE --of BENCH`, and subtracts the instructions for generating the log.
fn count_instructions(name: &str, bench: &Bench) {
    let Some(nothing) = instructions("nothing", name) else {
        println!("valgrind, which counts instructions, is not installed");
        return;
    };
    let jobs = workload(&bench.source).jobs.len() as u64;
    let count = |case: &str| instructions(case, name).unwrap_or(nothing).saturating_sub(nothing);
    let floor = count("floor");
    println!("{}: {jobs} jobs, the floor takes {} instructions per job", bench.source.label(), floor / jobs);
    println!("{:<24} {:>16} {:>9}", "case", "instructions/job", "x floor");
    for case in &bench.cases {
        let counted = count(case);
        println!("{case:<24} {:>16} {:>9.2}", counted / jobs, counted as f64 / floor as f64);
    }
    println!();
}

/// The instructions of a case, including those for generating the log. None without valgrind.
fn instructions(case: &str, bench: &str) -> Option<u64> {
    let program = std::env::current_exe().ok()?;
    let tool = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let output = Command::new("valgrind").args(tool).arg(program).args(["--one", case, "--of", bench]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let (_, counted) = text.split_once("Collected : ")?;
    counted.split_whitespace().next()?.parse().ok()
}

fn run_one(case: &str, bench: &str) -> ExitCode {
    let source = bench_of(bench).source;
    ALLOCATED.reset_peak_memory();
    let began = Instant::now();
    let digest = black_box(match case {
        "nothing" => 0,
        "floor" => floor(&source),
        _ => run(case, &source),
    });
    println!("{} {} {digest}", began.elapsed().as_secs_f64(), ALLOCATED.get_peak_memory());
    ExitCode::SUCCESS
}

/// Runs a case from the log's bytes to its figures. Returns a digest of them.
fn run(case: &str, source: &Source) -> u64 {
    match case {
        "read" => read(source, ReadOptions::default(), &mut |_| ()).unwrap().records.len() as u64,
        "jobs-out" => {
            // A run of easy/estimate with per-job output.
            let (workload, record) = simulated("easy/estimate", source);
            let mut written = BufWriter::with_capacity(1 << 16, Digested(0xcbf2_9ce4_8422_2325));
            let jobs = record.finished(&workload.jobs).map(|job| JobMetrics::of(&job, 10));
            let jobs = jobs.map(|job| JobRow::of(job, &workload.wide, &workload.names, &workload.ids));
            write_settings(&mut written, JOB_COLUMNS, std::iter::once((None, jobs))).unwrap();
            written.into_inner().unwrap().0
        }
        // A run of easy/estimate with the figures of all groups.
        "all groups" => {
            let (workload, record) = simulated("easy/estimate", source);
            let keys: Vec<_> = GroupBy::all().map(|by| (by, None)).collect();
            let groupings = Groupings::of(&workload, &Measure::default(), &keys);
            let groups = Breakdown::of(&groupings, &workload, &record, &Measure::default());
            let summary = summarize(&workload, &record, &Measure::default());
            let groups = groups.iter().flat_map(|part| &part.summaries);
            digest(groups.chain([&summary]).flat_map(|of| [of.wait_mean, of.wait_p95, of.bsld_p50].map(f64::to_bits)))
        }
        // A set of ten templates, evaluated as in the search.
        "ten templates" => {
            let (workload, set) = (workload(source), Template::parse_set(TEN_TEMPLATES).unwrap());
            Judge::new(&workload.jobs, 0..workload.jobs.len()).score(&set).error as u64
        }
        // Predicts the waits of 10,000 jobs (or of half of all) under easy/estimate, from similar jobs among the latest 5,000.
        "waits" => {
            let (workload, record) = simulated("easy/estimate", source);
            let starts: Vec<i64> = record.outcomes.iter().map(|outcome| outcome.start.get().unwrap()).collect();
            let schedule = SiteSchedule::new(&workload, &starts);
            let learning = Learning { first: workload.jobs.len() / 2, ..Learning::default() };
            let plan = EvaluationPlan { learning, most: 10_000, probabilities: false, ..EvaluationPlan::default() };
            let waits = evaluate(&schedule, &[WaitMethod::parse("knn").unwrap()], &plan, &|_, _, _| ()).unwrap();
            digest(waits.answers[0].1.iter().flatten().map(|answer| answer.point.to_bits()))
        }
        _ => {
            let (workload, record) = simulated(case, source);
            let summary = summarize(&workload, &record, &Measure::default());
            let starts = record.outcomes.iter().map(|outcome| outcome.start.get().unwrap() as u64);
            digest(starts.chain([summary.ai_mean.to_bits(), summary.ra_mean.to_bits()]))
        }
    }
}

fn workload(source: &Source) -> Workload {
    clean_out(&mut read(source, ReadOptions::default(), &mut |_| ()).unwrap(), &Cleaning::default(), None).unwrap()
}

fn simulated(pair: &str, source: &Source) -> (Workload, RunRecord) {
    let workload = workload(source);
    let record = simulate(&workload, &Setting::parse_pair(pair).unwrap(), &mut |_| ()).unwrap();
    (workload, record)
}

/// A writer that only hashes what is written, eight bytes at a time.
#[derive(Debug)]
struct Digested(u64);

impl Write for Digested {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let (words, rest) = bytes.as_chunks();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        self.0 = words.chain(rest.iter().map(|&byte| u64::from(byte))).fold(self.0, fnv1a);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn fnv1a(hash: u64, number: u64) -> u64 {
    (hash ^ number).wrapping_mul(0x0100_0000_01b3)
}

fn digest(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0xcbf2_9ce4_8422_2325, fnv1a)
}

/// The floor: reads the log and parses every number of every line that is not a comment. Pushes and pops two events per job, as
/// if each job started when it arrives.
fn floor(source: &Source) -> u64 {
    let mut text = Vec::new();
    source.open().unwrap().read_to_end(&mut text).unwrap();
    let mut events: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let (mut sum, mut id, mut at) = (0i64, 0u32, 0);
    while at < text.len() {
        let mut fields = [0i64; 18];
        let mut count = 0;
        if text[at] == b';' {
            at += text[at..].iter().position(|&b| b == b'\n').unwrap_or(text.len() - at);
        }
        let (mut number, mut negative, mut inside) = (0i64, false, false);
        while at < text.len() {
            let byte = text[at];
            at += 1;
            match byte {
                b'0'..=b'9' => {
                    number = number * 10 + i64::from(byte - b'0');
                    inside = true;
                }
                b'-' => negative = true,
                _ => {
                    if inside && count < 18 {
                        fields[count] = if negative { -number } else { number };
                        count += 1;
                    }
                    (number, negative, inside) = (0, false, false);
                    if byte == b'\n' {
                        break;
                    }
                }
            }
        }
        if count < 18 {
            continue;
        }
        sum = fields.iter().fold(sum, |sum, field| sum.wrapping_add(*field));
        let (submit, runtime) = (fields[1], fields[3]);
        events.push(Reverse((submit, id)));
        events.push(Reverse((submit + runtime, id)));
        id += 1;
        while let Some(&Reverse((time, _))) = events.peek()
            && time <= submit
        {
            events.pop();
            sum = sum.wrapping_add(time);
        }
    }
    while let Some(Reverse((time, _))) = events.pop() {
        sum = sum.wrapping_add(time);
    }
    sum as u64
}
