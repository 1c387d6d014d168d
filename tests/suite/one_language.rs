//! The same words in all commands: logs as options and as plain arguments, old names, formats, seeds, suggestions.

use std::fs;

use crate::support::{demo_text, sim, sim_ok};

/// A file with the embedded log.
fn log() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("demo.swf");
    fs::write(&path, demo_text()).unwrap();
    let path = path.to_str().unwrap().to_string();
    (folder, path)
}

#[test]
fn a_log_is_an_option_or_a_plain_argument() {
    let (folder, log) = log();
    let study = folder.path().join("study");
    let study = study.to_str().unwrap();
    let commands: &[&[&str]] = &[
        &["--first", "100"],
        &["wait", "--method", "ibl", "--first", "400"],
        &["search", "--method", "greedy", "--evaluations", "40", "--first", "200"],
        &["fidelity", "--first", "100"],
        &["trace", "info"],
        &["trace", "validate"],
        &["trace", "convert", "--out", "-"],
        &["sweep", "--first", "100", "--out", study, "--resume"],
        &["meta", "--first", "200", "--policy", "static"],
    ];
    for command in commands {
        let option = sim_ok(&[command, &["--trace", &log][..]].concat());
        assert_eq!(sim_ok(&[command, &[log.as_str()][..]].concat()), option, "{command:?}");
        assert!(option.lines().count() > 1 || command[0] == "trace", "{command:?}");
        let both = sim(&[command, &["--trace", &log, &log][..]].concat());
        assert!(both.code == 2 && both.out.is_empty() && both.err.contains("--trace"), "{command:?}: {}", both.err);
    }
    // Standard input, and a name with characters that lists use.
    let odd = folder.path().join("a,b{1..2}.swf");
    fs::copy(&log, &odd).unwrap();
    let dry = sim_ok(&["sweep", odd.to_str().unwrap(), "--first", "10", "--dry-run"]);
    assert_eq!(dry.lines().count(), 1, "{dry}");
    assert!(dry.contains("a,b{1..2}.swf"), "{dry}");
}

#[test]
fn a_word_that_is_neither_a_command_nor_a_file_is_refused_with_what_was_meant() {
    let (folder, log) = log();
    let near = folder.path().join("demo.sfw");
    for (args, message) in [
        (&["swep"][..], "'swep' is neither a command nor a file; did you mean the command 'sweep'?"),
        (&["swep", "--out", "x"], "did you mean the command 'sweep'?"),
        (&["-q", "swep", "--out", "x"], "did you mean the command 'sweep'?"),
        (&["--quiet", "sweep", "-q", "statsu"], "did you mean the command 'status'?"),
        (&["--predictor", "ruh", "wiat"], "did you mean the command 'wait'?"),
        (&["sweep", "statsu"], "did you mean the command 'status'?"),
        (&["qqq"], "'qqq' is neither a command nor a file\n"),
        (&["trace", "inof"], "similar subcommand exists: 'info'"),
        (&["help", "wiats"], "did you mean 'waits'?"),
        (&["/nowhere/x.swf"], "cannot open /nowhere/x.swf"),
        (&["--predictor", "rhu"], "did you mean 'ruh'?"),
        (&["--predictor", "ruh:windw=2"], "did you mean 'window'?"),
        (&["--predictor", "ruh:metric=maen"], "did you mean 'mean'?"),
        (&["--scheduler", "esay"], "did you mean 'easy'?"),
        (&["--estimates", "tsafir"], "did you mean 'tsafrir'?"),
        (&["--overrun", "kil"], "did you mean 'kill'?"),
        (&["wait", "--method", "kn"], "did you mean 'knn'?"),
        (&["malleable", "--strategy", "haur"], "did you mean 'heur'?"),
        (&["meta", &log, "--policy", "sttaic"], "did you mean 'static'?"),
        (&["meta", "--site", "A=a.swf:pocs=3"], "did you mean 'procs'?"),
        (&["list", "predictor"], "similar value exists: 'predictors'"),
    ] {
        let ran = sim(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.starts_with("error: ") && ran.err.contains(message), "{args:?}: {}", ran.err);
    }
    // A log that is not found, in every command that reads one.
    let (near, study) = (near.to_str().unwrap(), folder.path().join("study"));
    let out = study.to_str().unwrap();
    for args in [
        &[near][..],
        &["--trace", near],
        &["wait", near],
        &["trace", "info", near],
        &["trace", "validate", near],
        &["search", near],
        &["meta", near],
        &["meta", "--site", &format!("A={near}")],
        &["trace", "convert", "--estimates", "f", "--out", "-", near],
        &["compare", near, &log],
        &["sweep", near, "--out", out],
        &["sweep", "--trace", near, "--out", out],
    ] {
        let ran = sim(args);
        assert!(ran.code == 2 && ran.err.contains(&format!("cannot open {near}: ")), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(&format!("; did you mean the file '{log}'?")), "{args:?}: {}", ran.err);
    }
    assert!(!study.exists(), "the folder of a sweep that cannot start was made");
    let ran = sim(&[&log, "wait"]);
    assert!(ran.code == 2 && ran.err.contains("a log cannot be given before the command 'wait'"), "{}", ran.err);
}

/// The same mistake has the same message in all commands.
#[test]
fn a_list_is_read_in_one_way_everywhere() {
    for (command, option, name, key) in [
        ("", "--predictor", "ruh", "window"),
        ("sweep --dry-run", "--predictor", "ruh", "window"),
        ("wait", "--method", "ibl", "k"),
        ("meta --scenario 1K-equal-I", "--policy", "k-distributed", "k"),
        ("malleable", "--strategy", "bias", "classes"),
    ] {
        let run = |value: &str| sim(&command.split_whitespace().chain([option, value]).collect::<Vec<_>>());
        for (form, message) in [
            ("1-10", "KEY: '1-10' is not a whole number"),
            ("{1,2}", "'2' is not key=value; the keys of "),
            ("1,2,3", "unknown WHAT '2': the "),
            ("[1,2]", "KEY: '[1' is not a whole number"),
            ("1|2", "KEY: '1|2' is not a whole number"),
        ] {
            let (value, ran) = (format!("{name}:{key}={form}"), run(&format!("{name}:{key}={form}")));
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{command} {value}");
            assert!(ran.err.starts_with(&format!("error: invalid value '{value}' for '{option} <")), "{}", ran.err);
            let what = option.trim_start_matches('-');
            let message = message.replace("KEY", key).replace("WHAT", what);
            assert!(ran.err.contains(&message), "{command} {value}: {}", ran.err);
        }
        let ran = run("nobody");
        assert!(ran.err.starts_with(&format!("error: invalid value 'nobody' for '{option} <")), "{}", ran.err);
        // Equal rows would be told apart by nothing. (A sweep is the product of its lists as they are written.)
        if !command.starts_with("sweep") {
            let ran = run(&format!("{name},{name}"));
            let what = option.trim_start_matches('-');
            assert!(ran.code == 2 && ran.err.contains(&format!("the {what} {name} is given twice")), "{}", ran.err);
        }
    }
    let ran = sim(&["--predictor", "ruh", "--predictor", "ruh:window=3"]);
    assert!(ran.code == 2 && ran.err.contains("the predictor ruh is given twice"), "{}", ran.err);
    // A range must reach its end.
    let ran = sim(&["sweep", "--dry-run", "--load", "0.8..1.2"]);
    assert!(ran.code == 2 && ran.err.contains("write a step, such as 0.8..1.2:0.1"), "{}", ran.err);
}

/// A default that was swept keeps its label, and a swept key has a column.
#[test]
fn a_swept_key_has_a_column_and_a_label_everywhere() {
    for (args, column, values) in [
        (
            "--first 200 --predictor ruh:window=2..3,perfect",
            "predictor.window",
            "ruh:window=2|2 ruh:window=3|3 perfect|",
        ),
        (
            "--first 200 --predictor ruh:window=2..3 --replications 2",
            "predictor.window",
            "ruh:window=2|2 ruh:window=3|3",
        ),
        ("wait --first 400 --method ibl:k=50..51,qbets", "method.k", "ibl:k=50|50 ibl:k=51|51 qbets|"),
        (
            "meta --scenario 1K-equal-I --days 1 --policy static,k-distributed:k=1..2",
            "policy.k",
            "static| k-distributed:k=1|1 k-distributed:k=2|2",
        ),
        (
            "malleable --days 1 --view system --strategy avg:min-share=0..0.2:0.1",
            "strategy.min-share",
            "avg:min-share=0|0 avg:min-share=0.1|0.1 avg:min-share=0.2|0.2",
        ),
    ] {
        let csv = sim_ok(&args.split(' ').chain(["--format", "csv"]).collect::<Vec<_>>());
        let mut rows = csv::Reader::from_reader(csv.as_bytes());
        let header = rows.headers().unwrap().clone();
        let at = |name: &str| header.iter().position(|other| other == name).unwrap_or_else(|| panic!("{name}: {csv}"));
        let (label, key) = (at(column.split('.').next().unwrap()), at(column));
        let found: Vec<_> =
            rows.records().map(|row| row.unwrap()).map(|row| format!("{}|{}", &row[label], &row[key])).collect();
        assert_eq!(found.join(" "), values, "{args}");
        // A number in JSON.
        let json = sim_ok(&args.split(' ').chain(["--format", "json"]).collect::<Vec<_>>());
        assert!(json.contains(&format!("\"{column}\": ")) && !json.contains(&format!("\"{column}\": \"")), "{json}");
    }
    // The headings of tables, and the first column of files.
    let args =
        ["--first", "200", "--predictor", "ruh:window=2..3", "--format", "table", "--by", "width", "--by-out", "-"];
    let ran = sim(&args);
    assert!(ran.err.contains("sjbf/ruh:window=2") && ran.err.contains("sjbf/ruh:window=3"), "{}", ran.err);
    assert!(ran.out.contains("\nsjbf/ruh:window=3,width,"), "{}", ran.out);
    // Without a list the shortest text is printed, as ever.
    assert!(sim_ok(&["--first", "200", "--predictor", "ruh:window=3", "--format", "csv"]).contains(",sjbf,ruh,200,"));
}

/// Counts are whole numbers in JSON.
#[test]
fn counts_have_no_decimal_point() {
    let (folder, _log) = log();
    let study = folder.path().join("study").to_str().unwrap().to_string();
    let json = sim_ok(&["sweep", "--load", "1,1.5", "--first", "50", "--out", &study, "--format", "json"]);
    for text in ["\"procs\": 128,", "\"jobs\": 50,", "\"load\": 1,", "\"load\": 1.5,", "\"first\": 50,"] {
        assert!(json.contains(text), "{text}: {json}");
    }
    let json = sim_ok(&["wait", "ask", "--at", "400", "--format", "json"]);
    assert!(json.contains("\"job\": 400,") && json.contains("\"seed\": 1"), "{json}");
}

/// Whoever types a word that has changed is told the new one.
#[test]
fn old_words_name_the_new_ones() {
    for (args, new) in [
        ("recommend --out kept", "--keep DIR"),
        ("report --runs-out kept", "--keep DIR"),
        ("--first 10 --out kept", "--keep kept keeps finished runs"),
        ("sweep --unit nodes --dry-run", "--log-format auto:unit=UNIT"),
        ("wait --ask procs=4,estimate=1h", "sim wait ask LOG --job KEY=VALUE,..."),
        ("wait --job procs=4,estimate=1h", "sim wait ask LOG --job KEY=VALUE,..."),
        ("report --html page.html", "--out FILE"),
        ("reproduce orders --logs x", "this study is gone"),
        ("estimates --estimates f", "sim trace convert LOG --estimates MODEL"),
        ("machine site.conf --to-toml x", "--out FILE"),
        ("malleable --seeds 3", "--replications N"),
    ] {
        let ran = sim(&args.split(' ').collect::<Vec<_>>());
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(new), "{args}: {}", ran.err);
    }
}

#[test]
fn rows_have_all_formats_everywhere() {
    let (folder, log) = log();
    let study = folder.path().join("study").to_str().unwrap().to_string();
    let made = folder.path().join("made.swf").to_str().unwrap().to_string();
    sim_ok(&["sweep", "--first", "50", "--out", &study]);
    for command in [
        vec!["list"],
        vec!["list", "predictors"],
        vec!["list", "methods"],
        vec!["list", "columns"],
        vec!["list", "studies"],
        vec!["list", "topics"],
        vec!["trace", "validate"],
        vec!["sweep", "status", &study],
        vec!["sweep", "merge", &study],
        vec!["sweep", "--load", "1,2", "--dry-run"],
        vec!["generate", "sessions", "--jobs", "50", "--out", &made],
        vec!["generate", "lublin", "--jobs", "50", "--out", &made],
        vec!["trace", "convert", &log, "--estimates", "f", "--out", &made],
        vec!["trace", "convert", &log, "--out", &made],
    ] {
        let run = |more: &[&str]| sim_ok(&[&command[..], more].concat());
        let csv = run(&["--format", "csv"]);
        let (header, rows) = csv.split_once('\n').unwrap();
        assert!(header.contains(',') && !rows.is_empty(), "{command:?}");
        assert_eq!(run(&["--format", "csv", "--no-header"]), rows, "{command:?}");
        let json: serde_json::Value = serde_json::from_str(&run(&["--format", "json"])).unwrap();
        let first = json.get(0).unwrap_or(&json);
        let names: Vec<_> = first.as_object().unwrap().keys().map(String::as_str).collect();
        let mut columns: Vec<_> = header.split(',').collect();
        columns.sort_unstable();
        assert_eq!(names, columns, "{command:?}");
        assert!(!run(&["--format", "table"]).is_empty(), "{command:?}");
    }
    // A list of all names and keys, as the table has them.
    let json: Vec<serde_json::Value> =
        serde_json::from_str(&sim_ok(&["list", "predictors", "--format", "json"])).unwrap();
    let window = json.iter().find(|row| row["name"] == "ruh" && row["key"] == "window").unwrap();
    assert_eq!(window["default"], "3");
    // What is not sound has a row for each finding, and the same exit code.
    let bad = folder.path().join("bad.swf");
    fs::write(&bad, "; MaxProcs: 4\n1 0 0 10 1 1 1 1 60 -1 1 1 1 1 1 1 -1 -1\n2 x\n").unwrap();
    let ran = sim(&["trace", "validate", bad.to_str().unwrap(), "--format", "csv"]);
    assert_eq!(ran.code, 2);
    let rows: Vec<_> = ran.out.lines().collect();
    assert!(
        rows[1].starts_with("bad,fault,3,1,") && rows.last().unwrap().starts_with("bad,not sound,,1,"),
        "{}",
        ran.out
    );
    // The report of a log on standard output does not mix with it.
    let ran = sim(&["generate", "sessions", "--jobs", "50", "--seed", "7", "--format", "json"]);
    assert!(ran.out.starts_with(';') && ran.err.contains("\"seed\": 7"), "{}", ran.err);
}

#[test]
fn seeds_are_the_same_by_default_and_shown() {
    let with = |command: &str, seed: &str| {
        let args: Vec<_> = command.split(' ').chain(seed.split_whitespace()).collect();
        sim_ok(&args)
    };
    for command in [
        "--first 200 --shake 30s --format csv",
        "search --first 300 --generations 2 --population 6 --format csv",
        "wait --first 500 --method knn --format csv",
        "meta --scenario 1K-equal-I --days 1 --policy static --format csv",
        "malleable --days 1 --strategy avg --format csv",
        "generate lublin --jobs 100",
        "generate sessions --jobs 100",
    ] {
        assert_eq!(with(command, ""), with(command, "--seed 1"), "{command}");
    }
    assert!(with("--first 200 --shake 30s --format csv --no-header", "").trim_end().ends_with("shake=30s seed=1"));
    for (command, text) in [
        ("wait ask --first 500 --at 400 --format table", "seed 5"),
        ("wait ask --first 500 --job procs=4,estimate=1h --format csv", ",seed"),
        ("meta --scenario 1K-equal-I --days 1 --policy static --format table", "seed 5"),
        ("malleable --days 1 --strategy avg --format table", "seed 5"),
    ] {
        let out = with(command, "--seed 5");
        assert!(out.contains(text), "{command}: {out}");
    }
    for command in [
        "search --first 300 --generations 2 --population 6",
        "wait --first 500 --method knn",
        "meta --scenario 1K-equal-I --days 1 --policy static",
    ] {
        let csv = with(&format!("{command} --format csv"), "--seed 5");
        assert!(csv.lines().next().unwrap().ends_with(",seed") && csv.trim_end().ends_with(",5"), "{csv}");
    }
}

#[test]
fn an_option_that_would_have_no_effect_is_refused() {
    for (args, needed) in [(&["--top", "3"][..], "--by <KEYS>"), (&["--series-step", "2h"], "--series-out <FILE>")] {
        let ran = sim(args);
        assert!(ran.code == 2 && ran.err.contains(needed), "{args:?}: {}", ran.err);
    }
}

/// A file of a grid, and groups.
#[test]
fn wrong_names_in_a_grid_are_suggested() {
    let (folder, _log) = log();
    let file = folder.path().join("grid.toml");
    fs::write(&file, "predictr = \"ruh\"\n").unwrap();
    let ran = sim(&["sweep", file.to_str().unwrap(), "--dry-run"]);
    assert!(ran.code == 2 && ran.err.contains("; did you mean 'predictor'?"), "{}", ran.err);
    for (name, message) in [
        ("predictr", "there is no column 'predictr' to group by; the columns are trace, procs, "),
        ("predictr", "; did you mean 'predictor'?"),
        ("wait_mean", "'wait_mean' has figures, of which means are printed"),
    ] {
        let ran = sim(&["sweep", "--load", "1,2", "--dry-run", "--group-by", name]);
        assert!(ran.code == 2 && ran.err.contains(message), "{name}: {}", ran.err);
    }
}

/// Logs of one name are told apart by their folders.
#[test]
fn sites_have_the_names_of_their_logs() {
    let (folder, log) = log();
    let logs = ["a", "b"].map(|name| {
        fs::create_dir(folder.path().join(name)).unwrap();
        let path = folder.path().join(name).join("kth.swf");
        fs::copy(&log, &path).unwrap();
        path.to_str().unwrap().to_string()
    });
    let csv = sim_ok(&["meta", &logs[0], &logs[1], "--first", "100", "--policy", "static", "--format", "csv"]);
    assert!(csv.contains(",share_a-kth_pct,share_b-kth_pct,"), "{csv}");
    let ran = sim(&["meta", &logs[0], "--site", &format!("kth={}", logs[1])]);
    assert!(ran.err.contains("two sites are called 'kth'; name them: --site NAME=LOG"), "{}", ran.err);
}
