//! A figure: what was published, what is measured here, whether the two agree, and whether that is more than chance.

use serde::{Deserialize, Serialize};

use crate::metrics::{Cells, Column, Given, ListedColumn, When, cells, column_list, listed};
use crate::stats::{mean_and_half_width, next_observation};

/// One number of a paper, and ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The place in the paper: `Table 2`, `Figure 4`, `text`.
    pub table: String,
    /// The row of that table.
    pub row: String,
    /// The column of that table, with its unit.
    pub column: String,
    /// As printed (`24`, `47-53`, `>90`); empty where the paper has only a picture.
    pub published: String,
    /// On the log as it is, or with the first seed; none where there is nothing to measure.
    pub measured: Option<f64>,
    /// The 95% interval over replications, if there are any.
    pub interval: Option<(f64, f64)>,
    /// The smallest and the largest of our runs, where the published figure is one run of a random experiment.
    pub range: Option<(f64, f64)>,
    /// Whether this is a second way to read the paper, beside another figure for the same published number.
    pub other_reading: bool,
    /// Whether it is a percentage, so that "two points" means two of them.
    pub in_percent: bool,
    /// How it was measured, and whether a claim holds.
    pub note: String,
    /// Why ours differs, where that is known.
    pub reason: String,
}

/// The columns of figures, after that of the study.
static FIGURE_COLUMNS: &[Column<Figure>] = &column_list! {
    |figure: Figure|
    key "table" "the place in the paper" figure.table.clone();
    key "row" "the row of that table" figure.row.clone();
    key "column" "the column of that table, with its unit" figure.column.clone();
    label "published" "as printed in the paper; empty where it has only a picture" figure.published.clone();
    real "measured" "ours, on the log as it is or with the first seed; empty where there is nothing to measure"
        figure.measured;
    real "low" "the lower end of the 95% interval over replications" figure.interval.map(|(low, _)| low);
    real "high" "the upper end of it" figure.interval.map(|(_, high)| high);
    text "note" "how it was measured, whether a claim holds, and why ours differs" figure.remark();
};

/// The columns of all figures, for lists.
pub fn listed_figures() -> Vec<ListedColumn> {
    [vec![ListedColumn::key("study", "the name after sim reproduce", When::Always)], listed(FIGURE_COLUMNS)].concat()
}

/// The place of a figure: table, row and column.
pub type At<'a> = (&'a str, &'a str, &'a str);

/// How a measured figure compares with the published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// The published number lies within the 95% interval of ours, or among our runs.
    Interval,
    /// It lies outside, or there is no interval, but the two differ by at most two points (percentages) or two percent.
    TwoPoints,
    /// A published bound or range (`>90`, `77-87`) includes all of the interval or, without one, the measured figure.
    Holds,
    /// They differ, and the reason is known.
    Explained,
    /// They differ, and the reason is not known.
    Unexplained,
    /// Published, but not measured here: a log is missing or not public.
    NotMeasured,
    /// Measured, but not published as a number.
    NotPublished,
}

impl Agreement {
    /// Whether the two agree.
    pub fn is_agreement(self) -> bool {
        matches!(self, Agreement::Interval | Agreement::TwoPoints | Agreement::Holds)
    }

    /// Whether they differ.
    pub fn is_difference(self) -> bool {
        matches!(self, Agreement::Explained | Agreement::Unexplained)
    }

    /// The word in a table.
    pub fn word(self) -> &'static str {
        match self {
            Agreement::Interval => "interval",
            Agreement::TwoPoints => "2 points",
            Agreement::Holds => "holds",
            Agreement::Explained => "explained",
            Agreement::Unexplained => "differs",
            Agreement::NotMeasured | Agreement::NotPublished => "",
        }
    }
}

/// A published figure, as far as it is a number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PublishedValue {
    /// A number, and half of its last printed digit.
    Number(f64, f64),
    /// Both ends included.
    Between(f64, f64),
}

impl PublishedValue {
    /// `24`, `12.8`, `47-53`, `-3 - -2`, `>90`, `<0`, `<=54`.
    fn parse(text: &str) -> Option<PublishedValue> {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        if let Some(value) = number(text) {
            let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            return Some(PublishedValue::Number(value, 0.5 / 10f64.powi(decimals as i32)));
        }
        if let Some(bound) = text.strip_prefix('>').and_then(number) {
            return Some(PublishedValue::Between(bound.next_up(), f64::INFINITY));
        }
        if let Some(bound) = text.strip_prefix("<=").and_then(number) {
            return Some(PublishedValue::Between(f64::NEG_INFINITY, bound));
        }
        if let Some(bound) = text.strip_prefix('<').and_then(number) {
            return Some(PublishedValue::Between(f64::NEG_INFINITY, bound.next_down()));
        }
        let (low, high) = text.split_once(" - ").or_else(|| text.split_once('-'))?;
        Some(PublishedValue::Between(number(low)?, number(high)?))
    }
}

/// Differences up to this are small: in points for percentages, in percent of the published number otherwise.
const SMALL: f64 = 2.0;

impl Figure {
    /// One number, without an interval.
    pub fn new((table, row, column): At<'_>, published: &str, measured: f64) -> Figure {
        let [table, row, column, published] = [table, row, column, published].map(str::to_string);
        let measured = measured.is_finite().then_some(measured);
        let (note, reason) = (String::new(), String::new());
        let (interval, range, other_reading, in_percent) = (None, None, false, false);
        Figure { table, row, column, published, measured, interval, range, other_reading, in_percent, note, reason }
    }

    /// The first of these values, with the 95% interval of their mean.
    pub fn first_of(at: At<'_>, published: &str, values: &[f64]) -> Figure {
        Figure::new(at, published, values.first().copied().unwrap_or(f64::NAN)).over(values)
    }

    /// The same; of the log and of resamples of it, the interval is that of another year.
    pub fn of_runs(at: At<'_>, published: &str, values: &[f64], are_years: bool) -> Figure {
        if !are_years {
            return Figure::first_of(at, published, values);
        }
        let figure = Figure::new(at, published, values.first().copied().unwrap_or(f64::NAN));
        let (mean, half) = next_observation(values.get(1..).unwrap_or_default());
        let interval = half.map(|half| (mean - half, mean + half)).filter(|(low, _)| low.is_finite());
        Figure { interval, ..figure }
    }

    /// The mean of these values, with its 95% interval.
    pub fn mean_of(at: At<'_>, published: &str, values: &[f64]) -> Figure {
        Figure::new(at, published, mean_and_half_width(values).0).over(values)
    }

    /// The same with the 95% interval of the mean over these values, if they are enough for one.
    fn over(self, values: &[f64]) -> Figure {
        let (mean, half) = mean_and_half_width(values);
        let interval = half.map(|half| (mean - half, mean + half)).filter(|(low, _)| low.is_finite());
        Figure { interval, ..self }
    }

    /// The same with a note whether the published bound holds (`>90`, `<0`), if it is one.
    pub fn judged(self) -> Figure {
        let verdict = match PublishedValue::parse(&self.published) {
            Some(PublishedValue::Between(low, f64::INFINITY)) => {
                self.verdict(low.next_down(), 1.0, "holds", "does not hold")
            }
            Some(PublishedValue::Between(f64::NEG_INFINITY, high)) => {
                self.verdict(high.next_up(), -1.0, "holds", "does not hold")
            }
            _ => String::new(),
        };
        self.noted(&verdict)
    }

    /// The same with a note whether it is a gain at all. The size of the gain is printed next to the published one.
    pub fn judged_as_gain(self) -> Figure {
        let verdict = self.verdict(0.0, 1.0, "a gain", "no gain");
        self.noted(&verdict)
    }

    /// Says in words whether the figure lies on the claimed side of a bound, and whether that is more than chance.
    fn verdict(&self, bound: f64, sign: f64, yes: &str, no: &str) -> String {
        let beyond = |value: f64| (value - bound) * sign;
        // All of the interval, some of it, or none of it may be on the claimed side of the bound.
        match self.interval {
            None if self.measured.is_some_and(|measured| beyond(measured) > 0.0) => format!("{yes} in this one run"),
            None => format!("{no} in this one run"),
            Some((low, high)) => match (beyond(low).min(beyond(high)) > 0.0, beyond(low).max(beyond(high)) < 0.0) {
                (true, _) => format!("{yes} beyond noise"),
                (_, true) => format!("{no}, beyond noise"),
                _ => "within noise".to_string(),
            },
        }
    }

    /// The same with a note, after the one that it has.
    pub fn noted(self, note: &str) -> Figure {
        let notes = [self.note.as_str(), note].into_iter().filter(|note| !note.is_empty());
        Figure { note: notes.collect::<Vec<_>>().join("; "), ..self }
    }

    /// The same as a percentage.
    pub fn percent(self) -> Figure {
        Figure { in_percent: true, ..self }
    }

    /// The same as a second way to read the paper, if it is one.
    pub fn reading(self, other_reading: bool) -> Figure {
        Figure { other_reading, ..self }
    }

    /// The same with the reason why it differs from the published one, if it does.
    pub fn because(self, reason: &str) -> Figure {
        Figure { reason: reason.to_string(), ..self }
    }

    /// The published figure, if it is one number.
    pub fn published_number(&self) -> Option<f64> {
        match PublishedValue::parse(&self.published)? {
            PublishedValue::Number(value, _) => Some(value),
            PublishedValue::Between(..) => None,
        }
    }

    /// How the two compare. A published number counts as exact to half of its last printed digit.
    pub fn agreement(&self) -> Agreement {
        let (published, measured) = match (PublishedValue::parse(&self.published), self.measured) {
            (None, _) => return Agreement::NotPublished,
            (_, None) => return Agreement::NotMeasured,
            (Some(published), Some(measured)) => (published, measured),
        };
        let (low, high, rounding) = match published {
            PublishedValue::Number(value, half) => (value, value, half),
            PublishedValue::Between(low, high) => (low, high, 0.0),
        };
        let reached = |(from, to): (f64, f64)| from <= high + rounding && to >= low - rounding;
        let small = |value: f64| {
            let points = (value - measured).abs();
            points <= if self.in_percent { SMALL } else { SMALL / 100.0 * value.abs() }
        };
        // A bound holds if all of the interval is within it: else chance may have decided.
        let within = |(from, to): (f64, f64)| from >= low && to <= high;
        match published {
            PublishedValue::Between(..) if within(self.interval.unwrap_or((measured, measured))) => Agreement::Holds,
            _ if self.range.into_iter().chain(self.interval).any(reached) => Agreement::Interval,
            PublishedValue::Number(value, half) if small(value) || (value - measured).abs() <= half => {
                Agreement::TwoPoints
            }
            _ if self.reason.is_empty() => Agreement::Unexplained,
            _ => Agreement::Explained,
        }
    }

    /// The note and, where the figures differ, the reason.
    pub fn remark(&self) -> String {
        let reason = match self.agreement() {
            Agreement::Explained => self.reason.as_str(),
            _ => "",
        };
        [self.note.as_str(), reason].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
    }

    /// A row of CSV or JSON: the study, then the columns of figures.
    pub fn cells(&self, study: &'static str) -> Cells {
        [vec![("study".to_string(), study.into())], cells(FIGURE_COLUMNS, self, Given::default())].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(published: &str, measured: f64) -> Figure {
        Figure::new(("Table 1", "row", "column"), published, measured)
    }

    #[test]
    fn published_texts_are_read() {
        use PublishedValue::{Between, Number};
        assert_eq!(PublishedValue::parse("24"), Some(Number(24.0, 0.5)));
        assert_eq!(PublishedValue::parse("-0.01"), Some(Number(-0.01, 0.005)));
        assert_eq!(PublishedValue::parse("47-53"), Some(Between(47.0, 53.0)));
        assert_eq!(PublishedValue::parse("-3 - -2"), Some(Between(-3.0, -2.0)));
        assert_eq!(PublishedValue::parse("<=54"), Some(Between(f64::NEG_INFINITY, 54.0)));
        for text in ["", "N/A", "many", "a-b"] {
            assert_eq!(PublishedValue::parse(text), None, "{text}");
        }
    }

    #[test]
    fn figures_agree_by_interval_by_two_points_or_by_a_bound() {
        // The interval is 21.1 to 23.4 and does not reach 20.5, half a digit above 20.
        let over = |figure: Figure| figure.over(&[21.9, 22.4, 22.4, 22.3]);
        assert_eq!(over(figure("22", 30.0)).agreement(), Agreement::Interval);
        assert_eq!(over(figure("20", 30.0)).agreement(), Agreement::Unexplained);
        assert_eq!(over(figure("20", 30.0)).because("why").agreement(), Agreement::Explained);
        assert_eq!(over(figure("20", 21.9)).percent().agreement(), Agreement::TwoPoints);
        // Not a percentage: two percent of 20 are 0.4, half a digit is 0.5.
        assert_eq!(figure("20", 21.9).agreement(), Agreement::Unexplained);
        assert_eq!(figure("20", 20.5).agreement(), Agreement::TwoPoints);
        assert_eq!(figure("2000", 2030.0).agreement(), Agreement::TwoPoints);
        assert_eq!(figure(">90", 90.0).agreement(), Agreement::Unexplained);
        assert_eq!(figure(">90", 91.0).agreement(), Agreement::Holds);
        assert_eq!(figure("<0", 0.0).agreement(), Agreement::Unexplained);
        assert_eq!(figure("47-53", 53.0).agreement(), Agreement::Holds);
        assert_eq!(over(figure("22-30", 19.0)).agreement(), Agreement::Interval);
        assert_eq!(over(figure("22-30", 22.5)).agreement(), Agreement::Interval, "some of the interval lies below");
        assert_eq!(over(figure("20-30", 22.5)).agreement(), Agreement::Holds);
        // Among our runs, though outside of the interval of their mean; and the other way round.
        let ranged = |figure: Figure, range| Figure { range: Some(range), ..figure };
        assert_eq!(ranged(over(figure("26", 30.0)), (21.9, 27.0)).agreement(), Agreement::Interval);
        assert_eq!(ranged(over(figure("22", 30.0)), (24.0, 27.0)).agreement(), Agreement::Interval);
        assert_eq!(ranged(over(figure("20", 30.0)), (24.0, 27.0)).agreement(), Agreement::Unexplained);
        assert_eq!(figure("", 3.0).agreement(), Agreement::NotPublished);
        assert_eq!(figure("3", f64::NAN).agreement(), Agreement::NotMeasured);
    }

    #[test]
    fn a_reason_is_given_only_where_there_is_a_difference() {
        let noted = |measured| Figure { note: "seed 0".to_string(), ..figure("20", measured).because("other jobs") };
        assert_eq!(noted(20.0).remark(), "seed 0");
        assert_eq!(noted(40.0).remark(), "seed 0; other jobs");
    }

    #[test]
    fn verdicts_look_at_the_whole_interval() {
        let with = |published: &str, measured, interval| Figure { interval, ..figure(published, measured) };
        let gain = |measured, interval| with("24", measured, interval).judged_as_gain().note;
        assert_eq!(gain(3.0, Some((1.0, 5.0))), "a gain beyond noise");
        assert_eq!(gain(3.0, Some((-1.0, 7.0))), "within noise");
        assert_eq!(gain(-3.0, Some((-5.0, -1.0))), "no gain, beyond noise");
        let bound = |published, measured, interval| with(published, measured, interval).judged().note;
        assert_eq!(bound(">90", 60.0, Some((55.0, 65.0))), "does not hold, beyond noise");
        assert_eq!(bound("<0", -3.0, Some((-5.0, -1.0))), "holds beyond noise");
        assert_eq!(bound("<50", 60.0, None), "does not hold in this one run");
        assert_eq!(bound("60", 60.0, None), "");
    }
}
