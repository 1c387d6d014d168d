//! Reports as HTML: well-formed, safe, and with the figures of the other outputs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::support::{Folder, demo_text, left_to_ci, missing, real_log, real_logs, sim, sim_ok};

/// The report of these arguments.
pub fn report(args: &[&str]) -> String {
    sim_ok(&[&["report", "--out", "-"], args].concat())
}

/// Elements that have no end.
const EMPTY: [&str; 1] = ["meta"];

/// Checks that every element that begins ends, in the right order. Returns the number of elements.
fn check_well_formed(page: &str) -> usize {
    let (mut open, mut count) = (Vec::new(), 0);
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a document begins with its type");
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        assert!(!text.contains('>') || matches!(open.last(), Some(&"style" | &"script")), "{text}");
        let inside = &rest[at + 1..];
        let end = inside.find('>').expect("a tag ends");
        let tag = &inside[..end];
        rest = &inside[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> ends another element");
            continue;
        }
        count += 1;
        assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
        let name = tag.split([' ', '/']).next().unwrap();
        if !tag.ends_with('/') && !EMPTY.contains(&name) {
            open.push(name);
        }
        // The content of these is not HTML.
        if ["style", "script"].contains(&name) {
            let end = rest.find(&format!("</{name}>")).expect("it ends");
            rest = &rest[end..];
        }
    }
    assert!(open.is_empty(), "these elements do not end: {open:?}");
    count
}

/// Checks that a page is well-formed, and that a browser fetches nothing for it. Returns the number of elements.
pub fn check_fetches_nothing(page: &str) -> usize {
    for forbidden in ["http:", "https:", "src=", "url(", "@import", "href=", " style=", " onclick", "onerror"] {
        assert!(!page.contains(forbidden), "the page has '{forbidden}'");
    }
    assert!(page.contains("default-src 'none'"));
    check_well_formed(page)
}

/// The rows of the table after a text: for each cell its text and the number behind it.
pub fn table_after(page: &str, text: &str) -> Vec<Vec<(String, Option<f64>)>> {
    let from = page.find(text).unwrap_or_else(|| panic!("'{text}' is not in the page"));
    let table = page[from..].split("<table").nth(1).unwrap().split("</table>").next().unwrap();
    let cell = |cell: &str| {
        let (tag, rest) = cell.split_once('>').unwrap();
        let value = tag.split("data-value=\"").nth(1).map(|value| value.split('"').next().unwrap().parse().unwrap());
        (rest.split('<').next().unwrap().to_string(), value)
    };
    let row = |row: &str| row.replace("<th", "<td").split("<td").skip(1).map(cell).collect();
    table.split("<tr>").skip(1).map(row).collect()
}

/// Rows of CSV by the names of their columns.
pub fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    reader.deserialize().map(|row| row.unwrap()).collect()
}

fn number(row: &BTreeMap<String, String>, name: &str) -> f64 {
    row[name].parse().unwrap_or_else(|_| panic!("{name}: '{}' is not a number", row[name]))
}

fn assert_near(got: f64, expected: f64, what: &str) {
    assert!((got - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{what}: {got} instead of {expected}");
}

const TWO: [&str; 4] = ["--predictor", "ruh", "--baseline", "easy/estimate"];

#[test]
fn pages_are_well_formed_and_fetch_nothing() {
    for args in [
        &["--first", "300"][..],
        &["--predictor", "estimate", "--scheduler", "easy"],
        &["--predictor", "ruh,sbh,easy++,perfect,constant", "--scheduler", "easy,sjbf", "--first", "500"],
        &["--first", "1"],
        &["--first", "700", "--replications", "3", "--gantt-colors", "user"],
        &["--baseline", "easy/estimate", "--warmup", "10%", "--gantt", "2d..3d"],
    ] {
        let page = report(args);
        assert!(check_fetches_nothing(&page) > 100, "{args:?}");
        let body = page.split("<body>").nth(1).unwrap().split("<script>").next().unwrap();
        assert!(!body.contains("NaN") && !body.contains("inf\""), "{args:?}: a number is missing");
        assert_eq!(page.matches("<figure").count(), page.matches("show data").count());
        assert_eq!(page.matches("<figure").count(), page.matches("<figcaption>").count());
    }
}

#[test]
fn threads_change_nothing() {
    let args = ["--predictor", "ruh,sbh", "--replications", "3", "--first", "600"];
    let one = report(&[&args[..], &["--threads", "1"]].concat());
    assert_eq!(one, report(&[&args[..], &["--threads", "4"]].concat()));
    let command = one.split("<code>").nth(1).unwrap().split("</code>").next().unwrap();
    // The command repeats the report.
    let words: Vec<&str> =
        command.strip_prefix("sim report ").unwrap().split(' ').map(|word| word.trim_matches('\'')).collect();
    assert_eq!(report(&words), one);
}

#[test]
fn figures_are_those_of_the_main_command() {
    let page = report(&TWO);
    let csv = &rows(&sim_ok(&TWO))[0];
    let table = table_after(&page, "<h2>The figures");
    let find =
        |caption: &str| table.iter().find(|row| row[0].0 == caption).unwrap_or_else(|| panic!("no line '{caption}'"));
    for (caption, column) in [
        ("wait, mean", "wait_mean"),
        ("bounded slowdown, mean", "bsld_mean"),
        ("absolute inaccuracy (AI)", "ai_mean"),
        ("relative accuracy (RA)", "ra_mean"),
        ("  longest", "wait_max"),
        ("  of the widest jobs", "wide_wait_mean"),
        ("users who lose", "users_lose_pct"),
        ("jobs backfilled", "backfilled"),
        ("missed deadlines", "misses"),
        ("utilization", "utilization"),
        ("makespan", "makespan"),
    ] {
        assert_eq!(find(caption)[1].1, Some(number(csv, column)), "{caption}");
    }
    let base = &rows(&sim_ok(&["--scheduler", "easy", "--predictor", "estimate"]))[0];
    assert_eq!(find("wait, mean")[2].1, Some(number(base, "wait_mean")));
    // The CSV has six decimals.
    let improvement = find("wait, mean")[3].1.unwrap();
    assert_near((improvement * 1e6).round() / 1e6, number(csv, "wait_improvement_pct"), "the improvement");
    // With replications, every mean and the verdict.
    let more = [&TWO[..], &["--replications", "4", "--first", "1500"]].concat();
    let (page, csv) = (report(&more), rows(&sim_ok(&more)).remove(0));
    let wait = &table_after(&page, "<h2>The figures")[1];
    assert_eq!(wait[1].1, Some(number(&csv, "wait_mean")));
    assert!(wait[1].0.contains("+-") && wait[3].0.ends_with(&csv["wait_verdict"]), "{wait:?}");
    assert!(
        page.split("class=\"result\"").nth(1).unwrap().split("</p>").next().unwrap().contains(&csv["wait_verdict"])
    );
}

#[test]
fn charts_show_what_the_jobs_say() {
    let folder = Folder::new();
    let first = ["--first", "1500"];
    let two = [&TWO[..], &first].concat();
    let jobs = |setting: &str| {
        let (scheduler, predictor) = setting.split_once('/').unwrap();
        let jobs = folder.text("jobs.csv");
        let setting = ["--scheduler", scheduler, "--predictor", predictor];
        sim_ok(&[&first[..], &setting, &["--jobs-out", &jobs]].concat());
        rows(&folder.read("jobs.csv"))
    };
    let (base, run) = (jobs("easy/estimate"), jobs("sjbf/ruh"));
    let page = report(&two);

    // Distributions: in each row the limit, then the baseline, then the setting.
    for (title, column) in [("How long jobs wait", "wait"), ("How much jobs are slowed down", "bsld")] {
        let table = table_after(&page, title);
        assert!(table.len() > 40, "{title}");
        for row in &table[1..] {
            let limit = row[0].1.unwrap();
            for (cell, jobs) in row[1..].iter().zip([&base, &run]) {
                // Slowdowns have six decimals in the CSV.
                let below = jobs.iter().filter(|job| number(job, column) <= limit + 5e-7).count();
                assert_near(cell.1.unwrap(), below as f64 / jobs.len() as f64, &format!("{title} up to {limit}"));
            }
        }
    }

    // Width and runtime.
    let mean = |jobs: &[BTreeMap<String, String>], of: &dyn Fn(&BTreeMap<String, String>) -> bool| {
        let waits: Vec<f64> = jobs.iter().filter(|job| of(job)).map(|job| number(job, "wait")).collect();
        (waits.len() as f64, waits.iter().sum::<f64>() / waits.len() as f64)
    };
    let table = table_after(&page, "change by width and runtime");
    let limits = [
        ("up to 1m", 60.0),
        ("up to 10m", 600.0),
        ("up to 1h", 3600.0),
        ("up to 4h", 14400.0),
        ("up to 12h", 43200.0),
        ("up to 1d", 86400.0),
        ("more", f64::MAX),
    ];
    let mut counted = 0.0;
    for row in &table[1..] {
        let widths: Vec<f64> = row[0].0.split('-').map(|width| width.parse().unwrap()).collect();
        let at = limits.iter().position(|(name, _)| *name == row[1].0).unwrap();
        let from = if at == 0 { 0.0 } else { limits[at - 1].1 };
        let of = |job: &BTreeMap<String, String>| {
            let (procs, runtime) = (number(job, "procs"), number(job, "runtime"));
            procs >= widths[0] && procs <= widths[widths.len() - 1] && runtime > from && runtime <= limits[at].1
        };
        let ((jobs, wait), (_, base_wait)) = (mean(&run, &of), mean(&base, &of));
        assert_eq!(row[2].1, Some(jobs));
        assert_near(row[3].1.unwrap(), wait, "the mean wait of a class");
        assert_near(row[4].1.unwrap(), base_wait, "the mean wait of a class in the baseline");
        counted += jobs;
    }
    assert_eq!(counted, run.len() as f64, "every job is in one class");

    // Users.
    let table = table_after(&page, "who gains, who pays</h3>");
    let area = |job: &BTreeMap<String, String>| number(job, "procs") * number(job, "runtime");
    let all: f64 = run.iter().map(area).sum();
    let mut losers = 0;
    for row in &table[1..] {
        let of = |job: &BTreeMap<String, String>| job["user"] == row[0].0;
        let ((jobs, wait), (_, base_wait)) = (mean(&run, &of), mean(&base, &of));
        assert_eq!(row[2].1, Some(jobs));
        assert_near(
            row[1].1.unwrap(),
            run.iter().filter(|job| of(job)).map(area).sum::<f64>() / all,
            "a share of the area",
        );
        assert_near(row[3].1.unwrap(), wait, "the wait of a user");
        assert_near(row[5].1.unwrap(), base_wait - wait, "the gain of a user");
        losers += usize::from(row[6].0 == "yes");
        assert_eq!(row[6].0 == "yes", wait > 1.1 * base_wait && wait > base_wait + 60.0);
    }
    let share = number(&rows(&sim_ok(&two))[0], "users_lose_pct") / 100.0;
    assert!((losers as f64 / (table.len() - 1) as f64 - share).abs() < 1e-6, "{losers} lose, not {share}");

    // Predictions that were long enough.
    for row in &table_after(&page, "Predictions that were long enough")[1..] {
        let limit = row[0].1.unwrap();
        let below = run.iter().filter(|job| number(job, "prediction") <= limit).count() as f64;
        let before: f64 = table_after(&page, "Predictions that were long enough")[1..]
            .iter()
            .filter(|other| other[0].1.unwrap() < limit)
            .map(|other| other[3].1.unwrap())
            .sum();
        assert_eq!(row[3].1, Some(below - before), "predictions up to {limit}");
    }

    // The Gantt chart has the jobs of its window, with their times.
    let table = table_after(&page, "The schedule of a window");
    assert!(table.len() > 100);
    let first = number(&run[0], "submit");
    for row in &table[1..] {
        for (jobs, at) in [(&base, 4), (&run, 8)] {
            let job = jobs.iter().find(|job| job["job"] == row[0].0).unwrap();
            if let Some(start) = row[at].1 {
                assert_eq!(start, number(job, "start") - first);
                assert_eq!(
                    (row[at + 1].1, row[at + 2].1),
                    (Some(number(job, "end") - first), Some(number(job, "wait")))
                );
                assert_eq!(row[at + 3].0 == "yes", job["backfilled"] == "1" || job["backfilled"] == "true", "{job:?}");
            }
        }
    }
}

/// The means of a long log are those of its finest series, which the main command writes.
#[test]
fn lines_over_time_are_means() {
    let folder = Folder::new();
    let series = folder.text("series.csv");
    let setting = ["--scheduler", "easy", "--predictor", "estimate"];
    let page = report(&[&setting[..], &["--baseline", "none"]].concat());
    let table = table_after(&page, "<h3>Jobs in the queue</h3>");
    let half = table[1][1 - 1].1.unwrap();
    assert_eq!(half, 10_800.0, "points of 6 hours");
    sim_ok(&[&setting[..], &["--series-out", &series, "--series-step", "15m"]].concat());
    let steps = rows(&folder.read("series.csv"));
    let first = number(&steps[0], "time");
    for (name, title, high) in [("waiting", "Jobs in the queue", 3), ("utilization", "Utilization", 3)] {
        for row in &table_after(&page, &format!("<h3>{title}</h3>"))[1..] {
            let middle = row[0].1.unwrap();
            let is_in = |step: &&BTreeMap<String, String>| {
                let time = number(step, "time") - first;
                time >= middle - half && time < middle + half
            };
            let values: Vec<f64> = steps.iter().filter(is_in).map(|step| number(step, name)).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            assert!((row[1].1.unwrap() - mean).abs() < 1e-5, "{title} at {middle}: {} instead of {mean}", row[1].0);
            let (low, high) = (row[high - 1].1.unwrap(), row[high].1.unwrap());
            let inside = values.iter().filter(|value| **value >= low - 1e-5 && **value <= high + 1e-5).count();
            assert!(inside * 10 >= values.len() * 8 && low <= high, "{title} at {middle}: {low} to {high}");
        }
    }
}

#[test]
fn texts_from_outside_are_shown_as_text() {
    let folder = Folder::new();
    let log = String::from_utf8(demo_text()).unwrap();
    let long = "x".repeat(5000);
    let evil = format!(
        "; Computer: <script>alert(1)</script>\n; Installation: \"><img src=x onerror=alert(2)> \u{202e}{long}\n{}",
        log.lines()
            .filter(|line| !line.starts_with("; Computer") && !line.starts_with("; Installation"))
            .collect::<Vec<_>>()
            .join("\n")
    );
    let path = folder.write("<b onclick='x'>&amp;.swf", &evil);
    let page = report(&[&path, "--first", "200"]);
    check_well_formed(&page);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "the header is not shown");
    for forbidden in ["<script>alert", "<img", "<b ", "\u{202e}", &"x".repeat(201)] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("\\u{202e}"));
    assert_eq!(page.matches("<script").count(), 1);
}

#[test]
fn size_does_not_grow_with_the_log() {
    let page = report(&["--repeat", "40", "--predictor", "ruh", "--scheduler", "sjbf"]);
    assert!(page.len() < 1_500_000, "200,000 jobs: {} bytes", page.len());
}

#[test]
fn real_logs_stay_readable_and_small() {
    let Some(folder) = real_logs("real_logs_stay_readable_and_small") else { return };
    let log = real_log(&folder, "CTC-SP2");
    let page = report(&[log.to_str().unwrap(), "--predictor", "ruh"]);
    check_well_formed(&page);
    let gantt = page.split("<h2>Gantt chart").nth(1).unwrap();
    assert!(gantt.len() < 1_000_000 && page.len() < 3_000_000, "{} and {} bytes", gantt.len(), page.len());
}

#[test]
fn wrong_windows_and_places_are_refused() {
    let folder = Folder::new();
    let never = folder.text("never.html");
    for (args, words) in [
        (["--gantt", "5d", "--out", &never], "FROM..TO"),
        (["--gantt", "5d..x", "--out", &never], "x"),
        (["--gantt", "5d..4d", "--out", &never], "ends before it begins"),
        (["--first", "100", "--out", "/no/such/folder/report.html"], "the folder must exist"),
    ] {
        let ran = sim(&[&["report"], &args[..]].concat());
        assert!(ran.code != 0 && ran.err.contains(words), "{args:?}: {} {}", ran.code, ran.err);
    }
    let log = folder.write("log.swf", demo_text());
    let ran = sim(&["report", &log, "--out", &log]);
    assert!(ran.code == 2 && ran.err.contains("would overwrite"), "{}", ran.err);
    // A note says where the report is.
    let out = folder.text("r.html");
    let ran = sim(&["report", "--first", "100", "--out", &out]);
    assert!(ran.code == 0 && ran.out.is_empty() && ran.err.contains("open it with a browser"), "{}", ran.err);
    assert!(folder.read("r.html").starts_with("<!DOCTYPE html>"));
}

#[test]
fn a_sweep_has_a_chart_for_each_swept_number() {
    let folder = Folder::new();
    let (study, out) = (folder.text("study"), folder.text("study.html"));
    let grid = ["--predictor", "ruh:window=1..3,estimate", "--load", "0.9,1.1", "--first", "300"];
    sim_ok(&[&["sweep"], &grid[..], &["--replications", "3", "--out", &study]].concat());
    sim_ok(&["sweep", "report", &study, "--out", &out]);
    let page = folder.read("study.html");
    check_well_formed(&page);
    // Three figures by each of two numbers, and as bars under each of two loads.
    assert_eq!(page.matches("<figure").count(), 6 + 6);
    let results = rows(&folder.read("study/results.csv"));
    let by_window = table_after(&page, "<h3>Mean wait by predictor.window");
    assert_eq!(by_window.len(), 1 + 3 * 2 + 2, "three windows at two loads; estimate has no window");
    for row in by_window[1..].iter().filter(|row| row[1].1.is_some()) {
        let load = row[0].0.rsplit('=').next().unwrap();
        let of = |run: &&BTreeMap<String, String>| {
            run["predictor.window"].parse::<f64>().ok() == row[1].1
                && number(run, "load") == load.parse::<f64>().unwrap()
        };
        let waits: Vec<f64> = results.iter().filter(of).map(|run| number(run, "wait_mean")).collect();
        assert_eq!(waits.len(), 3);
        assert_near(row[3].1.unwrap(), waits.iter().sum::<f64>() / 3.0, "the mean of three replications");
        assert!(row[3].0.contains("+-"), "{row:?}");
    }
    // All four predictors have a line by load.
    assert_eq!(table_after(&page, "<h3>Mean wait by load").len(), 1 + 4 * 2);
    assert_eq!(table_after(&page, "<h2>All settings").len(), 1 + 4 * 2);
    // The same bytes again.
    assert_eq!(sim_ok(&["sweep", "report", &study, "--out", "-"]), page);
    let ran = sim(&["sweep", "report", &folder.text("nothing")]);
    assert!(ran.code == 2 && ran.err.contains("nothing is not the folder of a sweep"), "{}", ran.err);
    let ran = sim(&["sweep", "report", &study, "--out", &folder.text("study/results.csv")]);
    assert!(ran.code == 2 && ran.err.contains("would overwrite"), "{}", ran.err);
}

#[test]
fn a_study_is_a_page_too() {
    let folder = Folder::new();
    let out = folder.text("downey.html");
    let csv = sim_ok(&["reproduce", "downey", "--days", "2", "--replications", "2", "--format", "csv", "--html", &out]);
    let page = folder.read("downey.html");
    check_well_formed(&page);
    let figures = rows(&csv);
    assert!(page.contains("<svg") && page.contains("Published against measured"));
    // Every measured number is in the page, in the order of the CSV.
    let mut tables: Vec<&String> = figures.iter().map(|figure| &figure["table"]).collect();
    tables.dedup();
    let shown: usize = page.matches("<h2>").count() - 1;
    assert_eq!(shown, tables.len());
    let first: Vec<_> = figures.iter().filter(|figure| figure["table"] == *tables[0]).collect();
    // The data of a chart comes before the table.
    let section = page.split("<h2>").nth(2).unwrap();
    let table = table_after(section.rsplit_once("<div class=\"scroll\"").map(|(_, last)| last).unwrap(), "<table");
    assert_eq!(table.len(), 1 + first.len());
    for (row, figure) in table[1..].iter().zip(first) {
        assert_eq!(row[2].0.replace("&gt;", ">").replace("&lt;", "<"), figure["published"]);
        match figure["measured"].parse::<f64>() {
            Ok(measured) => assert_near((row[3].1.unwrap() * 1e6).round() / 1e6, measured, &figure["row"]),
            Err(_) => assert_eq!(row[3].1, None),
        }
    }
}

/// In a real browser, narrow and wide, light and dark, with and without scripts, on paper: nothing overlaps, nothing is cut
/// off, nothing is fetched.
#[cfg(unix)]
/// Writes the page of a queue in which some jobs have a reliable time, one asks for more than any past job, and one is held.
fn write_waits(folder: &Folder) {
    let log = folder.write("log.swf", crate::reliable_waits::one_waits());
    let pending = |job: &str, procs, reason: &str| crate::live_waits::pending(job, procs, "12:00:00", reason);
    let jobs = [pending("1", 1, "Priority"), pending("2", 3, "Priority"), pending("3", 1, "JobHeldUser")].concat();
    let queue = folder.write("queue.txt", format!("{}{jobs}", crate::live_waits::SQUEUE));
    sim_ok(&["wait", "ask", &log, "--queue", &queue, "--names", "--html", &folder.text("waits.html")]);
}

#[test]
fn reports_are_readable_in_a_browser() {
    const TEST: &str = "reports_are_readable_in_a_browser";
    if left_to_ci("reports_are_readable_in_a_browser") {
        return;
    }
    let Some(mut browser) = crate::browser::Browser::find(TEST) else { return };
    if !browser.has_usual_font() {
        return missing(TEST, "the browser's font is wider than usual ones: install fonts-dejavu-core");
    }
    let folder = Folder::new();
    for (name, args) in [
        ("demo", &[][..]),
        ("several", &["--predictor", "ruh,sbh,kin", "--baseline", "easy/estimate", "--replications", "3"]),
        ("one", &["--baseline", "none", "--first", "50"]),
        ("changes", &["--what-if", "auto", "--replications", "3", "--resample", "none"]),
    ] {
        folder.write(&format!("{name}.html"), report(args));
    }
    let study = folder.text("study");
    sim_ok(&[
        "sweep",
        "--predictor",
        "ruh:window=1..4,sbh",
        "--load",
        "0.9..1.1:0.1",
        "--first",
        "300",
        "--out",
        &study,
    ]);
    sim_ok(&["sweep", "report", &study, "--out", &folder.text("sweep.html")]);
    let downey = ["reproduce", "downey", "--days", "2", "--replications", "2", "--format", "csv", "--html"];
    sim_ok(&[&downey[..], &[&folder.text("downey.html")]].concat());
    write_waits(&folder);
    // Nodes with long names, more of them than a chart shows.
    let site = folder.write("site.toml", "[[nodes]]\nname = \"rack[1-8]-node[01-16]\"\ncpus = 1\n");
    let one = ["--machine", &site, "--predictor", "ruh", "--first", "1000"];
    folder.write("nodes.html", report(&one));
    // A folder for pictures, to be looked at. They take most of the time.
    let pictures = std::env::var_os("SHADOWTIME_PICTURES").map(PathBuf::from);
    for name in ["demo", "several", "one", "changes", "sweep", "downey", "waits", "nodes"] {
        let faults = browser.check(&folder.path(&format!("{name}.html")), pictures.as_deref());
        assert!(faults.is_empty(), "{name}:\n{}", faults.join("\n"));
    }
}
