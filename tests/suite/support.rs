//! What several tests need: the program itself, and figures to compare with.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// What a run of the program left: exit code, standard output, standard error.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Runs the program.
pub fn sim(args: &[&str]) -> Ran {
    sim_fed(args, b"")
}

/// Runs the program with this on its standard input.
pub fn sim_fed(args: &[&str], input: &[u8]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sim"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // From a thread of its own: the program may answer before it has read everything, or never read at all.
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().unwrap()
    });
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs the program quietly and expects success; what it printed.
pub fn sim_ok(args: &[&str]) -> String {
    let ran = sim(&[&["-q"], args].concat());
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    ran.out
}

/// The uncompressed bytes of the embedded log.
pub fn demo_text() -> Vec<u8> {
    let mut text = Vec::new();
    let packed: &[u8] = include_bytes!("../../traces/demo.swf.gz");
    flate2::read::GzDecoder::new(packed).read_to_end(&mut text).unwrap();
    text
}

/// Compares with a file of expected text in `tests/golden`, or writes it if `SHADOWTIME_BLESS` is set.
pub fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("SHADOWTIME_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (line, (expected, got)) in expected.lines().zip(text.lines()).enumerate() {
        assert_eq!(got, expected, "{name}:{} differs; SHADOWTIME_BLESS=1 accepts what is new", line + 1);
    }
    assert_eq!(text.lines().count(), expected.lines().count(), "{name} has another number of lines");
}
