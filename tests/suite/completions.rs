//! Completion in shells: what the script for bash offers.

use std::path::Path;

use crate::support::{command, missing, sim, sim_ok};

/// What bash offers at the end of a line, in a folder.
fn bash_in(folder: &Path, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let program = Path::new(env!("CARGO_BIN_EXE_sim"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    let script = "source <(sim completions bash)
        line=$1; shift
        COMP_LINE=$line COMP_POINT=${#line} COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1))
        complete -p sim > /dev/null || exit 3
        _sim sim \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"
        printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = command("bash")
        .args(["--norc", "-c", script, "bash", line])
        .args(words)
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    let answers = String::from_utf8(output.stdout).unwrap();
    answers.lines().filter(|line| !line.is_empty()).map(str::to_string).collect()
}

#[test]
fn bash_completes_commands_options_names_and_files() {
    if command("bash").arg("--version").output().is_err() {
        return missing("bash_completes_commands_options_names_and_files", "there is no bash");
    }
    let bash = |line: &str| bash_in(Path::new("/"), line).join(" ");
    for (line, expected) in [
        ("sim sw", "sweep"),
        ("sim report --gantt-colors u", "user"),
        ("sim reproduce kumar", "kumar-wait kumar-meta"),
        ("sim --predictor ru", "ruh"),
        ("sim wait --method qb", "qbets"),
        ("sim wait as", "ask"),
        ("sim malleable --strategy av", "avg"),
        ("sim meta --policy red", "redundant"),
        ("sim trace convert --estimates tsa", "tsafrir"),
        ("sim --format j", "json"),
        ("sim malleable --offered", "--offered-load"),
        ("sim recommend --kee", "--keep"),
    ] {
        assert_eq!(bash(line), expected, "{line}");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ctc.swf"), "").unwrap();
    for line in ["sim --trace ct", "sim sweep --trace ct", "sim wait --trace ct"] {
        assert_eq!(bash_in(folder.path(), line), ["ctc.swf"], "{line}");
    }
}

#[test]
fn every_shell_has_a_script() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = sim_ok(&["completions", shell]);
        assert!(["sweep", "predictor", "ruh"].iter().all(|word| script.contains(word)), "{shell}");
    }
    let ran = sim(&["completions", "tcsh"]);
    assert!(ran.code == 2 && ran.err.contains("possible values: bash, elvish, fish"), "{}", ran.err);
}
