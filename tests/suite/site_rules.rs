//! The rules of a site for partitions, memory, constraints and states count in every scheduler: small machines, by hand.

use crate::support::{Folder, sim};

/// All schedulers on nodes. `slurm` starts a job up to two seconds after it may.
const SCHEDULERS: [&str; 6] = ["fcfs", "easy", "sjbf", "conservative", "fair", "slurm:batch_sched_delay=0s"];

const COLUMNS: &str = "csv:submit=submit,wait=wait,run=run,procs=cpus,estimate=limit,nodes=nodes,memory=mem,\
    constraint=feature,partition=part";

/// What a run prints to standard error, and the simulated waits of its jobs. Each job is a row of submission, runtime, CPUs, limit,
/// nodes, memory, constraint and partitions.
fn run(machine: &str, jobs: &[&str], scheduler: &str) -> (String, Vec<i64>) {
    let folder = Folder::new();
    let file = folder.write("site.toml", machine);
    let rows: String = jobs.iter().map(|row| format!("0,{row}\n")).collect();
    let jobs = folder.write("jobs.csv", format!("wait,submit,run,cpus,limit,nodes,mem,feature,part\n{rows}"));
    let out = folder.text("out.csv");
    let args = [&jobs, "--log-format", COLUMNS, "--machine", &file, "--jobs-out", &out, "--scheduler", scheduler];
    let ran = sim(&[&args[..], &["--predictor", "estimate", "--baseline", "none"]].concat());
    assert_eq!(ran.code, 0, "{scheduler}: {}", ran.err);
    let rows = folder.read("out.csv");
    let at = rows.lines().next().unwrap().split(',').position(|name| name == "wait").unwrap();
    let wait = |row: &str| row.split(',').nth(at).unwrap().parse().unwrap();
    (ran.err, rows.lines().skip(1).map(wait).collect())
}

/// Whether the waits under each scheduler are these.
fn check_waits(machine: &str, jobs: &[&str], expected: &[i64]) {
    for scheduler in SCHEDULERS {
        let (err, waits) = run(machine, jobs, scheduler);
        let most = if scheduler.starts_with("slurm") { 2 } else { 0 };
        let is_right = |(wait, expected): (&i64, &i64)| (0..=most).contains(&(wait - expected));
        let are_right = waits.len() == expected.len() && waits.iter().zip(expected).all(is_right);
        assert!(are_right, "{scheduler}: {waits:?}, not {expected:?}\n{err}");
    }
}

/// Nodes of 4 CPUs with these features.
fn nodes_with(features: &[&str]) -> String {
    let node = |(at, features): (usize, &&str)| {
        format!("[[nodes]]\nname = \"n{}\"\ncpus = 4\nfeatures = '{features}'\n", at + 1)
    };
    features.iter().enumerate().map(node).collect()
}

/// Of three nodes two have c and one of a and b, so that the third job waits.
#[test]
fn parentheses_in_a_constraint() {
    let machine = nodes_with(&["a", "b,c", "a,c"]);
    let job = |submit: u32| format!("{submit},100,4,100,,,(a|b)&c,");
    check_waits(&machine, &[&job(0), &job(1), &job(2)], &[0, 0, 98]);
}

/// From left to right, `a|b&c` asks for c too.
#[test]
fn operators_of_a_constraint_go_from_left_to_right() {
    let machine = nodes_with(&["a", "b,c", "a,c"]);
    let job = |submit: u32| format!("{submit},100,4,100,,,a|b&c,");
    check_waits(&machine, &[&job(0), &job(1), &job(2)], &[0, 0, 98]);
}

/// The second job needs two nodes with a, or two with b. One with a is busy, and only one has b.
#[test]
fn all_nodes_of_a_job_are_of_one_kind_in_brackets() {
    let machine = nodes_with(&["a", "b", "a,x"]);
    check_waits(&machine, &["0,100,4,100,1,,x,", "1,50,8,50,2,,[a|b],"], &[0, 99]);
    // Two with b are enough, whatever their order.
    let machine = nodes_with(&["a", "b", "a,x", "b"]);
    check_waits(&machine, &["0,100,4,100,1,,x,", "1,50,8,50,2,,[a|b],"], &[0, 0]);
}

/// Counts of nodes are not simulated, and Slurm has no `!`. Such jobs are dropped by cause, and the others run.
#[test]
fn other_constraints_are_dropped_and_named() {
    let machine = nodes_with(&["a", "b", "a"]);
    let jobs = ["0,100,4,100,,,a,", "1,50,12,50,3,,[a*2&b*1],", "2,50,4,50,,,!a,", "3,50,4,50,,,b,"];
    for scheduler in SCHEDULERS {
        let (err, waits) = run(&machine, &jobs, scheduler);
        assert_eq!(waits.len(), 2, "{scheduler}: {err}");
        assert!(err.contains("the first is job 2: 1 job: its constraint asks for counts of nodes"), "{err}");
        assert!(err.contains("; 1 job: its constraint is not one of Slurm's"), "{err}");
        assert!(err.contains("constraints: \"!a\", \"[a*2&b*1]\""), "{err}");
    }
}

/// Jobs of the partition `cpu` have at most 6 of the 8 CPUs together. The other two are for those of `gpu`.
#[test]
fn the_cpus_of_a_node_are_limited_for_a_partition() {
    let machine = "[[nodes]]\nname = 'n1'\ncpus = 8\n\n[[partitions]]\nname = 'cpu'\nnodes = 'n1'\nmax_cpus_per_node = 6\n\n\
        [[partitions]]\nname = 'gpu'\nnodes = 'n1'\n";
    let jobs = ["0,100,4,100,,,,cpu", "1,100,3,100,,,,cpu", "2,50,2,50,,,,gpu", "3,10,2,10,,,,gpu"];
    check_waits(machine, &jobs[..2], &[0, 99]);
    for scheduler in SCHEDULERS.iter().filter(|scheduler| !scheduler.starts_with("slurm")) {
        assert_eq!(run(machine, &jobs, scheduler).1, [0, 99, 0, 0], "{scheduler}");
    }
    // A job that needs more on one node never runs.
    let (err, waits) = run(machine, &["0,100,4,100,,,,cpu", "1,100,7,100,,,,cpu"], "easy");
    assert!(waits.len() == 1 && err.contains("job 2: 1 job: it does not fit the idle nodes"), "{err}");
}

/// Each node has one CPU free. A job of two CPUs that may have one node waits.
#[test]
fn a_job_of_cpus_alone_has_at_most_the_nodes_of_its_partition() {
    let machine = |rule: &str| {
        format!("[[nodes]]\nname = 'n[1-2]'\ncpus = 4\n\n[[partitions]]\nname = 'p'\nnodes = 'ALL'\n{rule}\n")
    };
    let jobs = ["0,100,3,100,1,,,p", "1,100,3,100,1,,,p", "2,50,2,50,,,,p"];
    check_waits(&machine(""), &jobs, &[0, 0, 0]);
    check_waits(&machine("max_nodes = 1"), &jobs, &[0, 0, 98]);
}

/// With at least two nodes, the first job has a CPU of each, so that the second does not find a whole one.
#[test]
fn a_job_has_at_least_the_nodes_of_its_partition() {
    let machine = |least: u32| {
        format!(
            "[[nodes]]\nname = 'n[1-2]'\ncpus = 4\n\n[[partitions]]\nname = 'p'\nnodes = 'ALL'\nmin_nodes = {least}\n\n\
             [[partitions]]\nname = 'q'\nnodes = 'ALL'\n"
        )
    };
    let jobs = ["0,100,2,100,,,,p", "1,50,4,50,1,,,q"];
    check_waits(&machine(0), &jobs, &[0, 0]);
    check_waits(&machine(2), &jobs, &[0, 99]);
    // One node is too few.
    let (err, waits) = run(&machine(2), &["0,9,1,9,1,,,p", "1,9,1,9,1,,,q"], "easy");
    assert!(waits.len() == 1 && err.contains("1 job: its partition does not allow its number of nodes"), "{err}");
}

/// Three nodes have one CPU free each. A job of 3 CPUs on 2 to 3 nodes, or on 2 and more, takes all three; on 2 it waits.
#[test]
fn ranges_of_nodes() {
    let machine = "[[nodes]]\nname = 'n[1-3]'\ncpus = 2\n";
    let before = ["0,100,1,100,1,,,", "0,100,1,100,1,,,", "0,100,1,100,1,,,"];
    for (nodes, wait) in [("2-3", 0), ("2-", 0), ("2", 98), ("2-2", 98)] {
        let spread = |scheduler: &str| match scheduler.split_once(':') {
            Some(_) => scheduler.to_string(),
            None => format!("{scheduler}:placement=spread"),
        };
        let last = format!("2,50,3,50,{nodes},,,");
        for scheduler in SCHEDULERS.iter().filter(|scheduler| !scheduler.starts_with("slurm")) {
            let (err, waits) = run(machine, &[&before[..], &[&last]].concat(), &spread(scheduler));
            assert_eq!(waits, [0, 0, 0, wait], "{scheduler} {nodes}: {err}");
        }
    }
}

/// The third job says no limit. By its partition it is 60 s, so that it ends before the second can start; by the longest limit of
/// the log it would not.
#[test]
fn a_job_without_a_limit_has_that_of_its_partition() {
    let machine =
        |rule: &str| format!("[[nodes]]\nname = 'n1'\ncpus = 4\n\n[[partitions]]\nname = 'p'\nnodes = 'ALL'\n{rule}\n");
    let jobs = ["0,120,3,120,,,,p", "1,50,4,3600,,,,p", "2,50,1,,,,,p"];
    for (rule, wait) in [("", 168), ("default_time = '60s'", 0), ("default_time = '60s'\nmax_time = '1d'", 0)] {
        for scheduler in ["easy", "sjbf", "conservative", "fair"] {
            let (err, waits) = run(&machine(rule), &jobs, scheduler);
            assert_eq!(waits, [0, 119, wait], "{scheduler} {rule}: {err}");
            assert_eq!(
                err.contains("1 job without an estimate: the limit of the partition is used"),
                wait == 0,
                "{err}"
            );
        }
    }
}

/// A job of ten minutes is not in a partition of one minute, though there is room. If it is too long for all, it is cut.
#[test]
fn a_job_that_is_too_long_for_a_partition_is_not_in_it() {
    let machine = "[[nodes]]\nname = 'n[1-2]'\ncpus = 4\n\n[[partitions]]\nname = 'short'\nnodes = 'n1'\nmax_time = '1m'\n\n\
        [[partitions]]\nname = 'long'\nnodes = 'n2'\nmax_time = '1h'\n";
    let format = "csv:submit=submit,wait=wait,run=run,procs=cpus,estimate=limit,partition=part";
    let folder = Folder::new();
    let site = folder.write("site.toml", machine);
    let rows = "submit,wait,run,cpus,limit,part\n0,0,100,4,100,long\n1,0,50,4,600,\"short,long\"\n2,0,50,4,60,\"short,long\"\n\
        200,0,60,4,90000,long\n";
    let jobs = folder.write("jobs.csv", rows);
    for scheduler in SCHEDULERS {
        let out = folder.text("out.csv");
        let args = [&jobs, "--log-format", format, "--machine", &site, "--jobs-out", &out, "--scheduler", scheduler];
        let ran = sim(&[&args[..], &["--predictor", "estimate", "--baseline", "none"]].concat());
        assert!(ran.code == 0 && ran.err.contains("1 estimate is longer than any partition"), "{}", ran.err);
        let rows = folder.read("out.csv");
        let column = |name: &str| rows.lines().next().unwrap().split(',').position(|other| other == name).unwrap();
        let values = |name: &str| -> Vec<i64> {
            let at = column(name);
            rows.lines().skip(1).map(|row| row.split(',').nth(at).unwrap().parse().unwrap()).collect()
        };
        let waits = values("wait");
        assert!((99..=101).contains(&waits[1]) && waits[2] <= 2, "{scheduler}: {waits:?}");
        assert_eq!(values("estimate")[3], 3600, "{scheduler}");
    }
}

/// A job that does not say its memory has all of its node, under every scheduler: the second waits for the first. With a default of
/// the partition it does not. If no job says it, memory counts for nobody.
#[test]
fn memory_that_is_not_said_is_all_of_the_node() {
    let machine = |rule: &str| {
        format!("[[nodes]]\nname = 'n1'\ncpus = 4\nmemory = '8G'\n\n[[partitions]]\nname = 'p'\nnodes = 'n1'\n{rule}\n")
    };
    let jobs = ["0,100,1,100,,1G,,p", "1,100,1,100,,,,p", "2,100,1,100,,1G,,p"];
    let all = "1 job (33.3%) does not say how much memory it needs";
    let none = "no job says how much memory it needs";
    // The third is before the second where it may overtake: it delays nobody.
    for scheduler in ["fcfs", "conservative", "slurm:batch_sched_delay=0s"] {
        let (err, waits) = run(&machine(""), &jobs[..2], scheduler);
        assert!((99..=101).contains(&waits[1]), "{scheduler}: {waits:?} {err}");
    }
    for scheduler in ["easy", "sjbf", "fair"] {
        let (err, waits) = run(&machine(""), &jobs, scheduler);
        assert!(waits == [0, 99, 198] && err.contains(all), "{scheduler}: {waits:?} {err}");
    }
    check_waits(&machine("memory_per_cpu = '1G'"), &jobs, &[0, 0, 0]);
    check_waits(&machine("memory_per_node = '2G'"), &jobs, &[0, 0, 0]);
    let unsaid = ["0,100,1,100,,,,p", "1,100,1,100,,,,p"];
    check_waits(&machine(""), &unsaid, &[0, 0]);
    assert!(run(&machine(""), &unsaid, "easy").0.contains(none));
    assert!(!run(&machine("memory_per_cpu = '1G'"), &jobs, "easy").0.contains("how much memory"));
}

/// The default of the first partition that a job names is its memory in the others too: 1 GB fits beside the 7 GB on n2, 4 GB would
/// not. The run was ended by this.
#[test]
fn a_job_in_two_partitions_has_the_memory_of_the_first() {
    let machine = "[[nodes]]\nname = 'n[1-2]'\ncpus = 4\nmemory = '8G'\n\n\
        [[partitions]]\nname = 'small'\nnodes = 'n1'\nmemory_per_cpu = '1G'\n\n\
        [[partitions]]\nname = 'large'\nnodes = 'n2'\nmemory_per_cpu = '4G'\n";
    let jobs = ["0,100,4,100,,1G,,small", "0,100,1,100,,7G,,large", "1,50,1,50,,,,\"small,large\""];
    check_waits(machine, &jobs, &[0, 0, 0]);
}

/// The first job has one of two nodes for twelve minutes, and the second waits for both. The third asks for an hour, but no job of its
/// partition runs longer than ten minutes: it ends before the second begins, if it starts now. With twenty minutes it does not.
#[test]
fn slurm_plans_no_job_for_longer_than_its_partition_allows() {
    let machine = |most: &str| {
        format!(
            "[[nodes]]\nname = 'n[1-2]'\ncpus = 1\n[[partitions]]\nname = 'long'\nnodes = 'ALL'\ndefault = true\n\
             [[partitions]]\nname = 'short'\nnodes = 'ALL'\nmax_time = '{most}'\n"
        )
    };
    let jobs = ["0,700,1,720,1,,,long", "1,100,2,300,2,,,long", "2,300,1,3600,1,,,short"];
    let third = |most: &str| run(&machine(most), &jobs, "slurm:batch_sched_delay=0s,bf_interval=10s").1[2];
    assert!((0..=11).contains(&third("10m")), "{}", third("10m"));
    assert!((790..=820).contains(&third("20m")), "{}", third("20m"));
}
