//! The programs for PBS on the page `sim help production`: what they read, and the whole chain down to `sim predict`.
//!
//! `tests/pbs` has the input of hooks as a PBS server records it, and lines of its accounting log.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::support::{Folder, command, has_python, sim_ok, wait_until};

const SIM: &str = env!("CARGO_BIN_EXE_sim");
const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pbs");

/// Loads a program without running it, and calls one of its functions.
const DRIVER: &str = r#"
import json, re, sys

def load(path):
    names = {"__name__": "loaded"}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), names)
    return names

def attributes(path):
    found = {}
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            match = re.match(r"pbs\.event\(\)\.([\w.\[\]]+?)=(.*)", line.rstrip("\n"))
            if match:
                found[match.group(1)] = match.group(2)
    return found

class Resources(dict):
    def __missing__(self, key):
        return None

class Pbs:
    @staticmethod
    def duration(seconds):
        return seconds

class Event:
    pass

def modified(program, found):
    """What the hook sets for a job with a walltime of 8 hours and a soft_walltime of 2 hours."""
    new = Resources()
    for key, value in found.items():
        match = re.match(r"job\.Resource_List\[(\w+)\]", key)
        if match:
            new[match.group(1)] = program["seconds"](value)
    event, event.job, event.job_o = Event(), Event(), Event()
    event.job.Resource_List = new
    event.job_o.Resource_List = Resources(walltime=28800, soft_walltime=7200)
    program["on_modifyjob"].__globals__["pbs"] = Pbs
    program["on_modifyjob"](event)
    return new["soft_walltime"]

program, what, argument = load(sys.argv[1]), sys.argv[2], sys.argv[3]
if what == "job":
    found = attributes(argument)
    queued = found["type"] == "queuejob"
    print(json.dumps(program["job_event"](found, 1700000000.9) if queued else modified(program, found)))
elif what == "accounting":
    with open(argument, encoding="utf-8") as file:
        print(json.dumps([program["accounting_events"](line) for line in file]))
elif what == "ask":
    program["ask"].__globals__["SOCKET"] = argument
    # A slow machine is no failure here.
    program["ask"].__globals__["TIMEOUT"] = 60
    event = program["job_event"](json.loads(sys.argv[4]), 1700000900)
    try:
        print(json.dumps(program["ask"](event)))
    except Exception as error:
        print(json.dumps("none: %r" % error))
"#;

/// Writes a program of the page into the folder.
fn program(folder: &Folder, name: &str) -> String {
    folder.write(&format!("{name}.py"), sim_ok(&["predict", "--example", name]))
}

fn driven(arguments: &[&str]) -> Value {
    let output = command("python3").args(["-c", DRIVER]).args(arguments).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}{err}"))
}

fn expected(name: &str) -> Value {
    let text = fs::read_to_string(format!("{RECORDED}/{name}.json")).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn the_hook_reads_what_a_server_has_recorded() {
    if !has_python("the_hook_reads_what_a_server_has_recorded") {
        return;
    }
    let folder = Folder::new();
    let hook = program(&folder, "hook");
    let mut inputs = 0;
    for entry in fs::read_dir(RECORDED).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "in") {
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert_eq!(driven(&[&hook, "job", path.to_str().unwrap()]), expected(name), "{name}");
            inputs += 1;
        }
    }
    assert!(inputs >= 30, "{inputs}");
}

#[test]
fn the_follower_reads_the_accounting_log_of_a_server() {
    if !has_python("the_follower_reads_the_accounting_log_of_a_server") {
        return;
    }
    let folder = Folder::new();
    let follow = program(&folder, "follow");
    for name in ["accounting", "accounting_more"] {
        let events = driven(&[&follow, "accounting", &format!("{RECORDED}/{name}.txt")]);
        assert_eq!(events, expected(name), "{name}");
    }
}

/// The service of the page, ended with its predictor at the end of the test.
struct Follower(Child);

impl Follower {
    fn start(folder: &Folder, follow: &str) -> Follower {
        let socket = folder.path("work/predict.sock");
        let _ = fs::remove_file(&socket);
        let child = command("python3")
            .args([follow, &folder.text("accounting"), &folder.text("work"), SIM, "predict", "-q"])
            .args(["--predictor", "ruh:window=1", "--state", &folder.text("state")])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("the follower does not listen", || socket.exists());
        Follower(child)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_hook_gets_predictions_from_what_the_log_says() {
    if !has_python("the_hook_gets_predictions_from_what_the_log_says") {
        return;
    }
    let folder = Folder::new();
    let (hook, follow) = (program(&folder, "hook"), program(&folder, "follow"));
    fs::create_dir(folder.path("accounting")).unwrap();
    fs::create_dir(folder.path("work")).unwrap();
    let log = folder.path("accounting/20231114");
    fs::write(&log, "").unwrap();
    let append = |text: &str| OpenOptions::new().append(true).open(&log).unwrap().write_all(text.as_bytes()).unwrap();
    let ask = |user: &str| {
        let attributes = format!(
            r#"{{"requestor":"{user}","job.Job_Name":"a","job.Resource_List[select]":"2:ncpus=8","job.Resource_List[walltime]":"01:00:00"}}"#
        );
        driven(&[&hook, "ask", &folder.text("work/predict.sock"), &attributes])
    };
    let job = |kind: &str, number: u32, more: &str| {
        format!(
            "11/14/2023 22:13:20;{kind};{number}.pbs;user=alice group=g queue=workq jobname=a ctime=1700000000 \
             etime=1700000000 start=1700000010 exec_host=n1/0*8+n2/0*8 Resource_List.walltime=01:00:00{more}\n"
        )
    };
    let follower = Follower::start(&folder, &follow);
    wait_until("the follower does not answer", || ask("alice") == 3600);
    append(&job("S", 1, ""));
    append(&job("E", 1, " session=1 end=1700000510 Exit_status=0"));
    wait_until("nothing is learned", || ask("alice") == 500);
    assert_eq!(ask("bob"), 3600);
    // Without the follower the hook gets no answer, and the job goes on.
    drop(follower);
    assert!(ask("alice").as_str().is_some_and(|text| text.starts_with("none: ")));
    // Its predictor sees the end of its input, and ends too.
    wait_until("the state is in use", || {
        crate::support::sim(&["predict", "-q", "--state", &folder.text("state")]).code == 0
    });
    // It continues where it was.
    append(&job("E", 2, " session=1 end=1700000710 Exit_status=0"));
    let _follower = Follower::start(&folder, &follow);
    wait_until("nothing is learned after a kill", || ask("alice") == 700);
    assert!(Path::new(&folder.text("work/position.json")).exists());
}
