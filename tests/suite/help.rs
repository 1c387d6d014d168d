//! `sim help` and the README: every page is printed, and what the pages show is what the program does.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use flate2::Compression;
use flate2::write::GzEncoder;
use shadowtime::engine::{self, EngineOptions, Named};
use shadowtime::metrics::{Measure, summarize};
use shadowtime::schedule::catalog::SchedulerEntry;
use shadowtime::schedule::{Easy, Order, Scheduler};
use shadowtime::spec::Spec;

use crate::largest_first::{self, LargestFirst};
use crate::size_mean::{FORM, SizeMean};
use crate::support::{
    Ran, command, facts, first_jobs, has_python, impossible, in_ci, left_to_ci, missing, real_log, real_logs, sim,
    sim_ok,
};

const README: &str = include_str!("../../README.md");

/// The pages of the manual as they are in the sources, by name.
fn pages() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/help");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let page = |path: std::path::PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(".md")?.to_string();
        Some((name, fs::read_to_string(path).unwrap()))
    };
    files.filter_map(page).collect()
}

/// The commands of the program.
fn commands() -> Vec<String> {
    let all = sim(&["--help-all"]).out;
    let commands = all.split("Other commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let commands = commands.lines().filter(|line| !line.starts_with("    ")).map(first_word);
    commands.filter(|command| command != "help").collect()
}

fn first_word(line: &str) -> String {
    line.split_whitespace().next().unwrap().to_string()
}

/// The blocks of a page in this language, without their fences.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    page.split(&begin).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// A command that a page shows, with what it shows of its output.
#[derive(Debug)]
struct Shown {
    command: String,
    output: String,
}

/// The commands of a block, in order. A line that ends in a backslash continues on the next one.
fn shown(block: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for line in block.replace("\\\n", " ").lines() {
        match line.strip_prefix("$ ") {
            Some(command) => {
                let command = command.split("  #").next().unwrap().split(" # ").next().unwrap().trim();
                all.push(Shown { command: command.to_string(), output: String::new() });
            }
            None => all.last_mut().unwrap().output += &format!("{line}\n"),
        }
    }
    all
}

/// Runs a command in a folder with a shell that has the program in its path.
fn shell(folder: &Path, script: &str) -> Ran {
    let program = Path::new(env!("CARGO_BIN_EXE_sim"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    let output =
        command("sh").args(["-c", script]).current_dir(folder).env("PATH", path).stdin(Stdio::null()).output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The command as it is on a terminal, where tables are the default.
fn on_a_terminal(command: &str) -> String {
    let plain = [
        "sim list",
        "sim generate",
        "sim trace convert",
        "sim help",
        "sim trace validate",
        "sim sweep status",
        "sim machine",
    ];
    let is_plain = command.contains("sim predict") || plain.iter().any(|plain| command.starts_with(plain));
    let has_tables = !command.contains("--format") && !is_plain;
    if has_tables { format!("{command} --format table") } else { command.to_string() }
}

/// Whether a text equals what the page shows, where a line `...` replaces any number of lines.
fn is_as_shown(text: &str, shown: &str) -> bool {
    let mut lines = text.lines();
    let mut gap = false;
    for expected in shown.trim_end().lines() {
        if expected == "..." {
            gap = true;
        } else if gap {
            gap = false;
            if !lines.any(|line| line == expected) {
                return false;
            }
        } else if lines.next() != Some(expected) {
            return false;
        }
    }
    gap || lines.next().is_none()
}

/// Runs a command, which must succeed, and compares what it prints with what is shown, if anything is.
fn assert_as_shown(page: &str, folder: &Path, Shown { command, output }: &Shown) {
    // Notes are shown of commands whose result goes to a file.
    let has_notes = output.starts_with("note: ");
    let ran = shell(folder, &if output.is_empty() { command.clone() } else { on_a_terminal(command) });
    // A comparison that finds differences has its own exit code.
    let is_expected = ran.code == 0 || (ran.code == 1 && command.starts_with("sim compare"));
    assert!(is_expected, "{page}: {command}: {}", ran.err);
    let printed = if has_notes { &ran.err } else { &ran.out };
    assert!(output.is_empty() || is_as_shown(printed, output), "{page}: {command} prints\n{printed}");
}

/// The jobs of an SWF log as sacct prints them, in 2026.
fn as_sacct(swf: &str) -> String {
    let mut text = "JobIDRaw|User|Account|Submit|Start|End|State|NNodes|NCPUS|Timelimit|JobName\n".to_string();
    for line in swf.lines().filter(|line| !line.starts_with(';')) {
        let fields: Vec<i64> = line.split_whitespace().map(|field| field.parse().unwrap()).collect();
        let time = |seconds: i64| {
            let unix = 1_767_225_600 + seconds;
            let [h, m, s] = [unix / 3600 % 24, unix / 60 % 60, unix % 60];
            format!("{}T{h:02}:{m:02}:{s:02}", shadowtime::time::date(unix))
        };
        let start = fields[1] + fields[2];
        let (limit, state) = (fields[8], if fields[10] == 1 { "COMPLETED" } else { "FAILED" });
        text += &format!(
            "{}|u{}|lab|{}|{}|{}|{state}|1|{}|{}-{:02}:{:02}:{:02}|a|b\n",
            fields[0],
            fields[11],
            time(fields[1]),
            time(start),
            time(start + fields[3]),
            fields[7],
            limit / 86_400,
            limit / 3600 % 24,
            limit / 60 % 60,
            limit % 60
        );
    }
    text
}

fn write_packed(path: &Path, text: &str) {
    let mut packed = GzEncoder::new(fs::File::create(path).unwrap(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap();
}

const KTH: &str = "KTH-SP2-1996-2.1-cln.swf.gz";

/// A folder with everything that the commands of the pages name: small logs and the files of settings of the pages.
fn furnished() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = first_jobs(300);
    fs::write(folder.path().join("ctc.swf"), &text).unwrap();
    for name in ["ctc.swf.gz", "nasa.swf.gz", "KTH.swf.gz", "CTC.swf.gz", KTH] {
        write_packed(&folder.path().join(name), &text);
    }
    fs::write(folder.path().join("sacct.txt"), as_sacct(&text)).unwrap();
    for name in ["slurm.conf", "new.conf"] {
        fs::write(folder.path().join(name), "SchedulerType=sched/backfill\nNodeName=n[1-4] CPUs=128\n").unwrap();
    }
    fs::write(folder.path().join("site.conf"), "NodeName=n[1-16] CPUs=8\n").unwrap();
    fs::write(folder.path().join("site.dump"), "Cluster - 'c'\nParent - 'root'\nAccount - 'a':Fairshare=2\n").unwrap();
    fs::write(folder.path().join("lower.dump"), "Cluster - 'c'\nParent - 'root'\nAccount - 'a':GrpJobs=9\n").unwrap();
    fs::write(folder.path().join("site.qos"), "Name|Priority\nnormal|0\n").unwrap();
    let pages = pages();
    fs::write(folder.path().join("site.toml"), blocks(&pages["machines"], "toml")[0]).unwrap();
    let is_table = |block: &&&str| block.starts_with("id,submit");
    fs::write(folder.path().join("chain.csv"), blocks(&pages["logs"], "text").iter().find(is_table).unwrap()).unwrap();
    fs::write(folder.path().join("study.toml"), blocks(&pages["sweeps"], "toml")[0]).unwrap();
    fs::write(folder.path().join("grid.toml"), blocks(&pages["meta"], "toml")[0]).unwrap();
    fs::create_dir(folder.path().join("traces")).unwrap();
    folder
}

/// Whether a test can run a command here: neither another program is needed nor a real log, whose figures are shown.
fn is_run(shown: &Shown) -> bool {
    let real = shown.command.contains("-cln.swf.gz") && !shown.output.is_empty();
    let ours = shown.command.starts_with("sim ") || shown.command.contains("| sim ");
    let python = shown.command.contains("python3") && !has_python("pages_show_what_commands_print");
    ours && !real && !python && !shown.command.starts_with("sim reproduce")
}

/// The columns that they name are there, and where there is pandas they run.
#[test]
fn the_lines_of_pandas_read_the_csv() {
    let page = &pages()["comparisons"];
    let [lines] = blocks(page, "python")[..] else { panic!("the page has one block of Python") };
    let read = |block: &&str| block.contains("> rows.csv");
    let make = shown(blocks(page, "console").into_iter().find(read).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let ran = shell(folder.path(), &make[0].command);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let csv = fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    let columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let names = lines.split('"').skip(1).step_by(2).filter(|name| name.contains("wait_") || name.ends_with("or"));
    let names: Vec<&str> = names.collect();
    assert!(names.len() > 5 && names.iter().all(|name| columns.contains(name)), "{names:?} of {columns:?}");
    fs::write(folder.path().join("lines.py"), lines).unwrap();
    if shell(folder.path(), "python3 -c 'import pandas, matplotlib'").code != 0 {
        return impossible("the_lines_of_pandas_read_the_csv", "there is no pandas with matplotlib");
    }
    let ran = shell(folder.path(), "MPLBACKEND=Agg python3 lines.py");
    assert!(ran.code == 0 && ran.out.contains("sjbf/ruh"), "{} {}", ran.out, ran.err);
    assert!(folder.path().join("waits.pdf").exists());
}

#[test]
fn pages_show_what_commands_print() {
    let mut all = pages();
    all.insert("README".to_string(), README.to_string());
    if left_to_ci("pages_show_what_commands_print, but for the README") {
        all.retain(|name, _| name == "README");
    }
    let (mut ran, mut compared) = (0, 0);
    for (name, page) in &all {
        let folder = furnished();
        for block in blocks(page, "console") {
            for mut shown in shown(block) {
                // What follows in the block is about the jobs on the cluster.
                if shown.command.contains("--slurm") {
                    break;
                }
                if !is_run(&shown) {
                    continue;
                }
                // Days of jobs make no difference where only the command is tested.
                if shown.output.is_empty() && shown.command.starts_with("sim malleable") {
                    shown.command += " --days 2";
                }
                assert_as_shown(name, folder.path(), &shown);
                ran += 1;
                compared += usize::from(!shown.output.is_empty());
            }
        }
        // Files of settings are used.
        if name == "meta" {
            assert_eq!(shell(folder.path(), "sim -q meta grid.toml").code, 0);
        }
    }
    let least = if in_ci() { (36, 15) } else { (3, 1) };
    assert!(ran >= least.0 && compared >= least.1, "only {ran} commands were found, {compared} with output");
}

#[test]
fn pages_show_what_commands_print_of_real_logs() {
    let Some(logs) = real_logs("pages_show_what_commands_print_of_real_logs") else { return };
    // A minute of processor time and more.
    let slow = ["sim wait --trace CTC-SP2-1996-3.1-cln.swf.gz", "sim meta --site KTH="];
    let is_slow = |command: &str| command == slow[0] || command.starts_with(slow[1]);
    let folder = tempfile::tempdir().unwrap();
    for name in [KTH, "CTC-SP2-1996-3.1-cln.swf.gz"] {
        let log = fs::canonicalize(real_log(&logs, name)).unwrap();
        std::os::unix::fs::symlink(log, folder.path().join(name)).unwrap();
    }
    let mut compared = 0;
    for (name, page) in &pages() {
        for shown in blocks(page, "console").into_iter().flat_map(shown) {
            let is_real = shown.command.contains("-cln.swf.gz") && !shown.output.is_empty();
            if is_real && !is_slow(&shown.command) {
                assert_as_shown(name, folder.path(), &shown);
                compared += 1;
            }
        }
    }
    assert!(compared > 1, "no outputs of real logs were found");
}

#[test]
fn every_page_is_listed_and_printed() {
    let topics = sim_ok(&["list", "topics"]);
    let mut listed: Vec<_> = topics.lines().filter(|line| !line.starts_with(' ')).map(first_word).collect();
    listed.sort();
    assert_eq!(listed, pages().into_keys().collect::<Vec<_>>());
    let help = sim(&["--help-all"]).out;
    for (name, page) in pages() {
        let printed = sim(&["help", &name]);
        assert_eq!((printed.code, printed.err.as_str()), (0, ""), "{name}");
        assert!(help.contains(&name), "sim --help-all does not mention the topic {name}");
        // Every line of the page is there; fences and comments are not.
        assert!(!printed.out.contains("```") && !printed.out.contains("<!--"), "{name}");
        let mut lines = printed.out.lines();
        for line in page.lines().filter(|line| !line.starts_with("```") && !line.starts_with("<!--")) {
            assert!(lines.any(|other| other.trim_start() == line.trim_start()), "{name} lacks: {line}");
        }
    }
}

/// Two screens of 24 lines, and the same text however it is asked for. `--help-all` has every option.
#[test]
fn the_help_is_short_and_there_is_more() {
    let short = sim(&["--help"]).out;
    assert!(short.lines().count() <= 48 && short.lines().all(|line| line.chars().count() <= 80), "{short}");
    for args in [&["-h"][..], &["help"], &["-q", "--help"], &["--color", "auto", "-h"], &["--first", "10", "--help"]] {
        assert_eq!(sim(args).out, short, "{args:?}");
    }
    for words in
        ["\nSimulate:\n", "\nMy site:\n", "\nResearch:\n", "sim --help-all", "sim help TOPIC", "sim COMMAND --help"]
    {
        assert!(short.contains(words), "{words}");
    }
    for command in commands() {
        assert!(short.split_whitespace().any(|word| word.trim_end_matches(',') == command), "{command}");
    }
    let all = sim(&["--help-all"]).out;
    for option in shadowtime::experiment::OPTIONS {
        assert!(all.contains(&format!("--{}", option.name)), "--{}", option.name);
    }
    for words in ["--predictions-out <FILE>", "--color <WHEN>", "\nExamples:\n", "Topics: tour, "] {
        assert!(all.contains(words), "{words}");
    }
    // The short help of a command leaves out what is used rarely.
    let [brief, whole] = ["-h", "--help"].map(|option| sim(&["sweep", option]).out);
    assert!(!brief.contains("--bsld-threshold") && brief.contains("--procs") && brief.contains("'--help'"), "{brief}");
    assert!(whole.contains("--bsld-threshold") && whole.lines().count() > brief.lines().count() + 60, "{whole}");
}

#[test]
fn help_of_a_command_is_its_help() {
    let commands = commands();
    assert!(commands.len() >= 10, "{commands:?}");
    let pages = pages();
    for command in &commands {
        let own = sim(&[command, "--help"]).out;
        let help = sim(&["help", command]);
        assert_eq!(help.code, 0);
        // A page of the same name follows.
        let (start, rest) = help.out.split_at(own.len());
        assert_eq!((start, rest.is_empty()), (own.as_str(), !pages.contains_key(command)), "{command}");
        if let Some(page) = pages.get(command) {
            assert_eq!(rest.trim_start().lines().next(), page.lines().next(), "{command}");
        }
    }
    let merge = sim(&["sweep", "merge", "--help"]).out;
    assert!(merge.contains("Usage: sim sweep merge "), "{merge}");
    assert_eq!(sim(&["help", "sweep", "merge"]).out, merge);
    assert_eq!(sim(&["sweep", "help", "merge"]).out, merge);
    assert_eq!(sim(&["sweep", "help"]).out, sim(&["sweep", "--help"]).out);
    assert!(sim(&["sweep", "--help"]).out.contains("sim help sweeps"));
}

#[test]
fn unknown_topics_are_refused_with_what_there_is() {
    assert!(!sim(&["help", "\u{1b}[31m"]).err.contains('\u{1b}'), "text from outside controls the terminal");
    for args in [&["help", "nonsense"][..], &["help", "sweep", "nonsense"], &["help", "logs", "formats"]] {
        let ran = sim(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(&format!("'{}'", args[1..].join(" "))), "{}", ran.err);
        for name in pages().keys().chain(&commands()) {
            assert!(ran.err.contains(name.as_str()), "{name} is not in\n{}", ran.err);
        }
    }
}

#[test]
fn pages_fit_a_terminal() {
    for (name, page) in pages() {
        let mut fenced = "";
        for line in page.lines() {
            if let Some(language) = line.strip_prefix("```") {
                assert!(
                    ["", "text", "console", "toml", "make", "sh", "yaml", "python", "rust,ignore"].contains(&language),
                    "{name}: {line}"
                );
                fenced = if fenced.is_empty() { line } else { "" };
            }
            // The output of commands is not limited in width.
            let is_output = fenced.ends_with("console") && !line.starts_with('$');
            let most = if fenced.is_empty() { 100 } else { 96 };
            assert!(is_output || line.chars().count() <= most, "{name}: over {most} characters: {line}");
        }
        assert_eq!(fenced, "", "{name}: a block has no end");
    }
    let list = sim_ok(&["list", "topics"]);
    assert!(list.lines().all(|line| line.chars().count() <= 100), "{list}");
}

/// Pages are made from the catalogs, so that a new name or key is in the manual at once.
#[test]
fn pages_have_every_name_and_key() {
    for (topic, what) in [
        ("schedulers", "schedulers"),
        ("predictors", "predictors"),
        ("estimates", "estimates"),
        ("feedback", "feedback"),
        ("meta", "policies"),
        ("malleable", "strategies"),
        ("waits", "methods"),
        ("formats", "columns runs"),
    ] {
        let page = sim(&["help", topic]).out;
        let words: Vec<_> = page.split_whitespace().collect();
        let list = sim_ok(&[&["list"], &what.split(' ').collect::<Vec<_>>()[..]].concat());
        for line in list.lines() {
            let line: Vec<_> = line.split_whitespace().collect();
            assert!(words.windows(line.len()).any(|words| words == line), "{topic} lacks {line:?}");
        }
        let listed = page.lines().filter(|line| line.starts_with("    ") && !line.starts_with("    $"));
        let first = first_word(&list);
        assert!(listed.clone().any(|line| first_word(&format!("{line} .")) == first), "{topic} does not list {first}");
    }
}

/// What `sim list columns` prints of an output is its header, but for the columns that are there only under a condition.
#[test]
fn the_lists_of_columns_are_those_of_the_outputs() {
    let page = pages().remove("formats").unwrap();
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.swf"), first_jobs(300)).unwrap();
    let run = |args: &str| {
        let ran = shell(folder.path(), &format!("sim -q {args}"));
        assert_eq!(ran.code, 0, "{args}: {}", ran.err);
        ran.out
    };
    let header = |text: &str| text.lines().next().unwrap().replace(',', " ");
    let file = |name: &str| header(&fs::read_to_string(folder.path().join(name)).unwrap());
    let all: serde_json::Value = serde_json::from_str(&sim_ok(&["list", "columns", "--format", "json"])).unwrap();
    let assert_listed = |output: &str, header: &str| {
        let of_output = all.as_array().unwrap().iter().filter(|column| column["output"] == output);
        let is_there = |name: &str| header.split(' ').any(|column| column == name);
        let given = of_output.filter(|column| column["only"] == "" || is_there(column["name"].as_str().unwrap()));
        let names: Vec<_> = given.map(|column| column["name"].as_str().unwrap()).collect();
        assert_eq!(names.join(" "), header, "{output}");
        assert!(words.contains(&format!("(`{output}`)")), "sim help formats does not name {output}");
    };

    fs::write(folder.path().join("large.conf"), "NodeName=n[1-64] CPUs=64\n").unwrap();
    let summary = header(&run(
        "--trace a.swf --format csv --baseline easy/estimate --jobs-out jobs --predictions-out predictions \
         --by-out by --series-out series --machine large.conf --reasons --scheduler slurm:preempt=requeue --feedback think",
    ));
    assert_listed("runs", &summary);
    // The page has them, each on a line with what it means.
    let printed = sim(&["help", "formats"]).out;
    let listed =
        printed.lines().skip_while(|line| !line.starts_with("    trace  ")).take_while(|line| !line.is_empty());
    let listed = listed.filter(|line| !line.starts_with("     ")).map(first_word);
    let listed: Vec<String> = listed.collect();
    fs::write(folder.path().join("outages.csv"), "start,end,nodes\n100,200,n1\n").unwrap();
    let amid_outages = header(&run(
        "--trace a.swf --format csv --baseline easy/estimate --machine large.conf --reasons --outages outages.csv",
    ));
    let what_if = header(&run("--trace a.swf --format csv --what-if procs=200"));
    for summary in [&summary, &amid_outages, &what_if] {
        let columns: Vec<&str> = summary.split(' ').collect();
        assert_eq!(listed.iter().filter(|name| columns.contains(&name.as_str())).collect::<Vec<_>>(), columns);
    }
    let all = [&summary, &amid_outages, &what_if];
    let known = |name: &String| all.iter().flat_map(|one| one.split(' ')).any(|column| column == name);
    assert!(listed.iter().all(known), "{listed:?}");
    let means = header(&run("--trace a.swf --replications 2 --format csv"));
    for mean in means.split(' ').filter_map(|column| column.strip_suffix("_ci95")) {
        // The figures of a run are in the list above, those of the baseline have the same names.
        let figure = mean.strip_prefix("base_").unwrap_or(mean);
        assert!(summary.split(' ').any(|column| column == figure), "{mean}");
    }

    let fidelity = "fidelity a.swf --scheduler easy --by-out fg --jobs-out fj --windows-out fw --format csv";
    assert_listed("fidelity", &header(&run(fidelity)));
    assert_listed("trace", &header(&run("trace info a.swf --format csv")));
    fs::write(folder.path().join("site.conf"), "NodeName=n[1-3] CPUs=12\n").unwrap();
    assert_listed("findings", &header(&run("trace validate a.swf --format csv")));
    let search = "search --trace a.swf --evaluations 60 --out t --history-out history --format csv";
    assert_listed("search", &header(&run(search)));
    let wait = "wait --trace a.swf --method qbets --jobs-out w --confusion-out confusion --calibration-out calibration";
    assert_listed("wait", &header(&run(&format!("{wait} --format csv"))));
    assert_listed("wait-queue", &header(&run("wait ask --trace a.swf --job procs=1,estimate=1h --format csv")));
    let meta =
        "meta --site A=a.swf --site B=a.swf --policy static,redundant --sites-out sites --jobs-out m --format csv";
    assert_listed("meta", &header(&run(meta)).replace("share_A_pct share_B_pct", "share_NAME_pct"));
    let malleable = "malleable --days 1 --details --jobs-out mj --scatter-out scatter --format csv";
    assert_listed("malleable", &header(&run(malleable)));
    for (output, name) in [
        ("jobs", "jobs"),
        ("predictions", "predictions"),
        ("groups", "by"),
        ("series", "series"),
        ("fidelity-groups", "fg"),
        ("fidelity-jobs", "fj"),
        ("fidelity-windows", "fw"),
        ("search-history", "history"),
        ("wait-jobs", "w"),
        ("wait-confusion", "confusion"),
        ("wait-calibration", "calibration"),
        ("meta-sites", "sites"),
        ("meta-jobs", "m"),
        ("malleable-jobs", "mj"),
        ("malleable-scatter", "scatter"),
    ] {
        assert_listed(output, &file(name));
    }
    assert_listed("reproduce", &header(&run("reproduce downey --days 1 --replications 1 --format csv")));
    let sweep = "sweep --trace a.swf --predictor estimate,ruh";
    assert_listed("sweep-plan", &header(&run(&format!("{sweep} --dry-run --format csv"))));
    run(&format!("{sweep} --out study"));
    assert_listed("sweep-status", &header(&run("sweep status study --format csv")));
    let merged = header(&run("sweep merge study --format csv"));
    assert_listed("sweep-status", &merged);
    assert!(!merged.contains("slurm"), "{merged}");
    let differences = shell(folder.path(), "sed 's/,5,/,6,/' jobs >other; sim -q compare jobs other --format csv").out;
    assert_listed("compare", &header(&differences).replacen("job ", "KEY ", 1));
    // Means have an interval beside each figure, and the baseline's.
    let recommend = header(&run("recommend a.swf --candidates easy/ruh --replications 2 --format csv"));
    let is_listed = |name: &&str| {
        !["_ci95", "_improvement", "_verdict"].iter().any(|end| name.ends_with(end))
            && !name.starts_with("base_")
            && *name != "rows"
    };
    assert_listed("recommend", &recommend.split(' ').filter(is_listed).collect::<Vec<_>>().join(" "));
}

#[test]
fn the_job_of_the_page_on_ci_fails_when_figures_change() {
    let page = pages().remove("ci").unwrap();
    let script = blocks(&page, "sh")[0];
    assert!(script.contains(KTH));
    let workflow = blocks(&page, "yaml")[0];
    for line in ["run: sh .ci/figures.sh", "run: cargo install --path . --locked", &format!("path: .ci/{KTH}")] {
        assert!(workflow.contains(line), "{workflow}");
    }
    let folder = tempfile::tempdir().unwrap();
    if shell(folder.path(), "rmdir $(mktemp -d)").code != 0 {
        return missing("the_job_of_the_page_on_ci_fails_when_figures_change", "there is no mktemp");
    }
    let place = folder.path().join(".ci");
    fs::create_dir(&place).unwrap();
    fs::write(place.join("figures.sh"), script).unwrap();
    // Nothing is fetched where the log is there.
    write_packed(&place.join(KTH), &first_jobs(300));
    let run = || shell(folder.path(), "sh .ci/figures.sh");

    let without = run();
    assert!(without.code == 1 && without.err.contains("figures.csv is missing"), "{without:?}");
    let first = shell(folder.path(), "sh .ci/figures.sh --write");
    assert!(first.code == 0 && first.out.contains("figures.csv was written"), "{first:?}");
    let figures = fs::read_to_string(place.join("figures.csv")).unwrap();
    assert_eq!(figures.lines().count(), 7, "{figures}");
    let second = run();
    assert!(second.code == 0 && second.out.contains("have not changed"), "{second:?}");
    fs::write(place.join("figures.csv"), figures.replacen("easy,estimate,300", "easy,estimate,299", 1)).unwrap();
    let third = run();
    let change: Vec<&str> = third.out.lines().nth(1).unwrap_or_default().split_whitespace().collect();
    assert!(third.code == 1 && change == ["estimate", "jobs", "299", "300", "+1", "+0.33%"], "{third:?}");
    let mut left: Vec<_> = fs::read_dir(&place).unwrap().map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [KTH, "figures.csv", "figures.sh"]);
}

/// The predictor that `sim help contributing` names is compiled here, and run. (`crate::predict` and the other paths mean the same here
/// as in the library: see main.rs.)
#[test]
fn the_predictor_of_the_page_works() {
    let page = &pages()["contributing"];
    assert!(page.contains("`tests/suite/size_mean.rs`"));
    let catalog = include_str!("../../src/core/predict/catalog.rs");
    let entry = "    (&size_mean::FORM, |_| Box::new(SizeMean::default())),";
    assert!(page.contains(entry) && page.contains("`use super::size_mean::{self, SizeMean};`"));
    // The same forms as those of its neighbours.
    assert!(catalog.contains("    (&estimate::FORM, |_| Box::new(Estimate)),"));
    assert!(catalog.contains("use super::estimate::{self, Estimate};"));
    assert!(include_str!("../../src/core/predict/mod.rs").contains("\nmod estimate;\n"));

    assert_eq!(FORM.name, "size-mean");
    let workload = shadowtime::trace::demo_workload();
    let policy = Scheduler::from(Easy::new(Order::ShortestPrediction)).named("sjbf");
    let predictor = Named { name: FORM.name.to_string(), value: Box::new(SizeMean::default()) as Box<_> };
    let options = EngineOptions::default();
    let record = engine::run(workload.procs, &workload.jobs, policy, predictor, options, &mut |_| ()).unwrap();
    let summary = summarize(&workload, &record, &Measure::default());
    // Better than the users' estimates (0.217).
    assert!(summary.ra_mean > 0.25 && summary.misses > 0, "{summary:?}");
}

/// The same for the scheduler of that page.
#[test]
fn the_scheduler_of_the_page_works() {
    let page = &pages()["contributing"];
    assert!(page.contains("`tests/suite/largest_first.rs`"));
    let catalog = include_str!("../../src/core/schedule/catalog.rs");
    let entry = "    (&largest_first::FORM, |_, _| Scheduler::new(LargestFirst)),";
    assert!(page.contains(entry) && page.contains("`use super::largest_first::{self, LargestFirst};`"));
    // The same forms as those of its neighbours.
    assert!(catalog.contains("    (&replay::FORM, |_, log| Replay::new(log.recorded_waits()).into()),"));
    assert!(catalog.contains("use super::replay::{self, Replay};"));
    assert!(include_str!("../../src/core/schedule/mod.rs").contains("\nmod replay;\n"));

    // As an entry of the catalog, as a program of another crate has it.
    static MINE: [SchedulerEntry; 1] = [(&largest_first::FORM, |_, _| Scheduler::new(LargestFirst))];
    assert!(page.contains("= [(&FORM, |_, _| Scheduler::new(LargestFirst))];"));
    let workload = shadowtime::trace::demo_workload();
    let spec = Spec::parse("largest-first", "scheduler", &[MINE[0].0]).unwrap();
    let policy = MINE[0].1(&spec, &facts(&workload.jobs)).named(spec.to_string());
    let predictor = Named { name: FORM.name.to_string(), value: Box::new(SizeMean::default()) as Box<_> };
    let options = EngineOptions::default();
    let record = engine::run(workload.procs, &workload.jobs, policy, predictor, options, &mut |_| ()).unwrap();
    assert!(summarize(&workload, &record, &Measure::default()).backfilled > 100);
}

/// The example that calls `sim` is run as it is.
#[test]
fn the_caller_of_the_examples_works() {
    if !has_python("the_caller_of_the_examples_works") {
        return;
    }
    let folder = furnished();
    let caller = sim_ok(&["list", "schedulers", "--example", "caller"]);
    fs::write(folder.path().join("caller.py"), caller).unwrap();
    let ran = shell(folder.path(), "python3 caller.py");
    assert!(ran.code == 0 && ran.out.lines().count() == 5, "{} {}", ran.out, ran.err);
    assert_eq!(fs::read_to_string(folder.path().join("episodes.csv")).unwrap().lines().count(), 6);
}

#[test]
fn the_links_of_the_readme_lead_somewhere() {
    let kept = |c: &char| c.is_alphanumeric() || [' ', '-'].contains(c);
    let anchor = |heading: &str| heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-");
    let headings: Vec<_> = README.lines().filter_map(|line| line.strip_prefix("## ")).map(anchor).collect();
    let links: Vec<_> = README.split("](#").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    assert!(links.len() > 8);
    for link in links {
        assert!(headings.iter().any(|heading| heading == link), "no heading for #{link}");
    }
    // Topics and commands that the README names.
    let named = README.replace('\n', " ");
    for topic in named.split("`sim help ").skip(1).map(|rest| rest.split('`').next().unwrap()) {
        assert!(topic == "TOPIC" || pages().contains_key(topic), "the README names the topic '{topic}'");
    }
    for (name, page) in pages() {
        let page = page.replace('\n', " ");
        for topic in page.split("`sim help ").skip(1).map(|rest| rest.split('`').next().unwrap()) {
            assert!(pages().contains_key(topic), "{name} names the topic '{topic}'");
        }
    }
}

#[test]
fn pages_that_cannot_be_written_are_an_error_and_cut_off_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    for topic in ["", "logs", "meta"] {
        let cut = shell(folder.path(), &format!("sim help {topic} | head -n 1"));
        assert_eq!((cut.code, cut.out.lines().count(), cut.err.as_str()), (0, 1, ""));
        if cfg!(target_os = "linux") {
            let full = shell(folder.path(), &format!("sim help {topic} > /dev/full"));
            assert!(full.code == 1 && full.err.contains("standard output"), "{full:?}");
        }
    }
}
