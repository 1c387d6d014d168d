//! Parsers and simulations on mutated input: nothing panics, nothing takes long, what was read prints and reads back.
//!
//! `cargo test` runs some thousand cases, always the same; in CI eight times as many. `SHADOWTIME_FUZZ=600` goes on for 600 seconds,
//! `SHADOWTIME_FUZZ_SEED=7` takes other cases, and `SHADOWTIME_FUZZ_CASE=durations/12` runs one case alone. A failure says
//! all three, and shows the input.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use shadowtime::experiment::{OPTIONS, OptionForm, Options, simulate};
use shadowtime::job::Job;
use shadowtime::malleable::Strategy;
use shadowtime::meta::{DispatchPolicy, SiteText, SitesFile};
use shadowtime::metrics::{RunLabel, RunRow, Summary, summarize};
use shadowtime::model::EstimateModel;
use shadowtime::predict::templates::Template;
use shadowtime::request::RequestId;
use shadowtime::rng::stream;
use shadowtime::runs::{RunPlan, Store};
use shadowtime::spec::expand;
use shadowtime::spec::{Form, Spec, SpecError};
use shadowtime::time::{Time, parse_duration, print_duration, readable_duration};
use shadowtime::trace::{Log, ReadOptions, Source, SubmitTime, Unit, clean, read, survey, validate};
use shadowtime::wait::WaitMethod;
use shadowtime::{meta, predict, schedule, settings_file};

use crate::support::{facts, in_ci};

/// A case that takes longer is a failure. Nearly all take less than a millisecond, but the machine may be busy.
const LONGEST_CASE: Duration = Duration::from_secs(300);

/// The seed of `cargo test`.
const SEED: u64 = 1;

/// Something that reads input.
struct Target {
    name: &'static str,
    /// How many cases CI runs.
    cases: u64,
    seeds: Vec<Vec<u8>>,
    /// Pieces that mean something to it.
    tokens: &'static [&'static str],
    /// Whether the input was accepted. Panics if something is wrong.
    run: fn(&mut Case<'_>) -> bool,
}

/// One input, a folder for files, and random numbers for all other choices.
struct Case<'a> {
    input: Vec<u8>,
    folder: &'a Path,
    rng: ChaCha8Rng,
}

impl Case<'_> {
    fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.input)
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.rng.random_range(0..choices.len())]
    }
}

/// Numbers and texts at the edges of what parsers expect.
const TOKENS: &[&str] = &[
    "-1",
    "0",
    "1",
    "-0",
    "00",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "68719476736",
    "99999999999999999999999999",
    "0.00000000000000000000000000001",
    "1e308",
    "1e-400",
    "-1e999",
    "nan",
    "inf",
    ".5",
    "5.",
    "+3",
    "0x10",
    "\"",
    "'",
    "{",
    "}",
    "|",
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    ":",
    "=",
    "..",
    "/",
    "#",
    "%",
    "*",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "\u{feff}",
    "\u{1b}[2J",
    "\u{202e}",
    "\u{e9}",
    "\u{661}",
    "\u{3000}",
    "\u{1f980}",
];

/// A seed of a target, changed in a few places.
fn mutated(target: &Target, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let seed = |rng: &mut ChaCha8Rng| target.seeds[rng.random_range(0..target.seeds.len())].clone();
    let mut input = seed(rng);
    let changes = [0, 1, 1, 1, 2, 2, 3, 5, 8][rng.random_range(0..9)];
    for _ in 0..changes {
        let at = rng.random_range(0..=input.len());
        let most = [1, 4, 20, usize::MAX][rng.random_range(0..4)];
        let end = at + rng.random_range(0..=(input.len() - at).min(most));
        match rng.random_range(0..9) {
            0 if at < input.len() => input[at] ^= 1 << rng.random_range(0..8),
            1 => input.insert(at, rng.random()),
            2 => drop(input.drain(at..end)),
            3 => drop(input.splice(at..at, input[at..end].to_vec())),
            // The beginning of this one and the end of another.
            4 => {
                let other = seed(rng);
                input.truncate(at);
                input.extend_from_slice(&other[rng.random_range(0..=other.len())..]);
            }
            5 => {
                let unit = input[at..end.min(at + 8)].to_vec();
                let times = [3, 50, 3000][rng.random_range(0..3)];
                drop(input.splice(at..at, unit.repeat(times)));
            }
            // In the place of a number, if there is one, else of what is there.
            6 => {
                let digit = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b'-');
                let from = input[at..].iter().position(digit).map_or(at, |length| at + length);
                let to = from + input[from..].iter().take_while(|b| digit(b)).count();
                drop(input.splice(from..to, token(&[], rng)));
            }
            7 => drop(input.splice(at..end, token(target.tokens, rng))),
            _ => drop(input.splice(at..at, token(target.tokens, rng))),
        }
    }
    input
}

fn token(own: &[&str], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let tokens = if own.is_empty() || rng.random() { TOKENS } else { own };
    tokens[rng.random_range(0..tokens.len())].as_bytes().to_vec()
}

fn number_from_environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}: '{text}' is not a whole number")))
}

/// The results of the cases of a target.
#[derive(Default)]
struct Tally {
    cases: u64,
    /// Cases with accepted input.
    accepted: u64,
    slowest: Duration,
    slowest_case: u64,
}

#[test]
fn mutated_input() {
    let seed = number_from_environment("SHADOWTIME_FUZZ_SEED").unwrap_or(SEED);
    let seconds = number_from_environment("SHADOWTIME_FUZZ");
    let only = std::env::var("SHADOWTIME_FUZZ_CASE").ok();
    let (sender, receiver) = channel();
    // In a separate thread, so that a case that does not end is noticed.
    std::thread::spawn(move || {
        let folder = tempfile::tempdir().unwrap();
        let run = |target: &Target, case: u64| {
            let mut rng = stream(seed, &format!("{}/{case}", target.name));
            let input = mutated(target, &mut rng);
            let _ = sender.send(Message::Begun { target: target.name, case, input: input.clone() });
            let began = Instant::now();
            let run = || (target.run)(&mut Case { input, folder: folder.path(), rng });
            let result = catch_unwind(AssertUnwindSafe(run)).map_err(panic_text);
            let _ = sender.send(Message::Ended { took: began.elapsed(), result });
        };
        let targets = targets();
        let began = Instant::now();
        match (&only, seconds) {
            (Some(only), _) => {
                let (name, case) = only.split_once('/').expect("SHADOWTIME_FUZZ_CASE is TARGET/NUMBER");
                run(targets.iter().find(|target| target.name == name).expect("no such target"), case.parse().unwrap());
            }
            (None, None) => {
                let part = if in_ci() { 1 } else { 8 };
                targets.iter().for_each(|target| (0..target.cases.div_ceil(part)).for_each(|case| run(target, case)));
            }
            // A piece of each in turn, until the time is over.
            (None, Some(seconds)) => {
                for round in 0.. {
                    for target in &targets {
                        let piece = target.cases.div_ceil(20);
                        (round * piece..(round + 1) * piece).for_each(|case| run(target, case));
                    }
                    if began.elapsed() > Duration::from_secs(seconds) {
                        break;
                    }
                }
            }
        }
    });
    let (tallies, failures) = collect(seed, &receiver);
    let mut report = format!("fuzz: seed {seed}\n");
    for (target, tally) in &tallies {
        let Tally { cases, accepted, slowest, slowest_case } = tally;
        let _ = write!(report, "fuzz: {target}: {cases} cases, {accepted} accepted, ");
        let _ = writeln!(report, "the slowest {slowest:.1?} (case {slowest_case})");
    }
    if seconds.is_some() {
        let _ = std::io::stderr().write_all(report.as_bytes());
    }
    println!("{report}");
    assert!(failures.is_empty(), "{} failures, the first of them\n{}", failures.len(), failures[0]);
    // Input that is always refused, or never, would test little.
    if std::env::var_os("SHADOWTIME_FUZZ_CASE").is_none() {
        for (target, Tally { cases, accepted, .. }) in tallies {
            assert!(cases / 20 < accepted && accepted < cases, "{target}: {accepted} of {cases} inputs were accepted");
        }
    }
}

enum Message {
    Begun { target: &'static str, case: u64, input: Vec<u8> },
    Ended { took: Duration, result: Result<bool, String> },
}

/// Waits for the results of cases until there are no more, or until one does not end.
fn collect(seed: u64, receiver: &std::sync::mpsc::Receiver<Message>) -> (BTreeMap<&'static str, Tally>, Vec<String>) {
    let (mut tallies, mut failures) = (BTreeMap::<_, Tally>::new(), Vec::new());
    let (mut target, mut case, mut input) = ("", 0, Vec::new());
    let mut fail = |target: &str, case: u64, input: &[u8], why: &str| {
        let input: String = input.escape_ascii().to_string();
        let text = format!("{why}\nseed {seed}, case {target}/{case}, on this input:\n{input}");
        // Printed at once and not captured by the test runner: the next failure may end the process.
        let _ = writeln!(std::io::stderr(), "fuzz: {text}\n");
        failures.push(text);
    };
    loop {
        match receiver.recv_timeout(LONGEST_CASE) {
            Ok(Message::Begun { target: a, case: b, input: c }) => (target, case, input) = (a, b, c),
            Ok(Message::Ended { took, result }) => {
                let tally = tallies.entry(target).or_default();
                tally.cases += 1;
                if took > tally.slowest {
                    (tally.slowest, tally.slowest_case) = (took, case);
                }
                match result {
                    Ok(accepted) => tally.accepted += u64::from(accepted),
                    Err(why) => fail(target, case, &input, &why),
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                fail(target, case, &input, &format!("no end within {LONGEST_CASE:?}"));
                return (tallies, failures);
            }
            Err(RecvTimeoutError::Disconnected) => return (tallies, failures),
        }
    }
}

fn panic_text(panic: Box<dyn std::any::Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or("a panic".to_string())
}

fn targets() -> Vec<Target> {
    let texts = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
    let target = |name, cases, seeds, tokens, run| Target { name, cases, seeds, tokens, run };
    vec![
        target(
            "durations",
            4000,
            texts(&["90", "90s", "20m", "1h", "2d", "0", "68719476736"]),
            &["s", "m", "d"],
            durations,
        ),
        target("templates", 4000, texts(TEMPLATES), TEMPLATE_WORDS, templates),
        target("template-files", 400, texts(TEMPLATE_FILES), TEMPLATE_WORDS, template_files),
        target("predictors", 6000, spec_seeds(&predict::catalog::forms(), MORE_PREDICTORS), SPEC_WORDS, predictors),
        target("schedulers", 1000, spec_seeds(&schedule::catalog::forms(), &[]), SPEC_WORDS, schedulers),
        target(
            "estimate-models",
            3000,
            spec_seeds(&shadowtime::model::estimates::catalog::forms(), &[]),
            SPEC_WORDS,
            models,
        ),
        target("wait-methods", 3000, spec_seeds(&WaitMethod::forms(), MORE_METHODS), SPEC_WORDS, wait_methods),
        target("policies", 1000, spec_seeds(&meta::dispatch_forms(), &[]), SPEC_WORDS, policies),
        target("strategies", 2000, spec_seeds(&Strategy::forms(), &[]), SPEC_WORDS, strategies),
        target("options", 6000, option_seeds(), SPEC_WORDS, options),
        target("lists", 4000, texts(LISTS), &["{a|b}", "..", "|", "1..3", ",x="], lists),
        target("grid-files", 1200, texts(GRID_FILES), TOML_WORDS, grid_files),
        target("site-texts", 3000, texts(SITE_TEXTS), SPEC_WORDS, site_texts),
        target("site-files", 2000, texts(SITE_FILES), TOML_WORDS, site_files),
        target("toml", 3000, texts(&[GRID_FILES, SITE_FILES].concat()), TOML_WORDS, toml_files),
        target("parts", 400, part_seeds(), &["ok ", "failed "], parts),
        target("logs", 4000, texts(&[LOG, SMALL_LOG]), LOG_WORDS, logs),
        target("accounting", 3000, accounting_seeds(), ACCOUNTING_WORDS, accounting),
        target("packed-logs", 800, packed_seeds(), &["\x1f\u{8b}"], packed_logs),
        target("packed-after", 400, texts(&[LOG, SMALL_LOG]), LOG_WORDS, packed_after),
        target("simulations", 2400, texts(&[LOG, SMALL_LOG]), LOG_WORDS, simulations),
    ]
}

// Durations.

fn durations(case: &mut Case<'_>) -> bool {
    let Ok(seconds) = parse_duration(&case.text()) else { return false };
    let printed = print_duration(seconds);
    assert_eq!(parse_duration(&printed), Ok(seconds), "{printed}");
    readable_duration(seconds as f64);
    true
}

// Templates.

const TEMPLATES: &[&str] = &["(u,e,n=4,lr,rel,h=64);(u);()", "()", "(u,g,e,q,p,n=512)", " ( u , h=1 ) ; (act,mean) "];
const TEMPLATE_FILES: &[&str] = &["# found\nat=start\n(u,e,n=4,rel)\n(u);()\n", "confidence=95\n\n(g)\n", "(u)\n"];
const TEMPLATE_WORDS: &[&str] = &["(u)", "();", "n=8", "h=2", "lr", "rel", "mean", "act", ",,", "; ;", "at=arrival\n"];

fn templates(case: &mut Case<'_>) -> bool {
    let Ok(set) = Template::parse_set(&case.text()) else { return false };
    let printed = Template::print_set(&set);
    assert_eq!(Template::parse_set(&printed).as_ref(), Ok(&set), "{printed}");
    true
}

fn template_files(case: &mut Case<'_>) -> bool {
    let path = case.folder.join("templates");
    std::fs::write(&path, &case.input).unwrap();
    let read = |text: &str| predict::catalog::parse(text);
    assert_prints_back(read(&format!("smith:templates=@{}", path.display())), read)
}

// Specs.

const SPEC_WORDS: &[&str] =
    &["window=", "=on", "off", "all", "none", "log", ":", "ruh", "easy", "(u,e);()", "2h", "PE/*"];
const MORE_PREDICTORS: &[&str] =
    &["ruh:window=2,metric=last,propagate=on,running=on,cap", "sbh:criteria=PE/P/E/*,sessions=all"];
const MORE_METHODS: &[&str] =
    &["simulate:scheduler=sjbf,predictor=(ruh:window=2,cap=on)", "knn:point=polynomial,degree=3"];

/// Every form by its name alone and with all its keys.
fn spec_seeds(forms: &[&Form], more: &[&str]) -> Vec<Vec<u8>> {
    let mut seeds: Vec<_> = more.iter().map(|text| text.as_bytes().to_vec()).collect();
    for form in forms {
        let keys: Vec<_> = form.keys.iter().map(|key| format!("{}={}", key.name, key.default)).collect();
        seeds.push(form.name.as_bytes().to_vec());
        seeds.push(format!("{}:{}", form.name, keys.join(",")).into_bytes());
    }
    seeds
}

/// What is printed of a spec, in short and in full, reads as the same.
fn assert_prints_back(spec: Result<Spec, SpecError>, parse: impl Fn(&str) -> Result<Spec, SpecError>) -> bool {
    let Ok(spec) = spec else { return false };
    for text in [spec.to_string(), spec.in_full()] {
        let again = parse(&text).unwrap_or_else(|error| panic!("'{text}' does not read back: {error}"));
        assert_eq!((again.to_string(), again.in_full()), (spec.to_string(), spec.in_full()));
    }
    true
}

/// The same for what has a spec inside: its text reads as what prints the same.
fn assert_text_reads_back<T>(
    text: &str,
    parse: fn(&str) -> Result<T, SpecError>,
    print: impl Fn(&T) -> String,
) -> bool {
    let Ok(value) = parse(text) else { return false };
    let printed = print(&value);
    let again = parse(&printed).unwrap_or_else(|error| panic!("'{printed}' does not read back: {error}"));
    assert_eq!(print(&again), printed);
    true
}

fn predictors(case: &mut Case<'_>) -> bool {
    let spec = predict::catalog::parse(&case.text());
    if let Ok(spec) = &spec {
        predict::catalog::build(spec);
    }
    assert_prints_back(spec, predict::catalog::parse)
}

fn schedulers(case: &mut Case<'_>) -> bool {
    let spec = schedule::catalog::parse(&case.text());
    if let Ok(spec) = &spec {
        schedule::catalog::build(spec, &facts(&[]));
    }
    assert_prints_back(spec, schedule::catalog::parse)
}

fn models(case: &mut Case<'_>) -> bool {
    assert_text_reads_back(&case.text(), EstimateModel::parse, |model| model.spec().in_full())
        && assert_text_reads_back(&case.text(), EstimateModel::parse, EstimateModel::to_string)
}

fn wait_methods(case: &mut Case<'_>) -> bool {
    assert_text_reads_back(&case.text(), WaitMethod::parse, WaitMethod::name)
}

fn policies(case: &mut Case<'_>) -> bool {
    assert_text_reads_back(&case.text(), DispatchPolicy::parse, DispatchPolicy::to_string)
}

fn strategies(case: &mut Case<'_>) -> bool {
    assert_text_reads_back(&case.text(), Strategy::parse, Strategy::to_string)
}

/// Every option with a value it has by default, and some more.
fn option_seeds() -> Vec<Vec<u8>> {
    let more = ["estimates=tsafrir", "baseline=easy/ruh:window=2", "warmup=1%", "procs=64", "replication=3", "from=1d"];
    let default = OPTIONS.iter().map(|option| format!("{}={}", option.name, option.get(&Options::default())));
    default.chain(more.map(str::to_string)).map(String::into_bytes).collect()
}

fn options(case: &mut Case<'_>) -> bool {
    let text = case.text();
    let Some((name, value)) = text.split_once('=') else { return false };
    let Some(option) = OptionForm::find(name) else { return false };
    let mut options = Options::default();
    if option.set(&mut options, value).is_err() {
        return false;
    }
    let printed = option.get(&options);
    if !printed.is_empty() {
        let mut again = Options::default();
        option.set(&mut again, &printed).unwrap_or_else(|why| panic!("{name} prints '{printed}': {why}"));
        assert_eq!((option.get(&again), again.canonical()), (printed, options.canonical()));
    }
    true
}

// Sweeps.

const LISTS: &[&str] = &[
    "easy,sjbf",
    "0.8..1.2:0.1",
    "1..10,20,30..40:5",
    "ruh:window={2|3},cap={on|off},perfect",
    "{ruh{|:cap=on}|perfect}",
    "smith:templates=(u,e);(),at=start",
    "exec:command=\"sh -c 'a,{b|c}'\",size={1|2}",
    "logs/{KTH|CTC-{1|2}}.swf",
    "exec:command=\"sh -c 'a=1,2 {b}'\",size=3",
    "exec:command=python3 my.py,timeout=5s,depth=\"a..b\"",
];

fn lists(case: &mut Case<'_>) -> bool {
    let option = case.pick(&["load", "seed", "predictor", "trace"]);
    let Ok(values) = expand(option, &case.text()) else { return false };
    assert!(!values.is_empty() && values.len() <= 1_000_000);
    // What is in quotes is not expanded.
    assert!(values.iter().all(|value| value.contains('"') || !value.contains(['{', '}'])));
    true
}

const GRID_FILES: &[&str] = &[
    "trace = [\"a.swf\", 'b c.swf']\npredictor = \"ruh:window={2|3},perfect\"\nload = [0.8, \"1..1.2:0.1\"]\n",
    "# a comment\nscheduler = \"easy,sjbf\"\nseed = 7\nshake = \"30s\"\npass-on-miss = [true, false]\n",
    "baseline = 'easy/estimate'\nprocs = [\n  64,\n  0x80, # more\n]\nfirst = 1_000\n",
];
const TOML_WORDS: &[&str] = &[
    "[[site]]\n",
    "[",
    "]",
    "{a=1}",
    "\"\"\"",
    "'''",
    "true",
    "1979-05-27",
    "name = ",
    "log = ",
    ".",
    "\\u0000",
    "# x\n",
];

fn grid_files(case: &mut Case<'_>) -> bool {
    let Ok(grid) = RunPlan::from_toml(&case.text()).and_then(|lists| RunPlan::new(&lists)) else { return false };
    assert!(grid.count() > 0);
    let text = grid.to_toml();
    let again = RunPlan::from_toml(&text).and_then(|lists| RunPlan::new(&lists));
    assert_eq!(again.as_ref().map(RunPlan::axes), Ok(grid.axes()), "{text}");
    for cell in [0, grid.count() - 1] {
        grid.run(cell).command();
    }
    true
}

fn part_row() -> RunRow {
    let label = RunLabel { procs: 100, scheduler: "easy,x\ty".to_string(), ..RunLabel::default() };
    RunRow { label, summary: Summary { wait_mean: 0.1, ..Summary::default() }, baseline: None }
}

fn part_seeds() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let mut part = store.new_part().unwrap();
    (0..4).for_each(|key| part.done(key, &part_row()).unwrap());
    part.failed(4, "no luck").unwrap();
    let files = std::fs::read_dir(folder.path().join("parts")).unwrap();
    files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
}

/// A damaged part has less in it, but nothing that was not written.
fn parts(case: &mut Case<'_>) -> bool {
    let folder = case.folder.join("sweep");
    std::fs::create_dir_all(folder.join("parts")).unwrap();
    std::fs::write(folder.join("parts/0001.part"), &case.input).unwrap();
    let store = Store::open(&folder).unwrap();
    for key in 0..6 {
        let row = store.row(key).unwrap();
        assert_eq!(row.is_some(), store.is_done(key));
        assert!(row.is_none_or(|row: RunRow| row == part_row()));
        assert!(store.failure(key).is_none_or(|why| key == 4 && why == "no luck"));
    }
    store.damaged == 0
}

// Sites and settings.

const SITE_TEXTS: &[&str] = &[
    "A=log.swf",
    "CTC=logs/CTC-1.0.swf.gz:procs=430:strict",
    "A=-:procs=64:scheduler=sjbf:predictor=ruh:window=2,cap=on",
    "A=log.swf:first=100:load=1.5:estimates=f:f=3",
];
const SITE_FILES: &[&str] = &[
    "policy = [\"static\", \"k-distributed:k=3\"]\n[[site]]\nname = \"A\"\nlog = \"a.swf\"\nprocs = 64\nload = 1.5\n",
    "policy = 'redundant'\n\n[[site]]\nname = 'B'\nlog = 'b:c.swf'\npredictor = 'ruh:window=2'\nstrict = true\n",
    "site = [{name = 'A', log = 'a'}, {name = 'B', log = 'b', first = 10}]\n",
];

fn site_texts(case: &mut Case<'_>) -> bool {
    let Ok(site) = SiteText::parse(&case.text()) else { return false };
    let printed = site.to_string();
    assert_eq!(SiteText::parse(&printed).as_ref(), Ok(&site), "{printed}");
    site.options(&Options::default());
    true
}

fn site_files(case: &mut Case<'_>) -> bool {
    let file = SitesFile::parse(&case.text());
    match &file {
        Ok(file) => file.sites.iter().for_each(|site| drop(site.options(&Options::default()))),
        Err(SpecError(why)) => assert!(why.starts_with("line "), "{why}"),
    }
    file.is_ok()
}

fn toml_files(case: &mut Case<'_>) -> bool {
    let text = case.text();
    let lines = text.split('\n').count();
    let entries = settings_file::parse(&text);
    match &entries {
        Ok(entries) => assert!(entries.iter().all(|entry| (1..=lines).contains(&entry.line))),
        Err(error) => {
            let line = error.strip_prefix("line ").and_then(|rest| rest.split(':').next()?.parse().ok());
            assert!(line.is_some_and(|line| (1..=lines).contains(&line)), "{error}");
        }
    }
    entries.is_ok()
}

// Logs.

const SMALL_LOG: &str = "; MaxProcs: 8\n1 0 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n2 3 4 100 8 1 1 8 60 1 1 2 1 1 1 1 1 1\n";
const LOG: &str = "; Version: 2.2\n; Computer: small\n;\n; MaxNodes: 16 (of 20)\n; MaxProcs: 16\n; UnixStartTime: 800000000\n\
    1 0 0 3600 16 -1 -1 16 7200 -1 1 1 1 1 1 1 -1 -1\n\
    2 10 3590 60 4 12.50 -1 4 600 -1 1 2 1 2 1 1 -1 -1\n\
    3 10 -1 61 8 -1 -1 -1 60 -1 1 3 1 1 2 1 -1 -1\r\n\
    \n; in the middle\n\
    4\t20 3600 0 1 -1 -1 1 -1 -1 0 1 1 1 1 -1 -1 -1\n\
    5 20 0 1.5 2 -1 -1 2 5 -1 5 1 1 3 1 1 -1 -1\n\
    6 5 0 361 3 -1 -1 3 1 -1 1 2 2 2 2 2 -1 -1\n\
    7 4000 100 7200 15 -1 -1 15 7200 -1 1 -1 -1 -1 -1 -1 -1 -1\n\
    8 4000 100 30 1 -1 -1 1 36000 -1 1 1 1 1 1 1 7 30\n\
    9 4000 0 -1 0 -1 -1 0 60 -1 5 1 1 1 1 1 -1 -1\n\
    10 90000 0 40000 9 -1 -1 9 40000 -1 1 3 1 1 1 1 -1 -1";
const LOG_WORDS: &[&str] =
    &["; MaxProcs: 4\n", "; MaxProcs: -1\n", " -1 ", " 0.4 ", "\n;", "1 0 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n"];

fn source(bytes: &[u8]) -> Source {
    Source::Bytes { name: "fuzz", bytes: Cow::Owned(bytes.to_vec()) }
}

fn read_log(bytes: &[u8], skip_bad_lines: bool) -> Option<Log> {
    let how = ReadOptions { skip_bad_lines, keep_text: true, digest: true, ..ReadOptions::default() };
    read(&source(bytes), how, &mut |_| ()).ok()
}

fn logs(case: &mut Case<'_>) -> bool {
    check_log(&case.input)
}

/// Reading, validating and writing a log agree on what is in it.
fn check_log(bytes: &[u8]) -> bool {
    let (strict, lenient) = (read_log(bytes, false), read_log(bytes, true));
    let findings = validate(&source(bytes), &ReadOptions::default(), None, &mut |_| ());
    let (Some(log), Ok(findings)) = (&lenient, &findings) else {
        assert!(strict.is_none() && lenient.is_none() && findings.is_err());
        return false;
    };
    assert_eq!((findings.records, findings.fault_count), (log.records.len() as u64, log.skipped.count));
    assert_eq!(strict.is_some(), log.skipped.count == 0);
    // A change can make a line of another format.
    if log.source.format != "swf" {
        return strict.is_some();
    }
    let _ = survey(log, &Options::default().cleaning);
    let mut written = Vec::new();
    shadowtime::trace::write_header(&mut written, &log.header).unwrap();
    for at in 0..log.records.len() {
        written.extend_from_slice(log.text.as_ref().unwrap().line(at));
        written.push(b'\n');
    }
    let again = read_log(&written, false).expect("what was read can be read again");
    assert_eq!((&again.records, again.unknown), (&log.records, log.unknown));
    assert!(again.header.lines().eq(log.header.lines()));
    strict.is_some()
}

const ACCOUNTING_WORDS: &[&str] = &[
    "2026-01-01T00:00:00",
    "1969-12-31T23:59:59",
    "9999-12-31T23:59:59",
    "Unknown",
    "None assigned",
    "CANCELLED by 1",
    "PENDING",
    "99999-00:00:00",
    "gres/gpu=3",
    "+h/0-3",
    "1.batch",
    "JobID|Submit|Start|End|NCPUS\n",
    "12/21/2009 15:27:00;E;6;ctime=1 start=2 end=3\n",
    "|",
    "|||",
];

/// A log of each format.
fn accounting_seeds() -> Vec<Vec<u8>> {
    let sacct = "JobID|JobIDRaw|User|Submit|Eligible|Start|End|Elapsed|State|NNodes|NCPUS|ReqTRES|Timelimit|NodeList|JobName\n\
        7|7|ann|2026-01-01T00:00:00|2026-01-01T00:00:09|2026-01-01T00:01:00|2026-01-01T00:02:00|00:01:00|COMPLETED|1|4|cpu=4,gres/gpu=2|1-00:00:00|n1|a|b\n\
        7.0|7.0|ann|2026-01-01T00:00:00|2026-01-01T00:00:09|2026-01-01T00:01:00|2026-01-01T00:02:00|00:01:00|COMPLETED|1|4|||n1|x\n\
        8|8|bob|2026-01-01T00:00:00|Unknown|Unknown|Unknown|00:00:00|CANCELLED by 5|1|4||UNLIMITED|None assigned|x\n";
    let pbs = "12/21/2009 15:27:00;E;6.edge;user=u group=g jobname=j queue=q ctime=1261424924 etime=1261424924 start=1261425023 \
        exec_host=a/7+a/6+b/0-3+c/0*5 Resource_List.nodes=4:ppn=8:gpus=1 Resource_List.walltime=04:00:00 end=1261427220 Exit_status=0\n\
        12/21/2009 15:28:00;S;7.edge;user=u\n";
    let lsf = format!(
        "\"JOB_FINISH\" \"9.11\" 1389683139 404717 22025 33 128 1389642318 0 0 1389642771 \"u\" \"q\" {}0 2 \"16*h1\" \"h2\" 64 60.0 \"n\" \"a \"\"b\"\"\"{} \"\" \"p\" 0 128{} 0 1 h1 1 2 3 4 5 43200 0\n",
        "\"\" ".repeat(9),
        " 0".repeat(19),
        " 0".repeat(27),
    );
    let sge = format!(
        "# x\nq:h:g:o:n:5:a:0:1310761621:1311095354:1311095414:0:0:60{}:1:0:6.1:7.3:0.0:-l h_rt=36000,s_rt=5 -pe m 1:0.0:NONE:1.0:0:0\n",
        ":0".repeat(20)
    );
    let csv = "id,when,queued,took,size,owner,ended,limit\na,1000.5,10,3632.92,4.0,u1,Pass,7200\nb,1970-01-01T00:16:40,0,1:00,2,0.0,\"K,x\",-1\n";
    let events = "# x\n-dt 10.50 -e submit_batch_job | -sim-walltime 85.00 --uid=u -J jobid_01 -N 1-2 -n 32 -t 3-00:00:00 -q q -p p,r \
        --mem=500G -d afterok:2 pseudo.job\n-e submit_batch_job -dt 9 | -jid 2 -t 90 -n4 -c 2 --gres=gpu:a:2 -C \"a&b\" --exclusive x -y\n";
    vec![sacct.into(), pbs.into(), lsf.into(), sge.into(), events.into(), csv.into()]
}

/// Accounting files: reading and validating agree, no row is lost, and the converted log is the same workload.
fn accounting(case: &mut Case<'_>) -> bool {
    let forms = [
        "swf",
        "sacct",
        "pbs",
        "lsf",
        "sge",
        "events",
        "csv:submit=when,wait=queued,run=took,procs=size,status=ended{Pass:1},user=owner{0.0:-1}",
    ];
    let mut options = Options::default();
    let mut set = |name: &str, value: &str| OptionForm::find(name).unwrap().set(&mut options, value).unwrap();
    // A table is not told by its content.
    if case.input.starts_with(b"id,") || case.rng.random_range(0..8) == 0 {
        let forced = if case.input.starts_with(b"id,") { forms[6] } else { case.pick(&forms) };
        set("log-format", forced);
    }
    options.reading.unit = case.pick(&[Unit::Cpus, Unit::Cpus, Unit::Nodes, Unit::Gpus]);
    options.reading.submit_time = case.pick(&[SubmitTime::Eligible, SubmitTime::Submitted]);
    let read_log = |skip_bad_lines| {
        let how = ReadOptions { skip_bad_lines, keep_text: true, ..options.read_options() };
        read(&source(&case.input), how, &mut |_| ()).ok()
    };
    let (strict, lenient) = (read_log(false), read_log(true));
    let findings = validate(&source(&case.input), &options.read_options(), None, &mut |_| ());
    let (Some(log), Ok(findings)) = (&lenient, &findings) else {
        assert!(strict.is_none() && lenient.is_none() && findings.is_err());
        return false;
    };
    assert_eq!((findings.records, findings.fault_count), (log.records.len() as u64, log.skipped.count));
    assert_eq!(strict.is_some(), log.skipped.count == 0);
    assert_eq!(log.source.rows, log.source.dropped() + log.records.len() as u64);
    if log.source.format != "swf" {
        let mut written = Vec::new();
        shadowtime::report::write_log(&mut written, log, &log.header, None).unwrap();
        shadowtime::report::write_names(&mut Vec::new(), log).unwrap();
        let mut again = read(&source(&written), ReadOptions::default(), &mut |_| ()).unwrap();
        assert_eq!((&again.records, again.unknown), (&log.records, log.unknown));
        // What jobs wait for, and what they ask for beyond processors, has no place in SWF.
        again.conditions = log.conditions.clone();
        let plain = |job: &Job| Job { request: RequestId::NONE, ..*job };
        let workload = |log: &Log| {
            let workload = clean(log, &options.cleaning).ok()?;
            Some((workload.procs, workload.jobs.iter().map(plain).collect::<Vec<_>>()))
        };
        assert_eq!(workload(&again), workload(log));
    }
    let _ = survey(log, &options.cleaning);
    strict.is_some() && !log.records.is_empty()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn packed_seeds() -> Vec<Vec<u8>> {
    let lines = format!("{LOG}\n");
    let (gzip, zstd) = (gzip(lines.as_bytes()), zstd(lines.as_bytes()));
    // Two archives in one file are one log.
    vec![gzip.repeat(2), zstd.repeat(2), gzip, zstd]
}

/// A damaged archive: whatever can be unpacked of it is a log or an error.
fn packed_logs(case: &mut Case<'_>) -> bool {
    check_log(&case.input)
}

/// It is the same log with every compression.
fn packed_after(case: &mut Case<'_>) -> bool {
    // Text that looks packed would be unpacked.
    if case.input.starts_with(&[0x1f, 0x8b])
        || case.input.get(2..4).is_some_and(|bytes| matches!(bytes, b"M\x18" | b"\x2f\xfd"))
    {
        return false;
    }
    let contents = |bytes: &[u8]| read_log(bytes, false).map(|log| (log.records, log.digest));
    let plain = contents(&case.input);
    for packed in [gzip(&case.input), zstd(&case.input)] {
        assert_eq!(contents(&packed), plain);
    }
    plain.is_some()
}

// From a log to a schedule.

fn simulations(case: &mut Case<'_>) -> bool {
    let Some(mut log) = read_log(&case.input, true) else { return false };
    log.records.truncate(200);
    let mut options = Options::default();
    let mut set = |name: &str, value: &str| OptionForm::find(name).unwrap().set(&mut options, value).unwrap();
    for (name, values) in [
        ("procs", &["16", "1", "4294967295"][..]),
        ("procs-field", &["requested", "allocated"]),
        ("missing-estimate", &["largest", "runtime", "drop"]),
        ("overrun", &["extend", "kill"]),
        ("estimates", &["none", "none", "f", "feit", "x2", "shuffle", "tsafrir"]),
        ("from", &["0", "10s"]),
        ("to", &["1d", "1000d"]),
        ("first", &["1", "5", "100"]),
        ("repeat", &["1", "2", "5"]),
        ("load", &["0.001", "0.7", "1.5", "1000"]),
        ("shake", &["0", "30s", "1d"]),
        ("inflate", &["1", "2.5", "1000000"]),
        ("pass-on-miss", &["on", "off"]),
        ("predictor", PREDICTORS),
    ] {
        // Options that are not given are tested too.
        if case.rng.random() {
            set(name, case.pick(values));
        }
    }
    let mut simulated = false;
    // A program has tests of its own.
    for form in schedule::catalog::forms().into_iter().filter(|form| form.name != "exec") {
        OptionForm::find("scheduler").unwrap().set(&mut options, form.name).unwrap();
        let Ok(workload) = options.clean(&log).and_then(|cleaned| options.shape(cleaned)) else { continue };
        let record = simulate(&workload, &options.setting(), &mut |_| ()).unwrap();
        let mut changes = BTreeMap::<Time, i64>::new();
        for job in record.finished(&workload.jobs) {
            assert!(job.wait() >= 0, "job {} starts before it is submitted under {}", job.job.number, form.name);
            let procs = i64::from(job.job.submission.procs);
            *changes.entry(job.start()).or_default() += procs;
            *changes.entry(job.end()).or_default() -= procs;
        }
        let mut used = 0;
        for (time, change) in changes {
            used += change;
            // The log's own schedule is as it is.
            let fits = used <= i64::from(workload.procs) || options.setting().is_replay();
            assert!(used >= 0 && fits, "{used} of {} are in use at {time} under {}", workload.procs, form.name);
        }
        summarize(&workload, &record, &options.measure);
        simulated = true;
    }
    simulated
}

const PREDICTORS: &[&str] = &[
    "perfect",
    "estimate",
    "constant:seconds=60",
    "constant:seconds=1",
    "ruh:window=1,metric=last,propagate=on",
    "ruh:window=2,metric=mean,propagate=on,running=on,cap=on",
    "easy++",
    "sbh",
    "sbh-noest",
    "smith",
    "smith:templates=(u,lr);(n=4,rel,h=2);(),at=arrival",
    "gibbons",
    "downey",
    "kin",
    "kin:history=2,power=3,propagate=off",
    "learned",
    "learned:loss=squared,last=asrun,lambda=0",
];
