//! Axes with round ticks and their units.

use super::svg::drawn_width;
use crate::sort::sort_by;
use crate::text::grouped;
use crate::time::{DAY, HOUR, MINUTE, ROUND_STEPS, Seconds, Time, date};

/// How values become places.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AxisScale {
    Linear,
    Log,
    /// Logarithmic in both directions from 0, and nearly linear up to this value.
    Signed(f64),
}

/// A tick with its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    pub value: f64,
    pub label: String,
}

/// An axis. It has several sets of ticks; the first in which no labels meet is used.
#[derive(Clone, Debug)]
pub struct ChartAxis {
    scale: AxisScale,
    from: f64,
    to: f64,
    sets: Vec<Vec<Tick>>,
}

/// Durations at which an axis can have ticks, and whether they are in the smaller sets too.
const DURATIONS: [(Seconds, &str, u8); 12] = [
    (1, "1 s", 3),
    (10, "10 s", 1),
    (MINUTE, "1 min", 3),
    (10 * MINUTE, "10 min", 2),
    (HOUR, "1 h", 3),
    (6 * HOUR, "6 h", 1),
    (DAY, "1 d", 3),
    (7 * DAY, "7 d", 2),
    (30 * DAY, "30 d", 3),
    (365 * DAY, "1 y", 3),
    (3650 * DAY, "10 y", 2),
    (36_500 * DAY, "100 y", 2),
];

impl ChartAxis {
    fn new(scale: AxisScale, from: f64, to: f64, sets: Vec<Vec<Tick>>) -> ChartAxis {
        let mut axis = ChartAxis { scale, from, to, sets };
        axis.sets.iter_mut().for_each(|set| set.retain(|tick| (from..=to).contains(&tick.value)));
        axis
    }

    /// Durations from a second to at least `most` seconds, logarithmic.
    pub fn durations(most: f64) -> ChartAxis {
        let most = most.max(MINUTE as f64);
        let set = |least: u8| {
            let kept = DURATIONS.iter().filter(|(_, _, rank)| *rank >= least);
            kept.map(|&(seconds, label, _)| Tick { value: seconds as f64, label: label.to_string() }).collect()
        };
        ChartAxis::new(AxisScale::Log, 1.0, most, (1..=3).map(set).collect())
    }

    /// Differences of durations, in both directions, up to `most` seconds.
    pub fn differences(most: f64) -> ChartAxis {
        let most = most.max(2.0 * MINUTE as f64) * 1.3;
        // Near 0 there is room for one tick on each side.
        let unit = if most > HOUR as f64 { 10 * MINUTE } else { MINUTE };
        let set = |least: u8| {
            let kept = DURATIONS.iter().filter(|(seconds, _, rank)| *rank >= least && *seconds >= unit);
            let both = kept.flat_map(|&(seconds, label, _)| {
                let tick =
                    |sign: f64, mark: &str| Tick { value: sign * seconds as f64, label: format!("{mark}{label}") };
                [tick(-1.0, "-"), tick(1.0, "+")]
            });
            let mut ticks: Vec<Tick> = both.chain([Tick { value: 0.0, label: "0".to_string() }]).collect();
            sort_by(&mut ticks, |a, b| a.value.total_cmp(&b.value));
            ticks
        };
        ChartAxis::new(AxisScale::Signed(unit as f64), -most, most, (1..=3).map(set).collect())
    }

    /// Numbers from `least` to `most`, both above 0, logarithmic.
    pub fn numbers(least: f64, most: f64, label: impl Fn(f64) -> String) -> ChartAxis {
        let (first, last) = (libm::log10(least).floor() as i32, libm::log10(most).ceil() as i32);
        let set = |every: i32, digits: &[u32]| {
            let decades = (first..=last).filter(|decade| decade.rem_euclid(every) == 0);
            let values = decades.flat_map(|decade| digits.iter().map(move |&digit| (digit, decade)));
            // A power of ten is written and read, so that it is the same number on every platform.
            let value = |(digit, decade): (u32, i32)| format!("{digit}e{decade}").parse().unwrap_or(f64::NAN);
            values.map(value).map(|value| Tick { value, label: label(value) }).collect::<Vec<Tick>>()
        };
        let sets = vec![set(1, &[1, 2, 5]), set(1, &[1, 3]), set(1, &[1]), set(2, &[1]), set(3, &[1])];
        ChartAxis::new(AxisScale::Log, least, most.max(least * 10.0), sets)
    }

    /// Counts from 0 to at least `most`.
    pub fn counts(most: f64) -> ChartAxis {
        let most = most.max(1.0) * 1.04;
        let steps = (0..15).flat_map(|decade| [1u64, 2, 5].map(|digit| digit * 10u64.pow(decade)));
        let steps = steps.filter(|&step| (2.0..=10.0).contains(&(most / step as f64)) || step == 1).collect::<Vec<_>>();
        let ticks = |step: &u64| {
            let values = (0..=(most / *step as f64) as u64).take(30).map(|at| at * step);
            values.map(|value| Tick { value: value as f64, label: grouped(value) }).collect()
        };
        ChartAxis::new(
            AxisScale::Linear,
            0.0,
            most,
            steps.iter().filter(|&&step| most / (step as f64) < 25.0).map(ticks).collect(),
        )
    }

    /// Shares from 0 to 1, in percent.
    pub fn shares() -> ChartAxis {
        let ticks = |step: u32| {
            let tick = |percent: u32| Tick { value: f64::from(percent) / 100.0, label: format!("{percent}%") };
            (0..=100).step_by(step as usize).map(tick).collect()
        };
        ChartAxis::new(AxisScale::Linear, 0.0, 1.0, [20, 25, 50, 100].map(ticks).to_vec())
    }

    /// Time between two values in seconds, linear.
    pub fn time_between(least: f64, most: f64) -> ChartAxis {
        let most = most.max(least + 1.0);
        let ticks = |step: Seconds| {
            let values =
                ((least / step as f64).ceil() as Seconds..=(most / step as f64) as Seconds).map(|at| at * step);
            values.map(|value| Tick { value: value as f64, label: time_label(value) }).collect()
        };
        let steps = ROUND_STEPS.into_iter().chain((1..12).map(|power| 360 * DAY * 2i64.pow(power)));
        let steps = steps.filter(|&step| (most - least) / (step as f64) < 40.0);
        ChartAxis::new(AxisScale::Linear, least, most, steps.map(ticks).collect())
    }

    /// Dates in a linear time of so many seconds, which begins at a Unix time.
    pub fn dates(zero: Time, most: f64) -> ChartAxis {
        const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let days = (zero + DAY - 1).div_euclid(DAY)..=(zero + most as Seconds).div_euclid(DAY);
        // Each with its number, year, month and day.
        let days: Vec<(f64, [usize; 4])> = days
            .map(|number| {
                let date = date(number * DAY);
                let mut parts = date.rsplitn(3, '-').map(|part| part.parse().unwrap_or(1));
                let [day, month, year] = [(); 3].map(|()| parts.next().unwrap_or(1));
                ((number * DAY - zero) as f64, [number.unsigned_abs() as usize, year, month, day])
            })
            .collect();
        let set = |is_tick: fn([usize; 4]) -> bool, label: fn([usize; 4]) -> String| -> Vec<Tick> {
            let ticks = days.iter().filter(|(_, date)| is_tick(*date));
            ticks.map(|&(value, date)| Tick { value, label: label(date) }).collect()
        };
        let day = |[.., month, day]: [usize; 4]| format!("{day} {}", MONTHS[month - 1]);
        // The first month of a year has the name of the year.
        let month = |[_, year, month, _]: [usize; 4]| match month {
            1 => year.to_string(),
            _ => MONTHS[month - 1].to_string(),
        };
        let sets = vec![
            set(|_| true, day),
            set(|[number, ..]| number % 2 == 0, day),
            set(|[number, ..]| number % 3 == 0, day),
            set(|[.., day]| day == 1 || day % 5 == 0 && day < 30, day),
            set(|[.., day]| day == 1 || day == 15, day),
            set(|[.., day]| day == 1, month),
            set(|[.., month, day]| day == 1 && month % 3 == 1, month),
            set(|[.., month, day]| day == 1 && month % 6 == 1, month),
            set(|[.., month, day]| day == 1 && month == 1, month),
            set(|[_, year, month, day]| day == 1 && month == 1 && year % 5 == 0, month),
        ];
        ChartAxis::new(AxisScale::Linear, 0.0, most.max(1.0), sets)
    }

    /// Numbers between two values, linear.
    pub fn between(least: f64, most: f64) -> ChartAxis {
        let most = if most > least { most } else { least + 1.0 };
        // Ticks are whole multiples of 1, 2 or 5 of a power of ten, written in decimal: 0.3 and not 0.30000000000000004.
        let decades = libm::log10(most - least).floor() as i32 - 1;
        let ticks = |(digit, decade): (i64, i32)| -> Vec<Tick> {
            let value = |at: i64| format!("{}e{decade}", at * digit).parse::<f64>().unwrap_or(f64::NAN);
            let step = value(1);
            // 1.2 / 0.1 is a little less than 12.
            let all = (least / step - 1e-9).ceil() as i64..=(most / step + 1e-9).floor() as i64;
            all.map(value).map(|value| Tick { value, label: value.to_string() }).collect()
        };
        let steps = (decades..=decades + 2).flat_map(|decade| [1, 2, 5].map(|digit| (digit, decade)));
        ChartAxis::new(AxisScale::Linear, least, most, steps.map(ticks).collect())
    }

    /// The same axis without ticks above a value, where there is room for something else.
    pub fn with_ticks_up_to(mut self, most: f64) -> ChartAxis {
        self.sets.iter_mut().for_each(|set| set.retain(|tick| tick.value <= most));
        self
    }

    /// The same axis without ticks between whole numbers.
    pub fn whole(mut self) -> ChartAxis {
        self.sets.retain(|set| set.iter().all(|tick| tick.value.fract() == 0.0));
        self
    }

    /// One place for each name, from 0.5 on. An empty name has no tick.
    pub fn names(names: &[String]) -> ChartAxis {
        let tick = |(at, name): (usize, &String)| Tick { value: at as f64 + 0.5, label: name.clone() };
        let ticks = |every: usize| {
            let named = names.iter().enumerate().step_by(every).filter(|(_, name)| !name.is_empty());
            named.map(tick).collect()
        };
        ChartAxis::new(AxisScale::Linear, 0.0, names.len().max(1) as f64, vec![ticks(1), ticks(2), ticks(4)])
    }

    /// Where a value is, 0 to 1. Values beyond an end are at that end.
    pub fn place(&self, value: f64) -> f64 {
        let at = |value: f64| match self.scale {
            AxisScale::Linear => value,
            AxisScale::Log => libm::log10(value.max(f64::MIN_POSITIVE)),
            AxisScale::Signed(unit) => libm::log10(1.0 + value.abs() / unit) * value.signum(),
        };
        let (from, to) = (at(self.from), at(self.to));
        ((at(value) - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// The two ends.
    pub fn ends(&self) -> [f64; 2] {
        [self.from, self.to]
    }

    /// Whether a value is between the ends.
    pub fn has(&self, value: f64) -> bool {
        (self.from..=self.to).contains(&value)
    }

    /// The largest set of ticks whose labels have room along `length` units.
    pub fn ticks(&self, length: f64, horizontal: bool) -> &[Tick] {
        let half = |tick: &Tick| if horizontal { drawn_width(&tick.label) / 2.0 + 6.0 } else { 9.0 };
        let meets = |pair: &[Tick]| {
            (self.place(pair[1].value) - self.place(pair[0].value)).abs() * length < half(&pair[0]) + half(&pair[1])
        };
        let set = self.sets.iter().find(|set| !set.windows(2).any(meets)).or(self.sets.last());
        set.map_or(&[], |set| set)
    }

    /// The width of the widest label, in units.
    pub fn label_width(&self) -> f64 {
        self.sets.iter().flatten().map(|tick| drawn_width(&tick.label)).fold(0.0, f64::max)
    }

    /// By how much the label of the last tick reaches beyond the end of the axis, in units, at most.
    pub fn overhang(&self) -> f64 {
        self.sets.iter().filter_map(|set| set.last()).map(|tick| drawn_width(&tick.label) / 2.0).fold(0.0, f64::max)
    }
}

/// A time since the beginning of an axis.
fn time_label(seconds: Seconds) -> String {
    match seconds {
        0 => "0".to_string(),
        days if days % DAY == 0 => format!("{} d", days / DAY),
        hours if hours % HOUR == 0 && hours < DAY => format!("{} h", hours / HOUR),
        hours if hours % HOUR == 0 => format!("{} d {} h", hours / DAY, hours % DAY / HOUR),
        minutes if minutes % MINUTE == 0 && minutes < HOUR => format!("{} min", minutes / MINUTE),
        minutes if minutes % MINUTE == 0 => format!("{}:{:02}", minutes / HOUR, minutes % HOUR / MINUTE),
        seconds => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: ChartAxis, length: f64, horizontal: bool) -> Vec<String> {
        axis.ticks(length, horizontal).iter().map(|tick| tick.label.clone()).collect()
    }

    #[test]
    fn ticks_are_round_and_labels_do_not_meet() {
        let all = labels(ChartAxis::durations(3e6), 900.0, true);
        assert_eq!(all, ["1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "7 d", "30 d"]);
        assert_eq!(labels(ChartAxis::durations(3e6), 200.0, true), ["1 s", "1 min", "1 h", "1 d", "30 d"]);
        assert_eq!(labels(ChartAxis::counts(7.0), 300.0, false), ["0", "1", "2", "3", "4", "5", "6", "7"]);
        assert_eq!(labels(ChartAxis::counts(4321.0), 120.0, false), ["0", "1,000", "2,000", "3,000", "4,000"]);
        assert_eq!(labels(ChartAxis::between(0.8, 1.2), 200.0, true), ["0.8", "0.9", "1", "1.1", "1.2"]);
        assert_eq!(labels(ChartAxis::between(1.0, 3.0).whole(), 400.0, true), ["1", "2", "3"]);
        assert_eq!(labels(ChartAxis::between(-30.0, 50.0), 90.0, false), ["-20", "0", "20", "40"]);
        assert_eq!(labels(ChartAxis::time_between(3000.0, 9000.0), 100.0, false), ["1 h", "1:30", "2 h", "2:30"]);
        assert_eq!(
            labels(ChartAxis::time_between(0.0, 43_200.0), 300.0, true),
            ["0", "2 h", "4 h", "6 h", "8 h", "10 h", "12 h"]
        );
        assert_eq!(labels(ChartAxis::differences(4000.0), 150.0, false), ["-1 h", "-10 min", "0", "+10 min", "+1 h"]);
        let number = |value: f64| format!("{value}");
        assert_eq!(labels(ChartAxis::numbers(1.0, 9e4, number), 300.0, true), ["1", "10", "100", "1000", "10000"]);
        assert_eq!(labels(ChartAxis::numbers(1.0, 9e4, number), 200.0, true), ["1", "100", "10000"]);
    }

    #[test]
    fn dates_are_days_months_or_years() {
        // From the noon of 1996-09-30 on.
        let zero = 844_084_800;
        let of = |days: i64, length: f64| labels(ChartAxis::dates(zero, (days * DAY) as f64), length, true);
        assert_eq!(of(4, 500.0), ["1 Oct", "2 Oct", "3 Oct", "4 Oct"]);
        assert_eq!(of(8, 200.0), ["1 Oct", "3 Oct", "5 Oct", "7 Oct"]);
        assert_eq!(of(8, 140.0), ["2 Oct", "5 Oct", "8 Oct"]);
        assert_eq!(of(30, 400.0), ["1 Oct", "5 Oct", "10 Oct", "15 Oct", "20 Oct", "25 Oct"]);
        assert_eq!(of(130, 400.0), ["Oct", "Nov", "Dec", "1997", "Feb"]);
        assert_eq!(of(130, 120.0), ["Oct", "1997"]);
        assert_eq!(of(1200, 200.0), ["1997", "1998", "1999", "2000"]);
        assert_eq!(ChartAxis::dates(zero, 4e5).sets[0][0].value, (DAY / 2) as f64);
    }

    #[test]
    fn labels_say_the_values_of_their_ticks() {
        let value = |label: &str| {
            let (sign, text) = label.strip_prefix('-').map_or((1.0, label), |text| (-1.0, text));
            let (number, unit) = text.trim_start_matches('+').split_once(' ').unwrap_or((text, "s"));
            let units = [("s", 1), ("min", 60), ("h", 3600), ("d", 86_400), ("y", 31_536_000)];
            let seconds = units.iter().find(|(name, _)| *name == unit).map(|(_, seconds)| f64::from(*seconds));
            sign * number.parse::<f64>().unwrap() * seconds.unwrap()
        };
        for axis in [ChartAxis::durations(1e10), ChartAxis::differences(1e10), ChartAxis::differences(100.0)] {
            let ticks: Vec<_> = axis.sets.iter().flatten().collect();
            assert!(ticks.len() > 6);
            assert!(ticks.iter().all(|tick| value(&tick.label) == tick.value), "{ticks:?}");
        }
    }

    #[test]
    fn places_grow_with_values_and_stay_on_the_axis() {
        for axis in
            [ChartAxis::durations(1e5), ChartAxis::counts(50.0), ChartAxis::differences(5000.0), ChartAxis::shares()]
        {
            let [start, end] = axis.ends();
            let places: Vec<_> =
                (0..=100).map(|at| axis.place(start + (end - start) * f64::from(at) / 100.0)).collect();
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{axis:?}");
            assert_eq!((places[0], places[100]), (0.0, 1.0));
            assert_eq!((axis.place(start - 1e9), axis.place(end + 1e9)), (0.0, 1.0));
        }
        // 0 is in the middle, and both directions are alike.
        let axis = ChartAxis::differences(5000.0);
        assert_eq!(axis.place(0.0), 0.5);
        assert!((axis.place(600.0) + axis.place(-600.0) - 1.0).abs() < 1e-12);
    }
}
