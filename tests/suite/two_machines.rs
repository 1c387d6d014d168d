//! A setting's slurm.conf brings its own machine: two machines are compared in one command as in two.

use crate::support::{Folder, sim, sim_ok};

const FORMAT: &str = "csv:id=id,submit=submit,wait=wait,run=run,procs=procs,estimate=estimate,user=user";

/// Eight jobs of 4 CPUs and 1,000 seconds that are submitted together, and as many more rows as given.
fn site(more: &str) -> Folder {
    let folder = Folder::new();
    let conf = |nodes: u32| {
        format!(
            "ClusterName=c\nSchedulerType=sched/backfill\nNodeName=n[1-{nodes}] CPUs=4\nPartitionName=p Nodes=ALL Default=YES\n"
        )
    };
    folder.write("truth.conf", conf(2));
    folder.write("plus.conf", conf(4));
    let rows: String = (1..=8).map(|id| format!("{id},0,0,1000,4,2000,u{id}\n")).collect();
    folder.write("log.csv", format!("id,submit,wait,run,procs,estimate,user\n{rows}{more}"));
    folder
}

/// The values of some columns in the rows of a CSV.
fn columns(csv: &str, names: &[&str]) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let at: Vec<usize> = names.iter().map(|name| headers.iter().position(|one| one == *name).unwrap()).collect();
    reader.records().map(|row| at.iter().map(|at| row.as_ref().unwrap()[*at].to_string()).collect()).collect()
}

/// On 2 nodes the jobs run in four rounds of 1,000 s, on 4 in two: the mean waits are near 1,500 and 500 s.
#[test]
fn each_setting_runs_on_the_nodes_of_its_own_file() {
    let folder = site("");
    let [log, truth, plus] = ["log.csv", "truth.conf", "plus.conf"].map(|name| folder.text(name));
    let both = format!("slurm:conf={truth},slurm:conf={plus}");
    let common = [log.as_str(), "--log-format", FORMAT, "--predictor", "estimate", "--format", "csv"];
    let jobs = folder.text("both.csv");
    let own = ["--slurm-conf", &truth, "--scheduler", &both, "--jobs-out", &jobs];
    let csv = sim_ok(&[&common[..], &own].concat());
    let rows = columns(&csv, &["procs", "jobs", "wait_mean", "wait_improvement_pct", "options"]);
    assert_eq!((&rows[0][0], &rows[1][0]), (&"8".to_string(), &"16".to_string()));
    let [first, second]: [f64; 2] = [0, 1].map(|at: usize| rows[at][2].parse().unwrap());
    assert!((1500.0..1520.0).contains(&first) && (500.0..510.0).contains(&second), "{first} {second}");
    // The baseline is truth.conf on its own nodes.
    let gain: f64 = rows[1][3].parse().unwrap();
    assert!((gain - 100.0 * (first - second) / first).abs() < 1e-3, "{gain}");
    for (row, conf) in rows.iter().zip([&truth, &plus]) {
        assert!(row[4].starts_with(&format!("machine={conf} ")), "{}", row[4]);
    }
    // Job by job as in separate commands.
    let together = folder.read("both.csv");
    for conf in [&truth, &plus] {
        let jobs = folder.text("one.csv");
        let alone = sim_ok(&[&common[..], &["--slurm-conf", conf, "--jobs-out", &jobs]].concat());
        let mark = format!("slurm:conf={conf}/estimate,");
        let own: Vec<&str> = together.lines().filter_map(|line| line.strip_prefix(mark.as_str())).collect();
        assert_eq!(own, folder.read("one.csv").lines().skip(1).collect::<Vec<_>>(), "{conf}");
        let figures = ["procs", "jobs", "dropped", "wait_mean", "bsld_mean", "utilization", "makespan", "options"];
        let row = columns(&csv, &figures)[usize::from(conf == &plus)].clone();
        assert_eq!(row, columns(&alone, &figures)[0]);
    }
    // The same without --slurm-conf, with a baseline, and with kept runs; replications have shaken copies on each machine.
    let (scheduler, baseline) = (format!("slurm:conf={plus}"), format!("slurm:conf={truth}/estimate"));
    let pair = ["--scheduler", &scheduler, "--baseline", &baseline, "--keep", &folder.text("kept")];
    for _ in 0..2 {
        let csv = sim_ok(&[&common[..], &pair].concat());
        let row = &columns(&csv, &["procs", "wait_improvement_pct"])[0];
        assert_eq!((row[0].as_str(), &row[1]), ("16", &rows[1][3]));
    }
    let csv = sim_ok(&[&common[..], &["--slurm-conf", &truth, "--scheduler", &both, "--replications", "3"]].concat());
    let procs: Vec<String> = columns(&csv, &["procs"]).concat();
    assert_eq!(procs, ["8", "16"]);
    let table = sim_ok(&[&common[..5], &["--slurm-conf", &truth, "--scheduler", &both, "--format", "table"]].concat());
    assert!(table.contains("8 and 16 processors, 8 jobs"), "{table}");
}

/// A job of 12 CPUs has room on one of the machines: no setting has it, and it is said why.
#[test]
fn settings_on_two_machines_have_the_same_jobs() {
    let folder = site("9,0,0,1000,12,2000,u9\n");
    let [log, truth, plus] = ["log.csv", "truth.conf", "plus.conf"].map(|name| folder.text(name));
    let both = format!("slurm:conf={truth},slurm:conf={plus}");
    let args = [&log, "-q", "--log-format", FORMAT, "--slurm-conf", &truth, "--scheduler", &both, "--format", "csv"];
    let ran = sim(&args);
    assert_eq!(columns(&ran.out, &["jobs", "dropped"]), [["8", "1"], ["8", "1"]]);
    assert!(ran.err.contains("1 job: it does not fit the idle nodes of its partition\n"), "{}", ran.err);
    let plus = format!(
        "on {plus}: jobs that can never run on the machine are dropped, the first is job 9: 1 job: it cannot run \
                        on another machine of the comparison\n"
    );
    assert!(ran.err.contains(&plus), "{}", ran.err);
}

#[test]
fn where_there_is_one_machine_two_files_are_an_error() {
    let folder = site("");
    let [log, truth, plus] = ["log.csv", "truth.conf", "plus.conf"].map(|name| folder.text(name));
    let (other, pair) = (format!("slurm:conf={plus}"), format!("slurm:conf={plus}/kin"));
    let (page, study) = (folder.text("page.html"), folder.text("study"));
    for args in [
        &["sweep", &log, "--scheduler", &other, "--out", &study][..],
        &["recommend", &log, "--candidates", &pair],
        &["report", &log, "--scheduler", &other, "--out", &page],
    ] {
        let ran = sim(&[args, &["--log-format", FORMAT, "--slurm-conf", &truth]].concat());
        let why = "have different nodes, and here all settings run on one machine";
        assert!(ran.code == 2 && ran.err.contains(why), "{args:?}: {}", ran.err);
    }
    let three = format!("slurm:conf={truth},{other},easy");
    let ran = sim(&[&log, "--log-format", FORMAT, "--scheduler", &three]);
    assert!(ran.code == 2 && ran.err.contains("on which machine is easy?"), "{}", ran.err);
    let ran = sim(&[&log, "--log-format", FORMAT, "--slurm-conf", &truth, "--machine", "none", "--scheduler", &other]);
    assert!(ran.code == 2 && ran.err.contains("--machine none is one pool for all"), "{}", ran.err);
    // A given machine is that of all.
    let csv = sim_ok(&[&log, "--log-format", FORMAT, "--machine", &truth, "--scheduler", &other, "--format", "csv"]);
    assert_eq!(columns(&csv, &["procs"]), [["8"]]);
}
