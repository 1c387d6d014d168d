//! The schedule of a window: processors or nodes against time, jobs as boxes.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Chart, ChartFigure, Compared, DataCell, DataTable, Draw, Frame, Mark, gone};
use crate::html::axis::ChartAxis;
use crate::html::figure::ChartPicture;
use crate::html::frame::{Band, Inside, WIDTH};
use crate::html::outside;
use crate::html::svg::{Drawing, Ink, fitted};
use crate::metrics::{Gantt, GanttJob, GanttNode, NodeGrants};
use crate::sort::sort_by_key;
use crate::text::counted;
use crate::time::{DAY, HOUR, MINUTE, Seconds, Time, date, readable_duration};
use crate::trace::{NameKind, ShownNames, Workload};
use shadowtime_core::machine::{Cluster, joined_names, total_of};
use shadowtime_core::tres::{Resource, Tres};

/// The chart.
pub const CHART: Chart = Chart {
    title: "The schedule of a window",
    probe: |_, _| Some(Box::<NodeGrants>::default()),
    draw: Draw::Together(|compared| Some(chart(compared))),
};

/// The width of the chart on a wide page, in units.
const WIDE: u32 = 900;

/// The height of the chart of one setting on a pool.
const HEIGHT: u32 = 330;

/// By what the boxes of a Gantt chart are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GanttColors {
    /// How long the jobs waited.
    Wait,
    /// The users with the most area in the window, each with a colour.
    User,
}

/// What a Gantt chart shows.
pub struct GanttData<'a> {
    /// In the times of the log.
    pub window: Range<Time>,
    /// The submission of the log's first job.
    pub first_submit: Time,
    /// By what boxes are coloured.
    pub colors: GanttColors,
    /// Whether the window was chosen, or given by the user.
    pub chosen: bool,
    /// The settings, from the top.
    pub settings: Vec<GanttSetting<'a>>,
}

/// A setting in a Gantt chart.
pub struct GanttSetting<'a> {
    /// Its name.
    pub name: String,
    /// Its jobs in the window.
    pub gantt: Gantt,
    /// Its jobs and its machine.
    pub workload: &'a Workload,
    /// The nodes that are shown, from the top. Empty on a pool.
    pub nodes: Vec<GanttNode>,
    /// How many others there are.
    pub nodes_left_out: usize,
}

impl GanttSetting<'_> {
    /// Its rows. The highest is that of the highest pool.
    fn rows(&self, highest: u32) -> Rows<'_> {
        if self.gantt.is_by_node() { Rows::Nodes(&self.nodes) } else { Rows::Pool(highest) }
    }

    /// Its nodes. None on a pool.
    fn cluster(&self) -> Option<&Cluster> {
        self.workload.shapes.as_ref().map(|shapes| &**shapes.cluster())
    }
}

/// The classes of waits: the longest of each, its name, and its opacity.
const WAITS: [(Seconds, &str, f64); 6] = [
    (0, "did not wait", 0.12),
    (10 * MINUTE, "waited up to 10 min", 0.26),
    (HOUR, "up to 1 h", 0.42),
    (6 * HOUR, "up to 6 h", 0.58),
    (DAY, "up to 1 d", 0.76),
    (Seconds::MAX, "longer", 1.0),
];

/// The users with colours of their own.
const COLORED_USERS: usize = 6;

/// The colours of the boxes, and their legend.
struct Colors<'a> {
    /// The users with colours; empty if waits are shown.
    users: Vec<i64>,
    by: GanttColors,
    names: &'a ShownNames,
}

impl<'a> Colors<'a> {
    fn of(data: &GanttData<'_>, names: &'a ShownNames) -> Colors<'a> {
        let mut areas: BTreeMap<i64, i128> = BTreeMap::new();
        for job in data.settings.iter().flat_map(|one| &one.gantt.jobs).filter(|job| job.user >= 0) {
            let ran = job.end.min(data.window.end) - job.start.max(data.window.start);
            *areas.entry(job.user).or_default() += i128::from(ran) * i128::from(job.procs);
        }
        let mut users: Vec<_> = areas.into_iter().collect();
        sort_by_key(&mut users, |(user, area)| (std::cmp::Reverse(*area), *user));
        let users = users.into_iter().take(COLORED_USERS).map(|(user, _)| user).collect();
        Colors { users, by: data.colors, names }
    }

    /// The colour of a job and its opacity.
    fn of_job(&self, job: &GanttJob) -> (Ink, f64) {
        match self.by {
            GanttColors::Wait => {
                let wait = job.start - job.submit;
                let class = WAITS.iter().find(|(longest, _, _)| wait <= *longest);
                (Ink::Plain(1), class.map_or(1.0, |class| class.2))
            }
            GanttColors::User => match self.users.iter().position(|user| *user == job.user) {
                Some(at) => (Ink::Plain(at + 1), 0.85),
                None => (Ink::Plain(0), 0.3),
            },
        }
    }

    /// A user in words.
    fn user(&self, number: i64) -> String {
        match number {
            ..0 => "an unknown user".to_string(),
            _ => format!("user {}", self.names.shown(NameKind::User, number)),
        }
    }

    fn legend(&self) -> Vec<(Mark, String)> {
        let mut legend: Vec<(Mark, String)> = match self.by {
            GanttColors::Wait => {
                WAITS.iter().map(|&(_, name, opacity)| (Mark::Box(Ink::Plain(1), opacity), name.to_string())).collect()
            }
            GanttColors::User => {
                let users = (1..).zip(&self.users);
                let users = users.map(|(at, user)| (Mark::Box(Ink::Plain(at), 0.85), self.user(*user)));
                users.chain([(Mark::Box(Ink::Plain(0), 0.3), "other users".to_string())]).collect()
            }
        };
        legend.push((Mark::Box(Ink::Text, 1.0), "backfilled (strong left edge)".to_string()));
        legend
    }
}

/// The height of a node in a chart, in units, and the part of it between two nodes.
const NODE: u32 = 19;
const GAP: f64 = 0.06;

/// How the rows of jobs become heights in the chart of a setting.
enum Rows<'a> {
    /// Each row is a processor. The highest is given.
    Pool(u32),
    /// Each node has the same height, whatever its CPUs.
    Nodes(&'a [GanttNode]),
}

impl Rows<'_> {
    /// The height of the chart, with room for the title of its time axis if it is the last.
    fn height(&self, is_last: bool) -> u32 {
        match self {
            Rows::Pool(_) => HEIGHT,
            Rows::Nodes(nodes) => 50 + 18 * u32::from(is_last) + NODE * nodes.len().max(4) as u32,
        }
    }

    fn axis(&self) -> ChartAxis {
        match self {
            Rows::Pool(highest) => ChartAxis::counts(f64::from(*highest)),
            Rows::Nodes(nodes) => ChartAxis::names(
                &nodes.iter().rev().map(|node| fitted(&outside(&node.name), NAMES)).collect::<Vec<_>>(),
            ),
        }
    }

    /// What is out or reserved: of a pool the highest processors.
    fn bands(&self, workload: &Workload, window: &Range<Time>) -> Vec<Band> {
        let axis = self.axis();
        match self {
            Rows::Pool(_) => {
                let top = axis.place(workload.procs.into());
                let mut bands = gone::hanging(workload, window);
                bands.iter_mut().for_each(|band| band.y = (band.y.0 * top, band.y.1 * top));
                bands
            }
            Rows::Nodes(nodes) => gone::of_nodes(workload, window, |name| {
                let at = nodes.len() - 1 - nodes.iter().position(|node| node.name == name)?;
                Some((axis.place(at as f64), axis.place((at + 1) as f64)))
            }),
        }
    }

    /// From where to where some rows are. None if their node is not shown.
    fn span(&self, rows: &Range<u32>) -> Option<(f64, f64)> {
        let Rows::Nodes(nodes) = self else { return Some((f64::from(rows.start), f64::from(rows.end))) };
        let at = nodes.partition_point(|node| node.rows.end <= rows.start);
        let node = nodes.get(at).filter(|node| node.rows.contains(&rows.start))?;
        let place = |row: u32| {
            let share = f64::from(row - node.rows.start) / f64::from(node.rows.end - node.rows.start);
            (nodes.len() - 1 - at) as f64 + GAP + share * (1.0 - 2.0 * GAP)
        };
        Some((place(rows.start), place(rows.end)))
    }
}

/// The most room for the names of nodes, in units.
const NAMES: f64 = 120.0;

fn chart(compared: &Compared<'_>) -> ChartFigure {
    let data = compared.gantt;
    let colors = Colors::of(data, &compared.workload.names);
    let length = (data.window.end - data.window.start) as f64;
    let highest = data.settings.iter().flat_map(|one| &one.gantt.jobs).flat_map(|job| &job.rows).map(|row| row.end);
    let highest = highest.chain(data.settings.iter().map(|one| one.workload.procs)).max().unwrap_or(0);
    let is_last = |at: usize| at + 1 == data.settings.len();
    let heights = data.settings.iter().enumerate().map(|(at, one)| one.rows(highest).height(is_last(at)));
    let all: u32 = heights.sum();
    let by_node = data.settings.iter().any(|one| one.gantt.is_by_node());
    let names: Vec<&str> = data.settings.iter().map(|one| one.name.as_str()).collect();
    let against = if by_node { "nodes" } else { "processors" };
    let label = format!("Gantt chart of {}: jobs as boxes, {against} against time", names.join(" and "));
    let draw = |width: u32| {
        let mut drawing = Drawing::new((width, all));
        let mut from = 0;
        for (at, one) in data.settings.iter().enumerate() {
            let GanttSetting { name, gantt, workload, .. } = one;
            let rows = one.rows(highest);
            let height = rows.height(is_last(at));
            let what = if gantt.is_by_node() { "nodes" } else { "processors" };
            let title = format!("{}: {what}", fitted(name, f64::from(width) - 120.0));
            let x_title = if is_last(at) { "time since the beginning of the window" } else { "" };
            let x = (ChartAxis::time_between(0.0, length), x_title);
            let bands = rows.bands(workload, &data.window);
            let frame =
                Frame { height, bands, grid: (true, false), ..Frame::new("", x, (rows.axis(), title.as_str())) };
            frame.draw_on(&mut drawing, f64::from(from), |drawing, inside| {
                let place = ChartPlace { rows: &rows, inside, window: &data.window, has_tips: width == WIDE };
                gantt.jobs.iter().for_each(|job| draw_job(drawing, &place, job, one.cluster(), &colors));
                if let Rows::Pool(_) = rows {
                    let top = f64::from(workload.procs);
                    drawing.line([inside.at(0.0, top), inside.at(length, top)], Ink::Axis, 1.0);
                }
            });
            from += height;
        }
        drawing.finish(&label)
    };
    let mut legend = colors.legend();
    for (mark, name) in data.settings.iter().flat_map(|one| gone::legend(one.workload, &data.window)) {
        if legend.iter().all(|(_, other)| *other != name) {
            legend.push((mark, name));
        }
    }
    ChartFigure {
        legend,
        picture: ChartPicture { narrow: draw(WIDTH), wide: draw(WIDE) },
        caption: caption(compared, by_node),
        data: table(data, colors.names, by_node),
        is_full: true,
        ..ChartFigure::default()
    }
}

fn caption(compared: &Compared<'_>, by_node: bool) -> String {
    let data = compared.gantt;
    let since = |time: Time| readable_duration((time - data.first_submit) as f64);
    let begin = compared.workload.unix_start.map(|start| format!(", on {} (UTC)", date(start + data.window.start)));
    let begin = begin.unwrap_or_default();
    let (from, to) = (since(data.window.start), since(data.window.end));
    let why = if data.chosen { "This is the time in which the most area waits. " } else { "" };
    let left_out: usize = data.settings.iter().map(|one| one.gantt.left_out).max().unwrap_or(0);
    let left_out = match left_out {
        0 => String::new(),
        jobs => format!(" The {} with the fewest processors are left out.", counted(jobs as u64, "job")),
    };
    let nodes_left_out = match data.settings.iter().map(|one| one.nodes_left_out).max().unwrap_or(0) {
        0 => String::new(),
        nodes => {
            format!(" {} with the least CPU time in the window are left out.", counted(nodes as u64, "other node"))
        }
    };
    let boxes = match by_node {
        true => format!(
            "Each row is a node, and each box a job on it: its width is its runtime, its height the share of the node's CPUs \
             that it was given. Gaps are idle CPUs; a node that looks idle may have no memory left.{nodes_left_out} The \
             simulation counts the CPUs of a node and does not number them: here each job has the lowest that are free when \
             it starts, so one job may be several boxes."
        ),
        false => "Each box is a job: its width is its runtime, its height its processors. Gaps are idle processors. The \
                  simulation counts processors and does not number them: here each job has the lowest that are free when it \
                  starts, so one job may be several boxes."
            .to_string(),
    };
    format!("From {from} to {to} after the first submission{begin}. {why}{boxes}{left_out}")
}

/// The chart of one setting.
struct ChartPlace<'a> {
    rows: &'a Rows<'a>,
    inside: &'a Inside<'a>,
    window: &'a Range<Time>,
    /// Whether boxes have tooltips. Where a page is narrow, few readers could see them.
    has_tips: bool,
}

/// What a job has, in words: its processors, or what it was given of the nodes.
fn what_it_has(job: &GanttJob, cluster: Option<&Cluster>) -> String {
    let Some(cluster) = cluster.filter(|_| !job.shares.is_empty()) else {
        return counted(job.procs.into(), "processor");
    };
    let (given, nodes) = given_to(job, cluster);
    let is_said = |kind: &Resource| *kind == Resource::Cpus || given[*kind] > 0;
    let amounts = Resource::OF_NODES.into_iter().filter(is_said).map(|kind| kind.in_words(given[kind]));
    format!("{} on {nodes}", amounts.collect::<Vec<_>>().join(", "))
}

/// What a job was given, all together, and the names of its nodes.
fn given_to(job: &GanttJob, cluster: &Cluster) -> (Tres, String) {
    let names = job.shares.iter().map(|share| cluster.nodes[share.node as usize].name.as_str());
    (total_of(&job.shares), outside(&joined_names(names)))
}

fn draw_job(
    drawing: &mut Drawing,
    place: &ChartPlace<'_>,
    job: &GanttJob,
    cluster: Option<&Cluster>,
    colors: &Colors<'_>,
) {
    let ChartPlace { rows, inside, window, .. } = place;
    let (from, to) = (job.start.max(window.start) - window.start, job.end.min(window.end) - window.start);
    let (from, to) = (from as f64, to as f64);
    let spans: Vec<(f64, f64)> = job.rows.iter().filter_map(|row| rows.span(row)).collect();
    if spans.is_empty() {
        return;
    }
    let title = format!(
        "job {} of {}: {}, waited {}, ran {}{}",
        job.number,
        colors.user(job.user),
        what_it_has(job, cluster),
        readable_duration((job.start - job.submit) as f64),
        readable_duration((job.end - job.start) as f64),
        if job.backfilled { ", backfilled" } else { "" }
    );
    let (ink, opacity) = colors.of_job(job);
    let boxes = |drawing: &mut Drawing| {
        for &(low, high) in &spans {
            drawing.tile(inside.at(from, low), inside.at(to, high), ink, opacity);
            if job.backfilled && job.start >= window.start {
                drawing.line([inside.at(from, low), inside.at(from, high)], Ink::Text, 1.2);
            }
        }
    };
    if place.has_tips { drawing.titled(&title, boxes) } else { boxes(drawing) }
}

/// The jobs of all settings. A job that runs in the window under one setting only has no times of the other. If some are on nodes
/// there is also what each job was given.
fn table(data: &GanttData<'_>, names: &ShownNames, by_node: bool) -> DataTable {
    let mut headings = ["job", "user", "processors", "submitted"].map(str::to_string).to_vec();
    for GanttSetting { name, .. } in &data.settings {
        headings.extend(["start", "end", "wait", "was backfilled"].map(|what| format!("{what}, {name}")));
        if by_node {
            let heading = |kind: Resource| if kind == Resource::Memory { "memory in MB" } else { kind.many() };
            let given = Resource::OF_NODES.map(heading).into_iter();
            headings.extend(std::iter::once("nodes").chain(given).map(|what| format!("{what}, {name}")));
        }
    }
    let mut jobs: BTreeMap<(Time, u32), Vec<Option<&GanttJob>>> = BTreeMap::new();
    for (at, one) in data.settings.iter().enumerate() {
        for job in &one.gantt.jobs {
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
        let user = match names.name(NameKind::User, first.user) {
            Some(name) => DataCell::text(name),
            None => DataCell::shown(names.shown(NameKind::User, first.user.max(-1)), first.user as f64),
        };
        let mut row = vec![
            DataCell::text(first.number.to_string()),
            user,
            DataCell::count(first.procs.into()),
            time(first.submit),
        ];
        for (job, one) in settings.into_iter().zip(&data.settings) {
            row.extend(match job {
                None => [const { "-" }; 4].map(DataCell::text),
                Some(job) => [
                    time(job.start),
                    time(job.end),
                    DataCell::duration((job.start - job.submit) as f64),
                    DataCell::shown(if job.backfilled { "yes" } else { "no" }, f64::from(u8::from(job.backfilled))),
                ],
            });
            let given = job.filter(|job| !job.shares.is_empty()).zip(one.cluster());
            match given.map(|(job, cluster)| given_to(job, cluster)) {
                _ if !by_node => {}
                None => row.extend([const { "-" }; Resource::OF_NODES.len() + 1].map(DataCell::text)),
                Some((given, nodes)) => {
                    row.push(DataCell::text(nodes));
                    row.extend(Resource::OF_NODES.map(|kind| DataCell::count(given[kind])));
                }
            }
        }
        table.push(row);
    }
    table
}
