//! What conditions the jobs of a log have, in numbers.

use super::{Hold, LogConditions};
use crate::text::counted;

/// Numbers that describe the conditions of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConditionSurvey {
    /// Jobs that wait for other jobs by name.
    pub dependent: u64,
    /// Jobs that wait for all others of their user and executable.
    pub singletons: u64,
    /// Jobs with a begin time after their submission.
    pub begins: u64,
    /// Jobs that are held.
    pub holds: u64,
    /// Arrays with a limit.
    pub arrays: u64,
    /// Dependencies on jobs that the log does not have.
    pub unknown: u64,
}

impl ConditionSurvey {
    /// The conditions of a log.
    pub fn of(log: &LogConditions) -> ConditionSurvey {
        let arrays = log.arrays.iter().filter(|array| array.limit.is_some()).count() as u64;
        let mut survey = ConditionSurvey { arrays, unknown: log.unknown, ..ConditionSurvey::default() };
        for (_, conditions) in log.iter() {
            survey.dependent += u64::from(!conditions.after.is_empty());
            survey.singletons += u64::from(conditions.singleton);
            survey.begins += u64::from(conditions.begin > 0);
            survey.holds += u64::from(conditions.hold != Hold::None);
        }
        survey
    }

    /// In one line. None if there are none.
    pub fn in_words(&self) -> Option<String> {
        let arrays = match self.arrays {
            1 => "1 array with a limit".to_string(),
            arrays => format!("{} with limits", counted(arrays, "array")),
        };
        let parts = [
            (self.dependent, counted(self.dependent, "dependent job")),
            (self.singletons, counted(self.singletons, "singleton")),
            (self.begins, counted(self.begins, "begin time")),
            (self.holds, counted(self.holds, "hold")),
            (self.arrays, arrays),
        ];
        let parts: Vec<String> = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}
