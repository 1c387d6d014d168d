//! How near the site of `--what-if` comes to the recorded waits. The run of the site that its changes are compared with says it.

use super::settings::LogUnderSettings;
use crate::fidelity::{
    ComparedWaits, DEFAULT_WINDOW, FidelityFigures, NO_WAITS, RecordedWaits, SITE_COLUMN, SiteVerdict, known_in_words,
    verdict_in_words,
};
use crate::metrics::{Cell, Watched};
use crate::runs::Simulated;

/// What the run of the site says.
pub struct KnownSite {
    /// Whether jobs are submitted as they were when the waits were recorded.
    is_comparable: bool,
    /// None if the log has no recorded waits.
    figures: Option<FidelityFigures>,
    /// SCHEDULER/PREDICTOR.
    name: String,
}

impl KnownSite {
    /// Watches the run of the site.
    pub fn watch(log: &LogUnderSettings, watched: &mut Watched<'_>) {
        if is_comparable(log) {
            // A change may have other jobs.
            watched.add_some(|workload, measure| {
                let recorded = RecordedWaits::of(workload, measure, DEFAULT_WINDOW, &[]).ok()?;
                Some(Box::new(ComparedWaits::new(recorded.into())))
            });
        }
    }

    /// Of the run of the site, which was watched.
    pub fn of(log: &LogUnderSettings, run: &Simulated) -> KnownSite {
        let figures = run.seen.get::<ComparedWaits>().map(|compared| compared.comparison().figures);
        KnownSite { is_comparable: is_comparable(log), figures, name: log.settings[0].setting().pair() }
    }

    /// For the first lines. None if its waits are not to be compared.
    pub fn in_words(&self) -> Option<String> {
        let verdict = self.figures.map(|figures| verdict_in_words(&self.name, &figures));
        self.is_comparable.then(|| known_in_words(verdict.as_deref().unwrap_or(NO_WAITS)))
    }

    /// Whether it is another site.
    pub fn is_far(&self) -> bool {
        self.figures.is_some_and(|figures| figures.verdict() == SiteVerdict::NotThisSite)
    }

    /// For each row.
    pub fn cell(&self) -> (String, Cell) {
        let verdict = self.figures.map(|figures| Cell::Text(figures.verdict().name().to_string()));
        (SITE_COLUMN.0.to_string(), verdict.unwrap_or(Cell::None))
    }
}

fn is_comparable(log: &LogUnderSettings) -> bool {
    let site = &log.settings[0];
    !site.has_replay() && site.feedback.is_none() && site.shaping.keeps_submissions()
}
