//! The files of a report: its page, and with `--svg` its charts as pictures for papers.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::refuse;
use super::output_options::PrintOptions;
use super::places::{OptionFile, refuse_collisions};
use super::stderr::note;
use crate::report::html::{ChartFile, WrittenReport};
use crate::report::{Cell, Output, OutputError, counted, grouped};

/// The page that is written if no file is named.
const DEFAULT_PAGE: &str = "report.html";

/// The options of a command that writes a report.
#[derive(Debug, Args)]
pub struct ReportFileOptions {
    /// The file to write the report to; - for standard output [default: report.html, or no page with --svg]
    #[arg(long, value_name = "FILE", display_order = 1)]
    out: Option<String>,
    /// Write every chart as an SVG picture for papers, with its numbers as CSV beside it, into this folder; it is made if it does
    /// not exist
    #[arg(long, value_name = "DIR", display_order = 5)]
    svg: Option<PathBuf>,
}

/// The files of a report, checked and opened before any work is done.
pub struct ReportFiles<'a> {
    page: Option<(&'a str, Output)>,
    folder: Option<&'a Path>,
    inputs: &'a [OptionFile<'a>],
}

impl ReportFileOptions {
    /// The page, if one is to be written.
    fn page(&self) -> Option<&str> {
        match (&self.out, &self.svg) {
            (Some(out), _) => Some(out),
            (None, None) => Some(DEFAULT_PAGE),
            (None, Some(_)) => None,
        }
    }

    /// Opens the page, and makes the folder of pictures. It is an error if the page is one of the inputs.
    pub fn open<'a>(&'a self, inputs: &'a [OptionFile<'a>], print: &PrintOptions) -> anyhow::Result<ReportFiles<'a>> {
        let pages: Vec<OptionFile> = self.page().map(|page| ("--out", page)).into_iter().collect();
        refuse_collisions(&pages, inputs, print.given().is_some())?;
        let page = self.page().map(|page| Output::create(page).map(|output| (page, output))).transpose()?;
        self.svg.as_deref().map(make_folder).transpose()?;
        Ok(ReportFiles { page, folder: self.svg.as_deref(), inputs })
    }
}

/// Makes a folder for pictures, if there is none.
fn make_folder(folder: &Path) -> anyhow::Result<()> {
    let shown = folder.display();
    if folder == Path::new("-") {
        return refuse("--svg writes several files: name a folder instead of -");
    }
    if folder.exists() && !folder.is_dir() {
        return refuse(format!("--svg {shown} is a file: name a folder, which is made if needed"));
    }
    fs::create_dir_all(folder).map_err(|error| OutputError { name: shown.to_string(), error }.into())
}

impl ReportFiles<'_> {
    /// Writes all files, and prints what was done: `row` begins the row of `--format`.
    pub fn write<const N: usize>(
        self,
        report: &WrittenReport,
        row: [(&'static str, Cell); N],
        print: &PrintOptions,
    ) -> anyhow::Result<()> {
        let pictures = self.folder.map_or(Vec::new(), |_| report.chart_files());
        if let Some(folder) = self.folder {
            let names: Vec<String> =
                pictures.iter().map(|file| folder.join(&file.name).to_string_lossy().into_owned()).collect();
            let page = self.page.iter().map(|(page, _)| ("--out", *page));
            let all: Vec<OptionFile> = page.chain(names.iter().map(|name| ("--svg", name.as_str()))).collect();
            refuse_collisions(&all, self.inputs, print.given().is_some())?;
            let write = |(name, file): (&String, &ChartFile)| {
                Output::create(name)?.fill(|out| out.write_all(file.content.as_bytes()))
            };
            names.iter().zip(&pictures).try_for_each(write)?;
        }
        let page = self.page.map(|(page, out)| out.fill(|out| out.write_all(report.page.as_bytes())).map(|()| page));
        let page = page.transpose()?;
        let folder = self.folder.map(|folder| folder.display().to_string());
        let row: Vec<(&str, Cell)> = row
            .into_iter()
            .chain([
                ("charts", Cell::Count(report.charts() as u64)),
                ("out", page.map(|page| Cell::Text(page.to_string())).into()),
                ("bytes", page.map(|_| Cell::Count(report.page.len() as u64)).into()),
                ("svg", folder.clone().map(Cell::Text).into()),
            ])
            .collect();
        print.report(page.unwrap_or_default(), &row, || {
            if let Some(page) = page.filter(|page| !Output::is_stdout(page)) {
                let size = grouped((report.page.len() as u64).div_ceil(1000));
                note(format_args!("the report is in {page} ({size} kB): open it with a browser"));
            }
            if let Some(folder) = folder {
                let charts = counted(report.charts() as u64, "chart");
                note(format_args!("{charts} in {folder}, each as SVG, with its numbers as CSV"));
            }
        })?;
        Ok(())
    }
}
