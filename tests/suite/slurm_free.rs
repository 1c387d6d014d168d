//! Slurm on nodes, simulated freely beside records of the daemon: how long jobs wait and in which order they start. (Other tests make
//! each recorded pass again.)

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rand::RngExt;
use serde_json::Value;
use shadowtime::rng::stream;
use shadowtime::time::parse_date_time;

use crate::sacctmgr_commands::dump_of;
use crate::slurm_node_records::{QOS_OF_Q1, records, text_of};
use crate::support::{Folder, dump_of_site, real_logs, sim_ok};

const COLUMNS: &str = "id,submit,wait,run,procs,estimate,user,partition,qos,nodes,tasks,tasks_per_node,cpus_per_task,memory,\
    memory_per_cpu,gpus,gpus_per_node,constraint,exclusive,reservation,no_requeue";

/// The accounts of the records, as commands of sacctmgr.
const ACCOUNTS: &str = "add account name=a1 Fairshare=2\nadd account name=a2 Fairshare=1\n\
    add user name=u1 DefaultAccount=a1 Fairshare=1\nadd user name=u2 DefaultAccount=a1 Fairshare=1\n\
    add user name=u3 DefaultAccount=a1 Fairshare=2\nadd user name=u4 DefaultAccount=a2 Fairshare=1\n\
    add user name=u5 DefaultAccount=a2 Fairshare=3\nadd user name=u6 DefaultAccount=a2 Fairshare=1\n";

/// A job of one CPU of the user root in the partition of these records that has all kinds of nodes.
const FIRST: &str = "1,60,root,batch,,,1,,,,,,,,,,";

/// How often each record is simulated; runtimes are 0 or 1 s longer at random.
const TIMES: u32 = 12;

/// Starts in this number of seconds count as of one order.
const NEAR: i64 = 2;

/// The starts of jobs, by number.
type Starts = BTreeMap<i64, i64>;

/// In which share of pairs the same job starts first.
fn same_order(one: &Starts, other: &Starts) -> f64 {
    let ids: Vec<&i64> = one.keys().filter(|id| other.contains_key(id)).collect();
    let (mut same, mut pairs) = (0u32, 0u32);
    for (at, a) in ids.iter().enumerate() {
        for b in &ids[..at] {
            let (here, there) = (one[a] - one[b], other[a] - other[b]);
            pairs += 1;
            same += u32::from(here.abs() <= NEAR || there.abs() <= NEAR || (here > 0) == (there > 0));
        }
    }
    f64::from(same) / f64::from(pairs)
}

/// A site with its jobs, in files.
struct Site {
    folder: Folder,
    /// By job: its number, its submission, its run, and the columns after these.
    rows: Vec<(i64, i64, i64, String)>,
    /// The columns of the job before the first.
    first: &'static str,
    /// More keys of the scheduler.
    keys: &'static str,
    /// The recorded starts.
    recorded: Starts,
    /// Outages: start, end and announcement, and the columns after these.
    outages: Vec<([i64; 3], String)>,
}

impl Site {
    /// Writes the files of a record.
    fn of(record: &Value) -> Site {
        let folder = Folder::new();
        let text = |key: &str| record[key].as_str().unwrap_or_default();
        folder.write("slurm.conf", text("conf"));
        folder.write("gres.conf", text("gresconf"));
        if !text("topo").is_empty() {
            folder.write("topology.conf", text("topo"));
        }
        let t0 = record["t0"].as_i64().unwrap();
        let mut site =
            Site { folder, rows: Vec::new(), first: FIRST, keys: "", recorded: Starts::new(), outages: Vec::new() };
        site.outages = outages_of(record, t0);
        let has_run = |job: &&Value| {
            let is_stopped = !job["submits"].is_null() && (job["state"] == "NODE_FAIL" || job["state"] == "TIMEOUT");
            job["state"] == "COMPLETED" || job["state"] == "PREEMPTED" || is_stopped
        };
        for job in record["jobs"].as_array().unwrap().iter().filter(has_run) {
            let time = |key: &str| t0 + job[key].as_i64().unwrap();
            let id = job["id"].as_i64().unwrap();
            // The daemon notes the time at which a job was requeued as its submission.
            let events = record["events"].as_array().unwrap();
            let is_first = |event: &&Value| event[1] == "sub" && event[2] == id;
            let requeued = text("conf").contains("PreemptMode=REQUEUE");
            let is_last = requeued && job["submits"].is_null();
            let first = events.iter().find(is_first).filter(|_| is_last).and_then(|event| event[0].as_f64());
            let submit = first.map_or(time("submit"), |seconds| t0 + seconds.floor() as i64);
            site.recorded.insert(id, time("start"));
            site.rows.push((id, submit, job["run"].as_i64().unwrap(), columns(job)));
        }
        site
    }

    /// The starts of one simulation. `longer`: by how much each job runs longer. `lead`: how long before the first job the daemon has
    /// another one, from which it counts its periods.
    fn simulate(&self, lead: i64, mut longer: impl FnMut() -> i64) -> Starts {
        let first = self.rows.iter().map(|row| row.1).min().unwrap() - lead;
        let mut table = format!("{COLUMNS}\n0,{first},0,1,{}\n", self.first);
        for (id, submit, run, others) in &self.rows {
            let wait = self.recorded[id] - submit;
            writeln!(table, "{id},{submit},{wait},{},{others}", run + longer()).unwrap();
        }
        let jobs = self.folder.write("jobs.csv", table);
        let conf = self.folder.text("slurm.conf");
        let roles: Vec<String> = COLUMNS.split(',').map(|name| format!("{name}={name}")).collect();
        let (format, scheduler) = (format!("csv:{}", roles.join(",")), format!("slurm:conf={conf}{}", self.keys));
        let out = self.folder.text("out.csv");
        let mut args = vec!["--trace", &jobs, "--log-format", &format, "--machine", &conf];
        let files = ["accounts", "qos"].into_iter().filter(|name| self.folder.path(name).exists());
        let accounts = files.map(|name| self.folder.text(name)).collect::<Vec<_>>().join(",");
        if !accounts.is_empty() {
            args.extend(["--associations", &accounts]);
        }
        // Their times count from the first submission.
        let row = |([start, end, announced], others): &([i64; 3], String)| {
            format!("{},{},{},{others}\n", start - first, end - first, announced - first)
        };
        let rows: String = self.outages.iter().map(row).collect();
        let outages = self.folder.write("outages.csv", format!("start,end,announced,kind,nodes,name\n{rows}"));
        if !rows.is_empty() {
            args.extend(["--outages", &outages]);
        }
        args.extend(["--scheduler", &scheduler, "--predictor", "estimate", "--jobs-out", &out]);
        sim_ok(&args);
        let text = self.folder.read("out.csv");
        let cell = |line: &str, at: usize| line.split(',').nth(at).unwrap().parse::<i64>().unwrap();
        text.lines().skip(1).map(|line| (cell(line, 0), first + cell(line, 3))).collect()
    }
}

/// Nodes that were down or drained, and reservations, as `--outages` has them.
fn outages_of(record: &Value, t0: i64) -> Vec<([i64; 3], String)> {
    let events = record["events"].as_array().unwrap();
    let time = |event: &Value| t0 + event[0].as_f64().unwrap().floor() as i64;
    let mut outages = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let name = event[2].as_str().unwrap_or_default();
        let later = |kind: &str| events[at + 1..].iter().find(|other| other[1] == kind && other[2] == name);
        let state = event[3].as_str().unwrap_or_default();
        if event[1] == "node" && state.starts_with('D') {
            let (kind, end) = (if state == "DOWN" { "down" } else { "drain" }, later("node").map(time));
            let end = end.unwrap_or(time(event) + 100_000);
            outages.push(([time(event), end, time(event)], format!("{kind},{name},")));
        }
        if event[1] == "rnew" {
            let nodes: Vec<&str> = event[3].as_array().unwrap().iter().map(|node| node.as_str().unwrap()).collect();
            let shown = record["admin"].as_array().unwrap().iter().filter_map(|command| command["show"].as_str());
            let begin = format!("ReservationName={name} ");
            let line = shown.flat_map(str::lines).find(|line| line.starts_with(&begin)).unwrap_or_default();
            let kind = if line.contains("MAINT") { "maintenance" } else { "reserved" };
            let [start, end] = [4, 5].map(|at| t0 + event[at].as_i64().unwrap());
            let end = later("rdel").map_or(end, |gone| end.min(time(gone)));
            outages.push(([start, end, time(event)], format!("{kind},\"{}\",{name}", nodes.join(","))));
        }
    }
    outages
}

/// What a job asks for.
fn columns(job: &Value) -> String {
    let number = |key: &str| job[key].as_i64().filter(|&number| number > 0);
    let shown = |key: &str| number(key).map(|number| number.to_string()).unwrap_or_default();
    let word = |key: &str| job[key].as_str().unwrap_or_default();
    let nodes = match (number("min_nodes"), number("max_nodes")) {
        (None, _) => String::new(),
        (Some(least), None) => format!("{least}-"),
        (Some(least), Some(most)) => format!("{least}-{most}"),
    };
    let is_per_cpu = job["percpu"] == true;
    let memory = |wanted: bool| if is_per_cpu == wanted { shown("mem") } else { String::new() };
    [
        number("min_cpus").unwrap_or(1).to_string(),
        shown("limit"),
        word("user").to_string(),
        format!("\"{}\"", word("part")),
        word("qos").to_string(),
        nodes,
        shown("num_tasks"),
        shown("ntpn"),
        shown("cpt"),
        memory(false),
        memory(true),
        shown("gpus"),
        shown("gres"),
        word("feat").to_string(),
        if job["excl"] == true { "yes".to_string() } else { String::new() },
        word("resv").to_string(),
        shown("norequeue"),
    ]
    .join(",")
}

fn mean_wait(rows: &[(i64, i64, i64, String)], starts: &Starts) -> f64 {
    let waits: Vec<i64> = rows.iter().filter_map(|row| Some(starts.get(&row.0)? - row.1)).collect();
    waits.iter().sum::<i64>() as f64 / waits.len() as f64
}

/// How far the mean wait and the order may be from a record's. A slow model of the same rules has -0.5% (N1b), -6, -9, +2, -14, -9 and
/// -5% of the mean wait, and 94 to 98% of the order, N4 and N4r 85%; the daemon against itself differs by up to 15% and 16%.
const BOUNDS: [(&str, f64, f64); 13] = [
    ("N1", 0.50, 0.90),
    ("N1b", 0.06, 0.92),
    ("N2", 0.10, 0.92),
    ("N2r", 0.13, 0.92),
    ("N4", 0.14, 0.82),
    ("N4r", 0.20, 0.82),
    ("N5", 0.13, 0.92),
    // Four jobs were preempted. What is compared are their last starts.
    ("N7", 0.10, 0.88),
    ("N8", 0.09, 0.92),
    // Nodes were down or drained. Parts were reserved.
    ("D1", 0.10, 0.90),
    ("R1", 0.10, 0.95),
    // Five jobs of P1 and 25 of Q1 were stopped. One stopped job more or less in P1 is 121 seconds of waiting and more, 15% of its mean;
    // these simulations have two more.
    ("P1", 0.50, 0.80),
    ("Q1", 0.30, 0.80),
];

#[test]
fn free_simulations_are_near_the_records() {
    let mut far = Vec::new();
    for (name, path) in records() {
        let Some((_, most, least)) = BOUNDS.iter().find(|(known, ..)| *known == name) else { continue };
        let site = Site::of(&serde_json::from_str(&text_of(&path)).unwrap());
        let conf = site.folder.read("slurm.conf");
        let cluster = conf.lines().find_map(|line| line.strip_prefix("ClusterName=")).unwrap();
        let qos = if conf.contains("preempt/qos") { QOS_OF_Q1 } else { "" };
        site.folder.write("accounts", dump_of(cluster, &format!("{qos}{ACCOUNTS}")));
        let recorded = mean_wait(&site.rows, &site.recorded);
        let mut rng = stream(20, &name);
        let (mut wait, mut order) = (0.0, 0.0);
        for _ in 0..TIMES {
            let lead = rng.random_range(1..=60);
            let starts = site.simulate(lead, || rng.random_range(0..2));
            wait += mean_wait(&site.rows, &starts) / f64::from(TIMES);
            order += same_order(&site.recorded, &starts) / f64::from(TIMES);
        }
        let difference = wait / recorded - 1.0;
        println!(
            "{name}: recorded {recorded:.1} s, simulated {wait:.1} s ({:+.1}%), order {:.1}%",
            100.0 * difference,
            100.0 * order
        );
        if difference.abs() > *most || order < *least {
            far.push(name);
        }
    }
    assert!(far.is_empty(), "{far:?}");
}

/// UB's micro cluster, 500 jobs that a real Slurm ran with classic fair share.
fn micro_cluster(logs: &std::path::Path) -> Site {
    let folder = Folder::new();
    let from = logs.join("nodes/ub-micro");
    for name in ["slurm.conf", "topology.conf"] {
        folder.write(name, std::fs::read(from.join(name)).unwrap());
    }
    for (name, file) in ["accounts", "qos"].into_iter().zip(dump_of_site("ub-micro").split(',')) {
        folder.write(name, std::fs::read(file).unwrap());
    }
    let table = |text: &str, mark: char| -> Vec<BTreeMap<String, String>> {
        let mut lines = text.lines();
        let names: Vec<&str> = lines.next().unwrap().split(mark).collect();
        let row = |line: &str| {
            let cells = names.iter().zip(line.split(mark));
            cells.map(|(name, cell)| (name.to_string(), cell.to_string())).collect()
        };
        lines.map(row).collect()
    };
    let time = |text: &str| parse_date_time(text.as_bytes()).unwrap();
    let ran: BTreeMap<i64, [i64; 3]> = table(&text_of(&from.join("slurm_acct.txt.gz")), '|')
        .iter()
        .filter_map(|row| Some((row["JobID"].parse().ok()?, ["Submit", "Start", "End"].map(|name| time(&row[name])))))
        .collect();
    let t0 = ran.values().map(|times| times[0]).min().unwrap();
    let first = "1,60,user5,normal,,,1,1,,,,,,,,,";
    let mut site = Site { folder, rows: Vec::new(), first, keys: "", recorded: Starts::new(), outages: Vec::new() };
    for job in table(&std::fs::read_to_string(from.join("jobs500.csv")).unwrap(), ';') {
        let number = |name: &str| job[name].parse::<i64>().unwrap();
        let id = number("job_id");
        let [_, start, end] = ran[&id];
        let gpus = job["gres"].chars().last().map(String::from).unwrap_or_default();
        let columns = [
            job["n_tasks"].clone(),
            (60 * number("wall_limit")).to_string(),
            job["user"].clone(),
            "normal".to_string(),
            String::new(),
            String::new(),
            job["n_tasks"].clone(),
            job["ntasks_per_node"].clone(),
            String::new(),
            job["mem"].clone(),
            String::new(),
            String::new(),
            gpus,
            job["constraint"].clone(),
            String::new(),
            String::new(),
            String::new(),
        ];
        site.recorded.insert(id, start);
        site.rows.push((id, t0 + number("dt"), end - start, columns.join(",")));
    }
    site
}

/// With classic fair share, as the site had it, and with Fair Tree. The model of these rules that was compared with the site before has
/// -0.7 to +3.1% and -10 to -12% of the mean wait; the same order in 92 to 93% and in 89% of pairs.
#[test]
fn the_micro_cluster_is_near_in_six_phases() {
    let Some(logs) = real_logs("UB's micro cluster under slurm") else { return };
    let mut site = micro_cluster(&logs);
    let recorded = mean_wait(&site.rows, &site.recorded);
    for (keys, waits, ends, least) in [
        (",bf_max_job_user=20,fairshare=classic", -0.05..=0.05, 0.03, 0.91),
        (",bf_max_job_user=20", -0.13..=-0.08, 0.045, 0.88),
    ] {
        site.keys = keys;
        for lead in [1, 10, 20, 30, 40, 50] {
            let starts = site.simulate(lead, || 0);
            let wait = mean_wait(&site.rows, &starts) / recorded - 1.0;
            let last = |starts: &Starts| site.rows.iter().map(|row| starts[&row.0] + row.2).max().unwrap() as f64;
            let begin = site.rows.iter().map(|row| row.1).min().unwrap() as f64;
            let end = (last(&starts) - begin) / (last(&site.recorded) - begin) - 1.0;
            let order = same_order(&site.recorded, &starts);
            println!("{keys}, {lead} s: wait {wait:+.3}, last end {end:+.3}, order {order:.3}");
            assert!(waits.contains(&wait) && end.abs() < ends && order > least, "{keys} {lead}: {wait} {end} {order}");
        }
    }
}

/// The whole way of a user: the accounting file of the site, its slurm.conf and its accounts.
#[test]
fn advice_for_the_micro_cluster_is_near() {
    let Some(logs) = real_logs("advice for UB's micro cluster") else { return };
    let folder = logs.join("nodes/ub-micro");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let (log, conf, accounts) = (path("slurm_acct.txt.gz"), path("slurm.conf"), dump_of_site("ub-micro"));
    let site = [&log, "--associations", &accounts, "--slurm-conf", &conf];
    for (command, column) in [("fidelity", "verdict"), ("recommend", "site")] {
        let csv = sim_ok(&[&[command][..], &site, &["--format", "csv"]].concat());
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let at = reader.headers().unwrap().iter().position(|name| name == column).unwrap();
        let row =
            reader.records().map(Result::unwrap).find(|row| row.iter().any(|cell| cell.contains("slurm"))).unwrap();
        assert_eq!(&row[at], "near", "{command}: {csv}");
    }
}

/// A limit of times is about the limits of jobs, also where passes plan with predictions: the second job, whose limit is above that of
/// its QOS, never starts and is dropped, though it is predicted to be short.
#[test]
fn predictions_are_no_limits() {
    let folder = Folder::new();
    let machine = folder
        .write("site.toml", "[[nodes]]\nname = \"n[1-2]\"\ncpus = 4\n[[qos]]\nname = \"short\"\nmax_wall = \"1h\"\n");
    let simulate = |qos: &str, scheduler: &str| {
        let jobs = format!("submit,wait,run,procs,limit,qos\n0,0,60,1,600,short\n1,0,60,1,7200,{qos}\n");
        let format = "csv:submit=submit,wait=wait,run=run,procs=procs,estimate=limit,qos=qos";
        let jobs = folder.write("jobs.csv", jobs);
        let site = ["--trace", &jobs, "--log-format", format, "--machine", &machine];
        crate::support::sim(&[&site[..], &["--scheduler", scheduler, "--predictor", "perfect"]].concat())
    };
    for scheduler in ["slurm", "slurm:running=prediction"] {
        let ran = simulate("short", scheduler);
        let why = "job 2: QOS short: MaxWall 1h, it asks for 2h";
        assert!(ran.code == 0 && ran.err.contains(why), "{scheduler}: {}", ran.err);
        let other = simulate("other", scheduler);
        assert!(other.code == 0 && !other.err.contains("never start"), "{scheduler}: {}", other.err);
    }
    assert!(!simulate("short", "slurm:running=prediction,enforce_limits=no").err.contains("never start"));
}
