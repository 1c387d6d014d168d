//! Keeps what the charts of a report show of each run, while the runs pass.

use std::ops::Range;

use super::Window;
use crate::engine::RunRecord;
use crate::experiment::{Setting, SettingRun, Settings};
use crate::metrics::{Gantt, Pictures, ReservedStarts, Users, busiest_window, shrink_window};
use crate::report::html::PicturedSetting;
use crate::time::Time;
use crate::trace::Workload;

/// What charts show of a run.
pub struct RunCharts {
    pub pictures: Pictures,
    pub users: Users,
}

impl RunCharts {
    fn of(run: &SettingRun) -> RunCharts {
        let pictures = run.pictures.clone().expect("they were asked for");
        RunCharts { pictures, users: run.users.clone() }
    }

    /// With the name of its setting.
    pub fn pictured(&self, name: &str) -> PicturedSetting<'_> {
        PicturedSetting { name: name.to_string(), pictures: &self.pictures, users: &self.users }
    }
}

/// Takes the runs one after the other. The record of a run is not kept, with one exception: see [`Charts::first`].
pub struct Charts {
    names: Vec<String>,
    base_name: Option<String>,
    wanted: Option<Window>,
    baseline: Option<RunCharts>,
    settings: Vec<RunCharts>,
    /// Without a baseline, the schedule of the first of several settings, until the second is there.
    first: Option<(RunRecord, ReservedStarts)>,
    gantt: Option<anyhow::Result<GanttCharts>>,
}

/// The Gantt charts of one or two settings, from the top.
struct GanttCharts {
    window: Range<Time>,
    settings: Vec<(String, Gantt)>,
}

/// All charts of a report.
pub struct AllCharts {
    pub baseline: Option<RunCharts>,
    /// In the order of the settings.
    pub settings: Vec<RunCharts>,
    pub window: Range<Time>,
    pub gantts: Vec<(String, Gantt)>,
}

impl Charts {
    pub fn new(settings: &Settings, wanted: Option<Window>) -> Charts {
        Charts {
            names: settings.options.iter().map(|options| options.setting().pair()).collect(),
            base_name: settings.options[0].baseline.as_ref().map(Setting::pair),
            wanted,
            baseline: None,
            settings: Vec::new(),
            first: None,
            gantt: None,
        }
    }

    /// Adds the next setting.
    pub fn add(&mut self, workload: &Workload, run: &SettingRun, baseline: Option<&SettingRun>) {
        let (at, is_last) = (self.settings.len(), self.settings.len() + 1 == self.names.len());
        if self.baseline.is_none() {
            self.baseline = baseline.map(RunCharts::of);
        }
        self.settings.push(RunCharts::of(run));
        if self.gantt.is_some() {
            return;
        }
        let name = self.names[at].clone();
        let own = (name.clone(), &run.record, &run.reserved);
        let runs = match (baseline, self.base_name.clone(), &self.first) {
            // A setting that is the baseline would be shown twice.
            (Some(base), Some(base_name), _) if base.summary == run.summary && base_name == name && !is_last => return,
            (Some(base), Some(base_name), _) => vec![(base_name, &base.record, &base.reserved), own],
            (_, _, Some((record, reserved))) => vec![(self.names[0].clone(), record, reserved), own],
            (_, _, None) if is_last => vec![own],
            (_, _, None) => {
                self.first = Some((run.record.clone(), run.reserved.clone()));
                return;
            }
        };
        self.gantt = Some(gantt(workload, self.wanted, &runs));
        self.first = None;
    }

    /// After the last setting.
    pub fn finish(self) -> anyhow::Result<AllCharts> {
        let GanttCharts { window, settings: gantts } = self.gantt.expect("there is at least one setting")?;
        Ok(AllCharts { baseline: self.baseline, settings: self.settings, window, gantts })
    }
}

/// The window is that of the first run.
fn gantt(
    workload: &Workload,
    wanted: Option<Window>,
    runs: &[(String, &RunRecord, &ReservedStarts)],
) -> anyhow::Result<GanttCharts> {
    let records: Vec<&RunRecord> = runs.iter().map(|(_, record, _)| *record).collect();
    let window = match wanted {
        Some(window) => window.times(workload)?,
        None => busiest_window(workload, records[0]),
    };
    let window = shrink_window(window, workload, &records);
    let chart = |record, reserved| Gantt::of(workload, record, reserved, &window);
    let settings = runs.iter().map(|(name, record, reserved)| (name.clone(), chart(record, reserved))).collect();
    Ok(GanttCharts { window, settings })
}
