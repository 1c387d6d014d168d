//! A slurm.conf says which nodes and partitions are not there, and what of it is not simulated, whichever option names it.

use crate::support::{Folder, Ran, sim};

const CONF: &str = "ClusterName=x\nSelectTypeParameters=CR_Core_Memory,CR_ONE_TASK_PER_CORE\nMaxMemPerCPU=4000\n\
    NodeName=DEFAULT CPUs=4 RealMemory=8000\nNodeName=n[1-2] ThreadsPerCore=2\nNodeName=n3 State=DRAIN\n\
    NodeName=n4\nNodeName=n5 State=FUTURE\nDownNodes=n4 State=FAIL\n\
    PartitionName=DEFAULT DefMemPerCPU=1000\nPartitionName=p Nodes=n[1-4] Default=YES AllowQos=a DenyAccounts=b\n\
    PartitionName=q Nodes=n[1-4] State=DOWN\nPartitionName=r Nodes=n[1-4] State=DRAIN\n";

fn run(folder: &Folder, option: &str, jobs: &str, more: &[&str]) -> Ran {
    let conf = folder.write("slurm.conf", CONF);
    let jobs = folder.write("jobs.csv", format!("submit,wait,run,cpus,part\n{jobs}"));
    let format = "csv:submit=submit,wait=wait,run=run,procs=cpus,partition=part";
    sim(&[&[&jobs, "--log-format", format, option, &conf][..], more].concat())
}

/// Two of four nodes are down: a job of 16 CPUs never runs, and of two jobs of 8 one waits for the other.
#[test]
fn nodes_that_are_down_are_never_free() {
    for scheduler in ["easy", "fcfs", "conservative", "fair", "slurm:batch_sched_delay=0s"] {
        let folder = Folder::new();
        let out = folder.text("out.csv");
        let jobs = "0,0,100,8,p\n1,0,100,8,p\n2,0,100,16,p\n";
        let ran =
            run(&folder, "--machine", jobs, &["--scheduler", scheduler, "--baseline", "none", "--jobs-out", &out]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.lines().next().unwrap().ends_with("slurm.conf: 2 nodes, 8 CPUs are down"), "{}", ran.err);
        assert!(ran.err.contains("the first is job 3: 1 job: it does not fit the idle nodes"), "{}", ran.err);
        let rows = folder.read("out.csv");
        let at = rows.lines().next().unwrap().split(',').position(|name| name == "wait").unwrap();
        let waits: Vec<i64> =
            rows.lines().skip(1).map(|row| row.split(',').nth(at).unwrap().parse().unwrap()).collect();
        assert!(waits.len() == 2 && (99..=101).contains(&waits[1]), "{scheduler}: {waits:?}");
    }
}

/// A partition that is down, or takes no new jobs, has none.
#[test]
fn partitions_that_are_down_take_no_jobs() {
    for scheduler in ["easy", "slurm"] {
        let folder = Folder::new();
        let ran = run(&folder, "--machine", "0,0,9,1,p\n1,0,9,1,q\n2,0,9,1,r\n", &["--scheduler", scheduler]);
        let why = "the first is job 2: 2 jobs: its partition is down, or takes no new jobs";
        assert!(ran.code == 0 && ran.err.contains(why), "{}", ran.err);
    }
}

/// `--machine` names what it does not simulate as `--slurm-conf` does.
#[test]
fn what_is_not_simulated_is_named() {
    for option in ["--machine", "--slurm-conf"] {
        let folder = Folder::new();
        let ran = run(&folder, option, "0,0,9,1,p\n", &[]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("2 nodes, 8 CPUs are down"), "{option}: {}", ran.err);
        let warned = ran.err.split("not simulated, though it may change which jobs start: ").nth(1).unwrap();
        let warned = &warned[..warned.find('\n').unwrap_or(warned.len())];
        for name in ["SelectTypeParameters=CR_ONE_TASK_PER_CORE", "MaxMemPerCPU", "AllowQos", "DenyAccounts"] {
            assert!(warned.contains(name), "{option}: {name} in {warned}");
        }
        for name in ["DownNodes", "State", "DefMem"] {
            assert!(!warned.contains(name), "{option}: {name} in {warned}");
        }
        // It is the name of the cluster in the database.
        assert!(!ran.err.contains("ClusterName"), "{option}: {}", ran.err);
    }
}

/// `sim machine` shows it, and TOML keeps it.
#[test]
fn states_are_shown_and_written() {
    let folder = Folder::new();
    let conf = folder.write("slurm.conf", CONF);
    let toml = folder.text("site.toml");
    let ran = sim(&["machine", &conf, "--out", &toml]);
    assert!(ran.code == 0 && ran.err.contains("2 nodes, 8 CPUs are down"), "{}", ran.err);
    let written = folder.read("site.toml");
    assert!(written.contains("name = \"n[3-4]\"\ncpus = 4\nmemory = \"8000M\"\ndown = true"), "{written}");
    assert!(written.contains("state = \"down\"") && written.contains("state = \"drain\""), "{written}");
    let again = sim(&["machine", &toml]);
    assert!(again.code == 0 && again.err.contains("2 nodes, 8 CPUs are down"), "{}", again.err);
}

/// A partition that drains runs the jobs that wait there, and takes no new ones.
#[test]
fn a_draining_partition_runs_what_waits_there() {
    let folder = Folder::new();
    let machine = "[[nodes]]\nname = 'n[1-2]'\ncpus = 4\n\n[[partitions]]\nname = 'p'\nnodes = 'n1'\n\n\
        [[partitions]]\nname = 'r'\nnodes = 'n2'\nstate = 'drain'\n\n[[partitions]]\nname = 'q'\nnodes = 'n2'\nstate = 'down'\n";
    let machine = folder.write("site.toml", machine);
    let row = |at: u32| {
        let times = [at, at, at + 1].map(|minute| format!("2026-01-30T00:{minute:02}:00")).join("|");
        format!("{at}|alice|{times}|1|1|00:01:00|COMPLETED|p\n")
    };
    let past: String = (1..50).map(row).collect();
    let log = folder
        .write("log.sacct", format!("JobID|User|Submit|Start|End|NCPUS|NNodes|Timelimit|State|Partition\n{past}"));
    let queue = "JOBID|USER|PARTITION|CPUS|NODES|TIME_LIMIT|TIME|STATE|SUBMIT_TIME|START_TIME|REASON|NODELIST\n\
        101|bob|r|1|1|1:00:00|0:00|PENDING|2026-01-31T11:55:00|N/A|Priority|\n\
        102|bob|q|1|1|1:00:00|0:00|PENDING|2026-01-31T11:55:00|N/A|Priority|\n";
    let queue = folder.write("queue.txt", queue);
    let args = ["wait", "ask", &log, "--queue", &queue, "--machine", &machine, "--recalibrate", "off", "--draws", "1"];
    let ran = sim(&[&args[..], &["--format", "csv"]].concat());
    let names: Vec<&str> = ran.out.lines().next().unwrap().split(',').collect();
    let at = names.iter().position(|name| *name == "stage").unwrap();
    let stages: Vec<&str> = ran.out.lines().skip(1).map(|row| row.split(',').nth(at).unwrap()).collect();
    assert!(ran.code == 0 && stages[0] == "waiting" && stages[1] != "waiting", "{}{}", ran.out, ran.err);
    let ran = sim(&[&args[..], &["--job", "procs=1,estimate=10m,partition=r"]].concat());
    assert!(ran.code == 2 && ran.err.contains("--job: its partition is down, or takes no new jobs"), "{}", ran.err);
}
