//! The schedule of a window: processors against time, jobs as boxes.

use std::collections::BTreeMap;
use std::ops::Range;

use plotters::prelude::*;

use super::axis::Axis;
use super::data_table::{DataCell, DataTable};
use super::figure::{Figure, Mark};
use super::plot::{Chart, Frame, line, put, units};
use super::svg::{Canvas, Ink, TEXT};
use super::text_width::text_width;
use crate::metrics::{Gantt, GanttJob};
use crate::text::{counted, grouped};
use crate::time::{DAY, HOUR, MINUTE, Seconds, Time, readable_duration};

/// The size of the chart of one setting, in units.
const SIZE: (u32, u32) = (900, 330);

/// By what the boxes of a Gantt chart are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GanttColors {
    /// How long the jobs waited.
    Wait,
    /// The users with the most area in the window, each with a colour.
    User,
}

/// What a Gantt chart shows.
pub struct GanttData {
    /// In the times of the log.
    pub window: Range<Time>,
    /// The submission of the log's first job.
    pub first_submit: Time,
    /// The processors of the machine.
    pub procs: u32,
    /// By what boxes are coloured.
    pub colors: GanttColors,
    /// Whether the window was chosen, or given by the user.
    pub chosen: bool,
    /// The settings with their jobs, from the top.
    pub settings: Vec<(String, Gantt)>,
}

/// The classes of waits: the longest of each, its name, and its opacity in percent.
const WAITS: [(Seconds, &str, u32); 6] = [
    (0, "did not wait", 12),
    (10 * MINUTE, "waited up to 10 min", 26),
    (HOUR, "up to 1 h", 42),
    (6 * HOUR, "up to 6 h", 58),
    (DAY, "up to 1 d", 76),
    (Seconds::MAX, "longer", 100),
];

/// The users with colours of their own.
const COLORED_USERS: usize = 6;

const CLASSES: [&str; 8] = ["fp0", "fp1", "fp2", "fp3", "fp4", "fp5", "fp6", "fp7"];

/// The colours of the boxes, and their legend.
struct Colors {
    /// The users with colours; empty if waits are shown.
    users: Vec<i64>,
    by: GanttColors,
}

impl Colors {
    fn of(data: &GanttData) -> Colors {
        let mut areas: BTreeMap<i64, i128> = BTreeMap::new();
        for job in data.settings.iter().flat_map(|(_, gantt)| &gantt.jobs).filter(|job| job.user >= 0) {
            let ran = job.end.min(data.window.end) - job.start.max(data.window.start);
            *areas.entry(job.user).or_default() += i128::from(ran) * i128::from(job.procs);
        }
        let mut users: Vec<_> = areas.into_iter().collect();
        users.sort_by_key(|(user, area)| (std::cmp::Reverse(*area), *user));
        let users = users.into_iter().take(COLORED_USERS).map(|(user, _)| user).collect();
        Colors { users, by: data.colors }
    }

    fn of_job(&self, job: &GanttJob) -> RGBAColor {
        match self.by {
            GanttColors::Wait => {
                let wait = job.start - job.submit;
                let class = WAITS.iter().find(|(longest, _, _)| wait <= *longest).unwrap_or(&WAITS[WAITS.len() - 1]);
                Ink::Plain(1).color().mix(f64::from(class.2) / 100.0)
            }
            GanttColors::User => match self.users.iter().position(|user| *user == job.user) {
                Some(at) => Ink::Plain(at + 1).color().mix(0.85),
                None => Ink::Plain(0).color().mix(0.3),
            },
        }
    }

    fn legend(&self) -> Vec<(Mark, String)> {
        let mut legend: Vec<(Mark, String)> = match self.by {
            GanttColors::Wait => {
                WAITS.iter().map(|&(_, name, opacity)| (Mark::Box("fp1", opacity), name.to_string())).collect()
            }
            GanttColors::User => {
                let users = self.users.iter().zip(&CLASSES[1..]);
                let users = users.map(|(user, class)| (Mark::Box(class, 85), format!("user {user}")));
                users.chain([(Mark::Box("fp0", 30), "other users".to_string())]).collect()
            }
        };
        legend.push((Mark::Box("edge", 100), "backfilled (strong left edge)".to_string()));
        legend.push((Mark::Lead, "leads from a start to the one that was first reserved".to_string()));
        legend
    }
}

/// The chart.
pub fn gantt(data: &GanttData) -> Figure {
    let colors = Colors::of(data);
    let length = (data.window.end - data.window.start) as f64;
    let count = data.settings.len() as u32;
    let canvas = Canvas::new(SIZE.0, SIZE.1 * count);
    let root = canvas.clone().into_drawing_area();
    let areas = root.split_evenly((count as usize, 1));
    let highest = data.settings.iter().flat_map(|(_, gantt)| &gantt.jobs).flat_map(|job| &job.rows).map(|row| row.end);
    let highest = highest.max().unwrap_or(0).max(data.procs);
    for (at, ((name, gantt), area)) in data.settings.iter().zip(&areas).enumerate() {
        let is_last = at + 1 == data.settings.len();
        let title = format!("{}: processors", fitted(name, f64::from(SIZE.0) - 120.0));
        let frame = Frame {
            size: SIZE,
            label: "",
            x: Axis::time(length),
            y: Axis::counts(f64::from(highest)),
            x_title: if is_last { "time since the beginning of the window" } else { "" },
            y_title: &title,
            grid: (true, false),
        };
        frame.draw_on(area, &canvas, |chart, canvas| {
            gantt.jobs.iter().for_each(|job| draw_job(chart, canvas, job, &data.window, &colors));
            // Above all boxes.
            for (job, reserved) in gantt.jobs.iter().filter_map(|job| Some((job, job.reserved?))) {
                draw_reservation(chart, job, reserved, &data.window);
            }
            let top = f64::from(data.procs);
            put(chart, PathElement::new(vec![(0.0, top), (length, top)], line(Ink::Axis, 1.0)));
        });
    }
    let names: Vec<&str> = data.settings.iter().map(|(name, _)| name.as_str()).collect();
    let label = format!("Gantt chart of {}: jobs as boxes, processors against time", names.join(" and "));
    let picture = canvas.finish(&label);
    let since = |time: Time| readable_duration((time - data.first_submit) as f64);
    let (from, to) = (since(data.window.start), since(data.window.end));
    let why = if data.chosen { "This is the time in which the most area waits. " } else { "" };
    let left_out: usize = data.settings.iter().map(|(_, gantt)| gantt.left_out).max().unwrap_or(0);
    let left_out = match left_out {
        0 => String::new(),
        jobs => format!(" The {} with the fewest processors are left out.", counted(jobs as u64, "job")),
    };
    Figure {
        title: "The schedule of a window".to_string(),
        legend: colors.legend(),
        picture,
        caption: format!(
            "From {from} to {to} after the first submission. {why}Each box is a job: its width is its runtime, its height its \
             processors. Gaps are idle processors. The simulation counts processors and does not number them: here each \
             job has the lowest that are free when it starts, so one job may be several boxes. A thin line \
             leads from the start of a job to the start that the scheduler reserved for it when it first had a reservation: \
             to the right if the job started earlier.{left_out}"
        ),
        data: table(data),
        wide: true,
    }
}

fn draw_job(chart: &mut Chart<'_>, canvas: &Canvas, job: &GanttJob, window: &Range<Time>, colors: &Colors) {
    let (from, to) = (job.start.max(window.start) - window.start, job.end.min(window.end) - window.start);
    let user = if job.user < 0 { "an unknown user".to_string() } else { format!("user {}", job.user) };
    let title = format!(
        "job {} of {user}: {}, waited {}, ran {}{}",
        job.number,
        counted(job.procs.into(), "processor"),
        readable_duration((job.start - job.submit) as f64),
        readable_duration((job.end - job.start) as f64),
        job.reserved.map_or_else(
            || if job.backfilled { ", backfilled".to_string() } else { String::new() },
            |reserved| format!(
                ", {}{}",
                if job.backfilled { "backfilled, " } else { "" },
                compared(job.start, reserved)
            )
        )
    );
    canvas.with_title(&title, || {
        for row in &job.rows {
            let (low, high) = (f64::from(row.start), f64::from(row.end));
            let corners = [(from as f64, low), (to as f64, high)];
            put(chart, Rectangle::new(corners, colors.of_job(job).filled()));
            if job.backfilled && job.start >= window.start {
                let edge = vec![(from as f64, low), (from as f64, high)];
                put(chart, PathElement::new(edge, Ink::Text.color().stroke_width(units(1.2) as u32)));
            }
        }
    });
}

/// How a start compares with the one that was first reserved.
fn compared(start: Time, reserved: Time) -> String {
    match start - reserved {
        0 => "when first reserved".to_string(),
        late @ 1.. => format!("{} after its first reservation", readable_duration(late as f64)),
        early => format!("{} before its first reservation", readable_duration(-early as f64)),
    }
}

/// Leads from the start of a job to the start that was first reserved for it.
fn draw_reservation(chart: &mut Chart<'_>, job: &GanttJob, reserved: Time, window: &Range<Time>) {
    let Some(row) = job.rows.iter().max_by_key(|row| row.len()).filter(|_| job.start >= window.start) else { return };
    let height = f64::from(row.start + row.end) / 2.0;
    let x = |time: Time| (time.clamp(window.start, window.end) - window.start) as f64;
    put(chart, PathElement::new(vec![(x(job.start), height), (x(reserved), height)], line(Ink::Text, 0.6)));
    if window.contains(&reserved) {
        let mark = |(x, y)| {
            EmptyElement::at((x, y)) + PathElement::new(vec![(0, units(-2.5)), (0, units(2.5))], line(Ink::Text, 1.0))
        };
        put(chart, mark((x(reserved), height)));
    }
}

/// The jobs of all settings. A job that runs in the window under one setting only has no times of the other.
fn table(data: &GanttData) -> DataTable {
    let mut headings = ["job", "user", "processors", "submitted"].map(str::to_string).to_vec();
    for (name, _) in &data.settings {
        headings.extend(
            ["start", "end", "wait", "was backfilled", "first reserved start"].map(|what| format!("{what}, {name}")),
        );
    }
    let mut jobs: BTreeMap<(Time, u32), Vec<Option<&GanttJob>>> = BTreeMap::new();
    for (at, (_, gantt)) in data.settings.iter().enumerate() {
        for job in &gantt.jobs {
            jobs.entry((job.submit, job.record)).or_insert_with(|| vec![None; data.settings.len()])[at] = Some(job);
        }
    }
    let mut table = DataTable::new(1, headings).sortable();
    let time = |time: Time| {
        let since = time - data.first_submit;
        let clock = format!(
            "{}d {:02}:{:02}:{:02}",
            since.div_euclid(DAY),
            since.rem_euclid(DAY) / HOUR,
            since.rem_euclid(HOUR) / MINUTE,
            since.rem_euclid(MINUTE)
        );
        DataCell::shown(clock, since as f64)
    };
    for settings in jobs.into_values() {
        let Some(first) = settings.iter().flatten().next() else { continue };
        let user = if first.user < 0 { "unknown".to_string() } else { first.user.to_string() };
        let mut row = vec![
            DataCell::text(first.number.to_string()),
            DataCell::shown(user, first.user as f64),
            DataCell::shown(grouped(first.procs.into()), f64::from(first.procs)),
            time(first.submit),
        ];
        for job in settings {
            row.extend(match job {
                None => [const { "-" }; 5].map(DataCell::text),
                Some(job) => [
                    time(job.start),
                    time(job.end),
                    DataCell::shown(
                        readable_duration((job.start - job.submit) as f64),
                        (job.start - job.submit) as f64,
                    ),
                    DataCell::shown(if job.backfilled { "yes" } else { "no" }, f64::from(u8::from(job.backfilled))),
                    job.reserved.map_or(DataCell::text("-"), time),
                ],
            });
        }
        table.push(row);
    }
    table
}

/// The beginning of a text that is not wider than this number of units.
fn fitted(text: &str, room: f64) -> String {
    let text = super::outside(text);
    if text_width(&text) * f64::from(TEXT) <= room {
        return text;
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if text_width(&kept) * f64::from(TEXT) > room - 20.0 {
            break;
        }
    }
    format!("{kept}...")
}
