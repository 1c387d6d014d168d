//! The page of the jobs that wait now.

use maud::html;

use super::data_table::{DataCell, DataTable};
use super::page::{Fact, Page, PageSection};
use crate::text::printable;

/// What the page of a queue needs. All texts may come from outside.
pub struct QueueReport {
    /// The heading.
    pub title: String,
    /// The answer in a sentence.
    pub result: String,
    /// What was asked.
    pub facts: Vec<Fact>,
    /// The columns of the waiting jobs. The first `names` of them are texts.
    pub headings: Vec<&'static str>,
    /// The number of columns with names.
    pub names: usize,
    /// The waiting jobs: texts, with the numbers by which they are sorted.
    pub rows: Vec<Vec<(String, Option<f64>)>>,
    /// The jobs that do not wait for processors, each with the reason.
    pub held: Vec<(String, String)>,
    /// What the columns mean.
    pub legend: String,
    /// How good such answers were, in paragraphs.
    pub records: Vec<String>,
}

impl QueueReport {
    /// The page.
    pub fn page(self) -> String {
        let mut sections = Vec::new();
        let mut section = |title: &str, content| sections.push(PageSection { title: title.to_string(), content });
        if !self.rows.is_empty() {
            let mut table = DataTable::new(self.names, self.headings).sortable();
            let cell = |(text, value): (String, Option<f64>)| match value {
                Some(value) => DataCell::shown(text, value),
                None => DataCell::text(text),
            };
            self.rows.into_iter().for_each(|row| table.push(row.into_iter().map(cell)));
            section("Waiting jobs", html! { (table.markup()) p.note { (printable(&self.legend)) } });
        }
        if !self.held.is_empty() {
            let mut table = DataTable::new(2, ["job", "reason"]).sortable();
            self.held.iter().for_each(|(job, reason)| table.push([DataCell::text(job), DataCell::text(reason)]));
            section("Held jobs, which do not wait for processors", table.markup());
        }
        section("How good such answers were", html! { @for record in &self.records { p { (printable(record)) } } });
        let remark = html! { "A time with a probability is given only as far as such times held for past jobs." };
        Page { title: self.title, result: self.result, remark, facts: self.facts, sections }.write()
    }
}
