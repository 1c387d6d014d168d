//! Live answers as a page for a web server.

use maud::html;

use super::live_report::LiveReport;
use super::live_tables::LiveListing;
use crate::report::html::{DataCell, DataTable, Fact, Page, PageSection};
use crate::text::{counted, printable};

/// What the columns of the page mean.
const LEGEND: &str = "50%, 80% and 95%: the time by which the job has started with this probability. Reliable is yes if at least \
                      90% of past jobs started by their times for 95%. If it is no, the times are those within which so many of \
                      these past jobs started. If it is unknown, the past does not tell. Simulated: the time by which it starts \
                      in half of the simulations of the queue, without a probability.";

impl LiveReport<'_> {
    /// The answers for a queue as one HTML file.
    pub fn page(&self) -> String {
        let mut sections = Vec::new();
        let mut section = |title: &str, content| sections.push(PageSection { title: title.to_string(), content });
        let LiveListing { headings, names, rows } = self.listing();
        if !rows.is_empty() {
            let mut table = DataTable::new(names, headings).sortable();
            rows.into_iter()
                .for_each(|row| table.push(row.into_iter().map(|(text, value)| DataCell::shown(text, value))));
            section("Waiting jobs", html! { (table.markup()) p.note { (LEGEND) } });
        }
        let held = self.held().count();
        if held > 0 {
            let mut table = DataTable::new(2, ["job", "reason"]).sortable();
            self.held().for_each(|(job, reason)| table.push([DataCell::text(&job.name), DataCell::text(reason)]));
            section("Held jobs, which do not wait for processors", table.markup());
        }
        let records = html! { @for record in self.records() { p { (printable(&record)) } } };
        section("How good such answers were", records);
        let facts = vec![
            Fact::new("asked", &self.title),
            Fact::new("queue", self.present()),
            Fact::new("held", counted(held as u64, "job")),
            Fact::new("method", &self.how),
        ];
        let title = self.clock_with_zone().map_or("Waiting jobs".to_string(), |clock| format!("Waiting jobs, {clock}"));
        let remark = html! { "A time with a probability is given only as far as such times held for past jobs." };
        let result = vec![html! { (printable(&self.answer_line())) }];
        Page { title, result, remark, facts, sections }.write()
    }
}
