//! The script for bash.
//!
//! Bash splits words at colons and equals signs, so `ruh:window=2` would be five words. The script joins them again, and
//! removes from the answers what bash does not count as part of the last word. The script of `clap_complete` does neither.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::env::EnvCompleter;

pub struct Bash;

const SCRIPT: &str = include_str!("bash.sh");

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == self.name()
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let function: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let pairs = [("FUNCTION", function.as_str()), ("VARIABLE", variable), ("COMPLETER", completer), ("BIN", bin)];
        let script = pairs.iter().fold(SCRIPT.to_string(), |script, (word, value)| script.replace(word, value));
        out.write_all(script.as_bytes())
    }

    /// Prints one candidate per line. The word to complete is the last one.
    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let last = words.len() - 1;
        let candidates = clap_complete::engine::complete(command, words, last, folder)?;
        candidates.iter().try_for_each(|candidate| writeln!(out, "{}", candidate.get_value().to_string_lossy()))
    }
}
