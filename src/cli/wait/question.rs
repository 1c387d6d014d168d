//! A job that is asked about: `procs=64,estimate=2h,user=5`.

use super::codes::Codes;
use crate::cli::failure::{UsageError, refuse};
use crate::job::Submission;
use crate::request::Request;
use crate::time::parse_duration;
use crate::trace::RequestField;

/// A job that is asked about.
#[derive(Clone, Debug)]
pub struct WaitQuestion {
    job: Submission,
    /// As given: numbers of an SWF log, names of other logs.
    user: Option<String>,
    group: Option<String>,
    queue: Option<String>,
    /// What it asks of a machine of nodes. None if it names nothing but processors.
    asked: Option<Request>,
}

impl WaitQuestion {
    /// The job with the numbers as jobs of the log have them.
    pub fn submission(&self, codes: &mut Codes<'_>) -> Result<Submission, UsageError> {
        let mut code = |kind, name: &Option<String>| {
            codes.code(kind, name.as_deref()).ok_or_else(|| {
                let name = name.as_deref().unwrap_or_default();
                UsageError(match codes.has_names() {
                    true => format!("--job: the log has no {kind} '{name}'"),
                    false => format!(
                        "--job: {kind}: '{name}' is not a whole number, as users, groups and queues of an SWF log"
                    ),
                })
            })
        };
        let (user, group, queue) =
            (code("user", &self.user)?, code("group", &self.group)?, code("queue", &self.queue)?);
        Ok(Submission { user, group, queue, ..self.job })
    }

    /// What the job asks of a machine of nodes.
    ///
    /// # Errors
    /// If it asks for more than processors, and the machine is a pool of these.
    pub fn request(&self, is_on_nodes: bool) -> Result<Option<Request>, UsageError> {
        match (is_on_nodes, &self.asked) {
            (false, Some(_)) => refuse("--job: what a job asks of nodes has an effect only with --machine"),
            (false, None) => Ok(None),
            (true, asked) => Ok(Some(Request { cpus: self.job.procs, ..asked.clone().unwrap_or_default() })),
        }
    }
}

/// Parses a job such as `procs=64,estimate=2h,user=5`.
pub fn parse_question(text: &str) -> Result<WaitQuestion, String> {
    let job = Submission::new(0, 0, 0);
    let mut question = WaitQuestion { job, user: None, group: None, queue: None, asked: None };
    let job = &mut question.job;
    let mut given = Vec::new();
    for piece in text.split(',') {
        let (key, value) = piece.split_once('=').ok_or_else(|| format!("'{piece}' is not key=value"))?;
        if given.contains(&key) {
            return Err(format!("the key '{key}' is given twice"));
        }
        given.push(key);
        let name = || Some(value.to_string());
        match key {
            "procs" => job.procs = value.parse().map_err(|_| format!("procs: '{value}' is not a whole number"))?,
            "estimate" => job.estimate = parse_duration(value)?,
            "user" => question.user = name(),
            "group" => question.group = name(),
            "queue" => question.queue = name(),
            _ => {
                let field = RequestField::named(key).ok_or_else(|| {
                    let fields = RequestField::names();
                    format!(
                        "no key '{key}'; the keys are procs, estimate, user, group, queue, and with --machine {fields}"
                    )
                })?;
                let asked = question.asked.get_or_insert_default();
                field.set(asked, value).map_err(|why| format!("{key} {why}: '{value}'"))?;
            }
        }
    }
    match job.procs > 0 && job.estimate > 0 {
        true => Ok(question),
        false => Err("a job needs at least procs=1 and estimate=1s".to_string()),
    }
}
