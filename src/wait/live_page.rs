//! Live answers as a page for a web server.

use super::live_report::LiveReport;
use crate::report::counted;
use crate::report::html::{Fact, QueueReport};

/// What the columns of the page mean.
const LEGEND: &str = "50%, 80% and 95%: the time by which the job has started with this probability. Reliable is yes if at least \
                      90% of past jobs started by their times for 95%. If it is no, the times are those within which so many of \
                      these past jobs started. If it is unknown, the past does not tell. Simulated: the time by which it starts \
                      in half of the simulations of the queue, without a probability.";

impl LiveReport<'_> {
    /// The answers for a queue as one HTML file.
    pub fn page(&self) -> String {
        let listing = self.listing();
        let title = match self.clock_with_zone() {
            Some(clock) => format!("Waiting jobs, {clock}"),
            None => "Waiting jobs".to_string(),
        };
        let facts = vec![
            Fact::new("asked", &self.title),
            Fact::new("queue", self.present()),
            Fact::new("held", counted(self.held().count() as u64, "job")),
            Fact::new("method", &self.how),
        ];
        QueueReport {
            title,
            result: self.answer_line(),
            facts,
            headings: listing.headings,
            names: listing.names,
            rows: listing.rows,
            held: self.held().map(|(job, reason)| (job.name.clone(), reason.to_string())).collect(),
            legend: LEGEND.to_string(),
            records: self.records(),
        }
        .page()
    }
}
