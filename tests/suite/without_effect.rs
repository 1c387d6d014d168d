//! Options that can change nothing are refused, and named with what they need; where that depends on the log, they are warned of.

use crate::support::{Folder, dump_of_site, sim};

#[test]
fn an_option_that_can_change_nothing_is_refused() {
    let folder = Folder::new();
    let conf = folder.write("slurm.conf", "ClusterName=micro\nNodeName=n[1-99] CPUs=4\n");
    let accounts = dump_of_site("ub-micro");
    let log = folder.write("log.csv", "submit,wait,run,procs,estimate\n0,0,10,1,20\n");
    let columns = "csv:submit=submit,wait=wait,run=run,procs=procs,estimate=estimate";
    for (args, why) in [
        (&["--associations", &accounts][..], "has no effect without --machine or --slurm-conf"),
        (&["--associations", &accounts, "--machine", &conf], "has no effect without the scheduler slurm"),
        (&["--partition-map", "a=b"], "--partition-map a=b has no effect without --machine or --slurm-conf"),
        (
            &["--inflate", "2", "--scheduler", "fcfs"],
            "--inflate 2 has no effect without a scheduler that plans with predictions",
        ),
        (&["--pass-on-miss", "--scheduler", "slurm"], "--pass-on-miss has no effect without a scheduler that plans"),
        (&["--estimates-seed", "7"], "--estimates-seed 7 has no effect without a random model in --estimates"),
        (&["--seed", "7"], "--seed 7 has no effect without --shake"),
        (&["--names"], "--names has no effect without --by, --by-out, --jobs-out or --html"),
        (&["--scheduler", "slurm:age_weight=5"], "the key age_weight has no effect without order=multifactor"),
        (&["--scheduler", "slurm:epilog=5s"], "the key epilog has no effect on a pool of processors"),
        (&["--scheduler", "easy:placement=spread"], "the key placement has no effect on a pool of processors"),
        (
            &["--machine", &conf, "--scheduler", "slurm:order=multifactor,fairshare_weight=9,shares=group"],
            "the key shares has no effect on nodes, where shares are those of --associations",
        ),
        (&["--machine", &conf, "--partition-map", "a=b,a=c"], "the partition 'a' is there twice"),
    ] {
        let ran = sim(&[&[&log, "--log-format", columns][..], args].concat());
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(why), "{args:?}: {}", ran.err);
    }
    for (args, why) in [
        (&["wait", "ask", "--at", "3", "--retrain", "5"][..], "--retrain"),
        (&["wait", "--estimates-seed", "5"], "--estimates-seed 5 has no effect"),
        (&["recommend", "--inflate", "2", "--candidates", "fcfs/kin"], "--inflate 2 has no effect"),
        (&["recommend", "--candidates", "slurm:epilog=5s/kin"], "the key epilog has no effect"),
        (&["sweep", "--dry-run", "--seed", "1..3"], "--seed 2 has no effect without --shake"),
        (&["sweep", "--dry-run", "--scheduler", "slurm:age_weight={1|2}"], "the key age_weight has no effect"),
        (&["meta", "--names", &log], "--names has no effect without --jobs-out"),
    ] {
        let ran = sim(args);
        assert!(ran.code == 2 && ran.err.contains(why), "{args:?}: {}", ran.err);
    }
    // One run in which it acts is enough.
    for args in [
        &["--inflate", "2", "--scheduler", "fcfs,easy", "--first", "50"][..],
        &["sweep", "--dry-run", "--scheduler", "slurm:order={fcfs|multifactor},age_weight=5"],
        &["sweep", "--dry-run", "--shake", "0,30s", "--seed", "1..3"],
    ] {
        let ran = sim(args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    }
}

/// Whether partitions of the log are meant is known when it has been read.
#[test]
fn an_option_without_effect_on_the_log_is_warned_of() {
    let folder = Folder::new();
    let log = folder.write(
        "sacct.txt",
        "JobIDRaw|Submit|Start|End|NCPUS|Timelimit|Partition|User\n\
         1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|1|02:00:00|batch|ann\n\
         2|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|1|Partition_Limit|night|bob\n",
    );
    let warnings = |args: &[&str]| {
        let ran = sim(&[&[&log, "-q"][..], args].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.err
    };
    let limits = warnings(&["--log-format", r#"sacct:partition-limit="batch=1d,night=2d,nowhere=3d""#]);
    assert!(
        limits.contains("partition-limit has no effect for batch, nowhere: no job there is without a limit"),
        "{limits}"
    );
    let conf =
        folder.write("slurm.conf", "NodeName=n1 CPUs=4\nPartitionName=batch Nodes=ALL\nPartitionName=all Nodes=ALL\n");
    let map = warnings(&["--machine", &conf, "--partition-map", "night=all,nowhere=all"]);
    assert!(map.contains("--partition-map has no effect for nowhere: no job of the log is there\n"), "{map}");
    let swf = sim(&["-q", "--names", "--by", "user"]);
    assert!(swf.err.contains("an SWF log has numbers and no names"), "{}", swf.err);
}

/// Each option that `--what-if` may change says so if the change has no effect: before the run, or after one with the same schedule.
#[test]
fn a_change_without_effect_says_so_for_each_option() {
    let folder = Folder::new();
    // Two jobs of two users that nothing holds back, with estimates that they keep.
    let log = folder.write("log.csv", "submit,wait,run,procs,estimate,user\n0,0,10,1,20,a\n5,0,10,1,20,b\n");
    let columns = "csv:submit=submit,wait=wait,run=run,procs=procs,estimate=estimate,user=user";
    let [nodes, same_nodes] =
        ["a", "b"].map(|name| folder.write(&format!("{name}.toml"), "[[nodes]]\nname = \"n1\"\ncpus = 4\n"));
    let outages = folder.write("outages.csv", "kind,procs,start,end\ndown,4,1000,2000\n");
    let conf = folder.write("slurm.conf", "SchedulerParameters=bf_interval=60\n");
    let (machine, outages, conf) =
        (format!("machine={same_nodes}"), format!("outages={outages}"), format!("slurm-conf={conf}"));
    let accounts = format!("associations={}", dump_of_site("ub-micro"));
    let same_schedule = "has no effect: every job starts and ends as in the site as it is";
    let changes = [
        ("scheduler=easy", same_schedule),
        ("predictor=kin", same_schedule),
        ("procs=8", same_schedule),
        ("missing-estimate=drop", same_schedule),
        ("overrun=kill", same_schedule),
        (&*outages, same_schedule),
        ("estimates=better:factor=0.5", same_schedule),
        ("feedback=think", same_schedule),
        ("load=1", "it changes nothing: the site is so as it is"),
        (&*conf, "it changes nothing: the site is so as it is"),
        (&*machine, "it changes nothing: the site is so as it is"),
        (&*accounts, "has no effect without --machine or --slurm-conf"),
        ("partition-map=a=b", "has no effect without --machine or --slurm-conf"),
        ("scale-limit=MaxJobs=2", "has no effect without"),
        ("on-failure=kill", "has no effect without --outages"),
        ("add-nodes=n2 as n1", "has no effect without --machine or --slurm-conf"),
        ("remove-nodes=n1", "has no effect without --machine or --slurm-conf"),
        ("estimates-seed=7", "has no effect without a random model in --estimates"),
        ("inflate=2", "has no effect without a scheduler that plans with predictions"),
        ("pass-on-miss=on", "has no effect without a scheduler that plans with predictions"),
    ];
    let names = sim(&["--what-if", "none=1"]).err;
    let names = names.split("those of a change are ").nth(1).unwrap().lines().next().unwrap();
    for name in names.split(", ") {
        let change = changes.iter().find(|(change, _)| change.split('=').next() == Some(name));
        let (change, why) = change.unwrap_or_else(|| panic!("a change of {name} that has no effect"));
        // A machine is changed on nodes.
        let size = if name == "machine" { ["--machine", &nodes] } else { ["--procs", "4"] };
        let site = [&log, "--log-format", columns, "--scheduler", "fcfs", "--predictor", "estimate", size[0], size[1]];
        let ran = sim(&[&site[..], &["--what-if", change]].concat());
        let code = if *why == same_schedule { 0 } else { 2 };
        assert!(ran.code == code && ran.err.contains(why), "{change}: {} {}", ran.code, ran.err);
    }
}
