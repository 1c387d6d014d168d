//! `sim example`: the files of a small site work together in all commands for sites.

use std::fs;

use crate::live_waits::{Row, rows};
use crate::support::{Folder, sim, sim_ok};

#[test]
fn the_files_of_the_example_work_together() {
    let folder = Folder::new();
    let site = folder.text("site");
    let ran = sim(&["example", &site]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let names = ["slurm.conf", "new.conf", "site.dump", "sacct.txt", "squeue.txt", "maintenance.csv", "halves.csv"];
    let bytes = names.map(|name| fs::read(folder.path("site").join(name)).unwrap());
    assert!(bytes.iter().map(Vec::len).sum::<usize>() < 350_000);
    let [conf, _, dump, sacct, queue, maintenance, halves] = names.map(|name| folder.text(&format!("site/{name}")));
    let with = ["--slurm-conf", &conf, "--associations", &dump];
    for command in [&[sacct.as_str()][..], &["fidelity", &sacct, "--scheduler", "slurm"]] {
        let ran = sim(&[command, &with, &["--format", "csv"]].concat());
        assert!(ran.code == 0 && !ran.err.contains("warning"), "{command:?}: {}", ran.err);
    }
    for outages in [&maintenance, &halves] {
        let ran = sim(&[&sacct, "--machine", &conf, "--outages", outages, "--scheduler", "easy", "--format", "csv"]);
        assert!(ran.code == 0 && ran.out.contains("utilization_available"), "{}", ran.err);
    }
    let candidates = ["--candidates", "slurm:running=prediction/kin", "--replications", "2", "--format", "csv"];
    let ran = sim(&[&["recommend", &sacct], &with[..], &candidates].concat());
    assert!(ran.code == 0 && ran.out.lines().count() >= 2, "{}", ran.err);
    let asked = ["wait", "ask", &sacct, "--queue", &queue, "--slurm-conf", &conf, "--draws", "5", "--format", "csv"];
    let ran = sim(&asked);
    assert!(ran.code == 0 && ran.out.contains(",waiting,"), "{} {}", ran.err, ran.out);
    // A day before all nodes are out: as `scontrol show reservation -o` prints it.
    let text = "ReservationName=service StartTime=2026-01-12T08:00:00 EndTime=2026-01-12T20:00:00 Nodes=n[01-16] NodeCnt=16 \
                Flags=MAINT,IGNORE_JOBS,SPEC_NODES,ALL_NODES Users=root Accounts=(null) State=INACTIVE\n";
    let service = folder.write("service.txt", text);
    let asked = ["wait", "ask", &sacct, "--queue", &queue, "--machine", &conf, "--draws", "20", "--outages", &service];
    let found = rows(&sim_ok(&[&asked[..], &["--format", "csv"]].concat()));
    let number = |row: &Row, name: &str| row[name].parse::<i64>().unwrap();
    let (begin, end) = (1_768_204_800, 1_768_248_000);
    assert!(found.iter().filter(|row| row["after"] == "maintenance of 2026-01-12 08:00").count() > 2, "{found:?}");
    for row in &found {
        let starts = ["start50", "start80", "start95"].map(|name| number(row, name));
        assert!(starts.iter().all(|start| !(begin..end).contains(start)), "{row:?}");
        assert_eq!(row["after"].is_empty(), number(row, "now") + number(row, "estimate") <= begin, "{row:?}");
    }
    // The same bytes again, but only if it is said.
    let refused = sim(&["example", &site]);
    assert!(refused.code == 2 && refused.err.contains("give --overwrite"), "{}", refused.err);
    sim_ok(&["example", &site, "--overwrite"]);
    assert_eq!(names.map(|name| fs::read(folder.path("site").join(name)).unwrap()), bytes);
}

/// A page begins with the answer, and the table of the terminal is the same with it and without it.
#[test]
fn commands_for_sites_write_pages() {
    let folder = Folder::new();
    let page = folder.text("page.html");
    let candidates = ["--candidates", "sjbf/kin,sjbf/easy++", "--replications", "2"];
    let study = folder.text("study");
    for (args, answer) in [
        (&["--first", "300", "--predictor", "ruh"][..], "easy/estimate"),
        (&[&["recommend", "--first", "1200"][..], &candidates].concat(), "What to use on"),
        (&["fidelity", "--first", "300", "--scheduler", "easy,fcfs"], "The nearest schedule, "),
        (&["sweep", "--first", "300", "--predictor", "ruh,estimate", "--out", &study], "sim sweep report"),
    ] {
        let with_page = sim(&[args, &["--html", &page, "--format", "csv"]].concat());
        assert_eq!(with_page.code, 0, "{args:?}: {}", with_page.err);
        if args[0] != "sweep" {
            assert_eq!(with_page.out, sim_ok(&[args, &["--format", "csv"]].concat()), "{args:?}");
        }
        let text = folder.read("page.html");
        assert!(text.starts_with("<!DOCTYPE html>") && text.contains(answer), "{args:?}");
        if args[0] == "sweep" {
            continue;
        }
        let refused = sim(&[args, &["--html", "/no/such/folder/page.html"]].concat());
        assert!(refused.code != 0 && refused.err.contains("/no/such/folder"), "{args:?}: {}", refused.err);
    }
    // The page of the main command is that of `sim report` with the same settings.
    let report = folder.text("report.html");
    sim_ok(&["report", "--first", "300", "--predictor", "ruh", "--out", &report]);
    sim_ok(&["--first", "300", "--predictor", "ruh", "--html", &page]);
    assert_eq!(folder.read("page.html"), folder.read("report.html"));
}
