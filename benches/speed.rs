//! How fast, beside a floor: `cargo bench`, or `cargo bench -- LOG.swf.gz` for a log of your own.
//!
//! Every case is timed against its floor in the same run, alternately, best of several: machines are noisy, ratios are
//! less so. The floor of reading is a loop that reads the file and parses 18 numbers a line; the floor of simulating is
//! two heap operations a job (an arrival and an end). A digest of each case's result shows a speed-up that changes
//! answers. Without cargo's `--bench` (that is, under `cargo test`) the same cases run small and once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Read;
use std::time::{Duration, Instant};

use shadowtime::experiment::{Setting, simulate};
use shadowtime::model::{Sessions, generate_sessions};
use shadowtime::predict::templates::Template;
use shadowtime::search::Judge;
use shadowtime::trace::{Cleaning, ReadOptions, Source, Workload, clean, read, write_header, write_record};

const SETTINGS: [&str; 15] = [
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
    "conservative/estimate",
    "replay/ruh",
];

const TEN_TEMPLATES: &str = "(u,n=8,rel);(e,q,rel);(u,e,q,rel);(u,e,q,n=1,rel);(rel);(u,n=1);(q,h=64);\
    (u,n=2,lr,rel);(e,q,n=128,lr);(g,p)";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let full = arguments.iter().any(|argument| argument == "--bench");
    if arguments.iter().any(|argument| argument == "--list") {
        // A test runner asks for the names of tests; this is none.
        return;
    }
    // Under `cargo test` an argument is the name of a test, not of a log.
    let logs: Vec<_> = arguments.iter().filter(|argument| full && !argument.starts_with("--")).collect();
    let (jobs, rounds) = if full { (100_000, 7) } else { (1_000, 1) };
    if logs.is_empty() {
        bench(&generated(jobs), rounds);
    }
    for log in logs {
        bench(&Source::from_argument(log), rounds);
    }
}

/// A generated log, in memory for good: a source of bytes must outlive everybody.
fn generated(jobs: usize) -> Source {
    let (header, records) = generate_sessions(&Sessions { jobs, procs: 1024, users: 200, offered_load: 0.85, seed: 1 });
    let mut bytes = Vec::new();
    write_header(&mut bytes, &header).unwrap();
    records.iter().for_each(|record| write_record(&mut bytes, record).unwrap());
    Source::Bytes { name: "generated", bytes: bytes.leak() }
}

fn bench(source: &Source, rounds: usize) {
    let log = read(source, ReadOptions::default(), &mut |_| ()).unwrap();
    let workload = clean(&log, &Cleaning::default()).unwrap();
    println!("{}: {} jobs on {} processors, best of {rounds}", workload.label, workload.jobs.len(), workload.procs);
    println!("{:<24} {:>10} {:>12} {:>9}  digest", "case", "ms", "jobs/s", "x floor");

    let mut parse_floor = || floor_of_reading(source);
    let mut parse = || read(source, ReadOptions::default(), &mut |_| ()).unwrap().records.len() as u64;
    report("read", &workload, rounds, &mut parse_floor, &mut parse);
    for pair in SETTINGS {
        let setting = Setting::parse_pair(pair).unwrap();
        let mut floor = || floor_of_simulating(&workload);
        let mut run = || {
            let record = simulate(&workload, &setting, &mut |_| ()).unwrap();
            digest(record.outcomes.iter().map(|outcome| outcome.start.unwrap() as u64))
        };
        report(pair, &workload, rounds, &mut floor, &mut run);
    }
    // A set of ten templates from nothing, as the search judges it.
    let set = Template::parse_set(TEN_TEMPLATES).unwrap();
    let mut floor = || floor_of_simulating(&workload);
    let mut judge = || Judge::new(&workload.jobs, 0..workload.jobs.len()).score(&set).error as u64;
    report("judge ten templates", &workload, rounds, &mut floor, &mut judge);
}

/// Times a case and its floor alternately, and prints its line.
fn report(
    case: &str,
    workload: &Workload,
    rounds: usize,
    floor: &mut dyn FnMut() -> u64,
    run: &mut dyn FnMut() -> u64,
) {
    let (mut best_floor, mut best_run, mut digests) = (Duration::MAX, Duration::MAX, Vec::new());
    for _ in 0..rounds {
        best_floor = best_floor.min(time(floor).0);
        let (took, digest) = time(run);
        best_run = best_run.min(took);
        digests.push(digest);
    }
    assert!(digests.windows(2).all(|pair| pair[0] == pair[1]), "{case} gives another result each time");
    let seconds = best_run.as_secs_f64();
    let mut line = String::new();
    write!(line, "{case:<24} {:>10.2} {:>12.0}", seconds * 1e3, workload.jobs.len() as f64 / seconds).unwrap();
    println!("{line} {:>9.2}  {:016x}", seconds / best_floor.as_secs_f64(), digests[0]);
}

fn time(run: &mut dyn FnMut() -> u64) -> (Duration, u64) {
    let began = Instant::now();
    let result = black_box(run());
    (began.elapsed(), result)
}

fn digest(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0xcbf2_9ce4_8422_2325, |hash, number| (hash ^ number).wrapping_mul(0x0100_0000_01b3))
}

/// Reads the file and parses every number of every line that is not a comment, nothing else.
fn floor_of_reading(source: &Source) -> u64 {
    let mut text = Vec::new();
    source.open().unwrap().read_to_end(&mut text).unwrap();
    let mut sum = 0i64;
    for line in text.split(|&b| b == b'\n').filter(|line| line.first() != Some(&b';')) {
        let (mut number, mut negative) = (0i64, false);
        for &byte in line {
            match byte {
                b'0'..=b'9' => number = number * 10 + i64::from(byte - b'0'),
                b'-' => negative = true,
                _ => {
                    sum = sum.wrapping_add(if negative { -number } else { number });
                    (number, negative) = (0, false);
                }
            }
        }
        sum = sum.wrapping_add(number);
    }
    sum as u64
}

/// Pushes and pops two events a job, nothing else: every job starts when it arrives.
fn floor_of_simulating(workload: &Workload) -> u64 {
    let mut events: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let mut sum = 0i64;
    for (id, job) in (0..).zip(&workload.jobs) {
        let submit = job.submission.submit;
        events.push(Reverse((submit, id)));
        events.push(Reverse((submit + job.runtime, id)));
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
