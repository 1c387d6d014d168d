//! Pages of `--what-if`: their tables are those of the terminal, their charts have the figures of separate runs.

use crate::html::{check_fetches_nothing, report, rows, table_after};
use crate::support::{Folder, first_jobs, sim, sim_ok};

/// The cells of a table that are not empty, by line.
type Cells = Vec<Vec<String>>;

/// The table of a page below a heading.
fn on_page(page: &str, heading: &str) -> Cells {
    let lines = table_after(page, &format!("<h2>{heading}</h2>"));
    let texts = |line: &Vec<(String, Option<f64>)>| {
        let texts = line.iter().map(|(text, _)| text.trim().to_string());
        texts.filter(|text| !text.is_empty()).collect()
    };
    lines.iter().map(texts).collect()
}

/// The table of an output whose first line begins so. Columns are two blanks apart.
fn in_terminal(text: &str, begin: &str) -> Cells {
    let lines =
        text.lines().skip_while(|line| !line.trim_start().starts_with(begin)).take_while(|line| !line.is_empty());
    let cells = |line: &str| {
        let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        cells.map(str::to_string).collect()
    };
    lines.map(cells).collect()
}

#[test]
fn the_table_of_figures_is_that_of_the_terminal() {
    let folder = Folder::new();
    let (log, page) = (folder.write("log.swf", first_jobs(400)), folder.text("page.html"));
    // With intervals a terminal has room for one change.
    let two = ["--what-if", "a: procs=150", "--what-if", "b: load=0.9"];
    let one = ["--what-if", "a: procs=150", "--replications", "3", "--resample", "none", "--by", "user"];
    for (changes, begin, with_by) in [(&two[..], "as it is  ", false), (&one[..], "a  ", true)] {
        let args = [&[&*log], changes].concat();
        let text = sim_ok(&[&args[..], &["--format", "table", "--html", &page]].concat());
        let page = folder.read("page.html");
        assert!(in_terminal(&text, begin).len() > 20);
        assert_eq!(on_page(&page, "The figures"), in_terminal(&text, begin), "{text}");
        assert_eq!(text.contains("a, by user"), with_by);
        let args = if with_by { &args[..args.len() - 2] } else { &args };
        assert_eq!(page, report(args), "--html is what sim report writes");
        check_fetches_nothing(&page);
    }
}

/// The row of a run alone, with the reasons of waiting.
fn alone(args: &[&str]) -> impl Fn(&str) -> f64 + use<> {
    let row = rows(&sim_ok(&[args, &["--baseline", "none", "--reasons", "--format", "csv"]].concat())).remove(0);
    move |name| row[name].parse().unwrap_or_else(|_| panic!("{name}: {}", row[name]))
}

/// The bars of a chart that `--svg` wrote: for each its group, its setting and its number.
fn check_bars(folder: &Folder, chart: &str, expected: &[(&str, &str, f64)]) {
    let csv = folder.read(&format!("svg/{chart}.csv"));
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let bars: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(bars.len(), expected.len(), "{csv}");
    for (bar, (group, setting, number)) in bars.iter().zip(expected) {
        let (got, at) = (bar[bar.len() - 1].parse::<f64>().unwrap(), bar.len() - 3);
        assert!(at == 0 || bar[0].starts_with(group), "{group}: {csv}");
        assert_eq!(&bar[at], *setting, "{csv}");
        assert!((got - number).abs() <= 1e-5 * number.abs().max(1.0), "{group}, {setting}: {got} for {number}");
    }
}

#[test]
fn on_a_pool_the_page_has_the_figures_of_two_runs() {
    let folder = Folder::new();
    let (log, svg) = (folder.write("log.swf", first_jobs(600)), folder.text("svg"));
    let site = [&*log, "--scheduler", "easy", "--predictor", "estimate"];
    let page = report(&[&site[..], &["--what-if", "more: procs=150", "--svg", &svg]].concat());
    let [base, more] = ["128", "150"].map(|procs| alone(&[&site[..], &["--procs", procs]].concat()));
    let changes = table_after(&page, "<h2>The changes</h2>");
    let column = |head: &str| changes[0].iter().position(|(text, _)| text == head).unwrap_or_else(|| panic!("{head}"));
    let number = |line: usize, head: &str| changes[line][column(head)].1.unwrap_or(f64::NAN);
    for (head, name) in
        [("wait, mean", "wait_mean"), ("longest wait", "wait_max"), ("wait of the widest jobs", "wide_wait_mean")]
    {
        assert_eq!([number(1, head), number(2, head)], [more(name), base(name)], "{head}");
    }
    let saved = (base("wait_mean") - more("wait_mean")) * 600.0 / 3600.0;
    let each = saved / (22.0 * base("makespan") / 86_400.0);
    assert!((number(1, "hours of waiting saved") - saved).abs() < 0.01, "{saved}");
    assert!((number(1, "per processor and day") - each).abs() < 0.01, "{each}");
    let answer = page.split("class=\"result\">").nth(1).unwrap();
    assert!(answer.starts_with("With &quot;more&quot; the mean wait is "), "{}", &answer[..200]);
    let seconds = |name: &str| [base(name) * 3600.0, more(name) * 3600.0];
    let ([cpus, more_cpus], [behind, more_behind]) = (seconds("wait_hours_cpus"), seconds("wait_hours_behind"));
    let (want, rest, site) = ("for want of processors", "behind others", "as it is");
    let bars = [(want, site, cpus), (want, "more", more_cpus), (rest, site, behind), (rest, "more", more_behind)];
    check_bars(&folder, "why-jobs-wait", &bars);
    let used = [("", site, base("utilization")), ("", "more", more("utilization"))];
    check_bars(&folder, "use-of-the-machine", &used);
    // The predictions are the same, so nothing is said of them.
    assert!(!page.contains("Predictions that were long enough") && page.contains("Gantt chart of as it is and more"));
}

#[test]
fn on_nodes_each_change_has_its_own_machine() {
    let folder = Folder::new();
    let site = folder.text("site");
    sim_ok(&["example", &site]);
    let [log, conf, accounts] = ["sacct.txt", "slurm.conf", "site.dump"].map(|name| format!("{site}/{name}"));
    let common = [&*log, "--first", "600", "--slurm-conf", &conf, "--associations", &accounts];
    let change = ["--what-if", "more: add-nodes=n[17-18] as n01", "--what-if", "remove-nodes=n[15-16]"];
    let page = report(&[&common[..], &change, &["--svg", &folder.text("svg")]].concat());
    check_fetches_nothing(&page);
    let own = [&common[..], &["--scheduler", "slurm", "--predictor", "estimate"]].concat();
    let by = folder.text("by.csv");
    let runs = [&[][..], &["--add-nodes", "n[17-18] as n01"], &["--remove-nodes", "n[15-16]"]];
    let runs = runs.map(|more| {
        let run = alone(&[&own[..], more, &["--by-out", &by, "--by", "partition"]].concat());
        let parts: Vec<_> = rows(&folder.read("by.csv")).into_iter().filter(|row| row["key"] == "partition").collect();
        let wait =
            move |name: &str| parts.iter().find(|row| row["value"] == name).unwrap()["wait_mean"].parse().unwrap();
        (run, wait)
    });
    let names = ["as it is", "more", "remove-nodes=n[15-16]"];
    let bars = |groups: [&'static str; 2], figure: &dyn Fn(usize, &str) -> f64| {
        let bar = |group: &'static str| (0..3).map(move |at| (group, names[at], figure(at, group)));
        groups.into_iter().flat_map(bar).collect::<Vec<_>>()
    };
    check_bars(&folder, "mean-wait-by-partition", &bars(["batch", "short"], &|at, name| (runs[at].1)(name)));
    let reasons = bars(["for want of CPUs", "behind others"], &|at, name| {
        let name = if name.starts_with("for") { "wait_hours_cpus" } else { "wait_hours_behind" };
        (runs[at].0)(name) * 3600.0
    });
    check_bars(&folder, "why-jobs-wait", &reasons);
    let used: Vec<_> = (0..3).map(|at| ("CPUs given to jobs", names[at], (runs[at].0)("utilization_cpus"))).collect();
    check_bars(&folder, "use-of-the-machine", &used);
    // The lower chart has the nodes that are new.
    let gantt = page.split("<h2>Gantt chart</h2>").nth(1).unwrap().split("<figcaption").next().unwrap();
    let nodes = |name: &str| gantt.matches(&format!(">{name}<")).count();
    assert_eq!([nodes("n16"), nodes("n18")], [4, 2], "in a narrow and in a wide picture");
}

#[test]
fn what_would_help_most_is_first_on_its_page() {
    let folder = Folder::new();
    let (log, page) = (folder.write("log.swf", first_jobs(400)), folder.text("page.html"));
    let text = sim_ok(&[&log, "--what-if", "auto", "--format", "table", "--html", &page]);
    let page = folder.read("page.html");
    let (ours, theirs) = (on_page(&page, "What would help most"), in_terminal(&text, "what if"));
    let names = |cells: &Cells| cells.iter().skip(1).map(|line| line[..2].join(": ")).collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs));
    let best = &ours[1][0];
    let answer = page.split("class=\"result\">").nth(1).unwrap();
    assert!(answer.starts_with(&format!("With &quot;{best}&quot; the mean wait is")), "{}", &answer[..200]);
    // Each command gives a page with the same figures of its change.
    let commands: Vec<&str> = page.split("<p><code>").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    assert_eq!(commands.len(), ours.len() - 2);
    let words = shlex::split(commands[0].strip_prefix("sim report ").unwrap()).unwrap();
    let again = report(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(
        on_page(&again, "The changes")[1],
        ours[1].iter().filter(|cell| *cell != "-").cloned().collect::<Vec<_>>()
    );
    assert_eq!(page, report(&[&log, "--what-if", "auto"]));
}

#[test]
fn jobs_that_cannot_run_everywhere_are_named_in_the_heading() {
    let folder = Folder::new();
    let log = folder.write("log.swf", first_jobs(300));
    let page = report(&[&log, "--what-if", "procs=32"]);
    let heading = page.split("<h1>").nth(1).unwrap().split('<').next().unwrap();
    assert!(heading.starts_with("log: 128 processors (32 with procs=32)"), "{heading}");
    assert!(heading.contains("compared on the jobs that all can run: procs=32 cannot run"), "{heading}");
    let answer = page.split("</span>)").nth(1).unwrap().split('<').next().unwrap();
    assert!(answer.starts_with(". It costs ") && answer.ends_with(" for each processor and day less."), "{answer}");
}

#[test]
fn what_is_no_change_is_refused_by_a_page_too() {
    let folder = Folder::new();
    let log = folder.write("log.swf", first_jobs(100));
    for (args, why) in [
        (&["--what-if", "procs=64", "--scheduler", "easy,sjbf"][..], "--what-if changes one site"),
        (&["--what-if", "procs=64", "--baseline", "easy/kin"], "the baseline is the site"),
        (&["--what-if", "scheduler=easy"], "it changes nothing: the site is so as it is"),
        (&["--what-if", "add-node=n2 as n1"], "did you mean 'add-nodes'?"),
    ] {
        let ran = sim(&[&["report", &log, "--out", "-"], args].concat());
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(why), "{args:?}: {} {}", ran.code, ran.err);
    }
    let ran = sim(&[
        "report",
        &log,
        "--out",
        "-",
        "--scheduler",
        "fcfs",
        "--predictor",
        "estimate",
        "--what-if",
        "predictor=kin",
    ]);
    assert!(ran.code == 0 && ran.err.contains("--what-if 'predictor=kin' has no effect"), "{}", ran.err);
}
