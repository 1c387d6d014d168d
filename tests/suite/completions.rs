//! Completion in shells: what the script for bash gives, and what the program answers to the other scripts.

use std::path::Path;

use crate::support::{command, missing, sim, sim_ok};

/// The words of a line as bash gives them to a completion function: split at blanks, colons and equals signs, but not in
/// quotes. The last word may be empty.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quote, mut was_break) = (None, false);
    for c in line.chars() {
        let is_break = quote.is_none() && matches!(c, ':' | '=');
        match c {
            ' ' if quote.is_none() => words.push(String::new()),
            _ => {
                if is_break != was_break && !words.last().unwrap().is_empty() {
                    words.push(String::new());
                }
                words.last_mut().unwrap().push(c);
            }
        }
        if matches!(c, '\'' | '"') {
            quote = if quote == Some(c) { None } else { quote.or(Some(c)) };
        }
        was_break = is_break;
    }
    words
}

/// What bash offers at the end of a line, in a folder.
fn bash_in(folder: &Path, line: &str) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_sim"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    let script = "source <(sim completions bash)
        line=$1; shift
        COMP_LINE=$line COMP_POINT=${#line} COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1))
        complete -p sim > /dev/null || exit 3
        _complete_sim
        printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = command("bash")
        .args(["--norc", "-c", script, "bash", line])
        .args(words(line))
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    let answers = String::from_utf8(output.stdout).unwrap();
    answers.lines().filter(|line| !line.is_empty()).map(str::to_string).collect()
}

fn bash(line: &str) -> String {
    bash_in(Path::new("/"), line).join(" ")
}

#[test]
fn bash_completes_commands_options_names_keys_and_values() {
    if command("bash").arg("--version").output().is_err() {
        return missing("bash_completes_commands_options_names_keys_and_values", "there is no bash");
    }
    for (line, expected) in [
        ("sim sw", "sweep"),
        ("sim trace ", "info validate convert help"),
        ("sim help repr", "reproduce"),
        ("sim report --gantt-colors u", "user"),
        ("sim help logs", "logs"),
        ("sim list str", "strategies"),
        ("sim reproduce kumar", "kumar-wait kumar-meta"),
        ("sim --predictor ru", "ruh"),
        ("sim --predictor=ru", "ruh"),
        ("sim --predictor ruh", "ruh ruh:"),
        // Bash replaces only what follows the colon or the equals sign.
        ("sim --predictor ruh:", "window= metric= order= propagate= running= cap="),
        ("sim --predictor=ruh:win", "window="),
        ("sim --predictor ruh:window=2,c", "2,cap= 2,constant"),
        ("sim wait --predictor ruh:window=2,c", "2,cap="),
        ("sim fid", "fidelity"),
        ("sim fidelity --scheduler easy,con", "easy,conservative"),
        ("sim fidelity --by wee", "week"),
        ("sim --predictor ruh:cap=o", "on off"),
        // In quotes it replaces everything.
        ("sim --predictor 'ruh:cap=o", "ruh:cap=on ruh:cap=off"),
        ("sim sweep --predictor estimate,ru", "estimate,ruh"),
        ("sim wait --method knn,qb", "knn,qbets"),
        ("sim malleable --strategy av", "avg"),
        ("sim meta --policy red", "redundant"),
        ("sim estimates --estimates tsa", "tsafrir"),
        ("sim --baseline easy/est", "easy/estimate"),
        ("sim --baseline ea", "easy/"),
        ("sim --overrun ", "extend kill"),
        ("sim --format j", "json"),
        // The columns that say what was run.
        ("sim sweep --group-by wait_m", ""),
        ("sim sweep --group-by pr", "procs predictor procs-field"),
        ("sim sweep --group-by trace,loa", "trace,load"),
        ("sim --by wi", "width"),
        ("sim --by width,us", "width,user"),
        ("sim help sw", "sweep sweeps"),
        ("sim --offered", ""),
        ("sim malleable --offered", "--offered-load"),
    ] {
        assert_eq!(bash(line), expected, "{line}");
    }
    // Options are offered when they are asked for, not among the commands.
    assert!(bash("sim --pre").split(' ').eq(["--predictor", "--predictions-out"]), "{}", bash("sim --pre"));
    let first = bash("sim ");
    assert!(first.contains("sweep") && first.contains("completions") && !first.contains("--"), "{first}");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ctc.swf"), "").unwrap();
    for line in [
        "sim ctc",
        "sim --trace ct",
        "sim wait ct",
        "sim sweep --trace ct",
        "sim meta ct",
        "sim meta --site A=ct",
        "sim compare ct",
        "sim compare x.csv ct",
    ] {
        assert_eq!(bash_in(folder.path(), line), ["ctc.swf"], "{line}");
    }
    for (line, expected) in [
        ("sim sweep --trace a.swf,ct", "a.swf,ctc.swf"),
        ("sim --predictor smith:templates=@ct", "@ctc.swf"),
        ("sim --predictor ruh,smith:templates=@ct", "@ctc.swf"),
    ] {
        assert_eq!(bash_in(folder.path(), line), [expected], "{line}");
    }
    // Names with special characters: they are not patterns, and can be used as they are offered.
    for name in ["a[1].swf", "a1.swf", "my log.swf"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    for (line, expected) in [
        ("sim a", &["a1.swf", "a\\[1\\].swf"][..]),
        ("sim 'a[", &["a[1].swf"]),
        ("sim my", &["my\\ log.swf"]),
        ("sim 'my l", &["my log.swf"]),
        ("sim --trace m", &["my\\ log.swf"]),
    ] {
        let mut found = bash_in(folder.path(), line);
        found.sort();
        assert_eq!(found, expected, "{line}");
    }
}

/// What can be completed is what the program accepts.
#[test]
fn every_name_of_every_list_is_completed() {
    for (list, line) in [
        ("predictors", "sim --predictor "),
        ("schedulers", "sim --scheduler "),
        ("estimates", "sim --estimates "),
        ("feedback", "sim --feedback "),
        ("strategies", "sim malleable --strategy "),
        ("policies", "sim meta --policy "),
        ("methods", "sim wait --method "),
    ] {
        let rows = sim_ok(&["list", list, "--format", "json"]);
        let rows: Vec<serde_json::Value> = serde_json::from_str(&rows).unwrap();
        let names: Vec<&str> =
            rows.iter().filter(|row| row["key"].is_null()).filter_map(|row| row["name"].as_str()).collect();
        assert_eq!(bash(line), names.join(" "), "{list}");
    }
}

/// The scripts of the other shells call the program in the same way.
#[test]
fn every_shell_has_a_script_that_calls_the_program() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = sim_ok(&["completions", shell]);
        assert!(
            script.contains("SIM_COMPLETE") && script.contains(shell) && script.contains("sim"),
            "{shell}: {script}"
        );
        let answered = command(env!("CARGO_BIN_EXE_sim"))
            .args(["--", "sim", "--predictor", "ruh:wi"])
            .env("SIM_COMPLETE", shell)
            .env("_CLAP_COMPLETE_INDEX", "2")
            .output()
            .unwrap();
        assert!(answered.status.success(), "{shell}");
        let answer = String::from_utf8(answered.stdout).unwrap().replace('\\', "");
        assert!(answer.starts_with("ruh:window="), "{shell}: {answer}");
    }
    let ran = sim(&["completions", "tcsh"]);
    assert!(ran.code == 2 && ran.err.contains("possible values: bash, elvish, fish"), "{}", ran.err);
    let ran = sim(&["completions", "bas"]);
    assert!(ran.code == 2 && ran.err.contains("similar value exists: 'bash'"), "{}", ran.err);
}
