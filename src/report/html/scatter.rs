//! Users: how their waits change, against their share of the machine.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::Axis;
use super::data_table::{DataCell, DataTable};
use super::figure::{Figure, Mark};
use super::plot::{Frame, WIDTH, put, text_style, units};
use super::svg::{Ink, TEXT};
use super::text_width::text_width;
use crate::metrics::UserChange;
use crate::text::{counted, grouped};
use crate::time::readable_duration;

/// The most users of a chart.
const MOST_USERS: usize = 1000;

/// How many of the largest users are named.
const NAMED: usize = 8;

/// The height of the chart, in units.
const HEIGHT: u32 = 340;

/// A text within a chart, in units from its corner.
struct LabelBox {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl LabelBox {
    fn meets(&self, other: &LabelBox) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

/// The chart of a setting in comparison with another. `number` is the number of a user in the log.
pub fn scatter(name: &str, base_name: &str, mut users: Vec<UserChange>, number: impl Fn(i32) -> String) -> Figure {
    let all: i128 = users.iter().map(|user| user.area).sum();
    let (count, losers) = (users.len(), users.iter().filter(|user| user.loses).count());
    users.sort_by_key(|user| (std::cmp::Reverse(user.area), user.user));
    users.truncate(MOST_USERS);
    let share = |user: &UserChange| user.area as f64 / all as f64;
    let gain = |user: &UserChange| user.base_wait_mean - user.wait_mean;
    let least = users.iter().map(share).fold(1.0, f64::min).max(1e-6);
    let most = users.iter().map(|user| gain(user).abs()).fold(0.0, f64::max);
    // Rounded: 0.07 * 100 is a little more than 7.
    let percent = |share: f64| format!("{}%", (share * 1e8).round() / 1e6);
    let label = format!("Change of the mean wait of each user of {name} against {base_name}, by share of the area");
    let (x, y) = (Axis::numbers(least * 0.8, 1.0, percent), Axis::differences(most));
    let frame = Frame {
        size: (WIDTH, HEIGHT),
        label: &label,
        x: x.clone(),
        y: y.clone(),
        x_title: "share of the area (processors times runtime)",
        y_title: "mean wait saved",
        grid: (true, true),
    };
    let picture = frame.draw(|chart, canvas| {
        let size = chart.plotting_area().dim_in_pixel();
        let (width, height) = (f64::from(size.0) / 10.0, f64::from(size.1) / 10.0);
        let place = |user: &UserChange| (x.place(share(user)) * width, (1.0 - y.place(gain(user))) * height);
        for user in users.iter().rev() {
            let ink = if user.loses { Ink::Loss } else { Ink::Gain };
            let title = format!(
                "user {}: {:.2}% of the area, {}, mean wait {} instead of {}",
                number(user.user),
                share(user) * 100.0,
                counted(user.jobs as u64, "job"),
                readable_duration(user.wait_mean),
                readable_duration(user.base_wait_mean)
            );
            let (point, fill) = ((share(user).max(1e-6), gain(user)), ink.color().mix(0.75).filled());
            canvas.with_title(&title, || match user.loses {
                // A shape of its own: colours alone may not be told apart.
                true => put(chart, TriangleMarker::new(point, units(4.6), fill)),
                false => put(chart, Circle::new(point, units(3.4), fill)),
            });
        }
        let mut labels: Vec<LabelBox> = Vec::new();
        for user in users.iter().take(NAMED) {
            let text = number(user.user);
            let (at, wide) = (place(user), text_width(&text) * f64::from(TEXT));
            // To the right of the point, or to the left.
            let tries = [6.0, -6.0 - wide];
            let found = tries.into_iter().find_map(|shift| {
                let (left, top) = (at.0 + shift, at.1 - 8.0);
                let label = LabelBox { left, top, right: left + wide, bottom: top + 16.0 };
                let is_inside = left > 2.0 && label.right < width && top > 0.0 && label.bottom < height;
                (is_inside && !labels.iter().any(|other| other.meets(&label))).then_some((shift, label))
            });
            if let Some((shift, label)) = found {
                labels.push(label);
                let corner = (units(shift), 0);
                let text = EmptyElement::at((share(user), gain(user)))
                    + Text::new(text, corner, text_style(HPos::Left, VPos::Center));
                chart.draw_series(std::iter::once(text)).expect(super::plot::DRAWN);
            }
        }
    });
    let headings = ["user", "share of the area", "jobs", "mean wait", "mean wait in the baseline", "saved", "loses"];
    let mut data = DataTable::new(1, headings);
    for user in &users {
        data.push([
            DataCell::text(number(user.user)),
            DataCell::shown(format!("{:.2}%", share(user) * 100.0), share(user)),
            DataCell::count(user.jobs as u64),
            DataCell::shown(readable_duration(user.wait_mean), user.wait_mean),
            DataCell::shown(readable_duration(user.base_wait_mean), user.base_wait_mean),
            DataCell::shown(signed_duration(gain(user)), gain(user)),
            DataCell::shown(if user.loses { "yes" } else { "no" }, f64::from(u8::from(user.loses))),
        ]);
    }
    let rest = match count - users.len() {
        0 => String::new(),
        left_out => format!(" {} with the least area are left out.", counted(left_out as u64, "user")),
    };
    Figure {
        title: format!("{name}: who gains, who pays"),
        legend: vec![
            (Mark::Box("fup", 75), "does not lose (circle)".to_string()),
            (Mark::Box("fdn", 75), "loses (triangle)".to_string()),
        ],
        picture,
        caption: format!(
            "One point per user, above 0 if the user's jobs wait less than under {}. {} of {} lose: their mean wait is \
             over 1.1 times that of the baseline and over a minute more. The largest users have their numbers.{rest}",
            super::outside(base_name),
            grouped(losers as u64),
            counted(count as u64, "user")
        ),
        data: data.sortable(),
        wide: false,
    }
}

/// A duration with its sign.
fn signed_duration(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "-" } else { "" };
    format!("{sign}{}", readable_duration(seconds.abs()))
}
