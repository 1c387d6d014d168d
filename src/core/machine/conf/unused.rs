//! What a configuration says without effect on the machine, and which keys its lines may have.

use super::super::file_line::{ConfError, FileLine};
use super::lines::ConfLine;
use crate::similar::did_you_mean;
use crate::text::shortened;

/// Something in a file that has no effect on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Where it is.
    pub place: FileLine,
    /// What it is: `AuthType`, `NodeName CoreSpecCount`.
    pub name: String,
    /// Whether it says something of nodes, partitions or limits that can change which jobs start at the site.
    pub matters: bool,
}

impl Ignored {
    /// Something that says more of the machine than is simulated.
    pub fn of_machine(place: &FileLine, name: impl Into<String>) -> Ignored {
        Ignored { place: place.clone(), name: name.into(), matters: true }
    }

    /// Something else.
    pub fn other(place: &FileLine, name: impl Into<String>) -> Ignored {
        Ignored { matters: false, ..Ignored::of_machine(place, name) }
    }
}

/// The keys of a line with further pairs.
pub(super) struct LineKeys {
    /// The first key of the line.
    pub of: &'static str,
    /// They are simulated.
    pub used: &'static [&'static str],
    /// They change which jobs start at a site, and are not simulated.
    pub mattering: &'static [&'static str],
    /// They do not.
    pub others: &'static [&'static str],
}

impl LineKeys {
    /// Adds the keys of a line that are not used to `ignored`. Slurm refuses keys that it does not have.
    pub fn check(&self, line: &ConfLine, ignored: &mut Vec<Ignored>) -> Result<(), ConfError> {
        for (key, _) in &line.pairs {
            let is_in = |keys: &[&str]| keys.iter().any(|known| known.eq_ignore_ascii_case(key));
            let name = || format!("{} {key}", self.of);
            if is_in(self.mattering) {
                ignored.push(Ignored::of_machine(&line.place, name()));
            } else if is_in(self.others) {
                ignored.push(Ignored::other(&line.place, name()));
            } else if !is_in(self.used) {
                let all = self.used.iter().chain(self.mattering).chain(self.others).copied();
                let meant = did_you_mean(key, all.clone());
                let (of, key, all) = (self.of, shortened(key), all.collect::<Vec<_>>().join(", "));
                return Err(line.place.wrong(format!("{of}: no key '{key}'; the keys are {all}{meant}")));
            }
        }
        Ok(())
    }
}
