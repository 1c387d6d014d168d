//! The keys of specs that start a program, and what such specs have in common.

use std::time::Duration;

use twox_hash::XxHash3_128;

use super::command::{check_command, digest_of_files, files_named};
use super::{Program, THE_CALLER};
use crate::files;
use crate::similar::did_you_mean;
use crate::spec::{Form, Key, Kind, Spec, SpecError};

/// The key with the command.
pub const fn command_key(about: &'static str) -> Key {
    Key { name: "command", kind: Kind::Text { what: "a command", canonical: check_command }, default: "", about }
}

/// The key with the limit of time.
pub const TIMEOUT: Key = Key::duration("timeout", 1, "10s", "how long it may take to answer, also to start");

/// All keys that the form does not have.
pub const HANDED_ON: Key =
    Key { name: "KEY", kind: Kind::Others, default: "", about: "any other key is passed to the program" };

/// Checks a spec that starts a program: it needs a command, and no key that is probably one of the form, mistyped. `what` is the
/// word for such a form, such as "predictor". From here on no output may replace a file that the command names.
///
/// # Errors
/// If there is no command, or a key is mistyped.
pub fn check_spec(spec: &Spec, form: &Form, what: &str) -> Result<(), SpecError> {
    let own = || form.own_keys().iter().map(|key| key.name);
    let mistyped = spec.others().map(|(key, _)| (key, did_you_mean(&key.to_lowercase(), own())));
    if let Some((key, meant)) = mistyped.into_iter().find(|(_, meant)| !meant.is_empty()) {
        return Err(SpecError(format!("{what} '{spec}': no key '{key}'{meant}")));
    }
    files_named(spec.text("command")).iter().for_each(|file| files::add_input(file));
    match spec.text("command").is_empty() {
        true => Err(SpecError(format!("{what} '{spec}': name the program: exec:command=python3 my.py"))),
        false => Ok(()),
    }
}

/// What a spec says of its program.
#[derive(Clone, Debug)]
pub struct ProgramSpec {
    /// The program and its arguments.
    pub command: String,
    /// How long each answer may take.
    pub timeout: Duration,
    /// The keys that are handed on, with their values.
    pub keys: Vec<(String, String)>,
}

impl ProgramSpec {
    /// Of a spec with [`command_key`], [`TIMEOUT`] and [`HANDED_ON`].
    pub fn of(spec: &Spec) -> ProgramSpec {
        ProgramSpec {
            command: spec.text("command").to_string(),
            timeout: Duration::from_secs(spec.duration("timeout").unsigned_abs()),
            keys: spec.others().map(|(key, value)| (key.to_string(), value.to_string())).collect(),
        }
    }

    /// The keys that are handed on, as JSON.
    pub fn keys_as_json(&self) -> serde_json::Map<String, serde_json::Value> {
        self.keys.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect()
    }

    /// Starts the program, greets it with a line, and reads how it introduces itself.
    ///
    /// # Errors
    /// If it cannot be started, or its answer cannot be read, with a message.
    pub fn start<T>(&self, greeting: &[u8], read: impl Fn(&[u8]) -> Result<T, String>) -> Result<(Program, T), String> {
        let mut program = Program::start(&self.command, self.timeout)?;
        match program.greet(greeting, read) {
            Ok(introduction) => Ok((program, introduction)),
            Err(why) => {
                program.end_at_once();
                Err(why)
            }
        }
    }

    /// Whether the program is the one that has started this one: [`Program::caller`].
    pub fn is_caller(&self) -> bool {
        self.command == THE_CALLER
    }

    /// A hash of the contents of all files that the command names, and of the version that the program reports.
    ///
    /// # Errors
    /// If a file cannot be read, with a message.
    pub fn digest(&self, version: Option<&str>) -> Result<u128, String> {
        let mut hash = XxHash3_128::new();
        digest_of_files(&self.command, &mut hash)?;
        // Without a version nothing is added, which no version equals.
        if let Some(version) = version {
            hash.write(b"version ");
            hash.write(version.as_bytes());
        }
        Ok(hash.finish_128())
    }
}
