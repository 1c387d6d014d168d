//! Templates (Smith et al., section 2.2): of all categories of similar past jobs, the one with the smallest confidence
//! interval predicts.

pub mod category;
mod template_file;
pub mod templates;

use rustc_hash::FxHashMap;

use self::category::{Category, CategoryAnswer, Confidence, data_point, whole_seconds};
use self::templates::{Template, Values};
use crate::job::{JobId, Submission};
use crate::predict::board::Board;
use crate::predict::predictor::Predictor;
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::Seconds;

pub use self::template_file::{template_file, with_file_read};

pub const FORM: Form = Form {
    name: "smith",
    about: "templates: the category of similar past jobs with the smallest confidence interval predicts",
    keys: &[
        Key {
            name: "templates",
            kind: Kind::Text {
                what: "sets such as (u,e,n=4,lr);(), or @file, written by `sim search`",
                canonical: |text| Template::parse_set(text).map(|set| Template::print_set(&set)),
            },
            default: "(u,e,q,n=1,rel);(u,n=4,rel);(rel)",
            about: "what similar jobs agree in and how they predict",
        },
        Key {
            name: "confidence",
            kind: Kind::Real {
                what: "a percentage above 0 and below 100",
                fits: |percent| percent > 0.0 && percent < 100.0,
            },
            default: "90",
            about: "confidence level of the intervals, in percent",
        },
        Key::choice("at", &["arrival", "start"], "start: predict again when the job starts"),
    ],
};

/// Unknown values (-1) are values like any other: all unknown users are one user. For a job without an estimate in the log,
/// `rel` divides by the one assigned to it. If no category has enough jobs, the prediction is the estimate.
pub struct Smith {
    templates: Vec<Template>,
    confidence: Confidence,
    at_start: bool,
    categories: FxHashMap<(u32, Values), Category>,
}

impl Smith {
    /// Whether similar jobs have the same user in one of the templates.
    pub fn needs_users(spec: &Spec) -> bool {
        Template::parse_set(spec.text("templates")).is_ok_and(|set| set.iter().any(|template| template.user))
    }

    pub fn new(spec: &Spec) -> Self {
        Smith {
            templates: Template::parse_set(spec.text("templates")).expect("checked when it was read"),
            confidence: Confidence::new(spec.real("confidence")),
            at_start: spec.text("at") == "start",
            categories: FxHashMap::default(),
        }
    }

    /// The prediction with the smallest interval; if several are equal, that of the earliest template.
    fn best_answer(&self, job: &Submission) -> Option<CategoryAnswer> {
        let mut best: Option<CategoryAnswer> = None;
        for (number, template) in (0..).zip(&self.templates) {
            let category = self.categories.get(&(number, template.values(job)));
            let answer = category.and_then(|category| category.answer(template, job, &self.confidence));
            if let Some(answer) = answer
                && best.is_none_or(|best| answer.interval < best.interval)
            {
                best = Some(answer);
            }
        }
        best
    }
}

impl Predictor for Smith {
    fn on_start(&mut self, id: JobId, board: &mut Board) {
        if self.at_start {
            self.predict_again(id, board);
        }
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        let job = board.job(id);
        for (number, template) in (0..).zip(&self.templates) {
            let point = data_point(template.data, runtime, job.estimate);
            let category = self.categories.entry((number, template.values(job))).or_default();
            category.add(template, point, job.procs);
        }
    }

    fn predict_again(&mut self, id: JobId, board: &mut Board) {
        let job = board.job(id);
        let (prediction, interval) = match self.best_answer(job) {
            Some(answer) => (whole_seconds(answer.value), Some(answer.interval)),
            None => (job.estimate, None),
        };
        board.set_interval(id, interval);
        board.predict_if_above_elapsed(id, prediction);
    }
}
