//! Predictors that are programs: the protocol, its errors, the life of the processes, and every command that predicts.
//!
//! The programs are scripts of the shell, so that these tests need nothing else. One more test runs the example in Python.

use std::fs;
use std::io::Write;
use std::process::{Child, Stdio};

use shadowtime::engine::{Event, Observer};
use shadowtime::experiment::Setting;
use shadowtime::schedule::Machine;

use crate::support::{
    Folder, Ran, command, has_python, not_ignored, real_log, real_logs, sim, sim_fed, sim_ok, wait_until,
};

const SIM: &str = env!("CARGO_BIN_EXE_sim");

/// Predicts the estimate, as the predictor `estimate` does.
pub(crate) const ESTIMATE: &str = r#"read -r hello
echo '{"name":"estimate","events":["arrival"]}'
while read -r line; do
    id=${line#*\"id\":\"}; estimate=${line#*\"estimate\":}
    echo "{\"predict\":{\"${id%%\"*}\":${estimate%%,*}}}"
done
"#;

/// A folder with a script, and the spec of a predictor that runs it.
pub(crate) fn script(text: &str) -> (Folder, String) {
    let folder = Folder::new();
    let path = folder.write("mine.sh", text);
    (folder, format!("exec:command=sh {path}"))
}

/// A script that answers the greeting and then does this for each line.
fn answering(what: &str) -> (Folder, String) {
    script(&format!(
        "read -r hello\necho '{{\"name\":\"x\",\"events\":[\"arrival\",\"termination\",\"miss\"]}}'\n\
         while read -r line; do\n{what}\ndone\n"
    ))
}

/// The output of a run under this predictor, with its name replaced.
pub(crate) fn named(text: &str, spec: &str, name: &str) -> String {
    text.replace(&format!("\"{}\"", spec.replace('"', "\"\"")), name).replace(spec, name)
}

fn failure(spec: &str) -> String {
    let Ran { code, out, err } = sim(&["-q", "--first", "50", "--baseline", "none", "--predictor", spec]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    err
}

#[test]
fn a_program_predicts_as_the_predictor_that_it_copies_in_every_command() {
    let (folder, spec) = script(ESTIMATE);
    let files = |name: &str| [folder.text(&format!("{name}.jobs")), folder.text(&format!("{name}.predictions"))];
    let run = |predictor: &str, name: &str| {
        let [jobs, predictions] = files(name);
        let out = sim_ok(&[
            "--first",
            "1500",
            "--scheduler",
            "easy",
            "--predictor",
            predictor,
            "--baseline",
            "none",
            "--format",
            "csv",
            "--jobs-out",
            &jobs,
            "--predictions-out",
            &predictions,
        ]);
        (named(&out, predictor, "P"), fs::read_to_string(jobs).unwrap(), fs::read_to_string(predictions).unwrap())
    };
    assert!(run(&spec, "a") == run("estimate", "b"));
    // Several settings, replications, the baseline, threads.
    let lists = |predictor: &str, threads: &str| {
        let baseline = format!("easy/{predictor}");
        let lists = ["--first", "300", "--scheduler", "easy,sjbf", "--predictor", predictor, "--baseline", &baseline];
        let more = ["--replications", "3", "--threads", threads, "--format", "csv"];
        named(&sim_ok(&[&lists[..], &more].concat()), predictor, "P").replace("easy/P", "B")
    };
    let program = lists(&spec, "1");
    assert_eq!(program, lists(&spec, "4"));
    assert_eq!(program, lists("estimate", "1"));
    let wait = |predictor: &str| {
        let method = format!("simulate:predictor=({predictor})");
        sim_ok(&["wait", "--first", "400", "--method", &method, "--format", "csv"])
            .lines()
            .map(|line| {
                line.rsplit_once("simulate").map_or(line, |(_, figures)| figures.trim_start_matches(|c| c != ','))
            })
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(wait(&spec), wait("estimate"));
    let log = folder.write("log.swf", crate::support::demo_text());
    let meta = |predictor: &str| {
        let sites =
            ["--site", &format!("A={log}:first=300"), "--site", &format!("B={log}:first=200:predictor={predictor}")]
                .map(str::to_string);
        let sites: Vec<&str> = sites.iter().map(String::as_str).collect();
        sim_ok(
            &[&["meta", "--policy", "static,redundant", "--predictor", predictor, "--format", "csv"][..], &sites]
                .concat(),
        )
    };
    assert_eq!(meta(&spec), meta("estimate"));
    let search = |predictor: &str| {
        let small = ["--population", "4", "--generations", "2", "--first", "300", "--format", "csv"];
        let out = sim_ok(&[&["search", "--rivals", predictor][..], &small].concat());
        named(out.lines().last().unwrap(), predictor, "P")
    };
    assert_eq!(search(&spec), search("estimate"));
    let recommend = |predictor: &str| {
        let candidates = format!("sjbf/{predictor},sjbf/ruh");
        let out = sim_ok(&[
            "recommend",
            "--present",
            "easy/ruh",
            "--first",
            "600",
            "--replications",
            "2",
            "--candidates",
            &candidates,
            "--format",
            "csv",
        ]);
        named(&out, predictor, "P")
    };
    assert_eq!(recommend(&spec), recommend("estimate"));
}

#[test]
fn misses_terminations_and_keys_reach_the_program() {
    // Every line is kept. Arrivals are predicted with 7 s, everything else is not answered.
    let (folder, spec) = script(
        "read -r hello; echo \"$hello\" > \"$0.lines\"\n\
         echo '{\"name\":\"x\",\"events\":[\"arrival\",\"start\",\"termination\",\"miss\",\"cancellation\"]}'\n\
         while read -r line; do echo \"$line\" >> \"$0.lines\"\n\
         case $line in *arrival*) id=${line#*\\\"id\\\":\\\"}; echo \"{\\\"predict\\\":{\\\"${id%%\\\"*}\\\":7}}\";; *) echo '{}';; esac\n\
         done\n",
    );
    // Two jobs: the second waits for the first, and outlives its prediction and its estimate.
    let log = folder.write(
        "log.swf",
        "; MaxProcs: 4\n; UnixStartTime: 1000\n17 5 0 8 4 1 1 4 9 1 1 3 2 1 5 1 1 1\n17 6 0 3000000000 4 1 1 4 20 1 1 3000000000 2 1 5 1 1 1\n",
    );
    let spec = format!("{spec},size=\"a,b\"");
    sim_ok(&["--trace", &log, "--scheduler", "fcfs", "--predictor", &spec, "--format", "csv"]);
    let lines = fs::read_to_string(folder.text("mine.sh.lines")).unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    let arrival = |time, id, user| {
        format!(
            r#"{{"event":"arrival","time":{time},"job":{{"id":"{id}","log_id":17,"user":{user},"group":2,"executable":1,"queue":5,"partition":1,"procs":4,"estimate":{},"submit":{time},"request":{{"cpus":4,"memory_per_cpu":1,"partition":"1","qos":"5"}}}}}}"#,
            if id == 1 { 9 } else { 20 }
        )
    };
    let expected = [
        r#"{"hello":"shadowtime","protocol":1,"trace":"log","procs":4,"first_submit":5,"unix_start":1000,"keys":{"size":"a,b"}}"#,
        &arrival(5, 1, "3"),
        r#"{"event":"start","time":5,"id":"1"}"#,
        &arrival(6, 2, "3000000000"),
        r#"{"event":"miss","time":12,"id":"1","elapsed":7,"prediction":7,"misses":1}"#,
        r#"{"event":"termination","time":13,"id":"1","runtime":8}"#,
        r#"{"event":"start","time":13,"id":"2"}"#,
        r#"{"event":"miss","time":20,"id":"2","elapsed":7,"prediction":7,"misses":1}"#,
        // Raised to the estimate, then by the second increment, 5 minutes, and the third, 15 minutes.
        r#"{"event":"miss","time":33,"id":"2","elapsed":20,"prediction":20,"misses":2}"#,
        r#"{"event":"miss","time":333,"id":"2","elapsed":320,"prediction":320,"misses":3}"#,
    ];
    assert_eq!(lines[..expected.len()], expected);
    assert_eq!(lines.last(), Some(&r#"{"event":"termination","time":3000000013,"id":"2","runtime":3000000000}"#));
}

#[test]
fn a_program_that_breaks_the_contract_is_an_error_that_names_event_job_and_line() {
    let predict = |text: &str| {
        format!("id=${{line#*\\\"id\\\":\\\"}}; id=${{id%%\\\"*}}; echo \"{}\"", text.replace('"', "\\\""))
    };
    let first = "the arrival of job 1 (id 1) at time 0 with line 2 of its output";
    for (what, messages) in [
        (
            "exit 3".to_string(),
            &["ended (exit status: 3) before it answered the arrival of job 1 (id 1) at time 0"][..],
        ),
        ("kill -9 $$".to_string(), &["ended (signal: 9 (SIGKILL)) before it answered"]),
        (
            "exec >&-; sleep 300".to_string(),
            &["ended (it has closed its output) before it answered the arrival of job 1"],
        ),
        (r#"echo '[{"1":5}]'"#.to_string(), &[first, "this is an array; it should be like"]),
        ("echo hello".to_string(), &[first, "'hello': expected value at column 1; it should be like"]),
        ("echo '{}'".to_string(), &[first, "which has no prediction for this job"]),
        (predict(r#"{"predict":{"$id":0}}"#), &[first, "a whole number of seconds from 1 to"]),
        (predict(r#"{"predict":{"$id":2.5}}"#), &[first, "floating point `2.5`"]),
        (predict(r#"{"predict":{"$id":5,"99":5}}"#), &[first, "job '99' is neither waiting nor running"]),
        (
            r#"printf '{"predict":{"1":5}}\n{}\n'"#.to_string(),
            &["more than one line; line 3 of its output is one too many"],
        ),
        ("head -c 2000000 /dev/zero | tr '\\0' x".to_string(), &["a line of more than 1048576 bytes"]),
        ("printf '\\377\\n'".to_string(), &[first, "it should be like"]),
        (
            format!(
                "case $line in *arrival*) {};; *) echo '{{\"predict\":{{\"1\":1}}}}';; esac",
                predict(r#"{"predict":{"$id":1}}"#)
            ),
            &["the missed deadline of job", "1 s are predicted for job '1', which has already run for"],
        ),
    ] {
        let (_folder, spec) = answering(&what);
        let error = failure(&spec);
        let begin = format!("error: predictor '{spec}': the program 'sh ");
        assert!(error.starts_with(&begin), "{what}: {error}");
        messages.iter().for_each(|message| assert!(error.contains(message), "{what}: {error}"));
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn a_program_that_does_not_introduce_itself_is_an_error() {
    for (text, message) in [
        ("exit 0", "ended (exit status: 0) before it answered the greeting"),
        ("read -r hello; echo '{}'", "answered the greeting with line 1 of its output, '{}': missing field `name`"),
        ("read -r hello; echo '{\"name\":\"x\",\"events\":[]}'", "'arrival' must be one of its events"),
        (
            "read -r hello; echo '{\"name\":\"x\",\"events\":[\"end\"]}'",
            "unknown variant `end`, expected one of `arrival`",
        ),
    ] {
        let (_folder, spec) = script(text);
        let error = failure(&spec);
        assert!(error.contains(message), "{text}: {error}");
    }
    assert!(failure("exec:command=/no/such/program --x").contains("cannot start the program '/no/such/program --x': "));
    for (spec, message) in [
        ("exec", "predictor 'exec': name the program: exec:command=python3 my.py"),
        ("exec:timeout=5s", "name the program"),
        ("exec:comand=sh a", "no key 'comand'; did you mean 'command'?"),
        ("exec:command=sh a,Timeout=5s", "no key 'Timeout'; did you mean 'timeout'?"),
        ("exec:command=sh -c 'a,b'", "a command with commas is written in double quotes"),
        ("exec:command=sh 'a", "has a quotation mark without the one that ends it"),
        ("exec:command=\"sh a", "a '\"' without the one that ends it"),
        ("exec:command=x,timeout=0", "is not a duration of at least 1s"),
    ] {
        let Ran { code, err, .. } = sim(&["--predictor", spec]);
        assert!(code == 2 && err.contains(message), "{spec}: {err}");
    }
}

#[test]
fn a_silent_program_is_an_error_after_the_timeout() {
    for what in ["sleep 10000", "while :; do :; done"] {
        let (_folder, spec) = answering(what);
        // On a busy machine the greeting may take longer than a second, too.
        let tried = |timeout: &&str| {
            let error = failure(&format!("{spec},timeout={timeout}"));
            let expected =
                format!("did not answer the arrival of job 1 (id 1) at time 0 within {timeout}; it must flush");
            assert!(error.contains(&expected) || error.contains("did not answer the greeting within"), "{error}");
            error.contains(&expected)
        };
        assert!(["1s", "10s", "1m"].iter().any(tried));
    }
}

/// A script that starts another process, and writes the numbers of both into files beside it.
pub(crate) const WITH_CHILD: &str = "sleep 1000 & echo $! > \"$0.child\"; echo $$ > \"$0.pid\"\n";

fn is_running(folder: &Folder, file: &str) -> bool {
    let pid = fs::read_to_string(folder.path(file)).unwrap();
    // The script was ended before it wrote the number, so it has started nothing.
    if pid.trim().is_empty() {
        return false;
    }
    // A process that has ended but was not waited for has no command line.
    fs::read(format!("/proc/{}/cmdline", pid.trim())).is_ok_and(|line| !line.is_empty())
}

pub(crate) fn assert_all_gone(folder: &Folder) {
    for file in ["mine.sh.pid", "mine.sh.child"] {
        wait_until(file, || !is_running(folder, file));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn no_process_is_left_after_a_run_or_an_error() {
    let (folder, spec) = script(&format!("{WITH_CHILD}{ESTIMATE}echo 'seen the end' > \"$0.end\""));
    // On a busy machine a second may be too short for it to end by itself.
    let ends = |_| {
        sim_ok(&["--first", "20", "--baseline", "none", "--predictor", &spec]);
        assert_all_gone(&folder);
        fs::read(folder.path("mine.sh.end")).is_ok_and(|text| !text.is_empty())
    };
    assert!((0..20).any(ends));
    assert_eq!(folder.read("mine.sh.end"), "seen the end\n");
    // It ignores signals and the end of its input.
    let (folder, spec) = script(&format!("trap '' INT TERM HUP PIPE\n{WITH_CHILD}{ESTIMATE}while :; do sleep 1; done"));
    sim_ok(&["--first", "20", "--baseline", "none", "--predictor", &spec]);
    assert_all_gone(&folder);
    let (folder, spec) = script(&format!("{WITH_CHILD}read -r hello; echo nonsense; sleep 1000"));
    failure(&spec);
    assert_all_gone(&folder);
}

/// Starts the program with these arguments, and waits until the script has started too.
fn started(folder: &Folder, arguments: &[&str]) -> Child {
    let child = command(SIM)
        .args(arguments)
        .current_dir(folder.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("no program was started", || {
        fs::read_to_string(folder.path("mine.sh.pid")).is_ok_and(|pid| pid.ends_with('\n'))
    });
    child
}

#[cfg(target_os = "linux")]
#[test]
fn no_process_is_left_after_an_interrupt() {
    let text = format!("trap '' INT TERM HUP\n{WITH_CHILD}{ESTIMATE}");
    // While it answers, while it does not, and with many of them.
    for (text, arguments) in [
        (text.clone(), &["-q", "--repeat", "1000"][..]),
        (text.replace("do\n", "do sleep 1000\n"), &["-q"]),
        (text.clone(), &["-q", "sweep", "--load", "0.5..1.5:0.001", "--threads", "4", "--out", "study"]),
    ] {
        for signal in not_ignored(&["-INT", "-TERM", "-HUP", "-QUIT"]) {
            let (folder, spec) = script(&text);
            let child = started(&folder, &[arguments, &["--predictor", &format!("{spec},timeout=1000s")]].concat());
            let group = format!("{}", child.id());
            assert!(command("kill").args([signal, &group]).status().unwrap().success());
            let output = child.wait_with_output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(130), "{arguments:?}: {err}");
            assert!(err.starts_with("interrupted") && err.lines().count() == 1, "{err}");
            assert_all_gone(&folder);
            // Every other program of the sweep too.
            let path = folder.text("mine.sh");
            wait_until("programs are left", || running_with(&path) == 0);
        }
    }
}

/// The number of processes with this text in their command lines.
fn running_with(text: &str) -> usize {
    let has = |entry: &fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").starts_with(&format!("sh {text}"))
    };
    fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter(has).count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_sees_the_end_of_its_input_if_this_one_is_killed() {
    // If this program is killed before it has read an answer, writing the answer must not end the script.
    let ending = "kill $(cat \"$0.child\"); echo over > \"$0.end\"";
    let (folder, spec) = script(&format!("trap '' PIPE\n{WITH_CHILD}{ESTIMATE}{ending}"));
    let mut child = started(&folder, &["-q", "--repeat", "1000", "--predictor", &spec]);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("the program goes on", || {
        fs::read_to_string(folder.path("mine.sh.end")).is_ok_and(|text| text == "over\n")
    });
    assert_all_gone(&folder);
}

#[cfg(target_os = "linux")]
#[test]
fn no_process_is_left_after_a_panic() {
    struct Panics(usize);

    impl Observer for Panics {
        fn on(&mut self, _time: i64, event: &Event<'_>, _machine: &Machine) {
            self.0 += usize::from(matches!(event, Event::Arrival(_)));
            assert!(self.0 < 10, "this panic is part of a test");
        }
    }

    let (folder, spec) = script(&format!("{WITH_CHILD}{ESTIMATE}sleep 1000"));
    let setting = Setting::parse("easy", &spec).unwrap();
    let run = move || setting.run(&shadowtime::trace::demo_workload(), Some(&mut Panics(0)), &mut |_| ()).map(|_| ());
    let ended = std::thread::spawn(run).join();
    assert!(ended.is_err());
    assert_all_gone(&folder);
}

#[test]
fn a_sweep_computes_again_what_a_changed_program_has_computed() {
    let folder = Folder::new();
    let path = folder.write("mine.sh", ESTIMATE);
    let version = |version: &str| ESTIMATE.replace("\"name\"", &format!("\"version\":\"{version}\",\"name\""));
    let spec = format!("exec:command=sh {path},size={{1|2}}");
    let out = folder.text("study");
    let lists =
        ["sweep", "--first", "60", "--predictor", &spec, "--scheduler", "easy,sjbf", "--format", "csv", "--out", &out];
    let sweep = |more: &[&str]| sim(&[&lists[..], more].concat());
    let Ran { code, out: first, err } = sweep(&["--threads", "4"]);
    assert!(code == 0 && err.contains("4 cells: 0 reused, 4 computed"), "{err}");
    assert!(first.lines().next().unwrap().ends_with(",predictor.size,options"), "{first}");
    let computed = |what: &str, number: usize, more: &[&str]| {
        let Ran { code, out, err } = sweep(&[&["--resume"], more].concat());
        assert_eq!((code, out.as_str()), (0, first.as_str()), "{err}");
        let expected = format!("4 cells: {} reused, {number} computed", 4 - number);
        assert!(err.contains(&expected), "{what}: {err}");
    };
    computed("nothing has changed", 0, &[]);
    fs::write(&path, format!("{ESTIMATE}# changed\n")).unwrap();
    computed("the content", 4, &[]);
    fs::write(&path, ESTIMATE).unwrap();
    computed("as before", 0, &[]);
    // The version alone: the file that the command names does not change.
    let inner = folder.write("inner.sh", version("1"));
    fs::write(&path, format!("exec sh {inner}\n")).unwrap();
    computed("another program", 4, &[]);
    fs::write(&inner, version("2")).unwrap();
    computed("the version", 4, &[]);
    fs::write(&inner, version("1")).unwrap();
    computed("the first version", 0, &[]);
    // Neither starts the program; both know what it computed last.
    fs::write(&inner, "touch \"$0.started\"; exit 1\n").unwrap();
    assert_eq!(sim_ok(&["sweep", "status", &out]).lines().next(), Some("4 cells: 4 done, 0 failed, 0 missing"));
    sim_ok(&["sweep", "merge", &out]);
    assert!(!folder.path("inner.sh.started").exists());
    // If the program cannot be started, finished cells stay finished.
    computed("a broken program", 0, &[]);
    let other = spec.replace("{1|2}", "3");
    let Ran { code, err, .. } = sim(&["sweep", "--predictor", &other, "--out", &folder.text("new")]);
    assert!(code == 1 && err.contains("ended (exit status: 1) before it answered the greeting"), "{err}");
}

#[test]
fn a_program_in_a_file_is_only_started_if_that_is_allowed() {
    let folder = Folder::new();
    let path = folder.write("mine.sh", format!("touch \"$0.started\"\n{ESTIMATE}"));
    let spec = format!("exec:command=sh {path}");
    let out = folder.text("study");
    let lists = folder.write("lists.toml", format!("first = 50\nbaseline = 'easy/{spec}'\n"));
    let refused = |arguments: &[&str], place: &str| {
        let Ran { code, err, .. } = sim(arguments);
        let message = format!("{place}: a predictor starts the program 'sh {path}'; --allow-exec allows this");
        assert!(code == 2 && err.contains(&message), "{err}");
        assert!(!folder.path("mine.sh.started").exists());
    };
    refused(&["sweep", &lists, "--out", &out], &format!("{lists}: line 2"));
    // The list of the command line replaces that of the file.
    sim_ok(&["sweep", &lists, "--baseline", "none", "--out", &folder.text("other")]);
    assert!(!folder.path("mine.sh.started").exists());
    sim_ok(&["sweep", &lists, "--allow-exec", "--out", &out]);
    fs::remove_file(folder.path("mine.sh.started")).unwrap();
    refused(&["sweep", "--resume", "--out", &out], &format!("{out}/grid.toml"));
    refused(&["sweep", "--shard", "1/2", "--out", &out], &format!("{out}/grid.toml"));
    sim_ok(&["sweep", &lists, "--out", &out, "--dry-run"]);
    assert!(!folder.path("mine.sh.started").exists());
    sim_ok(&["sweep", "--resume", "--allow-exec", "--out", &out]);
    fs::remove_file(folder.path("mine.sh.started")).unwrap();
    let log = folder.write("log.swf", crate::support::demo_text());
    let sites =
        folder.write("sites.toml", format!("[[site]]\nname = 'A'\nlog = '{log}'\nfirst = 50\npredictor = '{spec}'\n"));
    refused(&["meta", &sites, "--policy", "static"], &sites);
    sim_ok(&["meta", &sites, "--policy", "static", "--allow-exec"]);
    assert!(folder.path("mine.sh.started").exists());
}

#[test]
fn the_example_in_python_gives_the_bytes_of_ruh() {
    const TEST: &str = "the_example_in_python_gives_the_bytes_of_ruh";
    if !has_python(TEST) {
        return;
    }
    let folder = Folder::new();
    let path = folder.write("ruh.py", sim_ok(&["list", "predictors", "--example", "python"]));
    let spec = format!("exec:command=python3 {path}");
    let same = |log: &[&str]| {
        let run = |predictor: &str| {
            let [jobs, predictions, schedule] = ["jobs", "predictions", "schedule"].map(|name| folder.text(name));
            let files = ["--jobs-out", &jobs, "--predictions-out", &predictions, "--swf-out", &schedule];
            let what = ["--predictor", predictor, "--baseline", "easy/estimate", "--format", "csv"];
            let row = named(&sim_ok(&[&what[..], log, &files].concat()), predictor, "ruh");
            let schedule = named(&fs::read_to_string(schedule).unwrap(), predictor, "ruh");
            (row, schedule, fs::read_to_string(jobs).unwrap(), fs::read_to_string(predictions).unwrap())
        };
        let (program, built_in) = (run(&spec), run("ruh"));
        assert!(program.0 == built_in.0 && program.1 == built_in.1, "{}\n{}", program.0, built_in.0);
        assert!(program.2 == built_in.2 && program.3 == built_in.3);
    };
    same(&[]);
    let Some(logs) = real_logs(TEST) else { return };
    let kth = real_log(&logs, "KTH-SP2-1996-2.1-cln.swf.gz");
    same(&["--trace", kth.to_str().unwrap()]);
    // The handed-on key.
    let mean = |predictor: &str| {
        let row =
            sim_ok(&["--trace", kth.to_str().unwrap(), "--first", "2000", "--predictor", predictor, "--format", "csv"]);
        named(&row, predictor, "P")
    };
    assert_eq!(mean(&format!("{spec},window=2")), mean("ruh:window=2"));
}

#[test]
fn examples_are_printed_where_there_are_some() {
    assert!(sim_ok(&["list", "predictors", "--example", "rust"]).contains("shadowtime::cli::run_with(&MINE"));
    assert!(sim_ok(&["list", "schedulers", "--example", "rust"]).contains("shadowtime::cli::run_with(&[], &MINE"));
    for arguments in [&["list", "--example", "python"][..], &["list", "predictors", "--example", "order"]] {
        let Ran { code, err, .. } = sim(arguments);
        assert!(code == 2 && err.contains("sim list predictors --example python"), "{err}");
    }
    assert_eq!(sim(&["list", "predictors", "--example", "cobol"]).code, 2);
}

/// Paths with blanks are written in quotes, as in a shell.
#[test]
fn the_command_is_split_into_words_and_nothing_is_expanded() {
    let folder = Folder::new();
    fs::create_dir(folder.path("a folder")).unwrap();
    let path = folder.write("a folder/mine.sh", format!("printf '%s\\n' \"$@\" > \"$0.words\"\n{ESTIMATE}"));
    let spec = format!(r#"exec:command="sh '{path}' $HOME * a\\ b --x=1,2 {{c}} \"d  e\"""#);
    sim_ok(&["--first", "9", "--predictor", &spec]);
    assert_eq!(folder.read("a folder/mine.sh.words"), "$HOME\n*\na b\n--x=1,2\n{c}\nd  e\n");
}

/// `sim predict` is itself such a program. It works out missed deadlines alone, and is also sent those of the simulation.
#[test]
fn the_service_for_production_predicts_as_the_predictor_in_it() {
    for predictor in
        ["estimate", "easy++", "ruh:propagate=on", "sbh", "sbh-noest", "gibbons", "downey", "kin", "learned"]
    {
        let run = |spec: &str| {
            let row = sim_ok(&["--first", "800", "--predictor", spec, "--baseline", "none", "--format", "csv"]);
            named(&row, spec, "P")
        };
        let spec = format!("exec:command={SIM} predict -q --predictor {predictor}");
        assert_eq!(run(&spec), run(predictor), "{predictor}");
    }
    // And the other way round: a program answers what the service is asked.
    let (_folder, spec) = script(ESTIMATE);
    let arrival = r#"{"event":"arrival","time":1700000000,"job":{"id":"a","user":"u","procs":1,"estimate":77}}"#;
    let Ran { code, out, err } = sim_fed(&["predict", "-q", "--predictor", &spec], format!("{arrival}\n").as_bytes());
    assert_eq!((code, out.as_str(), err.as_str()), (0, "{\"predict\":{\"a\":77}}\n", ""));
    // It can tell users apart by their numbers: this one predicts the number of the user.
    let (_folder, spec) = answering(
        r#"id=${line#*\"id\":\"}; user=${line#*\"user\":-}; echo "{\"predict\":{\"${id%%\"*}\":${user%%,*}}}""#,
    );
    let both = format!("{arrival}\n{}\n", arrival.replace(r#""a""#, r#""b""#).replace(r#""u""#, r#""v""#));
    let Ran { out, err, .. } = sim_fed(&["predict", "-q", "--predictor", &spec], both.as_bytes());
    assert_eq!(out, "{\"predict\":{\"a\":2}}\n{\"predict\":{\"b\":3}}\n", "{err}");
    let (_folder, spec) = answering("exit 1");
    let Ran { code, out, err } = sim_fed(&["predict", "-q", "--predictor", &spec], format!("{arrival}\n").as_bytes());
    assert!(code == 1 && out.is_empty() && err.contains("ended (exit status: 1) before it answered"), "{err}");
}

#[test]
fn a_version_may_depend_on_the_keys_of_the_program() {
    let folder = Folder::new();
    let loop_of_estimate = ESTIMATE.split_once("]}'\n").unwrap().1;
    let path = folder.write(
        "mine.sh",
        format!(
            "read -r hello\nversion=1\ncase $hello in *'\"size\":\"2\"'*) version=$(cat \"$0.version\");; esac\n\
             echo \"{{\\\"name\\\":\\\"x\\\",\\\"version\\\":\\\"$version\\\",\\\"events\\\":[\\\"arrival\\\"]}}\"\n{loop_of_estimate}"
        ),
    );
    let spec = format!("exec:command=sh {path},size={{1|2}}");
    let out = folder.text("study");
    let sweep = |more: &[&str]| {
        let Ran { code, err, .. } =
            sim(&[&["sweep", "--first", "30", "--predictor", &spec, "--out", &out], more].concat());
        assert_eq!(code, 0, "{err}");
        err
    };
    folder.write("mine.sh.version", "1");
    assert!(sweep(&[]).contains("2 cells: 0 reused, 2 computed"));
    folder.write("mine.sh.version", "2");
    let err = sweep(&["--resume"]);
    assert!(err.contains("2 cells: 1 reused, 1 computed"), "{err}");
}

/// A line that nobody asked for would be the answer to the next event.
#[test]
fn a_line_that_comes_unasked_is_an_error() {
    let (folder, spec) = answering(
        "echo '{\"predict\":{\"1\":5}}'; sleep 0.2; echo '{\"predict\":{\"1\":7}}'; echo again; : > \"$0.wrote\"",
    );
    let mut child = command(SIM)
        .args(["-q", "predict", "--predictor", &spec])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut events = child.stdin.take().unwrap();
    let arrival = |id| format!(r#"{{"event":"arrival","time":5,"job":{{"id":"{id}","estimate":9}}}}"#);
    writeln!(events, "{}", arrival("a")).unwrap();
    wait_until("the second line was written", || folder.path("mine.sh.wrote").exists());
    writeln!(events, "{}", arrival("b")).unwrap();
    drop(events);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"predict\":{\"a\":5}}\n");
    let error = String::from_utf8_lossy(&output.stderr);
    let message = "wrote line 3 of its output, '{\"predict\":{\"1\":7}}', unasked, before the arrival of job";
    assert!(output.status.code() == Some(1) && error.contains(message), "{error}");
}
