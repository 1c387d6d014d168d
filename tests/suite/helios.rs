//! GPU clusters: the authors' simulator of Helios job by job, placement on as few nodes as possible, and predictions of a table.

use std::path::{Path, PathBuf};

use shadowtime::reproduce::{HELIOS, find_logs, helios_waits};

use crate::support::{Folder, real_logs, sim, sim_ok};

fn files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/helios")
}

/// Compares the waits of every job with those that the policy classes of the artifact of Helios gave (FirstInFirstOut,
/// ShortestJobFirst, QuasiShortestServiceFirst, placement `consolidate`, 8 GPUs a node, LightGBM's raw predictions). They were run on
/// the same jobs in order of submission, durations in whole seconds, without its recorders of time series.
fn assert_waits(folder: &Path, file: &str, count: usize) {
    let (found, _) = find_logs(folder, &HELIOS.logs[..1]).unwrap();
    let ours = helios_waits(&found[0]).unwrap();
    let text = std::fs::read_to_string(files().join(file)).unwrap();
    let theirs: Vec<Vec<i64>> =
        text.lines().skip(1).map(|line| line.split(',').map(|number| number.parse().unwrap()).collect()).collect();
    assert_eq!((ours.len(), theirs.len()), (count, count));
    for row in theirs {
        let (_, waits) = ours.iter().find(|(job, _)| *job == row[0]).unwrap();
        assert_eq!(waits[..], row[1..], "job {}", row[0]);
    }
}

#[test]
fn every_job_waits_as_in_the_simulator_of_helios() {
    assert_waits(&files(), "waits_of_part.csv", 800);
}

#[test]
fn every_job_of_the_whole_part_of_venus_waits_as_in_the_simulator_of_helios() {
    let Some(logs) = real_logs("every_job_of_the_whole_part_of_venus_waits_as_in_the_simulator_of_helios") else {
        return;
    };
    assert_waits(&logs.join("nodes/helios"), "waits.csv", 1867);
}

#[test]
fn the_study_has_the_published_figures() {
    let out =
        sim_ok(&["reproduce", "helios", "--logs", files().to_str().unwrap(), "--replications", "1", "--format", "csv"]);
    let wait = |row: &str, column: &str| -> f64 {
        let line = out.lines().find(|line| {
            line.contains("mean wait, s, Venus, 2 clusters") && line.contains(row) && line.contains(column)
        });
        let cells: Vec<_> = line.unwrap_or_else(|| panic!("{row}, {column}: {out}")).rsplit(',').collect();
        // Published, measured and the two ends of the interval are before the note.
        cells[3].parse().unwrap()
    };
    // The means of the authors' classes on this part, beside the figures of the golden file.
    assert!((wait("FIFO", "authors") - 3846.44375).abs() < 0.01);
    assert!((wait("QSSF", "authors") - 261.8075).abs() < 0.01);
    // The order of arrival with any scheduler that blocks is FIFO.
    assert!((wait("arrival order", "blocking") - 3846.44375).abs() < 0.01);
    assert!(wait("arrival order", "EASY") < 300.0);
}

#[test]
fn a_folder_without_these_logs_or_their_clusters_says_what_is_missing() {
    let folder = Folder::new();
    let study = || sim(&["reproduce", "helios", "--logs", folder.path("").to_str().unwrap()]);
    let failed = study();
    assert!(failed.code == 2 && failed.err.contains("none of the logs of the study is in"), "{}", failed.err);
    std::fs::copy(files().join("helios_venus_2vc_part.csv"), folder.path("helios_venus_2vc_part.csv")).unwrap();
    let failed = study();
    assert!(failed.code != 0 && failed.err.contains("there is no Venus_vc_config.csv"), "{}", failed.err);
}

/// The starts of jobs (number, submit, runtime, GPUs) on nodes (names, GPUs of each) under `fcfs` with this placement.
fn starts_on(nodes: &[(&str, u32)], jobs: &[[i64; 4]], placement: &str) -> Vec<i64> {
    let folder = Folder::new();
    let described =
        |(name, gpus): &(&str, u32)| format!("[[nodes]]\nname = \"{name}\"\ncpus = {gpus}\ngpus = {gpus}\n\n");
    let names: Vec<&str> = nodes.iter().map(|(name, _)| *name).collect();
    let partition = format!("[[partitions]]\nname = \"p\"\nnodes = \"{}\"\n", names.join(","));
    let machine = folder.write("machine.toml", nodes.iter().map(described).collect::<String>() + &partition);
    let rows: String = jobs.iter().map(|[id, submit, run, gpus]| format!("{id},{submit},{run},{gpus},p\n")).collect();
    let log = folder.write("log.csv", format!("id,submit,run,gpus,p\n{rows}"));
    let (scheduler, out) = (format!("fcfs:placement={placement}"), folder.text("jobs.csv"));
    let format = "csv:id=id,submit=submit,run=run,procs=gpus,gpus=gpus,partition=p";
    let given = ["--trace", &log, "--log-format", format, "--machine", &machine];
    sim_ok(&[&given[..], &["--scheduler", &scheduler, "--predictor", "perfect", "--jobs-out", &out]].concat());
    let text = std::fs::read_to_string(&out).unwrap();
    let start = text.lines().next().unwrap().split(',').position(|name| name == "start").unwrap();
    text.lines().skip(1).map(|line| line.split(',').nth(start).unwrap().parse().unwrap()).collect()
}

/// Five jobs on three nodes of 8 GPUs, by the rules of the artifact: worked by hand.
#[test]
fn gpus_are_on_as_few_nodes_as_could_hold_them() {
    // 5 GPUs go to n1. 3 go to n1 too, the fullest that holds them. 2 go to n2. 12 need one node that is free, n3, and 4 on n2,
    // which then has 2 left. 4 fit nowhere on one node: with `pack` they would be divided.
    let jobs = [[1, 0, 100, 5], [2, 1, 10, 3], [3, 2, 100, 2], [4, 3, 20, 12], [5, 20, 5, 4]];
    // At 20 n1 has 3 GPUs and n2 has 2; at 23 the wide job ends.
    assert_eq!(starts_on(&[("n[1-3]", 8)], &jobs, "consolidate"), [0, 1, 2, 3, 23]);
    assert_eq!(starts_on(&[("n[1-3]", 8)], &jobs, "pack"), [0, 1, 2, 3, 20]);
}

/// The rest of a wide job goes to the emptiest node that holds it: 12 GPUs go to n2 and n3, not to n2 and n1, on which 4 are in use.
/// A job of 8 then waits for a whole node.
#[test]
fn the_rest_of_a_wide_job_is_on_the_emptiest_node() {
    let jobs = [[1, 0, 100, 4], [2, 1, 50, 12], [3, 2, 5, 8]];
    assert_eq!(starts_on(&[("n[1-3]", 8)], &jobs, "consolidate"), [0, 1, 51]);
}

/// 22 GPUs on nodes of 8, 8, 4 and 4: both large nodes, one small one, and 2 GPUs of the other. A job of 6 waits for a large node,
/// though both small ones would have room for it.
#[test]
fn a_wide_job_fills_nodes_of_all_sizes() {
    let jobs = [[1, 0, 10, 22], [2, 1, 5, 2], [3, 20, 10, 8], [4, 21, 30, 8], [5, 22, 5, 6]];
    assert_eq!(starts_on(&[("a[1-2]", 8), ("b[1-2]", 4)], &jobs, "consolidate"), [0, 1, 20, 21, 30]);
}

#[test]
fn predictions_come_from_a_table() {
    let folder = Folder::new();
    let log = folder.write("log.csv", "id,submit,run,procs\n70,0,10,1\n50,5,20,1\n60,6,30,1\n");
    let table = folder.write("table.csv", "# made by hand\njob,seconds\n70,12.6\n50,-4\n99,1000\n");
    let format = "csv:id=id,submit=submit,run=run,procs=procs";
    let run = |predictor: &str| {
        let jobs = folder.text("jobs.csv");
        let ran = sim(&[
            "--trace",
            &log,
            "--log-format",
            format,
            "--procs",
            "1",
            "--predictor",
            predictor,
            "--jobs-out",
            &jobs,
        ]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("1 job is not in the table of given:"), "{}", ran.err);
        let text = std::fs::read_to_string(&jobs).unwrap();
        let column = |name: &str| text.lines().next().unwrap().split(',').position(|other| other == name).unwrap();
        let (job, prediction) = (column("job"), column("prediction"));
        let cells = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        cells.map(|cells| (cells[job].to_string(), cells[prediction].to_string())).collect::<Vec<_>>()
    };
    let pair = |job: &str, prediction: &str| (job.to_string(), prediction.to_string());
    let given = format!("given:file={table},id=job,prediction=seconds");
    // The largest runtime, in whole hours, is the estimate of all.
    assert_eq!(run(&given), [pair("70", "13"), pair("50", "1"), pair("60", "3600")]);
    assert_eq!(run(&format!("{given},missing=median"))[2], pair("60", "13"));
    for (spec, why) in [
        ("given".to_string(), "name the table: given:file=predictions.csv"),
        (format!("given:file={table}"), "there is no column 'job_id'; its first line names the columns job, seconds"),
        (format!("given:file={},id=id,prediction=procs", folder.text("none.csv")), "none.csv"),
        (
            format!("given:file={},id=a,prediction=b", folder.write("twice.csv", "a,b\n1,2\n1,3\n")),
            "line 3: a second row of job 1",
        ),
        (
            format!("given:file={},id=a,prediction=b", folder.write("word.csv", "a,b\n1,x\n")),
            "line 2: 'x' is not a number of seconds",
        ),
        (
            format!("given:file={},id=a,prediction=b", folder.write("empty.csv", "a,b\n")),
            "the table has no predictions",
        ),
    ] {
        let failed = sim(&["--predictor", &spec]);
        assert!(failed.code == 2 && failed.err.contains(why), "{spec}: {}", failed.err);
    }
}

/// A log as the authors have prepared it for their simulator: made of the part, with dates, and with jobs that they left out.
fn whole_log(columns: &str, day: &str) -> String {
    let part = std::fs::read_to_string(files().join("helios_venus_2vc_part.csv")).unwrap();
    let mut text = format!("{columns}\n");
    for line in part.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())) {
        let [id, user, vc, submit, gpus, run] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let submit = submit.parse::<i64>().unwrap() / 1_000_000;
        let (days, hour, minute, second) = (submit / 86_400, submit / 3600 % 24, submit / 60 % 60, submit % 60);
        let (month, first) = day.rsplit_once('-').unwrap();
        let date = format!("{month}-{:02} {hour:02}:{minute:02}:{second:02}", first.parse::<i64>().unwrap() + days);
        let run = run.split('.').next().unwrap();
        // job_id, user, vc, jobname, gpu_num, cpu_num, state, submit_time, duration
        text.push_str(&format!("{id},{user},{vc},name,{gpus},1,COMPLETED,{date},{run}\n"));
    }
    text
}

const COLUMNS: &str = "job_id,user,vc,jobname,gpu_num,cpu_num,state,submit_time,duration";

#[test]
fn the_log_of_a_whole_cluster_is_cut_to_the_days_of_the_authors() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("Venus")).unwrap();
    let others = "1,u,vcvGl,name,8,1,COMPLETED,2020-04-01 00:00:00,100\n2,u,vcNone,name,8,1,COMPLETED,2020-09-02 00:00:00,9\n\
                  3,u,vcvGl,name,0,1,COMPLETED,2020-09-02 00:00:00,9\n4,u,vcvGl,name,8,1,COMPLETED,2020-09-27 00:00:00,9\n";
    folder.write("Venus/cluster_log.csv", whole_log(COLUMNS, "2020-09-01") + others);
    for file in ["Venus_vc_config.csv", "Venus_Sept_lgb.csv"] {
        std::fs::copy(files().join(file), folder.path(file)).unwrap();
    }
    let (found, _) = find_logs(&folder.path(""), HELIOS.logs).unwrap();
    assert_eq!(found.iter().map(|found| found.log.name).collect::<Vec<_>>(), ["Venus"]);
    let (part, _) = find_logs(&files(), HELIOS.logs).unwrap();
    assert_eq!(helios_waits(&found[0]).unwrap(), helios_waits(&part[0]).unwrap());
}

#[test]
fn a_log_of_philly_has_no_predictions() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("Philly")).unwrap();
    folder.write("Philly/cluster_log.csv", whole_log(COLUMNS, "2017-10-01"));
    folder.write("philly_vc.csv", "vc,node num\nvcvGl,20\nvcvlY,2\n");
    let out = sim_ok(&[
        "reproduce",
        "helios",
        "--logs",
        folder.path("").to_str().unwrap(),
        "--replications",
        "1",
        "--format",
        "csv",
    ]);
    let fifo = out.lines().find(|line| line.contains("\"mean wait, s, Philly\",FIFO")).unwrap();
    assert!(fifo.contains(",56531,3846.4437"), "{fifo}");
    assert!(!out.contains("authors' predictions"), "{out}");
    let qssf = out.lines().find(|line| line.contains("\"mean wait, s, Philly\",QSSF")).unwrap();
    assert!(qssf.contains(",7783,,,,") && qssf.contains("true durations with noise"), "{qssf}");
}
