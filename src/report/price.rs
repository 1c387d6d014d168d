//! What a setting costs, beside its gain.

use super::shown::shown;
use crate::metrics::columns::{AREA_LOSE, USERS_LOSE, WAIT_MAX, WIDE_WAIT_MEAN};
use crate::metrics::{Column, Replicates};

/// What happens to those who wait longest, to the widest jobs and to users, in comparison with the baseline: "the longest wait
/// grows from 4d 02h to 35d 10h, the widest jobs wait 25d instead of 1d 03h, and 14.6% of the users lose (31.0% of the area)".
/// None if there is no baseline.
pub fn price_in_words(runs: &Replicates<'_>) -> Option<String> {
    runs.baseline()?;
    let before = |column: &Column| shown(column.shown, runs.base_mean(column).mean);
    let after = |column: &Column| shown(column.shown, runs.mean(column).mean);
    let longest = match (before(&WAIT_MAX), after(&WAIT_MAX)) {
        (before, after) if before == after => format!("the longest wait stays {after}"),
        (before, after) => {
            let grows = runs.mean(&WAIT_MAX).mean > runs.base_mean(&WAIT_MAX).mean;
            format!("the longest wait {} from {before} to {after}", if grows { "grows" } else { "falls" })
        }
    };
    let widest = match (before(&WIDE_WAIT_MEAN), after(&WIDE_WAIT_MEAN)) {
        (before, after) if before == after => format!("the widest jobs wait {after} as before"),
        (before, after) => format!("the widest jobs wait {after} instead of {before}"),
    };
    let users = match runs.mean(&USERS_LOSE).mean {
        0.0 => "no user loses".to_string(),
        _ => format!("{} of the users lose ({} of the area)", after(&USERS_LOSE), after(&AREA_LOSE)),
    };
    Some(format!("{longest}, {widest}, and {users}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Baseline, Losers, RunRow, Summary};
    use crate::time::DAY;

    #[test]
    fn the_price_is_in_days_and_users() {
        let summary = |days: i64| Summary {
            wait_max: (days * DAY) as f64,
            wide_wait_mean: (days * DAY / 2) as f64,
            ..Summary::default()
        };
        let runs = |after: i64, users_pct: f64| {
            let losers = Losers { users_pct, area_pct: users_pct / 2.0 };
            let baseline = Some(Baseline {
                name: "easy/estimate".to_string(),
                summary: summary(4),
                losers,
                ..Baseline::default()
            });
            let row = RunRow { summary: summary(after), baseline, ..RunRow::default() };
            price_in_words(&Replicates::each([&row]))
        };
        assert_eq!(
            runs(36, 14.6).unwrap(),
            "the longest wait grows from 4d 00h to 36d 00h, the widest jobs wait 18d 00h instead of 2d 00h, and 14.6% of the \
             users lose (7.3% of the area)"
        );
        assert_eq!(
            runs(2, 0.0).unwrap(),
            "the longest wait falls from 4d 00h to 2d 00h, the widest jobs wait 1d 00h instead of 2d 00h, and no user loses"
        );
        let same = "the longest wait stays 4d 00h, the widest jobs wait 2d 00h as before, and no user loses";
        assert_eq!(runs(4, 0.0).unwrap(), same);
        assert_eq!(price_in_words(&Replicates::each([&RunRow::default()])), None);
    }
}
