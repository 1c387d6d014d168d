//! Schedulers that are programs: the protocol, its errors, the life of the processes, and every command that schedules.
//!
//! The programs are scripts of the shell, so that these tests need nothing else. More tests run the examples in Python.

use std::collections::BTreeMap;
use std::fs;

use crate::exec::{ESTIMATE, WITH_CHILD, assert_all_gone, named, script};
use crate::support::{Folder, Ran, command, demo_text, has_python, real_log, real_logs, sim, sim_fed, sim_ok};

const SIM: &str = env!("CARGO_BIN_EXE_sim");

/// Leaves everything to the order of arrival, as `easy` does.
const PLAIN_ORDER: &str = r#"read -r hello
echo '{"name":"order"}'
while read -r line; do echo '{"order":[]}'; done
"#;

/// Two nodes of two CPUs.
const TWO_NODES: &str = "[[nodes]]\nname = 'n[1-2]'\ncpus = 2\nmemory = 1000\ngpus = 1\n";

/// A job of a small log: its number, submission, runtime, processors and estimate.
fn record(number: i64, submit: i64, runtime: i64, procs: i64, estimate: i64) -> String {
    format!("{number} {submit} 0 {runtime} {procs} 1 -1 {procs} {estimate} -1 1 3 2 1 5 1 1 1\n")
}

/// A script that keeps every line, and answers with these lines.
fn answers(lines: &[&str]) -> (Folder, String) {
    let (folder, spec) = script(
        "exec 3< \"$0.answers\"; read -r hello; echo \"$hello\" > \"$0.lines\"\n\
         echo '{\"name\":\"x\",\"wants\":[\"start\",\"prediction\"]}'\n\
         while read -r line; do echo \"$line\" >> \"$0.lines\"; read -r answer <&3; echo \"$answer\"; done\n",
    );
    folder.write(
        "mine.sh.answers",
        lines.iter().map(|line| format!("{}\n", line.replace('\\', "\\\\"))).collect::<String>(),
    );
    (folder, spec)
}

fn kept_lines(folder: &Folder) -> Vec<String> {
    folder.read("mine.sh.lines").lines().map(str::to_string).collect()
}

#[test]
fn a_program_that_orders_as_easy_gives_its_bytes_in_every_command() {
    let (folder, spec) = script(PLAIN_ORDER);
    let log = folder.write("log.swf", demo_text());
    let same = |arguments: &dyn Fn(&str) -> Vec<String>| {
        let run = |scheduler: &str| {
            let arguments = arguments(scheduler);
            named(&sim_ok(&arguments.iter().map(String::as_str).collect::<Vec<_>>()), scheduler, "S")
        };
        assert_eq!(run(&spec), run("easy"));
    };
    let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    let with = |text: &str, more: &[String]| [words(text), more.to_vec()].concat();
    let pair = |scheduler: &str, predictor: &str| format!("{scheduler}/{predictor}");
    // The runs of one setting, with the schedule of each job.
    let jobs = |scheduler: &str| {
        let out = folder.text("jobs.csv");
        let row = sim_ok(&[
            "--first",
            "1500",
            "--predictor",
            "kin",
            "--scheduler",
            scheduler,
            "--baseline",
            "none",
            "--jobs-out",
            &out,
        ]);
        (named(&row, scheduler, "S"), fs::read_to_string(out).unwrap())
    };
    assert!(jobs(&spec) == jobs("easy"));
    // Lists, replications and baselines.
    same(&|scheduler| {
        let more = ["--scheduler".to_string(), scheduler.to_string(), "--baseline".to_string(), pair(scheduler, "ruh")];
        let text = "--first 300 --predictor estimate,ruh --replications 3 --threads 3 --format csv";
        with(text, &more)
    });
    same(&|scheduler| {
        let candidates = [pair(scheduler, "ruh"), pair("fcfs", "ruh")].join(",");
        let text = "recommend --present fcfs/estimate --first 600 --replications 2 --format csv --candidates";
        with(text, &[candidates])
    });
    same(&|scheduler| {
        let sites = [format!("A={log}:first=300"), format!("B={log}:first=200")];
        let text = "meta --policy static,redundant --predictor estimate --format csv --scheduler";
        with(text, &[scheduler.to_string(), "--site".into(), sites[0].clone(), "--site".into(), sites[1].clone()])
    });
    let page = folder.text("report.html");
    sim_ok(&["report", "--first", "300", "--scheduler", &spec, "--predictor", "estimate", "--out", &page]);
    assert!(fs::read_to_string(page).unwrap().contains("exec:command"));
    // A program that predicts beside it.
    let (_folder, estimate) = script(ESTIMATE);
    let beside = |scheduler: &str, predictor: &str| {
        let row = sim_ok(&[
            "--first",
            "600",
            "--scheduler",
            scheduler,
            "--predictor",
            predictor,
            "--baseline",
            "none",
            "--format",
            "csv",
        ]);
        named(&named(&row, scheduler, "S"), predictor, "P")
    };
    assert_eq!(beside(&spec, &estimate), beside("easy", "estimate"));
}

#[test]
fn the_keys_of_easy_hold_for_passes_with_an_order() {
    let (folder, spec) = script(PLAIN_ORDER);
    let one = folder.write("one.toml", "[[nodes]]\nname = 'n[1-128]'\ncpus = 1\n");
    let eight = folder.write("eight.toml", "[[nodes]]\nname = 'n[1-16]'\ncpus = 8\n");
    let run = |scheduler: &str, more: &[&str]| {
        let jobs = folder.text("jobs.csv");
        let arguments = ["--first", "800", "--predictor", "ruh", "--baseline", "none", "--jobs-out", &jobs];
        sim_ok(&[&arguments[..], &["--scheduler", scheduler], more].concat());
        fs::read_to_string(jobs).unwrap()
    };
    for keys in ["running=estimate", "scan=spf", "reservations=3", "reservations=all,running=estimate", "scan=saf"] {
        for more in [&[][..], &["--machine", &one], &["--machine", &eight], &["--inflate", "2"]] {
            let easy = run(&format!("easy:{keys}"), more);
            assert!(run(&format!("{spec},{keys}"), more) == easy, "{keys} {more:?}");
        }
    }
    assert_ne!(run("easy:scan=spf", &[]), run("easy", &[]));
}

#[test]
fn lines_say_what_happened_and_answers_are_followed() {
    let lines = [
        r#"{"start":["1"],"wake":6}"#,
        r#"{"wake":9}"#,
        r#"{"wake":null,"reserved":{"2":13}}"#,
        r#"{"start":["3"],"again":true}"#,
        "{}",
        r#" {"start" : ["2"], "wake" : 22.0} "#,
        "{}",
        r#"{"start":["4"]}"#,
    ];
    let (folder, spec) = answers(&lines);
    let jobs = [record(17, 5, 8, 4, 9), record(18, 6, 10, 4, 5), record(17, 7, 3, 1, 20), record(20, 21, 1, 2, 9)];
    let log = folder.write("log.swf", format!("; MaxProcs: 4\n; UnixStartTime: 1000\n{}", jobs.concat()));
    let (spec, out) = (format!("{spec},size=\"a,b\",scan=spf"), folder.text("jobs.csv"));
    let arguments = ["--trace", &log, "--scheduler", &spec, "--predictor", "estimate", "--baseline", "none"];
    sim_ok(&[&arguments[..], &["--jobs-out", &out]].concat());
    let job = |id: i64, log_id: i64, submit: i64, procs: i64, estimate: i64| {
        format!(
            r#"{{"id":"{id}","log_id":{log_id},"user":3,"group":2,"executable":1,"queue":5,"partition":1,"procs":{procs},"estimate":{estimate},"submit":{submit},"prediction":{estimate}}}"#
        )
    };
    let expected = [
        r#"{"hello":"shadowtime","protocol":1,"role":"scheduler","trace":"log","procs":4,"machine":null,"first_submit":5,"unix_start":1000,"inflate":1.0,"keys":{"size":"a,b"}}"#.to_string(),
        format!(r#"{{"pass":5,"free":4,"arrived":[{}]}}"#, job(1, 17, 5, 4, 9)),
        format!(r#"{{"pass":6,"free":0,"arrived":[{}],"started":["1"],"woken":true}}"#, job(2, 18, 6, 4, 5)),
        // The third job arrived at 7, when nothing was free.
        format!(r#"{{"pass":9,"free":0,"arrived":[{}],"woken":true}}"#, job(3, 17, 7, 1, 20)),
        r#"{"pass":13,"free":4,"ended":[{"id":"1","time":13,"runtime":8}]}"#.to_string(),
        r#"{"pass":13,"free":3,"started":["3"]}"#.to_string(),
        r#"{"pass":16,"free":4,"ended":[{"id":"3","time":16,"runtime":3}]}"#.to_string(),
        // It has outlived its estimate at 21.
        format!(
            r#"{{"pass":22,"free":0,"arrived":[{}],"started":["2"],"predicted":{{"2":65}},"woken":true}}"#,
            job(4, 20, 21, 2, 9)
        ),
        r#"{"pass":26,"free":4,"ended":[{"id":"2","time":26,"runtime":10}]}"#.to_string(),
    ];
    let lines = kept_lines(&folder);
    assert_eq!(lines, expected);
    assert_eq!(fs::read_to_string(out).unwrap().lines().count(), 5);
}

#[test]
fn outages_are_told_when_they_change() {
    let (folder, spec) = answers(&[r#"{"start":["1"]}"#, "{}", "{}", r#"{"start":["1"]}"#]);
    let log = folder.write("log.swf", format!("; MaxProcs: 4\n{}", record(1, 0, 30, 2, 40)));
    let outages = "start,end,announced,procs,kind,name\n10,20,,3,down,\n90,95,15,all,maintenance,service\n";
    let outages = folder.write("outages.csv", outages);
    let shared = ["--trace", &log, "--predictor", "estimate", "--baseline", "none", "--outages", &outages];
    sim_ok(&[&shared[..], &["--scheduler", &spec]].concat());
    let lines = kept_lines(&folder);
    let service = r#"{"end":95,"kind":"maintenance","name":"service","procs":4,"start":90}"#;
    let expected = [
        // The end is not known before it comes.
        r#"{"pass":10,"free":1,"started":["1"],"requeued":["1"],"outages":[{"kind":"down","procs":3,"start":10}]}"#
            .to_string(),
        format!(r#"{{"pass":15,"free":1,"outages":[{{"kind":"down","procs":3,"start":10}},{service}]}}"#),
        format!(r#"{{"pass":20,"free":4,"outages":[{service}]}}"#),
    ];
    assert_eq!(lines[2..], expected);
}

#[test]
fn nodes_are_told_and_can_be_named() {
    let lines = [
        r#"{"start":[{"id":"1","nodes":{"n2":2}}]}"#,
        r#"{"start":["2",{"id":"3","nodes":{"n1":1}}]}"#,
        r#"{"order":["4"]}"#,
        "{}",
        r#"{"order":["4"]}"#,
        r#"{"start":["5"]}"#,
    ];
    let (folder, spec) = answers(&lines);
    let jobs = [
        record(1, 0, 5, 2, 9),
        record(2, 1, 3, 1, 9),
        record(3, 1, 3, 1, 9),
        record(4, 2, 1, 3, 9),
        record(5, 5, 1, 2, 9),
    ];
    let log = folder.write("log.swf", format!("; MaxProcs: 4\n{}", jobs.concat()));
    let machine = folder.write("site.toml", TWO_NODES);
    let run = |spec: &str| {
        let arguments = ["--trace", &log, "--scheduler", spec, "--predictor", "estimate", "--baseline", "none"];
        sim(&[&arguments[..], &["--machine", &machine]].concat())
    };
    assert_eq!(run(&spec).err.lines().find(|line| line.starts_with("error")), None);
    let job = |id: i64, submit: i64, procs: i64| {
        format!(
            r#"{{"id":"{id}","log_id":{id},"user":3,"group":2,"executable":1,"queue":5,"partition":1,"procs":{procs},"estimate":9,"submit":{submit},"prediction":9,"request":{{"cpus":{procs}}}}}"#
        )
    };
    let expected = [
        r#"{"hello":"shadowtime","protocol":1,"role":"scheduler","trace":"log","procs":4,"machine":{"ignores_memory":true,"nodes":[{"cpus":2,"gpus":1,"memory":"1000M","name":"n[1-2]"}],"partitions":[{"default":true,"name":"all","nodes":"ALL"}]},"first_submit":0,"unix_start":null,"inflate":1.0,"keys":{}}"#.to_string(),
        format!(r#"{{"pass":0,"nodes":{{"n1":[2,1000,1],"n2":[2,1000,1]}},"arrived":[{}]}}"#, job(1, 0, 2)),
        format!(
            r#"{{"pass":1,"nodes":{{"n2":[0,1000,1]}},"arrived":[{},{}],"started":[{{"id":"1","nodes":{{"n2":[2,0,0]}}}}]}}"#,
            job(2, 1, 1),
            job(3, 1, 1)
        ),
        format!(
            r#"{{"pass":2,"nodes":{{"n1":[0,1000,1]}},"arrived":[{}],"started":[{{"id":"2","nodes":{{"n1":[1,0,0]}}}},{{"id":"3","nodes":{{"n1":[1,0,0]}}}}]}}"#,
            job(4, 2, 3)
        ),
        r#"{"pass":4,"nodes":{"n1":[2,1000,1]},"ended":[{"id":"2","time":4,"runtime":3},{"id":"3","time":4,"runtime":3}]}"#.to_string(),
        format!(
            r#"{{"pass":5,"nodes":{{"n2":[2,1000,1]}},"arrived":[{}],"ended":[{{"id":"1","time":5,"runtime":5}}]}}"#,
            job(5, 5, 2)
        ),
    ];
    let lines = kept_lines(&folder);
    assert_eq!(lines[..6], expected[..6]);
    assert!(lines[6].starts_with(r#"{"pass":6,"ended":[{"id":"4","#), "{}", lines[6]);
    assert!(lines[6].ends_with(r#""started":[{"id":"4","nodes":{"n1":[2,0,0],"n2":[1,0,0]}}]}"#), "{}", lines[6]);
    for (answer, message) in [
        (
            r#"{"start":[{"id":"1","nodes":{"n3":2}}]}"#,
            "job 1 (id 1) is started on the node 'n3', which does not exist",
        ),
        (r#"{"start":[{"id":"1","nodes":{"n1":1}}]}"#, "is started on 1 node, but it asks for another number of CPUs"),
        (r#"{"start":[{"id":"1","nodes":{"n1":1,"n1":1}}]}"#, "on 2 nodes, but it was given a node twice"),
        (r#"{"start":[{"id":"1","nodes":{"n1":3}}]}"#, "it asks for another number of CPUs"),
        (r#"{"start":[{"id":"1","nodes":[1]}]}"#, "names of nodes with their CPUs"),
        (r#"{"start":[{"id":"1","cpus":1}]}"#, "unknown field `cpus`"),
    ] {
        let (_folder, spec) = answers(&[answer]);
        let Ran { code, err, .. } = run(&spec);
        assert!(code == 1 && err.contains(message) && err.contains("the pass at time 0"), "{answer}: {err}");
    }
    // The second job of two CPUs is asked to share a node with the first.
    let (_folder, spec) =
        answers(&[r#"{"start":[{"id":"1","nodes":{"n2":2}}]}"#, r#"{"start":[{"id":"2","nodes":{"n2":1}}]}"#]);
    let Ran { code, err, .. } = run(&spec);
    assert!(
        code == 1 && err.contains("job 2 (id 2) is started on 1 node, but its nodes do not have what it was given"),
        "{err}"
    );
    let (_folder, spec) = answers(&["{}", "{}", r#"{"start":["1","2","4"]}"#]);
    let Ran { code, err, .. } = run(&spec);
    assert!(code == 1 && err.contains("job 4 (id 4) does not fit what is free on the nodes"), "{err}");
}

/// The error of a program on a small log, in which the second job waits for the first.
fn failure(spec: &str) -> String {
    let folder = Folder::new();
    let jobs = [record(7, 5, 8, 3, 9), record(8, 5, 10, 3, 9)].concat();
    let log = folder.write("log.swf", format!("; MaxProcs: 4\n{jobs}"));
    let Ran { code, out, err } =
        sim(&["-q", &log, "--scheduler", spec, "--predictor", "estimate", "--baseline", "none"]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
    err
}

#[test]
fn a_program_that_breaks_the_contract_is_an_error_that_names_time_job_and_line() {
    let first = "answered the pass at time 5 with line 2 of its output, '";
    let answer = |text: &str| format!("echo '{text}'");
    for (what, messages) in [
        ("exit 3".to_string(), &["ended (exit status: 3) before it answered the pass at time 5"][..]),
        ("kill -9 $$".to_string(), &["ended (signal: 9 (SIGKILL)) before it answered"]),
        (
            "exec >&-; sleep 300".to_string(),
            &["ended (it has closed its output) before it answered the pass at time 5"],
        ),
        (answer(r#"[["1"]]"#), &[first, "this is an array; it should be like"]),
        (answer("hello"), &[first, "'hello': expected value at column 1; it should be like"]),
        ("printf '{}\\n{}\\n'".to_string(), &["more than one line; line 3 of its output is one too many"]),
        ("head -c 2000000 /dev/zero | tr '\\0' x".to_string(), &["a line of more than 1048576 bytes"]),
        ("printf '\\377\\n'".to_string(), &[first, "it should be like"]),
        (answer(r#"{"starts":["1"]}"#), &[first, "unknown field `starts`"]),
        (answer(r#"{"start":[1]}"#), &[first, "the id of a job, or an object"]),
        (answer(r#"{"start":["3"]}"#), &[first, "no job with the id '3' has arrived"]),
        (answer(r#"{"start":["x"]}"#), &[first, "no job with the id 'x' has arrived"]),
        (answer(r#"{"start":["1","1"]}"#), &[first, "job 7 (id 1) is started twice"]),
        (answer(r#"{"start":["1","2"]}"#), &[first, "job 8 (id 2) needs 3 processors, but 1 are free"]),
        (
            answer(r#"{"start":[{"id":"1","nodes":{"n1":3}}]}"#),
            &[first, "is started on nodes, but the machine has none"],
        ),
        (answer(r#"{"order":["2","1","2"]}"#), &[first, "job 8 (id 2) is named twice"]),
        (answer(r#"{"order":["9"]}"#), &[first, "no job with the id '9' has arrived"]),
        (answer(r#"{"start":["1"],"order":["2"]}"#), &[first, "start and order exclude each other"]),
        (answer(r#"{"again":true}"#), &[first, "again needs a start"]),
        (answer(r#"{"start":[],"again":true}"#), &[first, "again needs a start"]),
        (answer(r#"{"wake":5}"#), &[first, "a wake at 5 is not after now, 5"]),
        (answer(r#"{"wake":4}"#), &[first, "a wake at 4 is not after now, 5"]),
        (answer(r#"{"wake":5.5}"#), &[first, "floating point `5.5`, expected a time"]),
        (answer(r#"{"wake":"6"}"#), &[first, "expected a time"]),
        (answer(r#"{"reserved":{"3":9}}"#), &[first, "a start is reserved for the job '3', which does not wait"]),
        (
            answer(r#"{"start":["1"],"again":true}"#),
            &["answered the pass at time 5 with line 3 of its output", "job 7 (id 1) is started twice"],
        ),
        (
            answer(r#"{"start":["1"]}"#),
            &["answered the pass at time 13 with line 3 of its output", "job 7 (id 1) does not wait"],
        ),
        (
            r#"case $line in *started*) echo '{"order":[]}';; *) echo '{"start":["1"],"again":true}';; esac"#
                .to_string(),
            &["an order cannot follow the starts of the same pass"],
        ),
    ] {
        let (_folder, spec) = answering(&what);
        let error = failure(&spec);
        let begin = format!("error: scheduler '{spec}': the program 'sh ");
        assert!(error.starts_with(&begin), "{what}: {error}");
        messages.iter().for_each(|message| assert!(error.contains(message), "{what}: {error}"));
    }
}

/// A script that answers the greeting and then does this for each line.
fn answering(what: &str) -> (Folder, String) {
    script(&format!(
        "read -r hello\necho '{{\"name\":\"x\",\"wants\":[\"start\"]}}'\nwhile read -r line; do\n{what}\ndone\n"
    ))
}

#[test]
fn a_program_that_does_not_introduce_itself_is_an_error() {
    for (text, message) in [
        ("exit 0", "ended (exit status: 0) before it answered the greeting"),
        ("read -r hello; echo '{}'", "answered the greeting with line 1 of its output, '{}': missing field `name`"),
        (
            "read -r hello; echo '{\"name\":\"x\",\"wants\":[\"starts\"]}'",
            "unknown variant `starts`, expected `start` or `prediction`",
        ),
        (
            "read -r hello; echo '{\"name\":\"x\",\"episode\":{\"first_job\":0,\"jobs\":1}}'",
            "only the caller of sim can play episodes: exec:command=-",
        ),
    ] {
        let (_folder, spec) = script(text);
        let error = failure(&spec);
        assert!(error.contains(message), "{text}: {error}");
    }
    assert!(failure("exec:command=/no/such/program").contains("cannot start the program '/no/such/program': "));
    for (spec, message) in [
        ("exec", "scheduler 'exec': name the program: exec:command=python3 my.py"),
        ("exec:comand=sh a", "no key 'comand'; did you mean 'command'?"),
        ("exec:command=sh a,Scan=spf", "no key 'Scan'; did you mean 'scan'?"),
        ("exec:command=x,scan=sjf", "'sjf' is not one of fcfs, lcfs, spf"),
        ("exec:command=x,reservations=0", "is not a whole number of at least 1, or all"),
    ] {
        let Ran { code, err, .. } = sim(&["--scheduler", spec]);
        assert!(code == 2 && err.contains(message), "{spec}: {err}");
    }
    let (_folder, spec) = answering("sleep 10000");
    let error = failure(&format!("{spec},timeout=1s"));
    assert!(error.contains("did not answer the pass at time 5 within 1s") || error.contains("greeting"), "{error}");
}

#[test]
fn jobs_that_never_start_are_an_error_with_their_number() {
    for (what, message) in [
        ("echo '{}'", "never starts job 7, the first of 2 waiting jobs at time 5"),
        (
            r#"case $line in *arrived*) echo '{"start":["1"]}';; *) echo '{}';; esac"#,
            "never starts job 8, the first of 1 waiting job at time 13",
        ),
        // A wake after each pass, ten thousand times.
        (
            r#"now=${line#*:}; echo "{\"wake\":$((${now%%,*} + 7))}""#,
            "never starts job 7, the first of 2 waiting jobs at time 70005",
        ),
    ] {
        let (_folder, spec) = answering(what);
        let error = failure(&spec);
        assert!(error.contains(message), "{what}: {error}");
    }
    // A program that wakes for ever does not keep a simulation from its end.
    let (folder, spec) =
        answering(r#"echo "$line" >> "$0.lines"; now=${line#*:}; echo "{\"order\":[],\"wake\":$((${now%%,*} + 7))}""#);
    let log = folder.write("log.swf", format!("; MaxProcs: 4\n{}", record(7, 5, 20, 3, 9)));
    sim_ok(&[&log, "--scheduler", &spec, "--predictor", "estimate", "--baseline", "none"]);
    assert_eq!(folder.read("mine.sh.lines").lines().count(), 3);
    // The same on one of several sites.
    let (folder, spec) = answering(r#"now=${line#*:}; echo "{\"wake\":$((${now%%,*} + 7))}""#);
    let log = folder.write("log.swf", format!("; MaxProcs: 4\n{}", record(7, 5, 8, 3, 9)));
    let Ran { code, err, .. } = sim(&[
        "meta",
        "--site",
        &format!("A={log}"),
        "--site",
        &format!("B={log}"),
        "--scheduler",
        &spec,
        "--policy",
        "static",
    ]);
    assert!(code == 1 && err.contains("never starts job"), "{err}");
    // The same if users react.
    let job = "7 5 0 8 3 -1 -1 3 9 -1 1 2 1 1 1 1 -1 -1\n";
    let log = folder.write("reacting.swf", format!("; MaxProcs: 4\n{job}{}", job.replacen("7 5", "8 15", 1)));
    let Ran { code, err, .. } = sim(&[&log, "--scheduler", &spec, "--feedback", "think"]);
    assert!(code == 1 && err.contains("never starts job"), "{err}");
    // A program may wait for long, and start then.
    let (_folder, spec) = answering(
        r#"now=${line#*:}; now=${now%%,*}
        if [ $now -ge 9000 ]; then echo '{"order":[]}'; else echo "{\"wake\":$((now + 1))}"; fi"#,
    );
    let folder = Folder::new();
    let log = folder.write("log.swf", format!("; MaxProcs: 4\n{}", record(7, 5, 8, 3, 9)));
    let row = sim_ok(&[&log, "--scheduler", &spec, "--predictor", "estimate", "--baseline", "none", "--format", "csv"]);
    assert!(row.contains(",8995.000,"), "{row}");
}

#[cfg(target_os = "linux")]
#[test]
fn no_process_is_left_after_a_run_or_an_error() {
    let (folder, spec) =
        script(&format!("trap '' INT TERM HUP PIPE\n{WITH_CHILD}{PLAIN_ORDER}while :; do sleep 1; done"));
    sim_ok(&["--first", "20", "--baseline", "none", "--scheduler", &spec]);
    assert_all_gone(&folder);
    let (folder, spec) = script(&format!("{WITH_CHILD}{}sleep 1000", PLAIN_ORDER.replace("[]", "5")));
    failure(&spec);
    assert_all_gone(&folder);
}

#[test]
fn a_sweep_computes_again_what_a_changed_program_has_computed() {
    let folder = Folder::new();
    let path = folder.write("mine.sh", PLAIN_ORDER);
    let spec = format!("exec:command=sh {path},size={{1|2}}");
    let out = folder.text("study");
    let lists =
        ["sweep", "--first", "60", "--scheduler", &spec, "--predictor", "estimate", "--format", "csv", "--out", &out];
    let Ran { code, out: first, err } = sim(&lists);
    assert!(code == 0 && err.contains("2 cells: 0 reused, 2 computed"), "{err}");
    assert!(first.lines().next().unwrap().contains(",scheduler.size,"), "{first}");
    let computed = |number: usize| {
        let Ran { code, out, err } = sim(&[&lists[..], &["--resume"]].concat());
        assert_eq!((code, out.as_str()), (0, first.as_str()), "{err}");
        assert!(err.contains(&format!("2 cells: {} reused, {number} computed", 2 - number)), "{err}");
    };
    computed(0);
    fs::write(&path, format!("{PLAIN_ORDER}# changed\n")).unwrap();
    computed(2);
    // The same program as a predictor's command is another one.
    fs::write(&path, PLAIN_ORDER.replace("\"name\"", "\"version\":\"2\",\"name\"")).unwrap();
    computed(2);
    computed(0);
    let refused = |arguments: &[&str], place: &str| {
        let Ran { code, err, .. } = sim(arguments);
        let message = format!("{place}: a scheduler starts the program 'sh {path}'; --allow-exec allows this");
        assert!(code == 2 && err.contains(&message), "{err}");
    };
    refused(&["sweep", "--resume", "--out", &out], &format!("{out}/grid.toml"));
    sim_ok(&["sweep", "--resume", "--allow-exec", "--out", &out]);
    let file = folder.write("lists.toml", format!("first = 50\nbaseline = 'exec:command=sh {path}/estimate'\n"));
    refused(&["sweep", &file, "--out", &folder.text("other")], &format!("{file}: line 2"));
}

#[test]
fn the_example_in_python_gives_the_bytes_of_easy() {
    const TEST: &str = "the_example_in_python_gives_the_bytes_of_easy";
    if !has_python(TEST) {
        return;
    }
    let folder = Folder::new();
    let path = folder.write("easy.py", sim_ok(&["list", "schedulers", "--example", "python"]));
    let spec = format!("exec:command=python3 {path}");
    let same = |log: &[&str], spec: &str, easy: &str| {
        let run = |scheduler: &str| {
            let [jobs, schedule] = ["jobs", "schedule"].map(|name| folder.text(name));
            let files = ["--jobs-out", &jobs, "--swf-out", &schedule];
            let what = ["--scheduler", scheduler, "--baseline", "sjbf/estimate", "--format", "csv"];
            let row = named(&sim_ok(&[&what[..], log, &files].concat()), scheduler, "easy");
            let schedule = named(&fs::read_to_string(schedule).unwrap(), scheduler, "easy");
            (row, schedule, fs::read_to_string(jobs).unwrap())
        };
        let (program, built_in) = (run(spec), run(easy));
        assert!(program.0 == built_in.0 && program.1 == built_in.1, "{}\n{}", program.0, built_in.0);
        assert!(program.2 == built_in.2);
    };
    same(&["--predictor", "estimate"], &spec, "easy");
    // With predictions that change, and with other keys.
    same(&["--predictor", "kin", "--first", "2000"], &spec, "easy");
    same(&["--predictor", "ruh", "--inflate", "1.7", "--first", "2000"], &spec, "easy");
    let Some(logs) = real_logs(TEST) else { return };
    let kth = real_log(&logs, "KTH-SP2-1996-2.1-cln.swf.gz");
    same(&["--trace", kth.to_str().unwrap(), "--predictor", "estimate"], &spec, "easy");
}

#[test]
fn orders_of_examples_in_python_are_those_of_keys() {
    if !has_python("orders_of_examples_in_python_are_those_of_keys") {
        return;
    }
    let folder = Folder::new();
    let easy = folder.write("easy.py", sim_ok(&["list", "schedulers", "--example", "python"]));
    let order = folder.write("order.py", sim_ok(&["list", "schedulers", "--example", "order"]));
    let jobs = |scheduler: &str| {
        let out = folder.text("jobs");
        sim_ok(&[
            "--first",
            "2000",
            "--predictor",
            "estimate",
            "--baseline",
            "none",
            "--scheduler",
            scheduler,
            "--jobs-out",
            &out,
        ]);
        fs::read_to_string(out).unwrap()
    };
    // The scan of `easy` is in the order of arrival, that of the example in the order of the queue.
    assert!(jobs(&format!("exec:command=python3 {easy},order=smallest")) == jobs("easy:queue=saf,scan=saf"));
    // An order is the order of the queue.
    let narrow = folder.write(
        "narrow.py",
        fs::read_to_string(&order).unwrap().replace("used.get(job[\"user\"], 0))", "job[\"procs\"])"),
    );
    assert!(jobs(&format!("exec:command=python3 {narrow},reservations=2")) == jobs("easy:queue=sqf,reservations=2"));
    // Users take turns, so jobs start in another order than that of their arrival.
    assert_ne!(jobs(&format!("exec:command=python3 {order}")), jobs("easy"));
}

/// A caller in Python that plays EASY with the example, and keeps the wait of each job by its number in the log.
const CALLER: &str = r#"
import json, subprocess, sys
sys.path.insert(0, sys.argv[1])
import easy
sim, log, out, waits, episodes = sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5], json.loads(sys.argv[6])
command = [sim, "-q", log, "--scheduler", "exec:command=-", "--predictor", "estimate", "--out", out] + sys.argv[7:]
child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def say(line):
    child.stdin.write(json.dumps(line) + "\n")
    child.stdin.flush()
hello = json.loads(child.stdout.readline())
say({"name": "caller", "wants": ["prediction"], "episode": episodes[0]})
rows, kept = [], []
for number, episode in enumerate(episodes):
    scheduler, numbers, own, last = easy.Scheduler(hello), {}, {}, 0
    while True:
        line = json.loads(child.stdout.readline())
        if "end" in line:
            break
        last = line.get("jobs", 0) or last
        for job in line.get("running", []) + line.get("arrived", []):
            numbers[job["id"]] = job
        scheduler.learn(line)
        starts = scheduler.decide(line["pass"], line["free"])
        for id in starts:
            own[numbers[id]["log_id"]] = line["pass"] - numbers[id]["submit"]
        say({"start": starts} if starts else {})
    rows.append(line["end"])
    kept.append(own)
    # The last jobs are those of the episode.
    assert max(int(id) for id in numbers) == last
    assert not episode or last >= episode["jobs"]
    if number + 1 < len(episodes):
        say({"episode": episodes[number + 1]})
child.stdin.close()
assert child.wait() == 0
json.dump({"rows": rows, "waits": kept}, open(waits, "w"))
"#;

/// A caller that leaves everything to the order of arrival, and prints what the ends say.
const ORDERING_CALLER: &str = r#"
import json, subprocess, sys
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
episodes = json.loads(sys.argv[1])
child.stdout.readline()
answer = {"name": "x", "episode": episodes.pop(0)}
while True:
    child.stdin.write(json.dumps(answer) + "\n")
    child.stdin.flush()
    line = json.loads(child.stdout.readline())
    if "pass" in line:
        answer = {"order": []}
        continue
    print(json.dumps(line["end"]))
    if not episodes:
        break
    answer = {"episode": episodes.pop(0)}
child.stdin.close()
sys.exit(child.wait())
"#;

#[test]
fn a_warm_episode_on_nodes_goes_on_too() {
    if !has_python("a_warm_episode_on_nodes_goes_on_too") {
        return;
    }
    let folder = Folder::new();
    let (log, caller) = (folder.write("demo.swf", demo_text()), folder.write("caller.py", ORDERING_CALLER));
    let machine = folder.write("eight.toml", "[[nodes]]\nname = 'n[1-16]'\ncpus = 8\n");
    let whole = plain_waits(&log, &["--first", "1500", "--machine", &machine]);
    let episodes = r#"[{"first_job":900,"jobs":600,"warm":true},{"first_job":1200,"jobs":300,"warm":true}]"#;
    let out = folder.text("rows.csv");
    let arguments = [&caller, episodes, SIM, "-q", &log, "--first", "1500", "--machine", &machine, "--out", &out];
    let scheduler = ["--scheduler", "exec:command=-", "--predictor", "estimate"];
    let ran = command("python3").args(arguments).args(scheduler).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let said = String::from_utf8(ran.stdout).unwrap();
    for (line, from) in said.lines().zip([900, 1200]) {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let own = &whole[from..];
        let mean = own.iter().map(|(_, wait)| *wait as f64).sum::<f64>() / own.len() as f64;
        let most = own.iter().map(|(_, wait)| *wait).max().unwrap() as f64;
        assert_eq!(row["jobs"], own.len());
        assert!((row["wait_mean"].as_f64().unwrap() - mean).abs() < 0.001, "{row}");
        assert_eq!(row["wait_max"].as_f64(), Some(most));
        assert!(most > 0.0);
    }
    assert_eq!(said.lines().count(), 2);
}

/// Plays episodes of a log. Returns what the ends have said, and for each episode the waits of the jobs that started in it.
fn played(log: &str, episodes: &str, more: &[&str]) -> (Vec<serde_json::Value>, Vec<BTreeMap<i64, i64>>, String) {
    let folder = Folder::new();
    folder.write("easy.py", sim_ok(&["list", "schedulers", "--example", "python"]));
    let caller = folder.write("caller.py", CALLER);
    let [out, waits] = ["rows.csv", "waits.json"].map(|name| folder.text(name));
    let arguments = [&caller, &folder.text(""), SIM, log, &out, &waits, episodes];
    let ran = command("python3").args(arguments).args(more).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let value: serde_json::Value = serde_json::from_str(&folder.read("waits.json")).unwrap();
    let of_episode = |waits: &serde_json::Value| {
        let waits = waits.as_object().unwrap().iter();
        waits.map(|(number, wait)| (number.parse().unwrap(), wait.as_i64().unwrap())).collect()
    };
    let waits = value["waits"].as_array().unwrap().iter().map(of_episode).collect();
    (value["rows"].as_array().unwrap().clone(), waits, folder.read("rows.csv"))
}

/// The waits of all jobs under `easy/estimate`, by their numbers in the log, in order of submission.
fn plain_waits(log: &str, more: &[&str]) -> Vec<(i64, i64)> {
    let folder = Folder::new();
    let out = folder.text("jobs.csv");
    let arguments = [log, "--scheduler", "easy", "--predictor", "estimate", "--baseline", "none", "--jobs-out", &out];
    sim_ok(&[&arguments[..], more].concat());
    let jobs = fs::read_to_string(out).unwrap();
    let mut lines = jobs.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let column = |name: &str| names.iter().position(|other| *other == name).unwrap();
    let [number, wait] = ["job", "wait"].map(column);
    lines.map(|line| (line[number].parse().unwrap(), line[wait].parse().unwrap())).collect()
}

#[test]
fn a_warm_episode_goes_on_as_a_run_of_the_whole_log() {
    const TEST: &str = "a_warm_episode_goes_on_as_a_run_of_the_whole_log";
    if !has_python(TEST) {
        return;
    }
    let folder = Folder::new();
    let demo = folder.write("demo.swf", demo_text());
    let kth = real_logs(TEST).map(|logs| real_log(&logs, "KTH-SP2-1996-2.1-cln.swf.gz").display().to_string());
    for log in [Some(demo), kth].into_iter().flatten() {
        let whole = plain_waits(&log, &[]);
        // From here to the end of the log; twice, because states are kept; and one that later jobs cannot change.
        let last = whole.len() - 700;
        let rest = format!(r#"{{"first_job":{last},"jobs":700,"warm":true}}"#);
        let middle = r#"{"first_job":1200,"jobs":300,"warm":true}"#;
        let cold = r#"{"first_job":1200,"jobs":300}"#;
        let (rows, waits, csv) = played(&log, &format!("[{rest},{middle},{cold},{rest}]"), &[]);
        let assert_goes_on = |waits: &BTreeMap<i64, i64>, whole: &[(i64, i64)], from: usize| {
            for (number, wait) in &whole[from..] {
                assert_eq!(waits.get(number), Some(wait), "job {number} of {log}");
            }
        };
        assert_goes_on(&waits[0], &whole, last);
        assert_goes_on(&waits[1], &plain_waits(&log, &["--first", "1500"]), 1200);
        assert_eq!((&rows[0], &waits[0]), (&rows[3], &waits[3]));
        // An empty machine is not the same.
        assert_ne!(rows[1], rows[2]);
        // The row is that of the episode's own jobs.
        let mean = |waits: &[(i64, i64)]| waits.iter().map(|(_, wait)| *wait as f64).sum::<f64>() / waits.len() as f64;
        assert_eq!(rows[0]["jobs"], 700);
        let of_row = rows[0]["wait_mean"].as_f64().unwrap();
        assert!((of_row - mean(&whole[last..])).abs() < 0.001, "{of_row}");
        // Every row is in the file, under one line of names.
        assert_eq!(csv.lines().count(), 5, "{csv}");
        assert!(csv.starts_with("trace,procs,scheduler,predictor,jobs,"), "{csv}");
    }
}

#[test]
fn a_caller_may_play_the_whole_log_and_end_with_its_input() {
    if !has_python("a_caller_may_play_the_whole_log_and_end_with_its_input") {
        return;
    }
    let folder = Folder::new();
    let demo = folder.write("demo.swf", demo_text());
    let (rows, waits, csv) = played(&demo, "[null]", &["--first", "900"]);
    assert_eq!(waits[0], plain_waits(&demo, &["--first", "900"]).into_iter().collect());
    let easy = [&demo, "--first", "900", "--scheduler", "easy", "--predictor", "estimate", "--baseline", "none"];
    let easy = sim_ok(&[&easy[..], &["--format", "csv"]].concat());
    assert_eq!(csv.replace("exec:command=-", "easy"), easy);
    assert_eq!(rows[0]["jobs"], 900);
}

/// What is said to a caller that answers with these lines, and the error.
fn said(lines: &[&str], more: &[&str]) -> (Vec<String>, i32, String) {
    let folder = Folder::new();
    let out = folder.text("rows.csv");
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let arguments = ["-q", "--scheduler", "exec:command=-", "--predictor", "estimate", "--first", "3", "--out", &out];
    let Ran { code, out, err } = sim_fed(&[&arguments[..], more].concat(), input.as_bytes());
    (out.lines().map(str::to_string).collect(), code, err)
}

#[test]
fn errors_are_also_said_to_the_caller() {
    let name = r#"{"name":"x"}"#;
    let episode = |text: &str| format!(r#"{{"name":"x","episode":{text}}}"#);
    let beyond = episode(r#"{"first_job":1,"jobs":3}"#);
    let empty = episode(r#"{"first_job":1,"jobs":0,"warm":true}"#);
    let wrong = episode(r#"{"first_job":1,"jobs":1,"cold":true}"#);
    for (lines, message) in [
        (&[][..], "the program '-' ended (the end of its input) before it answered the greeting"),
        (&["[]"], "answered the greeting with line 1 of its output, '[]': this is an array"),
        (&[&beyond], "an episode of 3 jobs from job 1 on: the workload has 3 jobs, from 0 on"),
        (&[&empty], "an episode of 0 jobs from job 1 on"),
        (&[&wrong], "unknown field `cold`"),
        (
            &[name, r#"{"start":["9"]}"#],
            "line 2 of its output, '{\"start\":[\"9\"]}': no job with the id '9' has arrived",
        ),
        (&[name], "ended (the end of its input) before it answered the pass at time"),
    ] {
        let (said, code, err) = said(lines, &[]);
        assert!(code == 1 && err.starts_with("error: ") && err.contains(message), "{lines:?}: {err}");
        let last: serde_json::Value = serde_json::from_str(said.last().unwrap()).unwrap();
        assert!(last["error"].as_str().unwrap().contains(message), "{last}");
    }
    for more in
        [&["--replications", "2"][..], &["--baseline", "easy/estimate"], &["--trace", "-"], &["--jobs-out", "x"]]
    {
        let (said, code, err) = said(&[], more);
        assert!(code == 2 && said.is_empty() && err.contains("exec:command=- plays one simulation at a time"), "{err}");
    }
    let ran = sim(&["--scheduler", "exec:command=-"]);
    assert!(ran.code == 2 && ran.err.contains("--out FILE gets one row per episode"), "{}", ran.err);
    let ran = sim(&["sweep", "--scheduler", "exec:command=-", "--out", &Folder::new().text("study")]);
    assert!(ran.code == 1 && ran.err.contains("is for the main command alone"), "{}", ran.err);
}
