//! The program on a terminal: progress bars, and the width that it finds by itself.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::resample;
use crate::support::{Folder, command};

/// What a terminal showed during a run of the program.
struct Shown {
    /// The lines on the screen after each piece of output.
    screens: Vec<Vec<String>>,
    /// Everything that was written, with the codes of the terminal.
    raw: String,
    success: bool,
}

impl Shown {
    /// What is left on the screen.
    fn end(&self) -> &[String] {
        self.screens.last().expect("something was written")
    }

    /// The longest line of any screen that contains this text: a piece of output may end in the middle of a line.
    fn line_with(&self, text: &str) -> Option<&String> {
        self.screens.iter().flatten().filter(|line| line.contains(text)).max_by_key(|line| line.len())
    }
}

/// Runs the program on a terminal of this many columns, with both outputs on it.
fn on_terminal(columns: u16, args: &[&str]) -> Shown {
    on_terminal_with(columns, args, &[])
}

/// As [`on_terminal`], with these variables of the environment.
fn on_terminal_with(columns: u16, args: &[&str], variables: &[(&str, &str)]) -> Shown {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let size = Winsize { ws_row: 60, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let side = || {
        let name = std::ffi::OsStr::from_bytes(name.as_bytes());
        Stdio::from(OpenOptions::new().read(true).write(true).open(name).unwrap())
    };
    let mut child = command(env!("CARGO_BIN_EXE_sim"))
        .args(args)
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR")
        .env_remove("CLICOLOR_FORCE")
        // The terminal counts, not the environment.
        .env("COLUMNS", "100000")
        .env("TERM", "xterm")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(side())
        .stderr(side())
        .spawn()
        .unwrap();
    let mut terminal = vt100::Parser::new(size.ws_row, columns, 0);
    let (mut screens, mut raw) = (Vec::new(), Vec::new());
    let mut output = File::from(master);
    let mut piece = [0; 256];
    // Reading fails when the program has closed its side.
    while let Ok(length @ 1..) = output.read(&mut piece) {
        terminal.process(&piece[..length]);
        raw.extend_from_slice(&piece[..length]);
        screens.push(terminal.screen().contents().lines().map(|line| line.trim_end().to_string()).collect());
    }
    let raw = String::from_utf8_lossy(&raw).replace("\r\n", "\n");
    Shown { screens, raw, success: child.wait().unwrap().success() }
}

#[test]
fn the_bar_of_a_search_fits_and_leaves_nothing_behind() {
    for columns in [40, 80] {
        let args = ["search", "--generations", "1000000", "--time-limit", "3s"];
        let shown = on_terminal(columns, &args);
        assert!(shown.success);
        let bar = shown.line_with("searching").expect("a bar after a second");
        assert!(bar.contains("/1,000,000"), "{bar}");
        assert!(columns < 80 || bar.contains("[") && bar.contains("best error"), "{bar}");
        // One percent is not done yet, so the time left is not known.
        assert!(shown.line_with("left").is_none(), "{:?}", shown.line_with("left"));
        // A bar that was wider than the terminal would go on in the next line.
        let lines = shown.screens.iter().map(|screen| screen.iter().filter(|line| line.contains("searching")).count());
        assert!(lines.max() == Some(1));
        assert!(shown.end().iter().all(|line| !line.contains("searching")), "{:#?}", shown.end());
        // The note that follows the bar begins at the left edge, in place of the bar.
        assert!(
            shown.end().iter().any(|line| line.starts_with("note: ") && line.contains(" evaluated")),
            "{:#?}",
            shown.end()
        );
    }
}

#[test]
fn a_bar_leaves_nothing_behind_after_an_error() {
    // The search is done when writing the templates fails.
    let shown = on_terminal(
        80,
        &[
            "search",
            "--generations",
            "1000000",
            "--time-limit",
            "3s",
            "--out",
            "/dev/full",
            "--history-out",
            "/dev/null",
        ],
    );
    assert!(!shown.success);
    assert!(shown.line_with("searching [").is_some(), "there was a bar");
    assert!(shown.end().iter().all(|line| !line.contains("searching")), "{:#?}", shown.end());
    let last = shown.end().last().unwrap();
    assert!(last.starts_with("error: cannot write /dev/full"), "{last}");
}

#[test]
fn the_bars_of_waits_follow_each_other() {
    let many = ["--regression-every", "1", "--threads", "1", "--repeat", "3"];
    let args = [&["wait", "--method", "knn:point=rbf,simulate"], &many[..]].concat();
    let shown = on_terminal(80, &args);
    assert!(shown.success);
    let is_bar = |line: &&String| ["simulating", "learning", "predicting"].iter().any(|what| line.starts_with(what));
    let bars: Vec<&String> = shown.screens.iter().flatten().filter(is_bar).collect();
    assert!(bars.iter().any(|bar| bar.contains(" left")), "{bars:?}");
    assert!(bars.iter().all(|bar| !bar.contains(", 0.0 s left") && !bar.contains(", 0s left")), "{bars:?}");
    assert!(shown.screens.iter().all(|screen| screen.iter().filter(is_bar).count() <= 1));
    assert_eq!(shown.end().iter().filter(is_bar).count(), 0, "{:#?}", shown.end());
}

/// A single run of some thousand jobs, on a pool and on nodes, also after the last submission.
#[test]
fn a_run_over_a_second_has_a_bar() {
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("slurm.conf");
    let text = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nPriorityType=priority/multifactor\n\
                PriorityWeightAge=1000\nNodeName=n[1-64] CPUs=2\nPartitionName=all Nodes=ALL Default=YES\n";
    std::fs::write(&conf, text).unwrap();
    let site = ["--slurm-conf", conf.to_str().unwrap(), "--first", "3000", "--load", "3"];
    let together = ["--scheduler", "slurm:order=multifactor", "--load", "1000"];
    for args in [&site[..], &together] {
        let shown = on_terminal(80, &[args, &["--predictor", "estimate", "--baseline", "none"]].concat());
        assert!(shown.success, "{}", shown.raw);
        let bar = shown.line_with("simulating").expect("a bar after a second");
        assert!(bar.contains(" jobs") && (bar.contains("/3,000") || bar.contains("/5,000")), "{bar}");
        assert!(shown.end().iter().all(|line| !line.contains("simulating")), "{:#?}", shown.end());
    }
}

#[test]
fn the_bar_of_other_years_names_the_resample() {
    let folder = Folder::new();
    let log = folder.write("log.swf", resample::log());
    let args = ["--replications", "40", "--scheduler", "easy", "--predictor", "kin", "--threads", "1"];
    let shown = on_terminal(100, &[&[log.as_str()], &args[..]].concat());
    assert!(shown.success, "{}", shown.raw);
    let bar = shown.line_with("simulating other years").expect("a bar after a second");
    assert!(bar.contains("jobs, resample ") && bar.contains(" of 40"), "{bar}");
}

#[test]
fn tables_are_as_wide_as_the_terminal() {
    // The same table at both widths, with its captions whole: at 160 columns in one piece, at 60 in blocks.
    let line = |columns: u16| {
        let shown = on_terminal(columns, &["-q", "wait", "--method", "knn,ibl", "--most", "400"]);
        let end = shown.end().to_vec();
        end.into_iter().find(|line| line.contains("covered")).unwrap()
    };
    assert!(line(160).contains("predictions") && line(160).contains("slow: 3"), "{}", line(160));
    assert!(!line(60).contains("predictions"), "{}", line(60));
}

#[test]
fn pages_are_printed_as_written_after_the_help_of_their_command() {
    let page = |args: &[&str], variables: &[(&str, &str)]| {
        let shown = on_terminal_with(80, args, &[&[("PAGER", "cat")], variables].concat());
        assert!(shown.success, "{}", shown.raw);
        shown.raw
    };
    let plain = page(&["help", "comparisons"], &[]);
    assert!(plain.contains("## Several settings\n") && plain.contains("`--swf-out`"), "{plain}");
    assert_eq!(page(&["--color", "never", "help", "comparisons"], &[]), plain);
    // A name that is a command and a page has both.
    let both = page(&["help", "meta"], &[]);
    assert!(both.contains("Usage:\x1b[0m") && both.contains("\n# "), "{both}");
    assert!(!page(&["help", "meta"], &[("NO_COLOR", "1")]).contains('\x1b'));
}

#[test]
fn long_texts_go_through_the_pager() {
    let paged = |args: &[&str], pager: &str| {
        let shown = on_terminal_with(80, args, &[("PAGER", pager)]);
        assert!(shown.success, "{pager}: {}", shown.raw);
        shown.raw
    };
    let whole = paged(&["help", "logs"], "");
    assert!(whole.lines().count() > 200, "{whole}");
    assert_eq!(paged(&["help", "logs"], "cat"), whole);
    let numbered = paged(&["help", "logs"], "sed 's/^/> /'");
    assert!(numbered.lines().all(|line| line.starts_with("> ")) && numbered.lines().count() == whole.lines().count());
    assert!(paged(&["--help-all"], "sed 's/^/> /'").starts_with("> How long"));
    // It may end before it has read everything.
    assert_eq!(paged(&["help", "logs"], "head -n 3").lines().count(), 3);
    assert_eq!(paged(&["help", "logs"], "true"), "");
    let missing = paged(&["help", "logs"], "/no/such/pager -x");
    assert!(missing.starts_with("warning: cannot start the pager '/no/such/pager': "), "{missing}");
    assert!(missing.ends_with(&whole), "{missing}");
    // The version is one line.
    assert!(paged(&["--version"], "false").starts_with("sim "));
}

#[test]
fn tables_have_a_little_colour_on_a_terminal() {
    let table = ["-q", "--first", "600", "--scheduler", "sjbf", "--predictor", "kin", "--baseline", "easy/estimate"];
    let [bold, green, red, plain] = ["\x1b[1m", "\x1b[32m", "\x1b[31m", "\x1b[0m"];
    let shown = on_terminal(80, &table).raw;
    assert!(shown.contains(&format!("{bold}improvement{plain}\n")), "{shown}");
    let gains: Vec<&str> = shown.lines().filter(|line| line.contains(green)).collect();
    let losses: Vec<&str> = shown.lines().filter(|line| line.contains(red)).collect();
    assert!(!gains.is_empty() && gains.iter().all(|line| line.contains(&format!("{green}+"))), "{shown}");
    assert!(!losses.is_empty() && losses.iter().all(|line| line.contains(&format!("{red}-"))), "{shown}");
    let without = [bold, green, red, plain].iter().fold(shown.clone(), |text, code| text.replace(code, ""));
    for (more, variables) in
        [(&[][..], &[("NO_COLOR", "1")][..]), (&[], &[("TERM", "dumb"), ("CI", "true")]), (&["--color=never"], &[])]
    {
        assert_eq!(
            on_terminal_with(80, &[&table[..], more].concat(), variables).raw,
            without,
            "{more:?} {variables:?}"
        );
    }
    // `always` is for pipes too. CSV and JSON never have colours.
    let output = |args: &[&str]| {
        let output = command(env!("CARGO_BIN_EXE_sim")).args(table).args(args).env("COLUMNS", "80").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(output(&["--format", "table", "--color", "always"]), shown);
    assert_eq!(output(&["--format", "table"]), without);
    for format in ["csv", "json"] {
        assert_eq!(output(&["--format", format, "--color", "always"]), output(&["--format", format]));
    }
    let refused = command(env!("CARGO_BIN_EXE_sim")).args(["--color", "red"]).output().unwrap();
    assert!(refused.status.code() == Some(2) && String::from_utf8_lossy(&refused.stderr).contains("'--color <WHEN>'"));
}

/// A name before a command is not taken for the command itself.
#[test]
fn the_colour_may_be_before_a_command() {
    for args in [
        &["--color", "never", "list", "topics"][..],
        &["--color=never", "-q", "list", "topics"],
        &["list", "topics", "--color", "never"],
    ] {
        let output = command(env!("CARGO_BIN_EXE_sim")).args(args).output().unwrap();
        assert!(output.status.success() && output.stdout.starts_with(b"tour "), "{args:?}");
    }
}
