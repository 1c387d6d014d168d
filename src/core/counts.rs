//! How often each of some causes applied: why records were dropped, what was repaired or filled in.

use std::fmt;
use std::ops::Index;

use litemap::LiteMap;

use crate::text::counted;

/// How often each cause applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts<C: Ord>(LiteMap<C, u64>);

impl<C: Ord> Default for Counts<C> {
    fn default() -> Counts<C> {
        Counts(LiteMap::new())
    }
}

impl<C: Ord> Counts<C> {
    /// Counts a cause so many times more.
    pub fn add(&mut self, cause: C, times: u64) {
        if times > 0 {
            *self.0.entry(cause).or_default() += times;
        }
    }

    /// Counts a cause so many times instead.
    pub fn set(&mut self, cause: C, times: u64) {
        self.0.remove(&cause);
        self.add(cause, times);
    }

    /// All of them.
    pub fn sum(&self) -> u64 {
        self.0.values().sum()
    }
}

impl<C: Ord> FromIterator<(C, u64)> for Counts<C> {
    fn from_iter<T: IntoIterator<Item = (C, u64)>>(counts: T) -> Counts<C> {
        let mut all = Counts::default();
        counts.into_iter().for_each(|(cause, times)| all.add(cause, times));
        all
    }
}

impl<C: Ord> Index<C> for Counts<C> {
    type Output = u64;

    fn index(&self, cause: C) -> &u64 {
        self.0.get(&cause).unwrap_or(&0)
    }
}

/// The jobs that are dropped for one of some causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedJobs<C: Ord> {
    /// How many for each cause.
    pub causes: Counts<C>,
    /// The number of the first of them in the log.
    pub first: i64,
}

impl<C: Ord> Default for DroppedJobs<C> {
    fn default() -> DroppedJobs<C> {
        DroppedJobs { causes: Counts::default(), first: 0 }
    }
}

impl<C: Ord> DroppedJobs<C> {
    /// All of them.
    pub fn count(&self) -> u64 {
        self.causes.sum()
    }

    /// Counts a job, by its number in the log.
    pub fn add(&mut self, job: i64, cause: C) {
        if self.count() == 0 {
            self.first = job;
        }
        self.causes.add(cause, 1);
    }
}

impl<C: Ord + fmt::Display> DroppedJobs<C> {
    /// The causes with their counts, in words.
    pub fn in_words(&self) -> String {
        let words = self.causes.0.iter().map(|(cause, count)| format!("{}: {cause}", counted(*count, "job")));
        words.collect::<Vec<_>>().join("; ")
    }
}

/// What outputs say of a cause. Empty: nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct CauseWords {
    /// The column of `sim trace info`, and its meaning.
    pub column: (&'static str, &'static str),
    /// Whether what it applies to is dropped.
    pub is_drop: bool,
    /// In a list of causes with their counts.
    pub listed: &'static str,
    /// In a note, behind the count: of one, and of several.
    pub noted: [&'static str; 2],
    /// In the findings of validation: the thing that is counted, and what it is.
    pub found: (&'static str, &'static str),
}

impl CauseWords {
    /// Of a cause that drops, listed in these words.
    pub const fn drops(listed: &'static str) -> CauseWords {
        CauseWords { is_drop: true, ..CauseWords::notes(listed) }
    }

    /// Of another cause.
    pub const fn notes(listed: &'static str) -> CauseWords {
        CauseWords { column: ("", ""), is_drop: false, listed, noted: [""; 2], found: ("", "") }
    }

    /// With a column.
    pub const fn column(self, name: &'static str, about: &'static str) -> CauseWords {
        CauseWords { column: (name, about), ..self }
    }

    /// With a note on one, and on several.
    pub const fn noted(self, one: &'static str, several: &'static str) -> CauseWords {
        CauseWords { noted: [one, several], ..self }
    }

    /// With a finding.
    pub const fn found(self, thing: &'static str, what: &'static str) -> CauseWords {
        CauseWords { found: (thing, what), ..self }
    }
}

/// Defines causes with what outputs say of each, in the order in which outputs have them.
macro_rules! causes {
    ($(#[$all:meta])* $causes:ident: $($(#[$about:meta])* $cause:ident $kind:ident $listed:literal $(, $how:ident($($with:expr),*))*;)*) => {
        $(#[$all])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $causes {
            $($(#[$about])* $cause,)*
        }

        impl $causes {
            /// All of them, with what outputs say of each.
            pub const ALL: &[($causes, crate::counts::CauseWords)] =
                &[$(($causes::$cause, crate::counts::CauseWords::$kind($listed)$(.$how($($with),*))*)),*];
        }
    };
}
pub(crate) use causes;
