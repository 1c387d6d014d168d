//! The ids of jobs in the log itself: in tables of predictions, in files with one row per job, and for programs.

use crate::support::{Folder, sim, sim_ok};

/// Jobs of Slurm, in another order than that of their submission. Job 900 was requeued.
const SACCT: &str = "\
JobIDRaw|Submit|Start|End|NCPUS|State|Timelimit|User
902|2026-01-01T00:02:00|2026-01-01T00:05:00|2026-01-01T00:06:00|1|COMPLETED|01:00:00|ann
900|2026-01-01T00:00:00|2026-01-01T00:01:00|2026-01-01T00:02:00|1|REQUEUED|01:00:00|ann
900|2026-01-01T00:03:00|2026-01-01T00:06:00|2026-01-01T00:09:00|1|COMPLETED|01:00:00|ann
1|2026-01-01T00:01:00|2026-01-01T00:04:00|2026-01-01T00:05:00|1|COMPLETED|01:00:00|bob
";

/// The columns of a CSV file with these names.
fn columns(text: &str, names: &[&str]) -> Vec<String> {
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let places: Vec<usize> = names
        .iter()
        .map(|name| header.iter().position(|other| other == name).unwrap_or_else(|| panic!("no {name} in {header:?}")))
        .collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        places.iter().map(|&at| cells[at]).collect::<Vec<_>>().join(" ")
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn predictions_are_those_of_the_ids_in_the_log() {
    let folder = Folder::new();
    let (log, out) = (folder.write("site.txt", SACCT), folder.text("jobs.csv"));
    // The number 1 in the results is job 900, and job 1 has the number 2.
    let table = folder.write("table.csv", "JobIDRaw,seconds\n1,11\n902,22\n900,33\n");
    let predictor = format!("given:file={table},id=JobIDRaw,prediction=seconds");
    let ran = sim(&[&log, "--procs", "1", "--predictor", &predictor, "--jobs-out", &out]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!ran.err.contains("in the table"), "{}", ran.err);
    let rows = columns(&folder.read("jobs.csv"), &["job", "log_id", "prediction"]);
    assert_eq!(rows, ["1 900 33", "2 1 11", "3 902 22", "4 900 33"], "both runs of job 900");
    assert!(folder.read("jobs.csv").lines().next().unwrap().ends_with(",log_id"));
    // The numbers of the results are no ids of the log.
    let numbers = folder.write("numbers.csv", "job_id,prediction\n2,11\n3,22\n4,33\n");
    let ran = sim(&[&log, "--procs", "1", "--predictor", &format!("given:file={numbers}")]);
    assert!(ran.err.contains("no job is in the table of given:"), "{}", ran.err);
    assert!(ran.err.contains("ids such as 2, and the log such as 900"), "{}", ran.err);
    // What was written can be read: with one prediction for all runs of a job.
    let again = folder.text("again.csv");
    let predictor = format!("given:file={out},id=log_id");
    sim_ok(&[&log, "--procs", "1", "--predictor", &predictor, "--jobs-out", &again]);
    assert_eq!(columns(&folder.read("again.csv"), &["log_id", "prediction"])[3], "900 33");
    let twice = folder.write("twice.csv", "job_id,prediction\n900,1\n900,2\n");
    let ran = sim(&[&log, "--procs", "1", "--predictor", &format!("given:file={twice}")]);
    assert!(
        ran.code == 2 && ran.err.contains("line 3: a second row of job 900 with another prediction"),
        "{}",
        ran.err
    );
}

#[test]
fn every_file_with_one_row_per_job_has_the_ids_of_the_log() {
    let folder = Folder::new();
    let out = folder.text("jobs.csv");
    let ids = |args: &[&str]| {
        sim_ok(&[args, &["--jobs-out", &out]].concat());
        columns(&folder.read("jobs.csv"), &["job", "log_id"])
    };
    let log = folder.write("site.txt", SACCT);
    assert_eq!(ids(&["fidelity", &log, "--procs", "1", "--scheduler", "easy"]), ["1 900", "2 1", "3 902", "4 900"]);
    let swf = "; MaxProcs: 4\n70 0 -1 10 1 -1 -1 1 60 -1 1 1 1 -1 1 -1 -1 -1\n30 5 -1 10 1 -1 -1 1 60 -1 1 1 1 -1 1 -1 -1 -1\n";
    let swf = folder.write("log.swf", swf);
    assert_eq!(ids(&[&swf]), ["70 70", "30 30"]);
    let sites = ["meta", "--site", &format!("A={log}:procs=1"), "--site", &format!("B={swf}"), "--policy", "static"];
    assert_eq!(ids(&sites), ["1 900", "70 70", "30 30", "2 1", "3 902", "4 900"]);
    // An id need not be a number.
    let pbs = "01/01/2026 00:00:30;E;7.server;user=ann queue=q ctime=1767225600 qtime=1767225600 etime=1767225600 \
               start=1767225610 end=1767225630 exec_host=n1/0 Resource_List.walltime=00:10:00 Exit_status=0\n";
    assert_eq!(ids(&[&folder.write("pbs.log", pbs), "--procs", "1"]), ["1 7.server"]);
    let table = folder.write("pbs.csv", "job_id,prediction\n7.server,44\n");
    let predictor = format!("given:file={table}");
    sim_ok(&[&folder.text("pbs.log"), "--procs", "1", "--predictor", &predictor, "--jobs-out", &out]);
    assert_eq!(columns(&folder.read("jobs.csv"), &["prediction"]), ["44"]);
}

#[test]
fn programs_read_the_ids_of_the_log() {
    let folder = Folder::new();
    let seen = folder.text("seen");
    let program = folder.write(
        "program.py",
        format!(
            "import json, sys\nsys.stdin.readline()\nprint(json.dumps({{'name': 'x', 'events': ['arrival']}}), flush=True)\n\
             for line in sys.stdin:\n    job = json.loads(line)['job']\n    open({seen:?}, 'a').write(str([job['id'], \
             job['log_id']]) + '\\n')\n    print(json.dumps({{'predict': {{job['id']: 60}}}}), flush=True)\n"
        ),
    );
    let log = folder.write("site.txt", SACCT);
    sim_ok(&[&log, "--procs", "1", "--baseline", "none", "--predictor", &format!("exec:command=python3 {program}")]);
    assert_eq!(folder.read("seen"), "['1', 900]\n['2', 1]\n['3', 902]\n['4', 900]\n");
}
