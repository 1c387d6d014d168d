//! `--what-if`: each kind of change has the figures of two separate runs.

use shadowtime::experiment::{OptionForm, Options};
use shadowtime::metrics::{LimitMeter, WaitReason, WaitReasonMeter};
use shadowtime::trace::{Source, read};

use crate::support::{Folder, dump_of_site, first_jobs, sim, sim_ok};

/// The rows of a CSV, each with its columns by name.
fn rows(csv: &str) -> Vec<Vec<(String, String)>> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let pair = |(name, value): (&str, &str)| (name.to_string(), value.to_string());
    reader.records().map(|row| headers.iter().zip(row.unwrap().iter()).map(pair).collect()).collect()
}

fn value<'r>(row: &'r [(String, String)], name: &str) -> &'r str {
    &row.iter().find(|(own, _)| own == name).unwrap_or_else(|| panic!("no column {name}")).1
}

fn number(row: &[(String, String)], name: &str) -> f64 {
    value(row, name).parse().unwrap_or_else(|_| panic!("{name}: {}", value(row, name)))
}

/// The figures of a row that a run without a baseline has too.
fn figures(row: &[(String, String)]) -> Vec<(String, String)> {
    let compared = ["what_if", "baseline", "site", "options", "wait_hours_saved", "users_lose_pct", "area_lose_pct"];
    let is_own = |name: &str| !compared.contains(&name) && !name.contains("_improvement") && !name.ends_with("_day");
    row.iter().filter(|(name, _)| is_own(name)).cloned().collect()
}

/// Runs a site with each of the changes, and each of them alone with the options that the change means.
fn check_changes(site: &[&str], changes: &[(&str, &[&str])]) {
    let what_ifs = changes.iter().flat_map(|(change, _)| ["--what-if", change]).collect::<Vec<_>>();
    let together = rows(&sim_ok(&[site, &["--format", "csv"], &what_ifs].concat()));
    assert_eq!(together.len(), 1 + changes.len());
    let alone = |more: &[&str]| {
        // The last value of an option counts: a list of one is written as the site is.
        // An option that the change sets has its value in the place of that of the site.
        let kept = site[1..].chunks(2).filter(|pair| !more.contains(&pair[0])).flatten().copied();
        let args = [site[0]].into_iter().chain(kept).chain(more.iter().copied());
        let args: Vec<&str> = args.chain(["--baseline", "none", "--format", "csv"]).collect();
        rows(&sim_ok(&args)).remove(0)
    };
    let base = alone(&[]);
    // All rows have the columns that any of them needs.
    let check = |together: &[(String, String)], alone: &[(String, String)], name: &str| {
        let (ours, others) = (figures(together), figures(alone));
        let is_in = |others: &[(String, String)], name: &str| others.iter().any(|(other, _)| other == name);
        let of_both = ours.iter().filter(|(name, _)| is_in(&others, name)).collect::<Vec<_>>();
        assert!(of_both.len() > 20);
        assert_eq!(of_both, others.iter().filter(|(name, _)| is_in(&ours, name)).collect::<Vec<_>>(), "{name}");
    };
    check(&together[0], &base, "as it is");
    assert_eq!(value(&together[0], "what_if"), "");
    for ((change, options), row) in changes.iter().zip(&together[1..]) {
        let own = alone(options);
        check(row, &own, change);
        assert_eq!(value(row, "what_if"), change.split(": ").next().unwrap());
        let [before, after] = [&base, &own].map(|row| number(row, "wait_mean") * number(row, "jobs") / 3600.0);
        assert!((number(row, "wait_hours_saved") - (before - after)).abs() < 0.01, "{change}");
        let gain = 100.0 * (before - after) / before;
        assert!((number(row, "wait_improvement_pct") - gain).abs() < 1e-3, "{change}: {gain}");
    }
}

#[test]
fn changes_of_a_pool_are_two_separate_runs() {
    let folder = Folder::new();
    let log = folder.write("log.swf", first_jobs(700));
    let outage = folder.write("down.csv", "kind,procs,start,end\ndown,64,86400,172800\n");
    let site = [log.as_str(), "--scheduler", "easy", "--predictor", "estimate"];
    check_changes(
        &site,
        &[
            ("procs=160", &["--procs", "160"]),
            ("load=1.2", &["--load", "1.2"]),
            ("estimates=better:factor=0.5,share=0.3", &["--estimates", "better:factor=0.5,share=0.3"]),
            ("both: scheduler=sjbf predictor=kin", &["--scheduler", "sjbf", "--predictor", "kin"]),
            ("overrun=kill inflate=1.5", &["--overrun", "kill", "--inflate", "1.5"]),
            ("feedback=think", &["--feedback", "think"]),
            (&format!("outages={outage}"), &["--outages", &outage]),
        ],
    );
}

#[test]
fn changes_of_nodes_are_two_separate_runs() {
    let folder = Folder::new();
    let site = folder.text("site");
    sim_ok(&["example", &site]);
    let [log, conf, accounts, new] =
        ["sacct.txt", "slurm.conf", "site.dump", "new.conf"].map(|name| format!("{site}/{name}"));
    let dump = std::fs::read_to_string(&accounts).unwrap();
    let lower = folder.write("lower.dump", dump.replace("Account - 'physics':", "Account - 'physics':GrpTRES=cpu=64:"));
    let own = format!("slurm:conf={conf}");
    let common = [&*log, "--first", "600", "--slurm-conf", &conf, "--associations", &accounts];
    let common = [&common[..], &["--scheduler", &own, "--predictor", "estimate"]].concat();
    check_changes(
        &common,
        &[
            ("more: add-nodes=n[17-18] as n01", &["--add-nodes", "n[17-18] as n01"]),
            ("remove-nodes=n[15-16]", &["--remove-nodes", "n[15-16]"]),
            (&format!("associations={lower}"), &["--associations", &lower]),
            (&format!("slurm-conf={new}"), &["--slurm-conf", &new, "--scheduler", &format!("slurm:conf={new}")]),
            ("scheduler=easy predictor=kin", &["--scheduler", "easy", "--predictor", "kin", "--associations", "none"]),
        ],
    );
}

/// A node-day of a larger machine: by hand.
#[test]
fn what_is_bought_is_by_node_and_day() {
    let folder = Folder::new();
    let conf = folder.write("m.toml", "[[nodes]]\nname = \"n[1-2]\"\ncpus = 4\n");
    // Four jobs of a day each on a machine for two: two wait a day.
    let jobs: String = (1..=4).map(|id| format!("{id},0,86400,4,90000,u{id}\n")).collect();
    let log = folder.write("log.csv", format!("id,submit,run,procs,estimate,user\n{jobs}"));
    let format = "csv:id=id,submit=submit,run=run,procs=procs,estimate=estimate,user=user";
    let common = [&*log, "--log-format", format, "--scheduler", "easy", "--predictor", "estimate", "--format", "csv"];
    let nodes = sim_ok(&[&common[..], &["--machine", &conf, "--what-if", "add-nodes=n[3-4] as n1"]].concat());
    let nodes = rows(&nodes);
    assert_eq!(number(&nodes[1], "wait_hours_saved"), 48.0);
    // Two nodes over the two days that the site needs.
    assert_eq!(number(&nodes[1], "wait_hours_saved_per_node_day"), 12.0);
    assert_eq!(value(&nodes[1], "wait_hours_saved_per_proc_day"), "");
    let less = sim_ok(&[&common[..], &["--machine", &conf, "--what-if", "remove-nodes=n2"]].concat());
    // Waits of 0, 1, 2 and 3 days: 96 hours more for two node-days less.
    assert_eq!(number(&rows(&less)[1], "wait_hours_saved"), -96.0);
    assert_eq!(number(&rows(&less)[1], "wait_hours_saved_per_node_day"), 48.0);
    let pool = sim_ok(&[&common[..], &["--procs", "8", "--what-if", "procs=16"]].concat());
    assert_eq!(number(&rows(&pool)[1], "wait_hours_saved_per_proc_day"), 3.0);
}

#[test]
fn jobs_that_cannot_run_everywhere_are_left_out_of_all() {
    let folder = Folder::new();
    let log = folder.write("log.swf", first_jobs(700));
    let site = [&*log, "--scheduler", "easy", "--predictor", "estimate"];
    let table = sim(&[&site[..], &["--what-if", "procs=32", "--format", "table"]].concat());
    let csv =
        rows(&sim_ok(&[&site[..], &["--what-if", "procs=32", "--what-if", "load=1.1", "--format", "csv"]].concat()));
    let alone = rows(&sim_ok(&[&site[..], &["--procs", "32", "--format", "csv"]].concat()));
    let lost = number(&alone[0], "dropped");
    assert!(lost > 0.0);
    let first = table.out.lines().take(2).collect::<Vec<_>>().join(" ");
    assert!(
        first.contains(&format!("compared on the jobs that all can run: procs=32 cannot run {lost} other jobs")),
        "{first}"
    );
    assert!(csv.iter().all(|row| number(row, "jobs") == 700.0 - lost && number(row, "dropped") == lost));
    assert_eq!(figures(&csv[1])[4..], figures(&alone[0])[4..]);
    // A limit on nodes that some jobs are over does not end the command.
    let site = folder.text("site");
    sim_ok(&["example", &site]);
    let [log, conf, accounts] = ["sacct.txt", "slurm.conf", "site.dump"].map(|name| format!("{site}/{name}"));
    let dump = std::fs::read_to_string(&accounts).unwrap();
    let lower = dump.replace("Account - 'physics':", "Account - 'physics':MaxTRESPerJob=cpu=8:");
    let change = format!("lower: associations={}", folder.write("lower.dump", lower));
    let args = [&*log, "--first", "400", "--slurm-conf", &conf, "--associations", &accounts, "--what-if", &change];
    let ran = sim(&[&args[..], &["--format", "table"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.replace('\n', " ").contains("compared on the jobs that all can run: lower cannot run"),
        "{}",
        ran.out
    );
    assert!(ran.err.contains("lower can never start some jobs, which are dropped"), "{}", ran.err);
}

#[test]
fn a_change_without_effect_or_without_meaning_says_so() {
    let folder = Folder::new();
    let log = folder.write("log.swf", first_jobs(200));
    for (args, why) in [
        (&["--what-if", "add-node=n2 as n1"][..], "there is no option 'add-node'"),
        (&["--what-if", "add-node=n2 as n1"], "did you mean 'add-nodes'?"),
        (&["--what-if", "first=10"], "first is no change of a site: it is for all of the command"),
        (&["--what-if", "add-nodes=n2 as n1"], "--add-nodes n2 as n1 has no effect without --machine"),
        (&["--what-if", "scheduler=easy"], "it changes nothing: the site is so as it is"),
        (&["--what-if", "procs=64", "--what-if", "procs=64"], "--what-if 'procs=64' is given twice"),
        (&["--what-if", "procs=many"], "procs: 'many' is not"),
        (&["--what-if", "scheduler=easy,sjbf"], "unknown scheduler 'easy,sjbf'"),
        (&["--what-if", "procs=64", "--scheduler", "easy,sjbf"], "--what-if changes one site"),
        (&["--what-if", "procs=64", "--baseline", "easy/estimate"], "the baseline is the site"),
        (&["--what-if", "inflate=2", "--scheduler", "fcfs"], "--inflate 2 has no effect without a scheduler"),
    ] {
        let ran = sim(&[&[&*log], args].concat());
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(why), "{args:?}: {} {}", ran.code, ran.err);
    }
    // What changes no schedule is known after the run: all jobs start and end at the same times.
    let ran = sim(&[&*log, "--scheduler", "fcfs", "--predictor", "estimate", "--what-if", "predictor=kin"]);
    assert!(ran.code == 0 && ran.err.contains("--what-if 'predictor=kin' has no effect"), "{}", ran.err);
    let ran = sim(&[&*log, "--what-if", "scheduler=fcfs"]);
    assert!(ran.code == 0 && !ran.err.contains("has no effect"), "{}", ran.err);
}

/// On shaken copies: the intervals are those of the differences of separate runs on the same copies.
#[test]
fn replications_are_paired() {
    let folder = Folder::new();
    let log = folder.write("log.swf", first_jobs(500));
    let site = [&*log, "--scheduler", "easy", "--predictor", "estimate", "--format", "csv"];
    let what_if = ["--what-if", "procs=140", "--replications", "4", "--resample", "none"];
    let kept = folder.text("kept");
    let args = [&site[..], &what_if, &["--keep", &kept]].concat();
    let together = rows(&sim_ok(&args));
    let wait = |more: &[&str]| number(&rows(&sim_ok(&[&site[..], more].concat()))[0], "wait_mean");
    let gains: Vec<f64> = ["0", "1", "2", "3"]
        .map(|copy| wait(&["--replication", copy]) - wait(&["--replication", copy, "--procs", "140"]))
        .to_vec();
    let mean = gains.iter().sum::<f64>() / 4.0;
    let variance = gains.iter().map(|gain| (gain - mean) * (gain - mean)).sum::<f64>() / 3.0;
    // Student's t with 3 degrees of freedom.
    let half_width = 3.182_446_305 * (variance / 4.0).sqrt();
    assert!((number(&together[1], "wait_improvement") - mean).abs() < 1e-3);
    assert!((number(&together[1], "wait_improvement_ci95") - half_width).abs() < 1e-3, "{half_width}");
    let verdict = if mean > half_width { "better" } else { "within noise" };
    assert_eq!(value(&together[1], "wait_verdict"), verdict);
    // The copies are kept, and the figures are the same from any number of threads.
    let again = sim(&[&args[..], &["--threads", "1"]].concat());
    assert!(again.err.contains("8 runs: 6 reused, 2 computed"), "{}", again.err);
    assert_eq!(rows(&again.out), together);
    let threads = |threads: &str| sim_ok(&[&site[..], &what_if, &["--threads", threads]].concat());
    assert_eq!(threads("1"), threads("3"));
}

/// Resamples too: users are drawn once for all sites, also where other runtimes and another machine would lead to another draw.
#[test]
fn resamples_are_paired() {
    let folder = Folder::new();
    let mut rows_of_log = String::new();
    for at in 0..600i64 {
        let (submit, user, procs) = (at * 9100, at * 7 % 13, 1 + at * at % 7);
        rows_of_log += &format!("{submit},{},{procs},{},u{user}\n", 3000 + at * 37 % 20_000, 6000 + at % 3 * 9000);
    }
    let log = folder.write("log.csv", format!("submit,run,procs,estimate,user\n{rows_of_log}"));
    let format = "csv:submit=submit,run=run,procs=procs,estimate=estimate,user=user";
    let change = "procs=9 overrun=kill";
    let common = [&*log, "--log-format", format, "--procs", "7", "--resample", "users", "--seed", "3"];
    let jobs = folder.text("jobs.csv");
    sim_ok(&[&common[..], &["--what-if", change, "--jobs-out", &jobs]].concat());
    let all = rows(&folder.read("jobs.csv"));
    let submissions = |setting: &str| {
        let own = all.iter().filter(|row| value(row, "setting") == setting);
        own.map(|row| (value(row, "submit").to_string(), value(row, "user").to_string())).collect::<Vec<_>>()
    };
    assert!(submissions(change).len() > 300);
    assert_eq!(submissions(change), submissions("easy/estimate"));
}

/// The accounts of a site as `sacctmgr dump` prints them can be a change too; here of a machine without limits.
#[test]
fn a_change_may_bring_accounts() {
    let folder = Folder::new();
    let conf = folder
        .write("slurm.conf", "ClusterName=micro\nNodeName=n[1-64] CPUs=4\nPartitionName=p Nodes=ALL Default=YES\n");
    let log = folder.write("log.swf", first_jobs(100));
    let accounts = format!("associations={}", dump_of_site("ub-micro"));
    let ran =
        sim(&[&log, "--machine", &conf, "--scheduler", "slurm", "--predictor", "estimate", "--what-if", &accounts]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = sim(&[&log, "--machine", &conf, "--what-if", &accounts]);
    assert!(ran.code == 2 && ran.err.contains("has no effect without the scheduler slurm"), "{}", ran.err);
}

/// The changes that are tried are ranked by the hours that they save, and each row's command has the same figures.
#[test]
fn auto_ranks_what_would_help_and_says_the_commands() {
    let folder = Folder::new();
    let log = folder.write("log.swf", first_jobs(500));
    let csv = rows(&sim_ok(&[&log, "--what-if", "auto", "--what-if", "mine: procs=130", "--format", "csv"]));
    let names: Vec<&str> = csv.iter().map(|row| value(row, "what_if")).collect();
    assert_eq!((names[0], names.len()), ("", 6), "{names:?}");
    for name in ["procs=141", "predictor=kin", "scheduler=fair predictor=kin", "estimates=better:factor=0.5", "mine"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let saved: Vec<f64> = csv[1..].iter().map(|row| number(row, "wait_hours_saved")).collect();
    assert!(saved.is_sorted_by(|a, b| a >= b) && saved[0] > 0.0, "{saved:?}");
    let table = sim_ok(&[&log, "--what-if", "auto", "--format", "table"]);
    let best = names[1];
    assert!(table.contains(&format!("Most would help: {best}. It saves ")), "{table}");
    let commands: Vec<&str> = table.lines().filter_map(|line| line.strip_prefix("  sim ")).collect();
    assert_eq!(commands.len(), 4);
    for command in commands {
        let words = shlex::split(command).unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let again = rows(&sim_ok(&[&words[..], &["--format", "csv"]].concat()));
        let row = csv.iter().find(|row| value(row, "what_if") == words[2]).unwrap();
        assert_eq!(&again[1], row, "{command}");
    }
    let stdin = sim(&["-", "--what-if", "auto"]);
    assert!(stdin.code == 2 && stdin.err.contains("--what-if auto reads the log twice"), "{}", stdin.err);
}

/// On nodes each kind of them is one more change, and what the site does not have is not tried.
#[test]
fn auto_tries_what_the_site_has() {
    let folder = Folder::new();
    let site = folder.text("site");
    sim_ok(&["example", &site]);
    let [log, conf, accounts] = ["sacct.txt", "slurm.conf", "site.dump"].map(|name| format!("{site}/{name}"));
    let tried = |accounts: &str| {
        let args = [&*log, "--first", "300", "--slurm-conf", &conf, "--associations", accounts, "--what-if", "auto"];
        let csv = rows(&sim_ok(&[&args[..], &["--format", "csv"]].concat()));
        csv.iter().map(|row| value(row, "what_if").to_string()).collect::<Vec<_>>()
    };
    let plain = tried(&accounts);
    let expected = [
        "add-nodes=n01-more[1-2] as n01",
        "scheduler=slurm:running=prediction predictor=kin",
        "scheduler=fair predictor=kin",
        "estimates=better:factor=0.5",
    ];
    assert!(plain.len() == 5 && expected.iter().all(|one| plain.iter().any(|own| own == one)), "{plain:?}");
    let dump = std::fs::read_to_string(&accounts).unwrap();
    let limited = folder.write("limits", dump.replace("Account - 'physics':", "Account - 'physics':GrpTRES=cpu=40:"));
    let changes = tried(&limited);
    assert!(changes.contains(&"scale-limit=GrpTRES/cpu=2".to_string()), "{changes:?}");
    assert!(!changes.iter().any(|change| change.contains("enforce_limits")), "{changes:?}");
    // A limit that never holds a job is not tried, and no site without it.
    let wide = folder.write("wide", dump.replace("Account - 'physics':", "Account - 'physics':GrpJobs=4000:"));
    assert_eq!(tried(&wide), plain);
}

/// How near the site as it is comes to the recorded waits stands in the first lines, with the figures of `sim fidelity`.
#[test]
fn the_first_lines_say_whether_the_simulation_knows_the_site() {
    let folder = Folder::new();
    let args = |scheduler| ["--scheduler", scheduler, "--predictor", "estimate", "--what-if", "procs=140"];
    let verdicts = |args: &[&str]| {
        let rows = rows(&sim_ok(&[args, &["--format", "csv"]].concat()));
        rows.iter().map(|row| value(row, "site").to_string()).collect::<Vec<_>>()
    };
    // The waits of the embedded log were made by easy/estimate.
    assert_eq!(verdicts(&args("easy")), ["near"; 2]);
    assert_eq!(verdicts(&args("fcfs")), ["not this site"; 2]);
    assert_eq!(verdicts(&[&args("fcfs")[..], &["--replications", "2"]].concat()), ["not this site"; 2]);
    let fidelity = rows(&sim_ok(&["fidelity", "--scheduler", "fcfs", "--format", "csv"]));
    let percent = number(&fidelity[0], "wait_difference_pct");
    for change in ["procs=140", "auto"] {
        let args = [&args("fcfs")[..5], &[change, "--format", "table"]].concat();
        let first = sim_ok(&args).lines().take(8).collect::<Vec<_>>().join(" ");
        let verdict = "Does the simulation know this site? fcfs/estimate is not this site: its mean wait is ";
        let figures = [format!("({percent:+.1}%)"), format!("is {:.2}.", number(&fidelity[0], "rank_correlation"))];
        assert!(first.contains(verdict) && figures.iter().all(|figure| first.contains(figure)), "{first} {figures:?}");
    }
    // Nothing to compare with.
    let log = folder.write("log.csv", "submit,run,procs,estimate,user\n0,60,1,60,a\n5,60,1,60,b\n");
    let format = "csv:submit=submit,run=run,procs=procs,estimate=estimate,user=user";
    let without = [&log, "--log-format", format, "--procs", "1", "--what-if", "procs=2"];
    assert_eq!(verdicts(&without), [""; 2]);
    let table = sim_ok(&[&without[..], &["--format", "table"]].concat());
    assert!(table.contains("Does the simulation know this site? The log has no recorded waits to compare with."));
    let other_times = [&args("easy")[..], &["--load", "1.1"]].concat();
    assert_eq!(verdicts(&other_times), [""; 2]);
    assert!(!sim_ok(&[&other_times[..], &["--format", "table"]].concat()).contains("know this site"));
}

/// The site of `sim example` with limits of accounts and users in the place of its own.
struct LimitedSite {
    folder: Folder,
    log: String,
    conf: String,
    dump: String,
}

impl LimitedSite {
    fn new() -> LimitedSite {
        let folder = Folder::new();
        let site = folder.text("site");
        sim_ok(&["example", &site]);
        let dump = std::fs::read_to_string(format!("{site}/site.dump")).unwrap();
        LimitedSite { log: format!("{site}/sacct.txt"), conf: format!("{site}/slurm.conf"), folder, dump }
    }

    /// A file with these limits of the accounts physics and biology, and of a user.
    fn limits(&self, name: &str, [physics, biology, user]: [&str; 3]) -> String {
        let text = self.dump.replace("Account - 'physics':", &format!("Account - 'physics':{physics}:"));
        let text = text.replace("Account - 'biology':", &format!("Account - 'biology':{biology}:"));
        self.folder.write(name, text.replace("User - 'user3':", &format!("User - 'user3':{user}:")))
    }

    fn args<'a>(&'a self, accounts: &'a str) -> Vec<&'a str> {
        vec![
            &self.log,
            "--first",
            "500",
            "--slurm-conf",
            &self.conf,
            "--associations",
            accounts,
            "--scheduler",
            "slurm",
        ]
    }
}

/// A site with factors has the bytes of one whose dump has the products.
#[test]
fn scaled_limits_are_those_of_a_dump_with_the_products() {
    let site = LimitedSite::new();
    let limits = ["GrpTRES=cpu=41,node=5:MaxWallDurationPerJob=1000", "GrpTRES=cpu=30:MaxJobs=3", "MaxJobs=1"];
    let accounts = site.limits("limits", limits);
    let jobs = |more: &[&str], accounts: &str| {
        sim_ok(
            &[&site.args(accounts)[..], &["--predictor", "estimate", "--baseline", "none"], more, &["--jobs-out", "-"]]
                .concat(),
        )
    };
    let plain = jobs(&[], &accounts);
    for (factor, products) in [
        ("GrpTRES=2", ["GrpTRES=cpu=82,node=10:MaxWallDurationPerJob=1000", "GrpTRES=cpu=60:MaxJobs=3", "MaxJobs=1"]),
        // 20.5 and 15, and not the nodes.
        (
            "grptres/cpu=0.5",
            ["GrpTRES=cpu=21,node=5:MaxWallDurationPerJob=1000", "GrpTRES=cpu=15:MaxJobs=3", "MaxJobs=1"],
        ),
        (
            "MaxJobsPU=2.5,MaxWall=1.5",
            ["GrpTRES=cpu=41,node=5:MaxWallDurationPerJob=1500", "GrpTRES=cpu=30:MaxJobs=8", "MaxJobs=3"],
        ),
    ] {
        let scaled = jobs(&["--scale-limit", factor], &accounts);
        assert_eq!(scaled, jobs(&[], &site.limits("products", products)), "{factor}");
        assert_ne!(scaled, plain, "{factor}");
    }
    // Those of a QOS too.
    let of_qos = |name: &str, limits: &str| {
        let qos = site.folder.write(name, format!("Name|GrpJobs|MaxJobsPU\nnormal|{limits}\n"));
        format!("{},{qos}", site.log.replace("sacct.txt", "site.dump"))
    };
    let [low, products] = [("low", "6|1"), ("high", "9|2")].map(|(name, limits)| of_qos(name, limits));
    assert_eq!(jobs(&["--scale-limit", "GrpJobs=1.5,MaxJobs=2"], &low), jobs(&[], &products));
    assert_ne!(jobs(&[], &low), jobs(&[], &products));
    // With these every job can start.
    let counts = site.limits("counts", ["GrpJobs=3", "MaxJobs=2", "MaxJobs=1"]);
    let common = [&site.args(&counts)[..], &["--predictor", "estimate"]].concat();
    check_changes(
        &common,
        &[
            ("scale-limit=GrpJobs=2", &["--scale-limit", "GrpJobs=2"]),
            ("fewer: scale-limit=MaxJobs=0.5 load=1.1", &["--scale-limit", "MaxJobs=0.5", "--load", "1.1"]),
            ("scheduler=slurm:enforce_limits=no", &["--scheduler", "slurm:enforce_limits=no"]),
        ],
    );
    // What is not there, and what has no effect.
    for (more, why) in [
        (&["--what-if", "scale-limit=GrpTRE=2"][..], "did you mean 'GrpTRES'?"),
        (&["--scale-limit", "GrpTRES=0"], "'0' is no factor above 0"),
        (
            &["--what-if", "scale-limit=GrpJobs=2"],
            "no QOS, account or user has this limit; there are GrpTRES/cpu, GrpTRES/node, MaxJobs, MaxWall",
        ),
        (
            &["--scale-limit", "MaxJobs=2", "--scheduler", "slurm:enforce_limits=no", "--baseline", "none"],
            "without limits that are enforced",
        ),
    ] {
        let ran = sim(&[&[&*site.log, "--slurm-conf", &site.conf, "--associations", &accounts], more].concat());
        assert!(ran.code == 2 && ran.err.contains(why), "{more:?}: {}", ran.err);
    }
    let on_pool = sim(&["--scale-limit", "MaxJobs=2"]);
    assert!(on_pool.code == 2 && on_pool.err.contains("without limits that are enforced"), "{}", on_pool.err);
    let wide = site.limits("wide", ["GrpJobs=4000", "GrpJobs=4000", "MaxJobs=4000"]);
    let ran = sim(&[&site.args(&wide)[..], &["--what-if", "scale-limit=GrpJobs=2"]].concat());
    assert!(ran.code == 0 && ran.err.contains("--what-if 'scale-limit=GrpJobs=2' has no effect"), "{}", ran.err);
}

/// The limits that hold jobs are named, the hours of all of them are those that `--reasons` has for limits, and `auto` doubles those with
/// most.
#[test]
fn auto_doubles_the_limits_that_hold_most() {
    let site = LimitedSite::new();
    let accounts =
        site.limits("limits", ["GrpTRES=cpu=64:GrpSubmitJobs=4", "MaxJobs=4", "MaxWallDurationPerJob=100000"]);
    let mut options = Options::default();
    for (name, value) in [
        ("machine", &*site.conf),
        ("associations", &accounts),
        ("scheduler", "slurm"),
        ("predictor", "estimate"),
        ("first", "500"),
    ] {
        OptionForm::find(name).unwrap().set(&mut options, value).unwrap();
    }
    let log = read(&Source::from_argument(&site.log), options.read_options(), &mut |_| ()).unwrap();
    let workload = options.shape(options.clean(&log).unwrap()).unwrap();
    let mut limits = LimitMeter::new(&workload, &options.measure);
    options.setting().run(&workload, Some(&mut limits), &mut |_| ()).unwrap();
    let mut reasons = WaitReasonMeter::new(&workload, &options.measure);
    options.setting().run(&workload, Some(&mut reasons), &mut |_| ()).unwrap();
    let sums = limits.sums();
    let names: Vec<String> = sums.iter().map(|(limit, _)| limit.to_string()).collect();
    assert!(names.contains(&"GrpTRES/cpu".to_string()) && names.contains(&"MaxJobs".to_string()), "{sums:?}");
    assert!(names.contains(&"GrpSubmitJobs".to_string()) && !names.contains(&"MaxWall".to_string()), "{sums:?}");
    assert!(sums.is_sorted_by(|a, b| a.1 >= b.1), "{sums:?}");
    let all: i128 = sums.iter().map(|(_, sum)| sum).sum();
    assert_eq!(all as f64, reasons.sums().seconds(WaitReason::Limit));
    let tried = options.limits_to_double(&workload, &mut |_| ()).unwrap().unwrap();
    let tried: Vec<String> = tried.iter().map(|limits| limits.to_string()).collect();
    assert_eq!(tried, names.iter().take(3).map(|name| format!("{name}=2")).collect::<Vec<_>>());
    // A factor of the site stays.
    OptionForm::find("scale-limit").unwrap().set(&mut options, "GrpTRES=1.1").unwrap();
    let workload = options.shape(options.clean(&log).unwrap()).unwrap();
    let tried = options.limits_to_double(&workload, &mut |_| ()).unwrap().unwrap();
    assert!(tried.iter().all(|limits| limits.to_string().starts_with("GrpTRES=1.1,")), "{tried:?}");
    // The command of a row has its figures.
    let auto = [&site.args(&accounts)[..], &["--predictor", "estimate", "--what-if", "auto"]].concat();
    let csv = rows(&sim_ok(&[&auto[..], &["--format", "csv"]].concat()));
    let table = sim_ok(&[&auto[..], &["--format", "table"]].concat());
    let command = table.lines().find(|line| line.contains("--what-if 'scale-limit=GrpTRES/cpu=2'")).unwrap();
    let words = shlex::split(command.trim().strip_prefix("sim ").unwrap()).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["--format", "csv"]).collect();
    let row = csv.iter().find(|row| value(row, "what_if") == "scale-limit=GrpTRES/cpu=2").unwrap();
    assert_eq!(&rows(&sim_ok(&words))[1], row);
}

/// On resamples: the interval is that of the ratios on each of them, from a run of its own for each.
#[test]
fn intervals_of_another_year_are_those_of_the_ratios_on_each_resample() {
    let folder = Folder::new();
    let mut jobs = String::new();
    for at in 0..600i64 {
        let (submit, user, procs) = (at * 9100, at * 7 % 13, 1 + at * at % 7);
        jobs += &format!("{submit},{},{procs},{},u{user}\n", 9000 + at * 37 % 40_000, 9000 + at % 3 * 20_000);
    }
    let log = folder.write("log.csv", format!("submit,run,procs,estimate,user\n{jobs}"));
    let format = "csv:submit=submit,run=run,procs=procs,estimate=estimate,user=user";
    let common = [&*log, "--log-format", format, "--procs", "12", "--scheduler", "easy", "--predictor", "estimate"];
    let common = [&common[..], &["--format", "csv", "--resample", "users"]].concat();
    for change in ["procs=13", "scheduler=fcfs", "load=1.05 overrun=kill"] {
        let what_if = ["--what-if", change];
        let together = rows(&sim_ok(&[&common[..], &what_if, &["--replications", "4"]].concat()));
        let pairs: Vec<[f64; 2]> = ["1", "2", "3", "4"]
            .map(|seed| {
                let alone = rows(&sim_ok(&[&common[..], &what_if, &["--seed", seed]].concat()));
                [0, 1].map(|at| number(&alone[at], "wait_mean"))
            })
            .to_vec();
        assert!(pairs.iter().flatten().all(|wait| *wait > 0.0), "{pairs:?}");
        let mean = |of: &dyn Fn(&[f64; 2]) -> f64| pairs.iter().map(of).sum::<f64>() / 4.0;
        let logarithm = |[base, own]: &[f64; 2]| (own / base).ln();
        let center = mean(&logarithm);
        let variance = mean(&|pair| (logarithm(pair) - center).powi(2)) * 4.0 / 3.0;
        // Student's t with 3 degrees of freedom, for a next observation.
        let half = 3.182_446_305 * (variance * (1.0 + 1.0 / 4.0)).sqrt();
        let row = &together[1];
        let expected = [
            ("wait_mean", mean(&|[_, own]| *own)),
            ("base_wait_mean", mean(&|[base, _]| *base)),
            ("wait_improvement_pct", 100.0 * (1.0 - center.exp())),
            ("wait_improvement_pct_low", 100.0 * (1.0 - (center + half).exp())),
            ("wait_improvement_pct_high", 100.0 * (1.0 - (center - half).exp())),
            ("wait_better_in", pairs.iter().filter(|[base, own]| own < base).count() as f64),
        ];
        for (name, expected) in expected {
            let found = number(row, name);
            assert!((found - expected).abs() < 1e-3 * expected.abs().max(1.0), "{change}: {name} {found} {expected}");
        }
    }
}
