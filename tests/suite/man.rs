//! Manual pages: there is one for every command, and `groff` can read them.

use std::fs;

use crate::support::{command, missing, sim};

#[test]
fn every_command_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    // The folder need not exist.
    let folder = folder.path().join("share/man");
    let ran = sim(&["man", folder.to_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let files = fs::read_dir(folder.join("man1")).unwrap().map(|file| file.unwrap().path());
    let pages: Vec<(String, std::path::PathBuf)> =
        files.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path)).collect();
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    for name in
        ["sim.1", "sim-sweep.1", "sim-sweep-merge.1", "sim-trace-info.1", "sim-reproduce-talby.1", "sim-wait-ask.1"]
    {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("help")), "{names:?}");
    let main = fs::read_to_string(folder.join("man1/sim.1")).unwrap();
    for part in [".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", "sim\\-sweep(1)"] {
        assert!(main.contains(part), "{part}\n{main}");
    }
    for (name, path) in &pages {
        let Ok(output) = command("groff").args(["-man", "-Tutf8", "-P-cbou"]).arg(path).output() else {
            return missing("every_command_has_a_page", "there is no groff");
        };
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("NAME"), "{name}\n{text}");
    }
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
