//! The local time of a log: calendar weeks and hours of the day.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use super::header::Header;
use crate::time::Time;

/// The time zone of a log, with its changes between summer and winter.
#[derive(Clone, Debug)]
pub struct Zone {
    zone: TimeZone,
    name: String,
}

impl Default for Zone {
    fn default() -> Self {
        Zone { zone: TimeZone::UTC, name: "UTC".to_string() }
    }
}

impl Zone {
    /// The zone that a header names in `TimeZoneString`. Where that is missing or not known, the constant `TimeZone`, in
    /// seconds east of Greenwich. Where both are missing, UTC.
    pub fn of(header: &Header) -> Zone {
        let named = || {
            let name = header.get("TimeZoneString")?;
            let zone = TimeZone::get(&name).ok()?;
            Some(Zone { zone, name })
        };
        let fixed = || {
            let seconds = i32::try_from(header.number("TimeZone")?).ok()?;
            let offset = Offset::from_seconds(seconds).ok()?;
            Some(Zone { zone: TimeZone::fixed(offset), name: format!("UTC{offset}") })
        };
        named().or_else(fixed).unwrap_or_default()
    }

    /// For people: `Europe/Stockholm`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A clock that shows the local time. It is fast if it is asked for times in ascending order.
    pub fn clock(&self) -> LocalClock<'_> {
        LocalClock { zone: &self.zone, offset: 0, from: 1, until: 0 }
    }
}

/// Converts Unix times to local times. It remembers between which changes of the clock the last time was.
#[derive(Debug)]
pub struct LocalClock<'a> {
    zone: &'a TimeZone,
    /// In seconds, for Unix times from `from` to before `until`.
    offset: Time,
    from: Time,
    until: Time,
}

impl LocalClock<'_> {
    /// The local time of a Unix time, as the seconds from 1970-01-01 00:00 on the local clock.
    pub fn local(&mut self, unix: Time) -> Time {
        if !(self.from..self.until).contains(&unix) {
            self.look_up(unix);
        }
        unix + self.offset
    }

    fn look_up(&mut self, unix: Time) {
        // A time beyond the calendar, which ends in the year 9999, has the offset of the calendar's last day.
        let limit = |time: Time| time.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
        let at = Timestamp::from_second(limit(unix)).expect("the time is within the calendar");
        self.offset = self.zone.to_offset(at).seconds().into();
        // The next change of the clock: within it, the offset holds from this time on.
        let next = self.zone.following(at).next().map_or(Time::MAX, |change| change.timestamp().as_second());
        (self.from, self.until) = (unix, if next > unix { next } else { Time::MAX });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From `date -d @TIME` with TZ set.
    #[test]
    fn clocks_change_between_summer_and_winter() {
        let zone = Zone::of(&Header::of_lines(&["; TimeZone: -18000", "; TimeZoneString: US/Eastern"]));
        let mut clock = zone.clock();
        // 1996-06-26 16:06:00 UTC is noon in New York's summer.
        assert_eq!(clock.local(835_805_160), 835_805_160 - 4 * 3600);
        // The clock went back on 1996-10-27 at 06:00:00 UTC.
        assert_eq!(clock.local(846_395_999), 846_395_999 - 4 * 3600);
        assert_eq!(clock.local(846_396_000), 846_396_000 - 5 * 3600);
        assert_eq!(clock.local(835_805_160), 835_805_160 - 4 * 3600, "times may go back");
        assert_eq!(zone.name(), "US/Eastern");
    }

    #[test]
    fn a_zone_that_is_not_known_is_the_constant_one_or_utc() {
        let fixed = Zone::of(&Header::of_lines(&["; TimeZone: 3600", "; TimeZoneString: Europe/Atlantis"]));
        assert_eq!((fixed.clock().local(0), fixed.name()), (3600, "UTC+01"));
        let none = Zone::of(&Header::of_lines(&["; TimeZone: 999999999"]));
        assert_eq!((none.clock().local(7), none.name()), (7, "UTC"));
        assert_eq!(none.clock().local(1 << 60), 1 << 60);
    }
}
