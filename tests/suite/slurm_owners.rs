//! Slurm on nodes: what users and their jobs say of priorities and limits, in hand-worked schedules.

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
    let (conf, accounts) = (folder.write("slurm.conf", conf), folder.write("sacctmgr.script", accounts));
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
    let accounts = folder.write("script", "add qos deny MaxTRES=cpu=4 Flags=DenyOnLimit\nadd account name=a DefaultQOS=deny\nadd user name=ann DefaultAccount=a\n");
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
