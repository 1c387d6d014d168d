//! Slurm on nodes: what users and their jobs say of priorities and limits, in hand-worked schedules.

use crate::sacctmgr_commands::dump_of;
use crate::support::{Folder, sim, sim_ok};

/// Two nodes of 4 CPUs, of which the second has a GPU.
const CONF: &str = "SchedulerType=sched/backfill\nSchedulerParameters=batch_sched_delay=0\n\
    SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nGresTypes=gpu\n\
    NodeName=n1 CPUs=4\nNodeName=n2 CPUs=4 Gres=gpu:1\n";

const COLUMNS: &str = "csv:id=id,submit=submit,wait=wait,run=run,procs=procs,estimate=estimate,user=user,nice=nice,partition=partition,gpus=gpus";

/// The starts of jobs that are given as rows of `submit,run,procs,estimate,user,nice,partition,gpus`, in tens of seconds: passes are a
/// second or two after an event.
fn starts(conf: &str, accounts: &str, rows: &[&str]) -> Vec<i64> {
    let folder = Folder::new();
    let (conf, accounts) = (folder.write("slurm.conf", conf), folder.write("site.dump", dump_of("test", accounts)));
    let rows = rows.iter().enumerate().map(|(at, row)| format!("{},0,{row}\n", at + 1)).collect::<String>();
    let log = folder.write("log.csv", format!("id,wait,submit,run,procs,estimate,user,nice,partition,gpus\n{rows}"));
    let jobs = folder.text("jobs.csv");
    let site = ["--slurm-conf", &conf, "--associations", &accounts, "--log-format", COLUMNS];
    sim_ok(&[&[&log[..]], &site[..], &["--jobs-out", &jobs, "--format", "csv"]].concat());
    let mut reader = csv::Reader::from_path(jobs).unwrap();
    let at = reader.headers().unwrap().iter().position(|name| name == "start").unwrap();
    reader.records().map(|row| row.unwrap()[at].parse::<i64>().unwrap() / 10 * 10).collect()
}

const PARTITION: &str = "PartitionName=all Nodes=ALL Default=YES MaxTime=1-0\n";
const USERS: &str = "add account name=a\nadd user name=ann DefaultAccount=a\nadd user name=bob DefaultAccount=a\n";

/// The second job of ann is refused, and submitted again when her first has ended. Then bob's, which came later, is before it.
#[test]
fn a_refused_job_is_submitted_again_when_another_has_left() {
    let rows = ["0,100,8,600,ann,,,", "0,300,8,600,ann,,,", "10,50,8,600,bob,,,", "20,10,8,600,ann,,,"];
    let free = starts(&format!("{CONF}{PARTITION}"), USERS, &rows);
    assert_eq!(free, [0, 100, 400, 450]);
    let limited = USERS.replace("name=ann DefaultAccount=a", "name=ann DefaultAccount=a MaxSubmitJobs=1");
    let enforced = format!("{CONF}AccountingStorageEnforce=limits\n{PARTITION}");
    assert_eq!(starts(&enforced, &limited, &rows), [0, 150, 100, 450]);
}

/// A job that can never keep the limits of its QOS is named. Without any other job there is nothing to simulate.
#[test]
fn a_job_that_is_denied_for_ever_is_named() {
    let folder = Folder::new();
    let conf = folder.write("slurm.conf", format!("{CONF}AccountingStorageEnforce=limits\n{PARTITION}"));
    let accounts = folder.write(
        "site.dump",
        dump_of("test", "add qos deny MaxTRES=cpu=4 Flags=DenyOnLimit\nadd account name=a DefaultQOS=deny\nadd user name=ann DefaultAccount=a"),
    );
    let log = folder.write("log.csv", "id,submit,wait,run,procs,estimate,user\n7,0,0,100,8,600,ann\n");
    let columns = "csv:id=id,submit=submit,wait=wait,run=run,procs=procs,estimate=estimate,user=user";
    let ran = sim(&[&log, "--slurm-conf", &conf, "--associations", &accounts, "--log-format", columns]);
    let why = "can start no job: job 7: QOS deny: MaxTRES cpu=4, it asks for 8";
    assert!(ran.code == 1 && ran.err.contains(why), "{} {}", ran.code, ran.err);
}

/// `--nice` lowers the priority, also where that is the order of arrival.
#[test]
fn a_nice_job_comes_later() {
    let rows = ["0,100,8,600,ann,,,", "1,100,8,600,ann,300,,", "2,100,8,600,bob,,,"];
    for order in ["basic", "multifactor\nPriorityWeightJobSize=1000"] {
        let conf = format!("{CONF}PriorityType=priority/{order}\n{PARTITION}");
        assert_eq!(starts(&conf, USERS, &rows), [0, 200, 100], "{order}");
    }
}

/// Both users have used one node for 100 seconds. With a weight of GPUs, ann's costs more, so bob is first; else they are equal and
/// ann's comes first.
#[test]
fn use_is_charged_by_the_weights_of_the_partition() {
    let priority = "PriorityType=priority/multifactor\nPriorityWeightFairshare=1000\nPriorityDecayHalfLife=1-0\n\
        PriorityCalcPeriod=1\nAccountingStorageEnforce=limits\n";
    let rows = ["0,100,4,600,ann,,all,1", "0,100,4,600,bob,,all,", "10,100,8,600,ann,,,", "11,100,8,600,bob,,,"];
    let with = |weights: &str| {
        let partition = PARTITION.replace("MaxTime", &format!("{weights} MaxTime"));
        starts(&format!("{CONF}{priority}{partition}"), USERS, &rows)
    };
    assert_eq!(with(""), [0, 0, 100, 200]);
    assert_eq!(with("TRESBillingWeights=\"CPU=1.0,GRES/gpu=9\""), [0, 0, 200, 100]);
}

/// What a real Slurm wrote of two clusters: only the rows of the machine's own cluster count, and what is not understood of them is a
/// warning in every run.
#[test]
fn accounts_are_those_of_the_cluster_of_the_machine() {
    let folder = Folder::new();
    let accounts = |name: &str| format!("{}/tests/slurm-accounts/limits.{name}", env!("CARGO_MANIFEST_DIR"));
    let log = folder.write("log.csv", "submit,wait,run,procs,estimate,user\n0,0,10,1,600,bob\n");
    let columns = "csv:submit=submit,wait=wait,run=run,procs=procs,estimate=estimate,user=user";
    let run = |name: &str, files: &str| {
        let conf = folder.write("slurm.conf", format!("{name}{CONF}{PARTITION}"));
        sim(&[&log, "-q", "--slurm-conf", &conf, "--associations", files, "--log-format", columns])
    };
    let (dump, qos, tree) = (accounts("dump"), accounts("qos"), accounts("tree"));
    let ran = run("ClusterName=Test\n", &dump);
    let ignored = format!("Priority ({dump}, line 21), the line of ann in the partition gpu ({dump}, line 24)\n");
    assert!(ran.code == 0 && ran.err.contains(&ignored), "{}", ran.err);
    let unknown = "the priority and the limits of the QOS hi, lo are in none of the files: add what 'sacctmgr -P show qos' prints";
    assert!(ran.err.contains(unknown), "{}", ran.err);
    let ran = run("", &format!("{dump},{qos}"));
    assert!(ran.code == 0 && ran.err.contains(&ignored) && !ran.err.contains(unknown), "{}", ran.err);
    // All that is not understood is of the other cluster.
    let ran = run("ClusterName=other\n", &format!("{tree},{qos}"));
    assert!(ran.code == 0 && !ran.err.contains("not simulated, though"), "{}", ran.err);
    for (name, files, why) in [
        (
            "ClusterName=big\n",
            &dump,
            "of the cluster test, but the machine is the cluster big: export it with 'sacctmgr dump big",
        ),
        (
            "",
            &tree,
            "of the clusters other, test, and the machine does not say which of them it is: write ClusterName=NAME",
        ),
        ("", &folder.write("script", "sacctmgr -i add account a\n"), "sacctmgr dump CLUSTER file=site.dump"),
    ] {
        let ran = run(name, files);
        assert!(ran.code == 2 && ran.err.contains(why), "{why}: {}", ran.err);
    }
}

/// ann has nine tenths of the shares of a dump, bob one: after equal use she comes first.
#[test]
fn the_shares_of_a_dump_count() {
    let conf = format!(
        "{CONF}PriorityType=priority/multifactor\nPriorityWeightFairshare=1000\nPriorityDecayHalfLife=1-0\nPriorityCalcPeriod=1\n\
         PriorityFlags=NO_FAIR_TREE\nAccountingStorageEnforce=limits\n{PARTITION}"
    );
    let rows = ["0,100,4,600,ann,,,", "0,100,4,600,bob,,,", "10,100,8,600,bob,,,", "11,100,8,600,ann,,,"];
    assert_eq!(starts(&conf, USERS, &rows), [0, 0, 100, 200]);
    let unequal = USERS.replace("name=ann", "name=ann Fairshare=9");
    assert_eq!(starts(&conf, &unequal, &rows), [0, 0, 200, 100]);
}
