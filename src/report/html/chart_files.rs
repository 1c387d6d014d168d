//! Charts as files of their own, for papers: a picture, and its numbers as CSV.

use std::collections::BTreeSet;

use super::figure::ChartFigure;

/// The most characters of a name without its ending.
const LONGEST_NAME: usize = 80;

/// A written report: its page, and its charts, which can be files of their own.
pub struct WrittenReport {
    /// The HTML.
    pub page: String,
    /// In the order of the page.
    pub(super) figures: Vec<ChartFigure>,
}

/// A file of a chart.
pub struct ChartFile {
    /// Its name, which tells the chart: `how-long-jobs-wait.svg`.
    pub name: String,
    /// What is in it.
    pub content: String,
}

impl WrittenReport {
    /// The number of charts.
    pub fn charts(&self) -> usize {
        self.figures.len()
    }

    /// The files of all charts, two of each: the picture, then its numbers.
    pub fn chart_files(&self) -> Vec<ChartFile> {
        let mut taken = BTreeSet::new();
        let files = |figure: &ChartFigure| {
            let stem = file_stem(&figure.title);
            let mut name = stem.clone();
            for number in 2.. {
                if taken.insert(name.clone()) {
                    break;
                }
                name = format!("{stem}-{number}");
            }
            let file = |ending: &str, content: String| ChartFile { name: format!("{name}.{ending}"), content };
            [file("svg", figure.file()), file("csv", figure.data.csv())]
        };
        self.figures.iter().flat_map(files).collect()
    }
}

/// The title of a chart as the name of a file: small letters and digits, with one hyphen for all between them.
fn file_stem(title: &str) -> String {
    let mut stem = String::new();
    for c in title.chars().take(LONGEST_NAME) {
        match c.is_ascii_alphanumeric() {
            true => stem.push(c.to_ascii_lowercase()),
            false if !stem.is_empty() && !stem.ends_with('-') => stem.push('-'),
            false => {}
        }
    }
    match stem.trim_end_matches('-') {
        "" => "chart".to_string(),
        stem => stem.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_chart_and_differ() {
        assert_eq!(file_stem("sjbf/ruh:window=3: who gains, who pays"), "sjbf-ruh-window-3-who-gains-who-pays");
        assert_eq!([file_stem("../.."), file_stem("\u{e9}")], ["chart", "chart"]);
        let figure = |title: &str| ChartFigure { title: title.to_string(), ..ChartFigure::default() };
        let report = WrittenReport { page: String::new(), figures: ["A b", "a/b", "c"].map(figure).into() };
        let names: Vec<String> = report.chart_files().into_iter().map(|file| file.name).collect();
        assert_eq!(names, ["a-b.svg", "a-b.csv", "a-b-2.svg", "a-b-2.csv", "c.svg", "c.csv"]);
    }
}
