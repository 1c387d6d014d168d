//! How a resample is asked for: `users` or `weeks`, with keys.

use std::fmt;

use crate::spec::{Form, Key, Kind, Spec, SpecError};

const LOAD: Key = Key {
    name: "load",
    kind: Kind::Text { what: "a share from 1% to 100%", canonical: canonical_share },
    default: "15%",
    about: "how far the load of a resample may be from that of the log",
};

static USERS: Form = Form {
    name: "users",
    about: "users drawn with replacement, each moved by whole weeks, so that weekly loads vary as in the log",
    keys: &[
        LOAD,
        Key::whole(
            "profile",
            0,
            "4",
            "weekly loads follow blocks of this number of weeks of the log; 0: they are free",
        ),
    ],
};

static WEEKS: Form = Form {
    name: "weeks",
    about: "blocks of weeks of all users, drawn with replacement, one after the other",
    keys: &[Key::whole("block", 1, "4", "the weeks of a block"), LOAD],
};

/// The names and keys of all ways to resample a log.
pub fn resample_forms() -> [&'static Form; 2] {
    [&USERS, &WEEKS]
}

/// A way to resample a log. Printing it gives the shortest equivalent spec.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resample {
    /// Users are drawn.
    Users {
        /// How far the load may be from that of the log, as a share of it.
        load: f64,
        /// The weeks of a block of the log whose loads the weeks of the resample follow; 0: copies move freely.
        profile: usize,
    },
    /// Weeks are drawn.
    Weeks {
        /// As of [`Resample::Users`].
        load: f64,
        /// The weeks of a block.
        block: usize,
    },
}

impl Resample {
    /// Users with the default keys.
    pub const USERS: Resample = Resample::Users { load: 0.15, profile: 4 };

    /// Reads a spec, such as `users:load=5%`.
    ///
    /// # Errors
    /// If the name, a key or its value is invalid.
    pub fn parse(text: &str) -> Result<Resample, SpecError> {
        let spec = Spec::parse(text, "resampling method", &resample_forms())?;
        let load = share(spec.text("load")).expect("a share was checked when it was read");
        let weeks = |key| usize::try_from(spec.whole(key)).unwrap_or(usize::MAX);
        Ok(match spec.name() {
            "users" => Resample::Users { load, profile: weeks("profile") },
            _ => Resample::Weeks { load, block: weeks("block") },
        })
    }

    /// How far the load may be from that of the log, as a share of it.
    pub fn load(&self) -> f64 {
        match *self {
            Resample::Users { load, .. } | Resample::Weeks { load, .. } => load,
        }
    }

    /// The key whose blocks are longer than a log of this number of weeks.
    pub(super) fn block_over(&self, weeks: usize) -> Option<&'static str> {
        match *self {
            Resample::Users { profile, .. } => Some("profile").filter(|_| profile > weeks),
            Resample::Weeks { block, .. } => Some("block").filter(|_| block > weeks),
        }
    }
}

impl fmt::Display for Resample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, key, weeks) = match self {
            Resample::Users { profile, .. } => ("users", "profile", profile),
            Resample::Weeks { block, .. } => ("weeks", "block", block),
        };
        let text = format!("{name}:load={}%,{key}={weeks}", (self.load() * 1e6).round() / 1e4);
        Spec::parse(&text, "resampling method", &resample_forms()).map_err(|_| fmt::Error)?.fmt(f)
    }
}

/// The share of a text such as `15%`.
fn share(text: &str) -> Option<f64> {
    let percent = text.strip_suffix('%')?.parse::<f64>().ok()?;
    (1.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

fn canonical_share(text: &str) -> Result<String, String> {
    match share(text) {
        // The same digits come back when a share is printed.
        Some(share) => Ok(format!("{}%", (share * 1e6).round() / 1e4)),
        None => Err(format!("'{text}' is not a share from 1% to 100%")),
    }
}
