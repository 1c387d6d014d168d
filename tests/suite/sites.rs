//! Real sites on their nodes: how near is the simulation to the waits that they recorded?

use std::fmt::Write;

use crate::support::{Folder, real_log, real_logs, sim, sim_ok};

/// The queues of the cluster of CERIT-SC in 2013. All use the same nodes.
const WAGAP_QUEUES: [&str; 11] =
    ["q_1d", "q_2h", "q_1w", "q_2d", "q_4h", "q_4d", "q_2w", "backfill", "q_2w_plus", "ops", "priority_long"];

/// The nodes that the log names: 18 of zewura with 80 CPUs and 26 of zegox with 12. Their properties are their places and kinds,
/// and what all nodes there have.
fn wagap_machine(has_memory: bool, has_properties: bool) -> String {
    let mut text = String::new();
    for (kind, count, cpus, kilobytes) in [("zewura", 18, 80, 529_426_432), ("zegox", 26, 12, 94_035_968)] {
        for node in 1..=count {
            writeln!(text, "[[nodes]]\nname = \"{kind}{node}\"\ncpus = {cpus}").unwrap();
            if has_memory {
                writeln!(text, "memory = {}", kilobytes / 1024).unwrap();
            }
            if has_properties {
                let shared = "\"x86_64\", \"brno\", \"nfs4\", \"linux\", \"debian\", \"infiniband\"";
                let own = format!("\"cl_{kind}\", \"nodecpus{cpus}\", \"{kind}{node}\", \"{kind}{node}.cerit-sc.cz\"");
                writeln!(text, "features = [{shared}, {own}]").unwrap();
            }
        }
    }
    for queue in WAGAP_QUEUES {
        writeln!(text, "[[partitions]]\nname = \"{queue}\"\nnodes = \"ALL\"").unwrap();
    }
    text
}

/// A file of requests without some columns.
fn without(requests: &str, columns: &[&str]) -> String {
    let names: Vec<&str> = requests.lines().next().unwrap().split(',').collect();
    let row = |row: &str| {
        let cells = row.split(',').zip(&names);
        cells.map(|(cell, name)| if columns.contains(name) { "" } else { cell }).collect::<Vec<_>>().join(",")
    };
    let rows = requests.lines().skip(1).map(row);
    [names.join(",")].into_iter().chain(rows).map(|row| row + "\n").collect()
}

/// Each part of the machine brings the simulation nearer to the recorded waits of a Torque site. What remains are the limits of
/// its queues and users, which are not known. The figures are those of `sim help machines`.
#[test]
fn wagap_as_a_pool_on_nodes_with_memory_with_properties() {
    let Some(logs) = real_logs("wagap on nodes") else { return };
    let log = logs.join("accounting/wagap-2013.swf.gz").display().to_string();
    let folder = Folder::new();
    let (asked, swf) = (folder.text("requests.csv"), folder.text("out.swf"));
    sim_ok(&["trace", "convert", &log, "--requests-out", &asked, "--out", &swf]);
    let all = folder.read("requests.csv");
    let plain = folder.write("plain.csv", without(&all, &["memory", "constraint", "exclusive"]));
    let memory = folder.write("memory.csv", without(&all, &["constraint", "exclusive"]));
    let machines = [(false, false), (true, false), (true, true)].map(|(memory, properties)| {
        folder.write(&format!("{memory}{properties}.toml"), wagap_machine(memory, properties))
    });
    let figures = |more: &[&str]| {
        let args = ["fidelity", &log, "--scheduler", "easy", "--format", "csv"];
        let csv = sim_ok(&[&args[..], more].concat());
        let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let (names, row) = (lines.next().unwrap(), lines.next().unwrap());
        let cell = |name: &str| row[names.iter().position(|other| *other == name).unwrap()].to_string();
        let [recorded, simulated, rank] =
            ["wait_recorded", "wait_simulated", "rank_correlation"].map(|name| cell(name).parse::<f64>().unwrap());
        (recorded.round(), simulated.round(), (rank * 100.0).round(), cell("verdict"))
    };
    let found = [
        figures(&["--procs", "1752"]),
        figures(&["--machine", &machines[0], "--requests", &plain]),
        figures(&["--machine", &machines[1], "--requests", &memory]),
        figures(&["--machine", &machines[2]]),
    ];
    let expected = [
        (51_032.0, 7_949.0, 40.0, "not this site"),
        (51_032.0, 12_977.0, 46.0, "not this site"),
        // One job asks for 512 GB on a node, which is more than any has.
        (51_034.0, 22_387.0, 49.0, "not this site"),
        // One more asks for the node zewura19, which ran no job.
        (51_037.0, 26_774.0, 48.0, "tendency only"),
    ];
    assert_eq!(
        found,
        expected.map(|(recorded, simulated, rank, verdict)| (recorded, simulated, rank, verdict.to_string()))
    );
}

/// Two nodes of 4 CPUs and 8 GB. By the log two jobs of 6 GB and one of 4 GB ran at once, which does not fit; without the third it
/// would.
#[test]
fn a_recorded_schedule_that_does_not_fit_is_told() {
    let folder = Folder::new();
    let machine = folder.write("site.toml", "[[nodes]]\nname = \"n[1-2]\"\ncpus = 4\nmemory = \"8G\"\n");
    let fitting = "submit,wait,run,procs,mem\n0,0,100,1,6G\n1,0,100,1,6G\n100,0,9,1,6G\n";
    let log = folder.write("fits.csv", fitting);
    let misfit = folder.write("jobs.csv", format!("{fitting}2,3,50,1,4G\n3,0,50,9,1G\n4,0,10,8,\n"));
    let format = "csv:submit=submit,wait=wait,run=run,procs=procs,memory=mem";
    let words = |command: &[&str], log: &str| {
        let ran = sim(&[command, &[log, "--log-format", format, "--machine", &machine]].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.err.lines().find(|line| line.contains("recorded schedule")).map(str::to_string)
    };
    for command in [&["fidelity"][..], &["--scheduler", "replay"]] {
        assert_eq!(words(command, &log), None);
        let found = words(command, &misfit).unwrap();
        let expected = "of 5 jobs, 2 could not be placed when they started (1 for want of CPUs, 1 for want of memory), the first is job";
        assert!(found.contains(expected), "{found}");
    }
    assert_eq!(words(&["--scheduler", "easy"], &misfit), None);
}

/// KTH on 100 nodes of one CPU has the figures of the pool, for all schedulers on nodes. With memory that never matters, jobs are
/// placed by the rules for nodes; without it the numbers of CPUs decide.
#[test]
fn kth_on_nodes_of_one_cpu_is_the_pool() {
    let Some(logs) = real_logs("KTH on nodes") else { return };
    let log = real_log(&logs, "KTH-SP2").display().to_string();
    let folder = Folder::new();
    let nodes = "[[nodes]]\nname = \"n[1-100]\"\ncpus = 1\n";
    let plain = folder.write("plain.toml", nodes);
    let partition = "[[partitions]]\nname = \"all\"\nnodes = \"ALL\"\nmemory_per_cpu = 1\n";
    let memory = folder.write("memory.toml", format!("{nodes}memory = 1\n\n{partition}"));
    for (schedulers, predictors, first) in [
        ("fcfs,easy,sjbf,easy:reservations=3,sjbf:running=estimate", "estimate,ruh", "30000"),
        ("conservative,easy", "kin,perfect,sbh", "3000"),
    ] {
        let figures = |more: &[&str]| {
            let args = [&log, "--scheduler", schedulers, "--predictor", predictors, "--first", first];
            let csv = sim_ok(&[&args[..], &["--baseline", "none", "--format", "csv"], more].concat());
            // The columns of nodes come before the options, which differ.
            csv.lines().skip(1).map(|row| row.split(',').take(25).collect::<Vec<_>>().join(",")).collect::<Vec<_>>()
        };
        let pool = figures(&["--procs", "100"]);
        assert_eq!(figures(&["--machine", &plain]), pool);
        assert_eq!(figures(&["--machine", &memory]), pool);
    }
}
