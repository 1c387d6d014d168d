//! `sim predict`: its answers are the predictions of a simulation with the same events, also after it was killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};

use proptest::prelude::*;
use shadowtime::predict::catalog;
use shadowtime::production::{Service, learn};
use shadowtime::rng;
use shadowtime::trace::{self, Cleaning, LogNames, ReadOptions, Shaping, Source, Workload, demo_workload, shape};
use shadowtime_twins::random;

use crate::production_events::{Exchange, exchanges};
use crate::support::{Folder, command, real_log, real_logs, sim, sim_fed};

const SIM: &str = env!("CARGO_BIN_EXE_sim");

/// All predictors that can be used, with the keys that use other events or other orders.
fn predictors() -> Vec<String> {
    let is_used =
        |name: &&str| !["exec", "given"].contains(name) && !catalog::is_oracle(&catalog::parse(name).unwrap());
    let names = catalog::forms().into_iter().map(|form| form.name).filter(is_used);
    let keys = [
        "ruh:propagate=on,running=on",
        "ruh:order=arrival,window=2",
        "sbh:propagate=ends",
        "sbh-noest:propagate=on",
        "smith:at=start",
        "kin:propagate=off",
        "learned:last=asrun",
    ];
    names.map(str::to_string).chain(keys.map(str::to_string)).collect()
}

fn service(predictor: &str, keep: usize) -> Service {
    Service::new(Service::parse_predictor(predictor).unwrap(), keep)
}

/// The answer, and what follows an answer.
fn ask(service: &mut Service, line: &str) -> String {
    let answer = String::from_utf8(service.answer(line.as_bytes()).unwrap().to_vec()).unwrap();
    service.forget_old_jobs().unwrap();
    answer
}

fn assert_answers(service: &mut Service, exchanges: &[Exchange], what: &str) {
    for (number, (line, expected)) in exchanges.iter().enumerate() {
        assert_eq!(ask(service, line), *expected, "{what}, line {}: {line}", number + 1);
    }
}

fn assert_equal_to_the_engine(workload: &Workload, scheduler: &str, predictor: &str) {
    for misses in [false, true] {
        let exchanges = exchanges(workload, scheduler, predictor, misses);
        let what = format!("{predictor} under {scheduler}, misses sent: {misses}");
        assert_answers(&mut service(predictor, 1_000_000), &exchanges, &what);
    }
}

#[test]
fn answers_are_the_predictions_of_a_simulation() {
    let workload = shape(demo_workload(), &Shaping { first: Some(1500), ..Shaping::default() }).unwrap();
    for predictor in predictors() {
        assert_equal_to_the_engine(&workload, "sjbf", &predictor);
    }
    // Otherwise the cases with and without sent misses are the same.
    let lines = |misses| exchanges(&workload, "sjbf", "sbh", misses).len();
    assert!(lines(true) > lines(false) + 300);
}

#[test]
fn answers_are_the_predictions_of_a_simulation_where_events_coincide() {
    for (predictor, seed) in predictors().iter().zip(1..) {
        random::check(seed, random::fewer(150), random::workloads(), |workload| {
            assert_equal_to_the_engine(&workload, "easy", predictor);
            assert_equal_to_the_engine(&workload, "replay", predictor);
            Ok(())
        });
    }
}

#[test]
fn answers_are_the_predictions_of_a_simulation_of_a_real_log() {
    let Some(folder) = real_logs("answers_are_the_predictions_of_a_simulation_of_a_real_log") else { return };
    let log = trace::read(
        &Source::from_argument(real_log(&folder, "KTH").to_str().unwrap()),
        ReadOptions::default(),
        &mut |_| (),
    );
    let workload = trace::clean(&log.unwrap(), &Cleaning::default()).unwrap();
    let workload = shape(workload, &Shaping { first: Some(2500), ..Shaping::default() }).unwrap();
    for predictor in predictors() {
        assert_equal_to_the_engine(&workload, "sjbf", &predictor);
    }
}

/// The first jobs of the embedded log.
fn first_jobs(jobs: usize) -> Workload {
    shape(demo_workload(), &Shaping { first: Some(jobs), ..Shaping::default() }).unwrap()
}

fn lines_of(exchanges: &[Exchange]) -> String {
    exchanges.iter().map(|(line, _)| format!("{line}\n")).collect()
}

fn answers_of(exchanges: &[Exchange]) -> String {
    exchanges.iter().map(|(_, answer)| format!("{answer}\n")).collect()
}

#[test]
fn the_program_answers_as_the_library() {
    let folder = Folder::new();
    let state = folder.text("state");
    let exchanges = exchanges(&first_jobs(300), "sjbf", "kin", false);
    let ran = sim_fed(&["-q", "predict", "--predictor", "kin"], lines_of(&exchanges).as_bytes());
    assert_eq!((ran.code, &*ran.err), (0, ""));
    assert!(ran.out == answers_of(&exchanges));
    // In two parts, with a state in between.
    let (first, second) = exchanges.split_at(400);
    let args = ["predict", "--predictor", "kin", "--state", &state];
    let ran = sim_fed(&args, lines_of(first).as_bytes());
    assert!(ran.code == 0 && ran.err.is_empty() && ran.out == answers_of(first), "{}", ran.err);
    let ran = sim_fed(&args, lines_of(second).as_bytes());
    assert!(ran.code == 0 && ran.out == answers_of(second));
    assert!(ran.err.contains("399 events replayed, "), "{}", ran.err);
}

/// A process that answers lines, which can be killed.
struct Running {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Running {
    fn start(args: &[&str]) -> Running {
        let mut child = command(SIM)
            .args(["-q", "predict"])
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Running { child, answers }
    }

    /// The next answer; None if the process has ended, perhaps in the middle of one.
    fn answer(&mut self) -> Option<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.strip_suffix('\n').map(str::to_string)
    }

    fn ask(&mut self, line: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
        self.answer().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Feeds lines to processes that are killed at random moments. Each next one gets the lines that were not answered.
#[test]
fn a_kill_at_any_moment_changes_no_answer() {
    use rand::RngExt;
    let mut random = rng::stream(23, "kills");
    for (predictor, keep) in [("sbh", "100"), ("kin", "100000")] {
        let lines: Vec<String> =
            exchanges(&first_jobs(1500), "sjbf", predictor, false).into_iter().skip(1).map(|(line, _)| line).collect();
        let keep_all = ["-q", "predict", "--predictor", predictor, "--keep-jobs", keep];
        let expected = sim_fed(&keep_all, lines.join("\n").as_bytes()).out;
        let expected: Vec<&str> = expected.lines().collect();
        assert_eq!(expected.len(), lines.len());
        assert!(expected.iter().all(|answer| !answer.contains("error")));
        let folder = Folder::new();
        let state = folder.text("state");
        let args = ["--predictor", predictor, "--keep-jobs", keep, "--state", &state];
        let (mut answered, mut kills) = (0, 0);
        while answered < lines.len() {
            let mut running = Running::start(&args);
            let mut stdin = running.child.stdin.take().unwrap();
            // Not all at once, so that many kills are needed.
            let rest = lines[answered..(answered + 600).min(lines.len())].join("\n") + "\n";
            let writing = std::thread::spawn(move || {
                let _ = stdin.write_all(rest.as_bytes());
            });
            // After some answers, and then after some microseconds, so that any work can be cut off.
            let (before, pause) = (random.random_range(0..400), random.random_range(0..3000));
            let mut compare = |answer: String| {
                assert_eq!(answer, expected[answered], "line {}: {}", answered + 1, lines[answered]);
                answered += 1;
            };
            (0..before).map_while(|_| running.answer()).for_each(&mut compare);
            std::thread::sleep(std::time::Duration::from_micros(pause));
            running.child.kill().unwrap();
            std::iter::from_fn(|| running.answer()).for_each(&mut compare);
            writing.join().unwrap();
            kills += 1;
        }
        assert!(kills > 5, "{kills}");
        let jobs = folder.read("state").lines().filter(|line| line.contains("arrival")).count();
        assert_eq!(jobs < 500, keep == "100", "{jobs} jobs are in the file");
    }
}

/// A state of a few events, some of which come after the oldest jobs were forgotten.
fn small_state(folder: &Folder) -> (String, Vec<String>) {
    let state = folder.text("state");
    let mut service = service("sbh", 3);
    service.open_state(&state, &mut |_| ()).unwrap();
    let exchanges = exchanges(&first_jobs(347), "sjbf", "sbh", false);
    for (line, _) in &exchanges[..exchanges.len() - 20] {
        ask(&mut service, line);
    }
    drop(service);
    let text = folder.read("state");
    assert!(text.contains("{\"restore\":") && text.len() < 40_000, "{} bytes", text.len());
    // Only the end, to cut it at every byte.
    let lines = text.lines().map(str::to_string).collect();
    (text, lines)
}

#[test]
fn a_state_that_is_cut_anywhere_has_the_events_that_are_whole() {
    let folder = Folder::new();
    let (text, lines) = small_state(&folder);
    let probe = r#"{"event":"arrival","time":99999999,"job":{"id":"probe","user":2,"procs":1,"estimate":500}}"#;
    // What a file with this number of whole lines must give, computed once for each number.
    let mut expected: Vec<Option<(usize, String)>> = vec![None; lines.len() + 1];
    let opened = |text: &str| {
        let path = folder.write("cut", text);
        let mut service = service("sbh", 3);
        let replayed = service.open_state(&path, &mut |_| ()).unwrap();
        let jobs = service.system().jobs();
        (replayed.events, format!("{jobs} jobs, {}", ask(&mut service, probe)))
    };
    // All bytes of the first lines and of the last ones, and some in between.
    let is_wanted = |at: usize| at < 300 || at + 400 > text.len() || at.is_multiple_of(197);
    for at in (0..=text.len()).filter(|&at| is_wanted(at)) {
        let whole = text[..at].matches('\n').count();
        let (events, answer) = opened(&text[..at]);
        let wanted = expected[whole].get_or_insert_with(|| {
            let whole: String = lines[..whole].iter().map(|line| format!("{line}\n")).collect();
            let (_, answer) = opened(&whole);
            let is_event = |line: &&str| line.starts_with("{\"event\"");
            (whole.lines().filter(is_event).count(), answer)
        });
        assert_eq!((events as usize, &answer), (wanted.0, &wanted.1), "cut at byte {at}");
    }
    // The torn line is removed, so that the next event begins a line.
    let path = folder.write("cut", &text[..text.len() - 3]);
    let mut service = service("sbh", 3);
    service.open_state(&path, &mut |_| ()).unwrap();
    ask(&mut service, probe);
    let last = lines.len() - 1;
    let after = folder.read("cut");
    assert_eq!(after.lines().count(), lines.len());
    assert!(after.lines().take(last).eq(lines[..last].iter()) && after.contains("\"submit\":99999999},\"sum\":\""));
}

#[test]
fn a_damaged_state_is_refused_with_its_line() {
    let folder = Folder::new();
    let (text, lines) = small_state(&folder);
    let run = |text: &str| sim(&["predict", "--predictor", "sbh", "--state", &folder.write("bad", text)]);
    let changed = |line: usize, to: &str| {
        let mut lines = lines.clone();
        lines[line - 1] = to.to_string();
        lines.join("\n") + "\n"
    };
    for (text, message) in [
        (
            changed(3, "{\"event\":"),
            "line 3: the line is damaged: its checksum is wrong: it was changed, or lines before",
        ),
        (changed(4, r#"{"event":"start","time":1,"id":"none"}"#), "line 4: the line is damaged: "),
        (changed(4, &lines[4]), "bad' > NEW` keeps what is before it; or begin with a new file and --learn-from"),
        (old_form(&changed(3, "{\"event\":}")), "line 3: the line is damaged: it is not an event in JSON: "),
        (text.replace("\"version\":2", "\"version\":1"), "line 1: the line is damaged: its checksum is wrong"),
        (lines[1..].join("\n") + "\n", "this is not a state file"),
        (changed(1, "hello"), "this is not a state file of `sim predict`: give the name of a new file"),
        (text.replace("\"version\":2", "\"version\":9"), "line 1: the file has version 9, but this program knows"),
        ("1 2 3 no newline".to_string(), "this is not a state file"),
    ] {
        let ran = run(&text);
        assert!(ran.code == 2 && ran.err.contains(message), "{}: {}", ran.code, ran.err);
        assert!(ran.out.is_empty());
        assert_eq!(folder.read("bad"), text, "the file is unchanged");
    }
    assert_eq!(run(&text).code, 0);
}

/// A state as it was written before lines had checksums.
fn old_form(text: &str) -> String {
    let line = |line: &str| {
        let whole = line.split_once(",\"sum\":\"").map_or(line.to_string(), |(before, _)| format!("{before}}}"));
        whole.replace("\"version\":2", "\"version\":1") + "\n"
    };
    text.lines().map(line).collect()
}

/// Whatever happens to a state file, it is noticed with the line, or the beginning of the file is left, without its last line.
#[test]
fn damage_of_a_state_is_noticed() {
    use rand::RngExt;
    let folder = Folder::new();
    let (text, _) = small_state(&folder);
    let mut random = rng::stream(31, "damage");
    let (mut noticed, mut cut) = (0, 0);
    for trial in 0..600 {
        let mut bytes = text.clone().into_bytes();
        let at = random.random_range(0..bytes.len());
        let length = random.random_range(1..40).min(bytes.len() - at);
        let mut lines: Vec<&[u8]> = text.as_bytes().split_inclusive(|byte| *byte == b'\n').collect();
        let (one, other) = (random.random_range(0..lines.len()), random.random_range(0..lines.len()));
        match trial % 10 {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes[at] = random.random(),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..at + length)),
            4 => bytes.splice(at..at, text.as_bytes()[at..at + length].to_vec()).for_each(drop),
            5 => bytes.swap(at, (at + length).min(text.len() - 1)),
            6 => bytes[at..at + length].fill(0),
            way => {
                match way {
                    7 => drop(lines.remove(one)),
                    8 => lines.insert(other, lines[one]),
                    _ => lines.swap(one, other),
                }
                bytes = lines.concat();
            }
        }
        if bytes == text.as_bytes() {
            continue;
        }
        std::fs::write(folder.path("damaged"), &bytes).unwrap();
        let mut service = service("sbh", 3);
        let opened = service.open_state(&folder.text("damaged"), &mut |_| ());
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        match opened {
            Ok(_) => {
                assert!(
                    text.as_bytes().starts_with(&bytes[..whole]),
                    "trial {trial} at byte {at}, line {one}, {other}"
                );
                cut += 1;
            }
            Err(error) => {
                let error = error.to_string();
                let message = ["damaged, line ", "damaged: this is not a state file"];
                assert!(message.iter().any(|message| error.contains(message)), "trial {trial}: {error}");
                assert!(std::fs::read(folder.path("damaged")).unwrap() == bytes, "trial {trial} changed the file");
                noticed += 1;
            }
        }
    }
    assert!(noticed > 480 && cut > 50, "{noticed} noticed, {cut} cut");
}

#[test]
fn a_state_without_checksums_is_read_and_gets_them() {
    let folder = Folder::new();
    let (text, _) = small_state(&folder);
    let probe = r#"{"event":"arrival","time":99999999,"job":{"id":"probe","user":2,"procs":1,"estimate":500}}"#;
    let run = |name: &str| {
        let args = ["predict", "--predictor", "sbh", "--keep-jobs", "3", "--state", &folder.text(name)];
        sim_fed(&args, format!("{probe}\n").as_bytes())
    };
    folder.write("new", &text);
    folder.write("old", old_form(&text));
    let (new, old) = (run("new"), run("old"));
    assert_eq!((new.code, old.code, &old.out), (0, 0, &new.out), "{}", old.err);
    let note = "old had no checksums: it was written again with them\n";
    assert!(old.err.contains(note) && !new.err.contains("checksums"), "{}{}", old.err, new.err);
    let written = folder.read("old");
    assert!(written.lines().all(|line| line.contains(",\"sum\":\"")) && written.contains("probe"), "{written}");
    assert!(!run("old").err.contains("checksums"));
}

/// What was dropped at the start is said.
#[test]
fn an_empty_state_and_a_torn_line_are_reported() {
    let folder = Folder::new();
    let (text, _) = small_state(&folder);
    let run = |name: &str| sim(&["predict", "--predictor", "sbh", "--state", &folder.text(name)]);
    folder.write("torn", &text[..text.len() - 4]);
    let last = text.lines().last().unwrap().len() - 3;
    let message = format!("torn: its last line was incomplete and was dropped ({last} bytes)\n");
    let ran = run("torn");
    assert!(ran.code == 0 && ran.err.contains(&message), "{}", ran.err);
    folder.write("empty", "");
    assert!(run("empty").err.contains("empty was empty: it has no events to begin with"));
    assert_eq!(run("empty").err, "");
}

#[test]
fn a_state_that_is_removed_or_changed_is_an_error_at_the_next_event() {
    let arrival = |id: &str| format!(r#"{{"event":"arrival","time":5,"job":{{"id":"{id}","estimate":77}}}}"#);
    for change in ["removed", "replaced", "emptied", "longer", "folder"] {
        let folder = Folder::new();
        std::fs::create_dir(folder.path("spool")).unwrap();
        let state = folder.text("spool/state");
        let mut running = Running::start(&["--state", &state]);
        assert!(running.ask(&arrival("a")).contains("predict"));
        match change {
            "removed" => std::fs::remove_file(&state).unwrap(),
            "replaced" => {
                std::fs::copy(&state, folder.path("copy")).unwrap();
                std::fs::rename(folder.path("copy"), &state).unwrap();
            }
            "emptied" => std::fs::write(&state, "").unwrap(),
            "longer" => std::fs::write(&state, folder.read("spool/state") + "{}\n").unwrap(),
            _ => std::fs::rename(folder.path("spool"), folder.path("moved")).unwrap(),
        }
        writeln!(running.child.stdin.as_mut().unwrap(), "{}", arrival("b")).unwrap();
        assert_eq!(running.answer(), None, "{change}");
        assert_eq!(running.child.wait().unwrap().code(), Some(1), "{change}");
    }
}

#[cfg(unix)]
#[test]
fn a_state_behind_a_link_is_never_compressed() {
    let folder = Folder::new();
    std::os::unix::fs::symlink(folder.path("events.gz"), folder.path("state")).unwrap();
    let args = ["predict", "--state", &folder.text("state")];
    let line = r#"{"event":"arrival","time":5,"job":{"id":"a","estimate":77}}"#;
    assert_eq!(sim_fed(&args, format!("{line}\n").as_bytes()).out, "{\"predict\":{\"a\":77}}\n");
    assert!(folder.read("events.gz").starts_with("{\"shadowtime\":\"predict\""));
    let again = sim(&args);
    assert!(again.code == 0 && again.err.contains("1 event replayed, 1 job waiting"), "{}", again.err);
}

/// An event in the year 2128 must not end the use of all events of today.
#[test]
fn an_event_far_ahead_of_the_clock_is_refused_and_not_stored() {
    let folder = Folder::new();
    let state = folder.text("state");
    let arrival = |id: &str, time: u64| {
        format!("{{\"event\":\"arrival\",\"time\":{time},\"job\":{{\"id\":\"{id}\",\"estimate\":77}}}}\n")
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let lines = arrival("a", 1_700_000_000) + &arrival("b", 5_000_000_000) + &arrival("c", now + 3600);
    let ran = sim_fed(&["predict", "--state", &state], lines.as_bytes());
    let answers: Vec<&str> = ran.out.lines().collect();
    assert_eq!((ran.code, answers[0], answers[2]), (0, "{\"predict\":{\"a\":77}}", "{\"predict\":{\"c\":77}}"));
    let refused = "{\"error\":\"line 2: its time is 5000000000, which is ";
    assert!(answers[1].starts_with(refused) && answers[1].contains(" ahead of the clock"), "{}", answers[1]);
    let text = folder.read("state");
    assert!(text.contains("\"id\":\"c\"") && !text.contains("5000000000"), "{text}");
    // A limit of its own, and none. A simulation has times of its own.
    let code = |more: &[&str], lines: &str| {
        let ran = sim_fed(&[&["predict"], more].concat(), lines.as_bytes());
        (ran.code, ran.out.contains("error"))
    };
    assert_eq!(code(&["--max-ahead", "30m"], &arrival("c", now + 3600)), (0, true));
    assert_eq!(code(&["--max-ahead", "40000d"], &arrival("b", 5_000_000_000)), (0, false));
    let hello = "{\"hello\":\"shadowtime\",\"protocol\":1}\n".to_string();
    assert_eq!(code(&[], &(hello + &arrival("b", 5_000_000_000))), (0, false));
    // A state that such an event has already reached, and how to repair it.
    assert_eq!(code(&["--max-ahead", "off", "--state", &state], &arrival("b", 5_000_000_000)), (0, false));
    let before = folder.read("state");
    let ran = sim(&["predict", "--state", &state]);
    let message = "line 4: its time is 5000000000, which is ";
    assert!(ran.code == 2 && ran.err.contains(message) && ran.err.contains("`head -n 3 '"), "{}", ran.err);
    assert!(folder.read("state") == before && code(&["--max-ahead", "off", "--state", &state], "") == (0, false));
    folder.write("state", before.lines().take(3).map(|line| format!("{line}\n")).collect::<String>());
    assert_eq!(code(&["--state", &state], &arrival("d", now + 3600)), (0, false));
}

#[test]
fn a_second_process_is_refused() {
    let folder = Folder::new();
    let state = folder.text("state");
    let mut first = Running::start(&["--state", &state]);
    assert!(first.ask("{}").contains("error"), "it is ready");
    let second = sim_fed(&["predict", "--state", &state], b"{}\n");
    assert_eq!((second.code, &*second.out), (1, ""));
    assert!(second.err.contains("is in use by another process: end it first, or use another file"), "{}", second.err);
    #[cfg(unix)]
    {
        // Another name of the same file.
        std::os::unix::fs::symlink(&state, folder.path("link")).unwrap();
        assert_eq!(sim(&["predict", "--state", &folder.text("link")]).code, 1);
    }
    drop(first);
    assert_eq!(sim(&["predict", "--state", &state]).code, 0);
}

/// A small exchange, worked out by hand.
#[test]
fn errors_change_nothing_and_events_can_be_sent_again() {
    let mut service = service("ruh:window=1", 100);
    let arrival = |id: &str, time: i64, estimate: i64| {
        format!(r#"{{"event":"arrival","time":{time},"job":{{"id":"{id}","user":"al","estimate":{estimate}}}}}"#)
    };
    let event = |kind: &str, time: i64, id: &str| format!(r#"{{"event":"{kind}","time":{time},"id":"{id}"}}"#);
    let mut number = 0;
    let mut expect = |line: String, wanted: &str| {
        number += 1;
        let wanted = match wanted.strip_prefix('!') {
            Some(why) => format!("{{\"error\":\"line {number}: {why}\"}}"),
            None => wanted.to_string(),
        };
        assert_eq!(ask(&mut service, &line), wanted, "{line}");
    };
    expect(arrival("a", 100, 600), r#"{"predict":{"a":600}}"#);
    expect(arrival("a", 100, 600), r#"{"predict":{"a":600}}"#);
    let before = "before that of the last event, 100: send events in the order of their times";
    expect(arrival("b", 99, 600), &format!("!its time is 99, {before}"));
    let other = "already in the system, with other data: send its termination or cancellation first";
    expect(arrival("a", 100, 601), &format!("!job 'a' is {other}"));
    expect(event("start", 110, "b"), "!job 'b' is not in the system: send its arrival first");
    expect(event("termination", 110, "a"), "!job 'a' waits: send its start first, or a cancellation if it never ran");
    expect(event("miss", 110, "a"), "!job 'a' waits: only a running job misses its deadline");
    expect(event("start", 110, "a"), "{}");
    expect(event("start", 110, "a"), "{}");
    expect(arrival("a", 100, 600), r#"{"predict":{"a":600}}"#);
    expect(event("start", 120, "a"), "!job 'a' already runs, since 110: send its termination before another start");
    let runs = "runs: send a termination, a cancellation is for jobs that wait";
    expect(event("cancellation", 120, "a"), &format!("!job 'a' {runs}"));
    expect(arrival("b", 120, 300), r#"{"predict":{"b":300}}"#);
    expect(event("cancellation", 130, "b"), "{}");
    expect(event("cancellation", 130, "b"), "{}");
    expect(event("start", 130, "b"), "!job 'b' is not in the system: send its arrival first");
    // The deadline of a is 710. It is missed before the arrival of c, and gets the increments of 1 minute, then 5 minutes.
    expect(arrival("c", 710, 50), r#"{"predict":{"a":660,"c":50}}"#);
    expect(event("miss", 720, "a"), r#"{"predict":{"a":660}}"#);
    expect(event("start", 765, "c"), "{}");
    // a misses 770 and 1070, c misses 815, 875 and 1175, 2075. All are worked out before this event.
    expect(event("termination", 2000, "a"), r#"{"predict":{"c":1310}}"#);
    expect(event("termination", 2000, "a"), r#"{"predict":{"c":1310}}"#);
    expect(event("termination", 2000, "x"), "!job 'x' is not in the system: send its arrival first");
    expect(arrival("d", 2000, 5000), r#"{"predict":{"d":1890}}"#);
}

#[test]
fn long_lines_and_lines_that_are_no_events_are_answered() {
    let long = format!("{{\"event\":\"{}\"}}\n", "x".repeat(1 << 20));
    let input = format!("\n{long}{{}}\n\u{7f}\n{}", r#"{"event":"arrival","time":5,"job":{"id":1,"estimate":60}}"#);
    let ran = sim_fed(&["predict"], input.as_bytes());
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let answers: Vec<&str> = ran.out.lines().collect();
    assert!(answers[0].starts_with("{\"error\":\"line 1: it is empty"), "{}", answers[0]);
    assert_eq!(answers[1], "{\"error\":\"line 2: it is longer than 1,048,576 bytes\"}");
    assert!(answers[2].starts_with("{\"error\":\"line 3: it has no \\\"event\\\": give arrival"), "{}", answers[2]);
    assert!(answers[3].starts_with("{\"error\":\"line 4: it is not an event in JSON"), "{}", answers[3]);
    assert_eq!(answers[4..], ["{\"predict\":{\"1\":60}}"]);
}

/// The most memory that a process has used so far, in kB.
#[cfg(target_os = "linux")]
fn peak_memory(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Every job has an executable of its own: names are forgotten too.
#[cfg(target_os = "linux")]
#[test]
fn many_events_need_no_more_memory_than_some() {
    let folder = Folder::new();
    let state = folder.text("state");
    let mut running = Running::start(&["--predictor", "sbh", "--keep-jobs", "1000", "--state", &state]);
    let mut stdin = running.child.stdin.take().unwrap();
    let rounds = 66_667;
    let writing = std::thread::spawn(move || {
        let mut out = std::io::BufWriter::with_capacity(1 << 16, &mut stdin);
        for at in 0..rounds {
            let time = 1_700_000_000 + 20 * at;
            let user = at % 50;
            writeln!(
                out,
                r#"{{"event":"arrival","time":{time},"job":{{"id":"{at}","user":"user{user}","executable":"job{at}","procs":2,"estimate":900}}}}
{{"event":"start","time":{},"id":"{at}"}}
{{"event":"termination","time":{},"id":"{at}"}}"#,
                time + 3,
                time + 4 + at % 15
            )
            .unwrap();
        }
        drop(out);
        stdin
    });
    let (mut early, mut size_early) = (0, 0);
    for at in 0..3 * rounds {
        let answer = running.answer().unwrap();
        assert!(!answer.contains("error"), "{answer}");
        if at == 40_000 {
            (early, size_early) = (peak_memory(&running.child), std::fs::metadata(&state).unwrap().len());
        }
    }
    let (late, size) = (peak_memory(&running.child), std::fs::metadata(&state).unwrap().len());
    // Without forgetting, the other 160,000 events would need more than 8 MB.
    assert!(late < early + 5_000, "{early} kB after 40,000 events, {late} kB after 200,000");
    assert!(size < 3 * size_early + 1_000_000, "{size_early} bytes, later {size}");
    drop(writing.join().unwrap());
    assert_eq!(running.child.wait().unwrap().code(), Some(0));
}

const SACCT: &str = "\
JobID|User|Account|Partition|QOS|Submit|Start|End|Elapsed|State|NNodes|NCPUS|Timelimit|JobName
1|alice|phys|main|normal|2026-03-01T10:00:00|2026-03-01T10:05:00|2026-03-01T10:15:00|00:10:00|COMPLETED|1|4|02:00:00|fit
2|bob|chem|main|normal|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T10:01:00|00:01:00|COMPLETED|1|8|02:00:00|relax
3|7|chem|main|normal|2026-03-01T11:00:00|2026-03-01T11:00:00|2026-03-01T11:02:00|00:02:00|COMPLETED|1|8|02:00:00|relax
";

/// Names of the log are the names of the events, whatever numbers reading has given them.
#[test]
fn names_of_an_accounting_file_are_those_of_events() {
    let folder = Folder::new();
    let log = folder.write("sacct.txt", SACCT);
    let state = folder.text("state");
    let line = |id: &str, user: &str, time: i64| {
        format!(r#"{{"event":"arrival","time":{time},"job":{{"id":"{id}","user":{user},"estimate":7200}}}}"#)
    };
    let input = [
        line("a", "\"alice\"", 1_772_362_919),
        line("b", "\"alice\"", 1_772_362_921),
        line("c", "\"bob\"", 1_772_362_921),
        line("d", "7", 1_772_362_921),
        line("e", "1", 1_772_362_921),
    ];
    let args = ["predict", "--predictor", "ruh:window=1", "--learn-from", &log, "--state", &state];
    let ran = sim_fed(&args, input.join("\n").as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let answers: Vec<&str> = ran.out.lines().collect();
    assert!(answers[0].contains("before that of the last event, 1772362920"), "{}", answers[0]);
    let rest = [
        r#"{"predict":{"b":600}}"#,
        r#"{"predict":{"c":60}}"#,
        r#"{"predict":{"d":120}}"#,
        r#"{"predict":{"e":7200}}"#,
    ];
    assert_eq!(answers[1..], rest);
    assert!(ran.err.contains("learned from 3 jobs; events must not be before 1772362920"), "{}", ran.err);
    // What was learned is in the state. The log is not read again: it need not exist.
    std::fs::remove_file(&log).unwrap();
    let again = sim_fed(&args, line("f", "\"bob\"", 1_772_362_930).as_bytes());
    assert_eq!((again.code, &*again.out), (0, "{\"predict\":{\"f\":60}}\n"), "{}", again.err);
    assert!(again.err.contains("was not read: the state file has events"), "{}", again.err);
}

/// Events of today would be out of order, for example if the times of an accounting file are local times.
#[test]
fn a_log_of_the_future_is_a_warning() {
    let folder = Folder::new();
    let warns = |text: &str| {
        let ran = sim(&["-q", "predict", "--learn-from", &folder.write("sacct.txt", text)]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.err.contains("in the future: events of today are refused")
    };
    assert!(!warns(&SACCT.replace("2026", "2016")) && warns(&SACCT.replace("2026", "2626")));
}

/// Learning is the same as getting the events of the log's own schedule.
#[test]
fn learning_a_log_is_the_replay_of_its_schedule() {
    for (predictor, seed) in predictors().iter().zip(100..) {
        random::check(seed, random::fewer(40), random::workloads(), |workload| {
            let mut learned = service(predictor, 1000);
            learn(&mut learned, &workload, &LogNames::default(), &mut |_| ()).unwrap();
            let mut replayed = service(predictor, 1000);
            assert_answers(&mut replayed, &exchanges(&workload, "replay", predictor, false), predictor);
            for user in ["1", "2", "3", "-1"] {
                let probe = format!(
                    r#"{{"event":"arrival","time":30000000000,"job":{{"id":"p{user}","user":{user},"procs":2,"estimate":700}}}}"#
                );
                prop_assert_eq!(ask(&mut learned, &probe), ask(&mut replayed, &probe));
            }
            Ok(())
        });
    }
}

/// The predictions in force stay when old jobs are forgotten, and a service that was started again answers the same.
#[test]
fn forgetting_changes_no_prediction_in_force() {
    let folder = Folder::new();
    for predictor in predictors() {
        let state = folder.text(&format!("state of {}", predictor.replace([':', '='], " ")));
        let (mut one, mut other) = (service(&predictor, 60), service(&predictor, 60));
        one.open_state(&state, &mut |_| ()).unwrap();
        let lines = exchanges(&first_jobs(900), "sjbf", &predictor, false);
        let mut in_force: std::collections::BTreeMap<String, i64> = Default::default();
        let mut forgot = 0;
        for (number, (line, _)) in lines.iter().enumerate() {
            let answer = String::from_utf8(one.answer(line.as_bytes()).unwrap().to_vec()).unwrap();
            assert_eq!(answer, ask(&mut other, line), "{predictor}, line {number}: {line}");
            assert!(!answer.contains("\"error\""), "{predictor}: {answer}");
            let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
            for (id, prediction) in answer["predict"].as_object().into_iter().flatten() {
                in_force.insert(id.clone(), prediction.as_i64().unwrap());
            }
            in_force.retain(|id, _| one.system().prediction(id).is_some());
            if one.forget_old_jobs().unwrap() {
                forgot += 1;
                assert!(one.system().events() < 700, "{predictor}: {}", one.system().events());
            }
            // What the answers said is what is in force, and no more is in the system.
            if number.is_multiple_of(50) {
                assert_eq!(in_force.len(), one.system().jobs(), "{predictor}");
                for (id, prediction) in &in_force {
                    assert_eq!(one.system().prediction(id), Some(*prediction), "{predictor}: {id}, line {number}");
                }
            }
            if number.is_multiple_of(331) {
                drop(one);
                one = service(&predictor, 60);
                one.open_state(&state, &mut |_| ()).unwrap();
            }
        }
        assert!(forgot > 1, "{predictor}: {forgot}");
    }
}

#[test]
fn another_predictor_gets_the_events_of_the_first() {
    let folder = Folder::new();
    let state = folder.text("state");
    let lines = exchanges(&first_jobs(200), "sjbf", "sbh", false);
    let (before, _) = lines.split_at(450);
    let text = lines_of(&before[1..]);
    assert_eq!(sim_fed(&["predict", "--predictor", "sbh", "--state", &state], text.as_bytes()).code, 0);
    let probe = r#"{"event":"arrival","time":99999999,"job":{"id":"probe","user":2,"procs":1,"estimate":500}}"#;
    // What is in force after the same events with the other predictor from the beginning.
    let mut kin = service("kin", 1000);
    for (line, _) in &before[1..] {
        ask(&mut kin, line);
    }
    ask(&mut kin, probe);
    let changed = sim_fed(&["predict", "--predictor", "kin", "--state", &state], probe.as_bytes());
    let answer: serde_json::Value = serde_json::from_str(&changed.out).unwrap();
    let new = answer["predict"].as_object().unwrap();
    assert!(new.len() == kin.system().jobs() && new.len() > 5, "{answer}");
    for (id, prediction) in new {
        assert_eq!(prediction.as_i64(), kin.system().prediction(id), "{id}");
    }
    assert!(
        changed.err.contains("was used with sbh:") && changed.err.contains("replayed with kin:"),
        "{}",
        changed.err
    );
    let same = sim(&["predict", "--predictor", "kin", "--state", &state]);
    assert!(!same.err.contains("was used with"), "{}", same.err);
}

#[test]
fn bad_usage_is_an_error_before_any_event_is_read() {
    let folder = Folder::new();
    let packed = folder.text("x.gz");
    let log = folder.write("log.swf", "; MaxProcs: 4\n1 5 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n");
    for (args, message) in [
        (&["--predictor", "perfect"][..], "'perfect' needs to know the runtime of a job when it arrives"),
        (&["--predictor", "rhu"], "did you mean 'ruh'?"),
        (&["--learn-from", "-"], "standard input has the events"),
        (&["--learn-from", "/no/such/log"], "/no/such/log"),
        (&["--state", &packed], "a state file is not compressed"),
        (&["--state", "-"], "give the name of a file, not standard output"),
        (&["--state", &log, "--learn-from", &log], "would overwrite"),
        (&["--state", &log], "this is not a state file"),
        (&["--keep-jobs", "0"], "--keep-jobs"),
    ] {
        let ran = sim_fed(&[&["predict"], args].concat(), b"{}\n");
        assert!(ran.code == 2 && ran.err.contains(message) && ran.out.is_empty(), "{args:?}: {ran:?}");
    }
    assert!(!Path::new(&packed).exists());
    let ran = sim(&["predict", "--state", "/no/such/folder/state"]);
    assert!(ran.code == 1 && ran.err.contains("the folder must exist"), "{ran:?}");
}

/// A new machine has no past. Its batch system is answered all the same.
#[test]
fn a_log_without_jobs_is_a_warning() {
    let folder = Folder::new();
    for text in ["", "11/14/2023 22:27:00;D;104.pbs;requestor=a@b\n"] {
        let log = folder.write("pbs.log", text);
        let line = r#"{"event":"arrival","time":5,"job":{"id":"a","user":"u","procs":1,"estimate":77}}"#;
        let ran = sim_fed(&["predict", "--learn-from", &log], format!("{line}\n").as_bytes());
        assert_eq!((ran.code, ran.out.as_str()), (0, "{\"predict\":{\"a\":77}}\n"), "{}", ran.err);
        assert!(ran.err.contains("pbs.log has no ended jobs: nothing was learned from it"), "{}", ran.err);
    }
}

/// After everything was forgotten the state still has a time, before which nothing can be learned.
#[test]
fn a_state_without_jobs_does_not_learn_from_an_older_log() {
    let folder = Folder::new();
    let state = folder.text("state");
    let arrival = r#"{"event":"arrival","time":1700000000,"job":{"id":"asked.1","user":"u","procs":1,"estimate":77}}"#;
    let cancellation = r#"{"event":"cancellation","time":1700000000,"id":"asked.1"}"#;
    let ran = sim_fed(&["predict", "-q", "--state", &state], format!("{arrival}\n{cancellation}\n").as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    // Another predictor: the file is written again, without the job that is gone.
    assert_eq!(sim(&["predict", "-q", "--state", &state, "--predictor", "kin"]).code, 0);
    let log = folder.write("log.swf", "; UnixStartTime: 1600000000\n1 0 0 5 1 1 1 1 9 1 1 1 1 1 1 1 1 1\n");
    let ran = sim(&["predict", "--state", &state, "--predictor", "kin", "--learn-from", &log]);
    assert!(ran.code == 0 && ran.err.contains("was not read: the state file has events already"), "{}", ran.err);
}
