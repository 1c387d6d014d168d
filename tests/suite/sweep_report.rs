//! The report of a sweep: what its headline claims, what its charts show, and charts as files for papers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Stdio;

use crate::html::{rows, table_after};
use crate::support::{Folder, command, demo_text, has_python, sim, sim_ok};

/// A sweep in a new folder with this name.
fn sweep(folder: &Folder, name: &str, grid: &[&str]) -> String {
    let out = folder.text(name);
    sim_ok(&[&["sweep", "--out", &out], grid].concat());
    out
}

/// The first paragraph of a page, which says what came out.
fn headline(page: &str) -> &str {
    page.split("<p class=\"result\">").nth(1).unwrap().split("</p>").next().unwrap()
}

fn page(study: &str, more: &[&str]) -> String {
    sim_ok(&[&["sweep", "report", study, "--out", "-"], more].concat())
}

/// The mean, and the half-width of its 95% interval, of three values. 4.302653 is the quantile of Student's t with two degrees of
/// freedom (tables).
fn interval_of_three(values: &[f64]) -> (f64, f64) {
    assert_eq!(values.len(), 3);
    let mean = values.iter().sum::<f64>() / 3.0;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 2.0;
    (mean, 4.302653 * (variance / 3.0).sqrt())
}

/// The waits of each setting of a sweep of three replications, by load.
fn waits(folder: &Folder, study: &str) -> BTreeMap<String, BTreeMap<String, Vec<f64>>> {
    let mut waits: BTreeMap<String, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
    for run in rows(&folder.read(&format!("{study}/results.csv"))) {
        let setting = format!("{}/{}", run["scheduler"], run["predictor"]);
        let of_load = waits.entry(run["load"].clone()).or_default();
        of_load.entry(setting).or_default().push(run["wait_mean"].parse().unwrap());
    }
    waits
}

#[test]
fn a_winner_is_named_only_if_paired_differences_tell() {
    let folder = Folder::new();
    let grid = ["--scheduler", "easy,sjbf", "--predictor", "estimate,ruh", "--load", "0.9,1.1,1.3", "--first", "400"];
    let study = sweep(&folder, "study", &[&grid[..], &["--replications", "3"]].concat());
    let page = page(&study, &[]);
    let table = table_after(&page, "<h2>Best setting of each condition");
    let (mut clear, mut unclear) = (0, 0);
    for (load, settings) in waits(&folder, "study") {
        let mean = |waits: &[f64]| interval_of_three(waits).0;
        let (best, best_waits) = settings.iter().min_by(|a, b| mean(a.1).total_cmp(&mean(b.1))).unwrap();
        let is_clear = |waits: &Vec<f64>| {
            let differences: Vec<f64> = waits.iter().zip(best_waits).map(|(other, best)| other - best).collect();
            let (mean, half) = interval_of_three(&differences);
            mean - half > 0.0
        };
        let near = settings.iter().filter(|(name, waits)| *name != best && !is_clear(waits)).count();
        let row = table.iter().find(|row| row[0].0 == load && row[1].0 == "mean wait").unwrap();
        assert_eq!(row[2].0, *best, "load {load}");
        let expected = match near {
            0 => "clearly".to_string(),
            1 => "within noise of 1 other".to_string(),
            near => format!("within noise of {near} others"),
        };
        assert_eq!(row[3].0, expected, "load {load}: {settings:?}");
        (clear, unclear) = if near == 0 { (clear + 1, unclear) } else { (clear, unclear + 1) };
        assert!((row[5].1.unwrap() - mean(best_waits)).abs() < 1e-6);
        let is_first = |at: &usize| settings.values().all(|waits| waits[*at] >= best_waits[*at]);
        assert_eq!(row[6].0, format!("{} of 3 runs", (0..3).filter(is_first).count()));
    }
    let words = headline(&page);
    assert!(words.contains("ran under 3 conditions, which differ in load"), "{words}");
    assert_eq!(words.contains("clearly best is"), clear > 0, "{words}");
    if clear > 0 && unclear > 0 {
        assert!(words.contains(&format!("in {unclear} no setting is clearly best")), "{words}");
    }
    assert!(!words.contains("shortest"), "no mean over conditions: {words}");
}

#[test]
fn one_run_and_equal_settings_have_no_winner() {
    let folder = Folder::new();
    // Five jobs never wait: all settings are equal.
    let equal = sweep(&folder, "equal", &["--scheduler", "easy,sjbf", "--first", "5", "--replications", "3"]);
    let words = headline(&page(&equal, &[])).to_string();
    assert!(words.starts_with("No setting is clearly best by mean wait: "), "{words}");
    let one = sweep(&folder, "one", &["--scheduler", "easy,sjbf", "--predictor", "estimate", "--first", "600"]);
    let page = page(&one, &[]);
    let words = headline(&page);
    assert!(words.starts_with("With one run of each setting, ") && words.contains("--replications 10"), "{words}");
    assert_eq!(table_after(&page, "<h2>Best setting")[1][2].0, "one run: not known");
    // With a baseline it says what the best setting costs, in the words of the report of a comparison.
    let args = ["--scheduler", "easy,sjbf", "--predictor", "estimate", "--first", "600", "--baseline", "easy/estimate"];
    let words = headline(&self::page(&sweep(&folder, "base", &args), &[])).to_string();
    let report = sim_ok(&[&["report", "--out", "-"], &args[..]].concat());
    let price = report.split("Who pays: ").nth(1).unwrap().split("</p>").next().unwrap();
    assert!(words.contains(&format!("Compared with easy/estimate, {price}")), "{words}\n{price}");
}

/// The report of a comparison says which settings are within noise of the best one.
#[test]
fn a_comparison_says_what_is_within_noise_of_the_best() {
    // With five jobs that never wait, all settings are equal.
    let args = ["report", "--out", "-", "--scheduler", "easy,sjbf,fcfs", "--predictor", "ruh", "--first", "5"];
    let page = sim_ok(&[&args[..], &["--replications", "3"]].concat());
    let expected = "<p>None of the 3 settings has a shorter mean wait than easy/estimate, but easy/ruh, sjbf/ruh and fcfs/ruh are \
                    within noise of it.</p>";
    assert!(page.contains(expected), "{page}");
    let page = sim_ok(&args);
    assert!(
        page.contains("<p>None of the 3 settings has a shorter mean wait than easy/estimate.</p>"),
        "one run says nothing of noise"
    );
}

#[test]
fn means_over_conditions_say_so_and_means_over_seeds_do_not() {
    let folder = Folder::new();
    let grid = ["--scheduler", "easy,sjbf", "--load", "0.9,1.1", "--shake", "30s", "--seed", "1..3", "--first", "200"];
    let study = sweep(&folder, "study", &grid);
    let grouped = |by: &str, format: &str| {
        let ran = sim(&["-q", "sweep", "--out", &study, "--resume", "--group-by", by, "--format", format]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        (ran.out.split_whitespace().collect::<Vec<_>>().join(" "), ran.err)
    };
    let pooled = "pool runs with 2 values of load: their intervals show how much these differ, and not noise. \
                  `--group-by scheduler,load` keeps them apart.";
    let (table, _) = grouped("scheduler", "table");
    assert!(table.ends_with(pooled), "{table}");
    let (csv, warning) = grouped("scheduler", "csv");
    assert!(!csv.contains("pool") && warning.contains(pooled), "{csv} {warning}");
    let (table, warning) = grouped("scheduler,load", "table");
    assert!(!table.contains("pool") && warning.is_empty(), "{table} {warning}");
    let (table, _) = grouped("load", "table");
    assert!(table.contains("2 values of scheduler:") && table.contains("`--group-by load,scheduler`"), "{table}");
}

/// The names in the legend of the chart after a title.
fn legend(page: &str, title: &str) -> Vec<String> {
    let figure = page.split(&format!("<h3>{title}</h3>")).nth(1).unwrap().split("</figure>").next().unwrap();
    let entries = figure.split("<ul class=\"legend\">").nth(1).unwrap().split("</ul>").next().unwrap();
    entries.split("</svg> ").skip(1).map(|entry| entry.split("</li>").next().unwrap().to_string()).collect()
}

#[test]
fn a_chart_has_the_best_the_worst_and_those_asked_for() {
    let folder = Folder::new();
    let grid = ["--scheduler", "easy,sjbf", "--predictor", "estimate,ruh:window=1..6,perfect", "--load", "0.8,1.4"];
    let study = sweep(&folder, "study", &[&grid[..], &["--first", "300"]].concat());
    let plain = page(&study, &[]);
    let title = "Mean wait by load";
    let data = table_after(&plain, &format!("<h3>{title}"));
    assert_eq!(data.len(), 1 + 16 * 2);
    let mut means: BTreeMap<&str, f64> = BTreeMap::new();
    data[1..].iter().for_each(|row| *means.entry(&row[0].0).or_default() += row[3].1.unwrap() / 2.0);
    let mut order: Vec<(&str, f64)> = means.into_iter().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let drawn = legend(&plain, title);
    assert_eq!(drawn.len(), 12);
    assert!(plain.contains("12 of 16 lines are drawn"));
    for (name, _) in order[..8].iter().chain(&order[15..]) {
        assert!(drawn.iter().any(|other| other == name), "{name} is not in {drawn:?}");
    }
    // One that is not drawn.
    let (hidden, _) = order.iter().find(|(name, _)| !drawn.iter().any(|other| other == name)).unwrap();
    let asked = legend(&page(&study, &["--show", hidden]), title);
    assert!(asked.len() == 12 && asked.iter().any(|name| name == hidden), "{hidden} is not in {asked:?}");
    let ran = sim(&["sweep", "report", &study, "--out", "-", "--show", "easy/rhu"]);
    assert!(ran.code == 2 && ran.err.contains("--show: 'easy/rhu' is no setting of the sweep"), "{}", ran.err);

    // Settings without the swept key are references: dashed, over the whole width, and not in the place of a number.
    let title = "Mean wait by predictor.window, load=0.8";
    let names = legend(&plain, title);
    assert_eq!(names.iter().filter(|name| name.contains("estimate") || name.contains("perfect")).count(), 4);
    let figure = plain.split(&format!("<h3>{title}</h3>")).nth(1).unwrap().split("</figure>").next().unwrap();
    let picture = figure.split("<svg viewBox").nth(1).unwrap();
    assert_eq!(picture.matches("stroke-dasharray=\"5 4\"").count(), 4);
    let references = table_after(&plain, &format!("<h3>{title}"));
    assert_eq!(references[1..].iter().filter(|row| row[1].1.is_none()).count(), 4);
    // The axis has the unit of the caption.
    let caption = figure.split("<figcaption>").nth(1).unwrap();
    let unit = caption.strip_prefix("Mean wait in ").unwrap().split(' ').next().unwrap();
    assert!(picture.contains(&format!(">mean wait ({unit})</text>")), "{unit}");
}

/// Checks that a picture needs no style sheet, and returns its size in millimetres and in units.
fn check_picture(name: &str, picture: &str) {
    for forbidden in ["class=", "style", "var(", "currentColor", "url(", "href", "NaN", "inf\""] {
        assert!(!picture.contains(forbidden), "{name} has {forbidden}");
    }
    let root = picture.split("<svg ").nth(1).unwrap().split('>').next().unwrap();
    let attribute = |name: &str| root.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap();
    let millimetres = |name: &str| attribute(name).strip_suffix("mm").unwrap().parse::<f64>().unwrap();
    let view: Vec<f64> = attribute("viewBox").split(' ').map(|number| number.parse().unwrap()).collect();
    assert_eq!(view[..2], [0.0, 0.0]);
    assert!((millimetres("width") / millimetres("height") - view[2] / view[3]).abs() < 0.01, "{root}");
    assert!(attribute("font-family").ends_with("sans-serif"));
    let background = picture.split("<rect ").nth(1).unwrap().split('>').next().unwrap();
    assert_eq!(background, format!("x=\"0\" y=\"0\" width=\"{}\" height=\"{}\" fill=\"#ffffff\"/", view[2], view[3]));
    // Every shape and every text has its colour.
    for kind in ["path", "rect", "circle", "text"] {
        for tag in picture.split(&format!("<{kind} ")).skip(1) {
            let tag = tag.split('>').next().unwrap();
            assert!(tag.contains("fill=\"#") || tag.contains("fill=\"none\" stroke=\"#"), "{name}: {tag}");
        }
    }
}

/// Reads all these files with the XML parser of Python.
fn check_xml(folder: &Folder, files: &BTreeSet<String>) {
    let script = "import sys, xml.dom.minidom\n\
                  for file in sys.argv[1:]: assert xml.dom.minidom.parse(file).documentElement.tagName == 'svg', file";
    let paths = files.iter().filter(|file| file.ends_with(".svg")).map(|file| folder.text(file));
    let ran = command("python3").args(["-c", script]).args(paths).stdin(Stdio::null()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// The files of a folder of pictures, with the folder. Each picture has its CSV.
fn files(folder: &Folder, pictures: &str) -> BTreeSet<String> {
    let names = fs::read_dir(folder.path(pictures)).unwrap().map(|file| file.unwrap().file_name());
    let names: BTreeSet<String> = names.map(|name| format!("{pictures}/{}", name.to_str().unwrap())).collect();
    for picture in names.iter().filter(|name| name.ends_with(".svg")) {
        check_picture(picture, &folder.read(picture));
        let data = rows(&folder.read(&picture.replace(".svg", ".csv")));
        assert!(!data.is_empty(), "{picture}");
    }
    assert_eq!(names.iter().filter(|name| name.ends_with(".csv")).count() * 2, names.len());
    names
}

#[test]
fn every_chart_is_a_file_that_needs_no_style_sheet() {
    let folder = Folder::new();
    // A log with a name that is not allowed in XML as it is.
    let log = folder.write("<&\"\u{1b}'>.swf", demo_text());
    let args = [log.as_str(), "--predictor", "ruh,sbh", "--first", "500", "--replications", "3"];
    let (pictures, out) = (folder.text("made/figures"), folder.text("report.html"));
    sim_ok(&[&["report", "--svg", &pictures, "--out", &out], &args[..]].concat());
    let names = files(&folder, "made/figures");
    let page = folder.read("report.html");
    assert_eq!(names.len(), 2 * page.matches("<figure").count());
    for expected in ["mean-wait-by-setting", "how-long-jobs-wait", "the-schedule-of-a-window", "utilization"] {
        assert!(names.contains(&format!("made/figures/{expected}.svg")), "{expected} is not in {names:?}");
    }
    // The numbers are those of the main command.
    let compared = rows(&sim_ok(&[&args[..], &["--baseline", "easy/estimate", "--format", "csv"]].concat()));
    let bars = rows(&folder.read("made/figures/mean-wait-by-setting.csv"));
    let number = |row: &BTreeMap<String, String>, name: &str| row[name].parse::<f64>().unwrap();
    assert_eq!(bars.len(), 3);
    for (bar, run) in bars[1..].iter().zip(&compared) {
        assert_eq!(bar["setting"], format!("{}/{}", run["scheduler"], run["predictor"]));
        for name in ["wait_mean", "wait_mean_ci95"] {
            assert!((number(bar, name) - number(run, name)).abs() < 1e-5, "{name}: {bar:?}");
        }
        assert!((number(&bars[0], "wait_mean") - number(run, "base_wait_mean")).abs() < 1e-5);
    }
    // The same bytes again, without a page.
    let again = folder.text("again");
    sim_ok(&[&["report", "--svg", &again], &args[..]].concat());
    assert!(!folder.path("made/report.html").exists());
    for name in &names {
        assert_eq!(folder.read(name), folder.read(&name.replace("made/figures", "again")), "{name}");
    }
    if has_python("every_chart_is_a_file_that_needs_no_style_sheet") {
        check_xml(&folder, &names);
    }
}

#[test]
fn the_charts_of_a_sweep_are_files_too() {
    let folder = Folder::new();
    let grid = ["--predictor", "ruh:window=1..3,estimate", "--load", "0.9,1.1", "--first", "300"];
    let study = sweep(&folder, "study", &[&grid[..], &["--replications", "3"]].concat());
    let ran = sim(&["sweep", "report", &study, "--svg", &folder.text("figures"), "--format", "json"]);
    assert!(ran.code == 0 && ran.out.contains("\"charts\": 12,") && ran.out.contains("\"out\": null,"), "{}", ran.out);
    let names = files(&folder, "figures");
    assert_eq!(names.len(), 24);
    let bars = rows(&folder.read("figures/mean-wait-by-scheduler-and-predictor-load-0-9.csv"));
    let waits = waits(&folder, "study");
    for bar in bars {
        let (mean, half) = interval_of_three(&waits["0.9"][&format!("sjbf/{}", bar["predictor"])]);
        assert!((bar["wait_mean"].parse::<f64>().unwrap() - mean).abs() < 1e-6);
        assert!((bar["wait_mean_ci95"].parse::<f64>().unwrap() - half).abs() < 1e-3 * half);
    }
    if has_python("the_charts_of_a_sweep_are_files_too") {
        check_xml(&folder, &names);
    }
}

#[test]
fn wrong_places_of_pictures_are_refused() {
    let folder = Folder::new();
    let file = folder.write("file", "x");
    for (place, words) in [(file.as_str(), "is a file: name a folder"), ("-", "name a folder instead of -")] {
        let ran = sim(&["report", "--first", "50", "--svg", place]);
        assert!(ran.code == 2 && ran.err.contains(words), "{place}: {}", ran.err);
    }
    let ran = sim(&["report", "--first", "50", "--svg", &format!("{file}/below")]);
    assert!(ran.code == 1 && ran.err.contains("cannot write"), "{} {}", ran.code, ran.err);
    // A picture would replace the log.
    fs::create_dir(folder.path("figures")).unwrap();
    let log = folder.write("figures/how-long-jobs-wait.csv", demo_text());
    let ran = sim(&["report", &log, "--first", "50", "--svg", &folder.text("figures")]);
    assert!(ran.code == 2 && ran.err.contains("would overwrite"), "{} {}", ran.code, ran.err);
    assert_eq!(fs::read(&log).unwrap(), demo_text());
    assert_eq!(fs::read_dir(folder.path("figures")).unwrap().count(), 1, "nothing else was written");
    // And so would the page be replaced.
    let (figures, page) = (folder.text("other"), folder.text("other/utilization.svg"));
    fs::create_dir(&figures).unwrap();
    let ran = sim(&["report", "--first", "50", "--svg", &figures, "--out", &page]);
    assert!(ran.code == 2 && ran.err.contains("go to the same place"), "{} {}", ran.code, ran.err);
}
