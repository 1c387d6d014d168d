//! Users: how their waits change, against their share of the machine.

use super::{Chart, ChartFigure, Compared, DataCell, DataTable, Draw, Frame, Mark, PicturedSetting};
use crate::html::axis::ChartAxis;
use crate::html::frame::{Inside, TALL};
use crate::html::svg::{Anchor, Drawing, Ink, Point, drawn_width};
use crate::metrics::UserChange;
use crate::sort::sort_by_key;
use crate::text::{counted, grouped};
use crate::time::readable_duration;
use crate::trace::NameKind;

/// The chart of a setting in comparison with the first.
pub const CHART: Chart = Chart { title: "who gains, who pays", probe: |_, _| None, draw: Draw::Against(chart) };

/// The most users of a chart.
const MOST_USERS: usize = 1000;

/// How many of the largest users are named.
const NAMED: usize = 8;

/// A text within a chart, in units.
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

    /// Whether a point is in it, or touches it.
    fn has(&self, (x, y): Point) -> bool {
        (self.left - 3.0..self.right + 3.0).contains(&x) && (self.top - 3.0..self.bottom + 3.0).contains(&y)
    }
}

fn chart(compared: &Compared<'_>, base: &PicturedSetting<'_>, setting: &PicturedSetting<'_>) -> ChartFigure {
    let (name, base_name) = (&setting.name, &base.name);
    let shown = |code: i32| compared.workload.shown(NameKind::User, code);
    let mut users: Vec<UserChange> = setting.users.against(base.users).collect();
    let all: i128 = users.iter().map(|user| user.area).sum();
    let (count, losers) = (users.len(), users.iter().filter(|user| user.loses).count());
    sort_by_key(&mut users, |user| (std::cmp::Reverse(user.area), user.user));
    users.truncate(MOST_USERS);
    let share = |user: &UserChange| user.area as f64 / all as f64;
    let gain = |user: &UserChange| user.base_wait_mean - user.wait_mean;
    let least = users.iter().map(share).fold(1.0, f64::min).max(1e-6);
    let most = users.iter().map(|user| gain(user).abs()).fold(0.0, f64::max);
    // Rounded: 0.07 * 100 is a little more than 7.
    let percent = |share: f64| format!("{}%", (share * 1e8).round() / 1e6);
    let label = format!("Change of the mean wait of each user of {name} against {base_name}, by share of the area");
    let x = (ChartAxis::numbers(least * 0.8, 1.0, percent), "share of the area (processors times runtime)");
    let y = (ChartAxis::differences(most), "mean wait saved");
    let frame = Frame { height: TALL, ..Frame::new(&label, x, y) };
    let picture = frame.draw(|drawing, inside| {
        for user in users.iter().rev() {
            let ink = if user.loses { Ink::Loss } else { Ink::Gain };
            let title = format!(
                "user {}: {:.2}% of the area, {}, mean wait {} instead of {}",
                shown(user.user),
                share(user) * 100.0,
                counted(user.jobs as u64, "job"),
                readable_duration(user.wait_mean),
                readable_duration(user.base_wait_mean)
            );
            let point = inside.at(share(user), gain(user));
            drawing.titled(&title, |drawing| drawing.point(point, 3.4, ink, 0.75));
        }
        let points: Vec<Point> = users.iter().map(|user| inside.at(share(user), gain(user))).collect();
        name_points(drawing, inside, &points, users.iter().take(NAMED).map(|user| shown(user.user)));
    });
    let headings = ["user", "share of the area", "jobs", "mean wait", "mean wait in the baseline", "saved", "loses"];
    let mut data = DataTable::new(1, headings);
    for user in &users {
        data.push([
            DataCell::text(shown(user.user)),
            DataCell::shown(format!("{:.2}%", share(user) * 100.0), share(user)),
            DataCell::count(user.jobs as u64),
            DataCell::duration(user.wait_mean),
            DataCell::duration(user.base_wait_mean),
            DataCell::shown(signed_duration(gain(user)), gain(user)),
            DataCell::shown(if user.loses { "yes" } else { "no" }, f64::from(u8::from(user.loses))),
        ]);
    }
    let labels = if compared.workload.names.has(NameKind::User) { "names" } else { "numbers" };
    let rest = match count - users.len() {
        0 => String::new(),
        left_out => format!(" {} with the least area are left out.", counted(left_out as u64, "user")),
    };
    ChartFigure {
        legend: vec![
            (Mark::Box(Ink::Gain, 0.75), "does not lose (circle)".to_string()),
            (Mark::Box(Ink::Loss, 0.75), "loses (triangle)".to_string()),
        ],
        picture,
        caption: format!(
            "One point per user, above 0 if the user's jobs wait less than {}. {} of {} lose: their mean wait is \
             over 1.1 times that of the baseline and over a minute more. The largest users have their {labels}.{rest}",
            compared.in_base(),
            grouped(losers as u64),
            counted(count as u64, "user")
        ),
        data: data.sortable(),
        ..ChartFigure::default()
    }
}

/// Writes the names of the first points beside them, on the side where they cover the fewest points, if no other name is there.
fn name_points(drawing: &mut Drawing, inside: &Inside<'_>, points: &[Point], names: impl Iterator<Item = String>) {
    let mut labels: Vec<LabelBox> = Vec::new();
    for (name, &(x, y)) in names.zip(points) {
        let wide = drawn_width(&name);
        let at =
            |left: f64, middle: f64| LabelBox { left, top: middle - 7.0, right: left + wide, bottom: middle + 7.0 };
        let tries = [at(x + 6.0, y), at(x - 6.0 - wide, y), at(x - wide / 2.0, y - 12.0), at(x - wide / 2.0, y + 12.0)];
        let is_free = |label: &LabelBox| {
            let is_inside = label.left > inside.left + 2.0
                && label.right < inside.right
                && label.top > inside.top
                && label.bottom < inside.bottom;
            is_inside && !labels.iter().any(|other| other.meets(label))
        };
        let covered = |label: &LabelBox| points.iter().filter(|point| label.has(**point)).count();
        if let Some(label) = tries.into_iter().filter(is_free).min_by_key(covered) {
            drawing.outlined_text((label.left, (label.top + label.bottom) / 2.0), Anchor::Right, &name);
            labels.push(label);
        }
    }
}

/// A duration with its sign.
fn signed_duration(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "-" } else { "" };
    format!("{sign}{}", readable_duration(seconds.abs()))
}
