//! Manual pages: there is one for every command and topic, and `groff` has nothing to say against them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{command, missing, sim, sim_ok};

fn pages(folder: &Path) -> Vec<PathBuf> {
    let files = ["man1", "man7"].map(|section| fs::read_dir(folder.join(section)).unwrap());
    let mut files: Vec<_> = files.into_iter().flatten().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

/// A page as `man` shows it, without bold type. None if there is no groff.
fn shown(page: &Path) -> Option<(String, String)> {
    let output = command("groff").args(["-man", "-ww", "-Tutf8", "-P-cbou"]).arg(page).output().ok()?;
    assert!(output.status.success(), "{page:?}");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Some((text(output.stdout), text(output.stderr)))
}

#[test]
fn every_command_and_topic_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    // The folder need not exist.
    let folder = folder.path().join("share/man");
    let ran = sim(&["man", folder.to_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let names: Vec<_> =
        pages(&folder).iter().map(|page| page.file_name().unwrap().to_str().unwrap().to_string()).collect();
    assert!(
        ran.err.contains(&format!("note: {} pages", names.iter().filter(|name| name.ends_with(".1")).count())),
        "{}",
        ran.err
    );
    for name in ["sim.1", "sim-sweep.1", "sim-sweep-merge.1", "sim-trace-info.1", "sim-reproduce-talby.1", "sim-logs.7"]
    {
        assert!(names.iter().any(|other| other == name), "{name} is not among {names:?}");
    }
    let topics = sim_ok(&["list", "topics", "--format", "csv", "--no-header"]);
    for topic in topics.lines().map(|line| line.split(',').next().unwrap()) {
        assert!(names.contains(&format!("sim-{topic}.7")), "{topic}");
    }
    assert!(!names.iter().any(|name| name.contains("help")), "{names:?}");

    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let main = read("man1/sim.1");
    for part in [".TH SIM 1", ".SH NAME", ".SH SYNOPSIS", ".SH EXAMPLES", ".SH \"SEE ALSO\"", "sim\\-sweep"] {
        assert!(main.contains(part), "{part}\n{main}");
    }
    // What each command does.
    assert!(main.contains(".TP\nsim\\-sweep(1)\nRun a grid of settings"), "{main}");
    // No section twice, and a reference to a page is in the last section.
    for page in pages(&folder).iter().filter(|page| page.extension().unwrap() == "1") {
        let text = fs::read_to_string(page).unwrap();
        let mut sections: Vec<_> = text.lines().filter(|line| line.starts_with(".SH ")).collect();
        let count = sections.len();
        sections.sort_unstable();
        sections.dedup();
        assert!(count == sections.len() && !text.contains("See also:"), "{page:?}: {sections:?}");
    }
    assert!(read("man1/sim-sweep.1").ends_with("\\fBsim\\-sweeps\\fR(7)\n"));
    // Lines of examples are not filled.
    let lines = read("man1/sim-completions.1");
    assert!(lines.contains("\n.EX\nsource <(sim completions bash)  "), "{lines}");
    // What help hides is not on a page.
    assert!(!read("man1/sim-malleable.1").contains("rho"));
    for page in pages(&folder) {
        let Some((text, complaints)) = shown(&page) else {
            return missing("every_command_and_topic_has_a_page", "there is no groff");
        };
        assert_eq!(complaints, "", "{page:?}");
        assert!(text.contains("NAME") && text.contains("SEE ALSO"), "{page:?}\n{text}");
    }
    let (text, _) = shown(&folder.join("man1/sim-estimates.1")).unwrap();
    assert!(text.contains("--estimates <MODEL>") && text.contains("sim list estimates  "), "{text}");
    let (text, _) = shown(&folder.join("man7/sim-waits.7")).unwrap();
    assert!(text.contains("$ sim wait --trace CTC-SP2-1996-3.1-cln.swf.gz --at 41234\n"), "{text}");
}

#[test]
fn pages_that_cannot_be_written_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let ran = sim(&["man", file.to_str().unwrap()]);
    assert!(ran.code == 1 && ran.err.starts_with("error: "), "{} {}", ran.code, ran.err);
    assert!(sim(&["man"]).err.contains("<DIR>"));
}
