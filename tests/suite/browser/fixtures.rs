//! Pages with known faults: the check must find each of them, and nothing in a good page.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::support::{left_to_ci, wait_until};

use super::{Browser, LOOKS, Look, PLAIN, address, base64, program};

/// Texts here have room for any font: the outcome does not depend on those of the machine.
///
/// A good page under a strict policy: columns that scroll in a box of their own, turned labels whose upright boxes
/// would overlap, labels on shapes, closed details, and texts that nobody sees.
const GOOD: &str = r##"<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-NeeoT9qWRTEfym2INT5ORth9+zp+GoZclfHkiGwJEPU='; script-src 'sha256-qj01saNkHPLiHZV+4pPvSMoA0m062pDSMaq+lenPOgU='">
<title>good</title><style>
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --bar: #0072b2 }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --paper: #161616; --bar: #56b4e9 } }
body { font: 16px/1.1 sans-serif; color: var(--ink); background: var(--paper); margin: 1em }
.wide { overflow-x: auto } .wide td { white-space: nowrap; padding: 0 60px }
.off { position: absolute; width: 1px; height: 1px; overflow: hidden; white-space: nowrap }
.none { opacity: 0; position: absolute; top: 0 }
svg { display: block; max-width: 100%; height: auto; font: 13px sans-serif; fill: var(--ink) }
.bar { fill: var(--bar) } .on { fill: var(--paper) } .dark { fill: #000 } .light { fill: #fff }
</style></head><body><h1>A good page</h1><p class="none">not seen</p><span class="off">for screen readers only</span>
<p>Two <b>kinds</b> of <i>text</i> in lines that are close to each other, <b>long enough</b> that there are <i>several</i>
of them at <b>every</b> width of the window, and <code>code</code> too.</p>
<div class="wide"><table><tr><td>one</td><td>two</td><td>three</td><td>four</td><td>five</td><td>six</td></tr></table></div>
<svg viewBox="0 0 360 200" width="360" height="200" role="img"><title>a chart</title>
<rect class="bar" x="100" y="20" width="200" height="60"><title>a tip</title></rect>
<text class="on" x="110" y="55">on the bar</text><text x="10" y="55">beside it</text>
<rect class="dark" x="100" y="90" width="90" height="20"/><text class="light" x="105" y="105">white</text>
<g transform="translate(40 190) rotate(-45)"><text>first label</text></g>
<g transform="translate(80 190) rotate(-45)"><text>second label</text></g>
<text transform="translate(120 190) rotate(-45)">third <tspan>label</tspan></text>
<text x="240" y="140"><tspan x="240">line one</tspan><tspan x="240" dy="24">line two</tspan></text>
</svg><details><summary>show data</summary><p>first</p><p class="none">second</p></details>
<p id="state">waits</p><script>document.getElementById("state").textContent = "ready"</script></body></html>"##;

fn page(style: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>t</title><style>body {{ margin: 8px; font: 16px \
         sans-serif; color: #000; background: #fff }} {style}</style>\
         </head><body>{body}</body></html>"
    )
}

const TWO: &str = "<p class=x>upper</p><p class='x y'>lower</p>";

/// The faults that the browser finds in a page at these looks.
fn faults(browser: &mut Browser, folder: &Path, html: &str, looks: &[Look]) -> Vec<String> {
    let file = folder.join("a page.html");
    fs::write(&file, html).unwrap();
    browser.check_looks(&file, None, looks)
}

#[test]
fn a_browser_finds_each_fault() {
    if left_to_ci("a_browser_finds_each_fault") {
        return;
    }
    let Some(mut browser) = Browser::find("a_browser_finds_each_fault") else { return };
    let folder = tempfile::tempdir().unwrap();
    let svg = |inside: &str| page("", &format!("<svg width=300 height=100 font-size=14>{inside}</svg>"));
    let pages = [
        (
            page(".x { position: absolute; left: 20px; top: 60px }", TWO),
            r#""upper" in <p class="x"> overlaps the text "lower""#,
        ),
        (
            svg("<text x=10 y=50>alpha</text><text x=20 y=55>beta</text>"),
            r#""alpha" in <text> overlaps the text "beta""#,
        ),
        (svg("<text x=10 y=50><tspan>gamma</tspan><tspan x=20>delta</tspan></text>"), "\"gamma\" in <tspan> overlaps"),
        (
            svg("<text transform='translate(20 90) rotate(-20)'>turned label</text><text x=40 y=85>level</text>"),
            "\"turned label\" in <text> overlaps the text \"level\"",
        ),
        (
            svg(
                "<text transform='translate(20 90) rotate(-20)'>turned so far <tspan>label</tspan></text><text x=40 y=85>level</text>",
            ),
            "\"turned so far\" in <text> overlaps the text \"level\"",
        ),
        (svg("<text x=250 y=50>too far to the right</text>"), "\"too far to the right\" in <text> is cut off by"),
        (
            svg("<text transform='translate(20 30) rotate(-90)'>too far up</text>"),
            "\"too far up\" in <text> is cut off by",
        ),
        (
            svg("<svg x=50 y=10 width=40 height=40><text x=5 y=20>inner picture</text></svg>"),
            "\"inner picture\" in <text> is cut off by",
        ),
        (
            page(
                "div { width: 60px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis }",
                "<div>more than fits</div>",
            ),
            "\"more than fits\" in <div> is cut off by",
        ),
        (page("p { font-size: 6px }", "<p>tiny</p>"), "\"tiny\" is smaller than 7 px (6 px)"),
        (
            page(
                "svg { width: 150px; height: auto }",
                "<svg viewBox='0 0 300 100'><text x=9 y=50 font-size=12>shrunk</text></svg>",
            ),
            "\"shrunk\" is smaller than 7 px (6 px)",
        ),
        (page("", "<script>console.error('bad', 7)</script>"), "the console has the error: bad"),
        (page("", "<script>console.warn('careful')</script>"), "the console has the warning: careful"),
        (page("", "<script>throw new Error('broken')</script>"), "a script fails: Error: broken"),
        (page("", "<script>alert('hello')</script>"), "the page opens a dialog: hello"),
        (page("", "<link rel=preconnect href=https://example.org>"), "the page connects to https://example.org/"),
        (page("p { color: #999 }", "<p>pale</p>"), "\"pale\" in <p> has too little contrast (2.85 instead of 4.5)"),
        (page("p { color: #000; opacity: 0.4 }", "<p>thin</p>"), "\"thin\" in <p> has too little contrast"),
        (
            page("td { background: #333; color: #000 }", "<table><tr><td>dark"),
            "\"dark\" in <td> has too little contrast",
        ),
        (
            svg("<text x=10 y=50 fill=#bbb>pale</text>"),
            "\"pale\" in <text> has too little contrast (1.92 instead of 4.5)",
        ),
        (
            svg("<rect width=200 height=90 fill=#222 /><text x=10 y=50>on dark</text>"),
            "\"on dark\" in <text> has too little contrast",
        ),
        (svg("<text x=10 y=50>below</text><rect width=200 height=90 fill=#def />"), "\"below\" is covered by <rect>"),
    ];
    for (html, fault) in pages {
        let found = faults(&mut browser, folder.path(), &html, &[PLAIN]);
        assert!(found.len() == 1 && found[0].contains(fault), "{fault}: {found:#?}\n{html}");
    }
    // Faults that come with another one, or late.
    let pages = [
        (page("", "<script>Promise.reject(new Error('later'))</script>"), vec!["a script fails: Error: later"]),
        (
            page("", "<script>new WebSocket('wss://example.org/s')</script>"),
            vec!["asks for wss://example.org/s", "ERR_"],
        ),
        (
            page("table { width: 900px }", "<table><tr><td>a"),
            vec!["scrolls horizontally (908 px of 800 px)", "<table> is wider"],
        ),
        (
            page("html { overflow-x: hidden } div { width: 900px }", "<div>a</div>"),
            vec!["scrolls horizontally", "<div> is wider than the page by 108 px"],
        ),
        (
            page("p { white-space: nowrap }", &format!("<p>{}</p>", "word ".repeat(60))),
            vec!["is outside of the page by", "scrolls horizontally"],
        ),
        (
            page("", "<img src=https://example.org/a.png alt=''>"),
            vec!["asks for https://example.org/a.png", "ERR_NAME_NOT_RES"],
        ),
        (
            page("", "<script>setTimeout(() => fetch('https://example.org/x').catch(() => 0), 200)</script>"),
            vec!["org/x", "ERR_"],
        ),
        (page("", "<link rel=stylesheet href=beside.css>"), vec!["the page asks for file:///", "ERR_FILE_NOT_FOUND"]),
        (
            page("", "<p style='color: #111'>a</p>")
                .replace("<style>", "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\"><style>"),
            vec!["violates the following Content Security Policy", "violates the following Content Security Policy"],
        ),
    ];
    for (html, expected) in pages {
        let found = faults(&mut browser, folder.path(), &html, &[Look { settle: true, ..PLAIN }]);
        let has = |part: &&str| found.iter().any(|fault| fault.contains(part));
        assert!(found.len() == expected.len() && expected.iter().all(has), "{expected:?}: {found:#?}\n{html}");
    }
    // What cannot be decided is no fault.
    let pages = [
        page("p { color: #fff; background: linear-gradient(#000, #222) }", "<p>on a gradient</p>"),
        page("p { color: #eee } body { filter: invert(1) }", "<p>turned round</p>"),
        svg("<rect width=40 height=90 fill=#222 /><text x=10 y=50>partly on the dark</text>"),
        svg("<text x=10 y=50 fill=#fff stroke=#000>with an edge</text>"),
    ];
    for html in pages {
        let found = faults(&mut browser, folder.path(), &html, &[PLAIN]);
        assert!(found.is_empty(), "{found:#?}\n{html}");
    }
}

#[test]
fn a_browser_finds_a_fault_at_the_look_that_has_it() {
    if left_to_ci("a_browser_finds_a_fault_at_the_look_that_has_it") {
        return;
    }
    let Some(mut browser) = Browser::find("a_browser_finds_a_fault_at_the_look_that_has_it") else { return };
    let folder = tempfile::tempdir().unwrap();
    let overlap = ".x { position: absolute; left: 20px; top: 60px }";
    let only = |media: &str| page(&format!("@media {media} {{ {overlap} }}"), TWO);
    let pages = [
        (only("(max-width: 500px)"), "[400-light, 400-dark]"),
        (only("(min-width: 1000px)"), "[1600-light, 1600-dark]"),
        (only("print"), "[print]"),
        (
            page("@media (prefers-color-scheme: dark) { body { background: #222 } }", "<p>words</p>"),
            "[400-dark, 800-dark, 1600-dark]",
        ),
        (page(overlap, &format!("<details><summary>more</summary>{TWO}</details>")), "[800-open]"),
        (page(overlap, &format!("<noscript>{TWO}</noscript>")), "[800-no-scripts]"),
    ];
    for (html, looks) in pages {
        let found = faults(&mut browser, folder.path(), &html, &LOOKS);
        assert!(found.len() == 1 && found[0].ends_with(looks), "{looks}: {found:#?}\n{html}");
    }
}

#[test]
fn a_browser_finds_nothing_in_a_good_page() {
    if left_to_ci("a_browser_finds_nothing_in_a_good_page") {
        return;
    }
    let Some(mut browser) = Browser::find("a_browser_finds_nothing_in_a_good_page") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("good #1 ü.html");
    fs::write(&file, GOOD).unwrap();
    let found = browser.check(&file, Some(folder.path()));
    assert!(found.is_empty(), "{found:#?}");
    for look in &LOOKS {
        let picture = fs::read(folder.path().join(format!("good #1 ü-{}.png", look.name))).unwrap();
        // Bytes 16 to 19 of a PNG are its width.
        assert_eq!(picture[16..20], look.width.to_be_bytes(), "{}", look.name);
    }
}

#[test]
fn a_browser_checks_thousands_of_texts() {
    if left_to_ci("a_browser_checks_thousands_of_texts") {
        return;
    }
    let Some(mut browser) = Browser::find("a_browser_checks_thousands_of_texts") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut body = String::from("<svg width=700 height=18000 font-size=10>");
    for index in 0..5000 {
        let (x, y) = (index % 10 * 70, index / 10 * 36);
        body += &format!("<rect x={x} y={y} width=69 height=35 fill=#def /><text x={x} y={} >{index}</text>", y + 20);
    }
    body += "</svg>";
    // In less than the limit of a step: in quadratic time it would take longer.
    let found = faults(&mut browser, folder.path(), &page("", &body), &[PLAIN]);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_browser_ends_with_its_test() {
    if left_to_ci("a_browser_ends_with_its_test") {
        return;
    }
    let Some(browser) = Browser::find("a_browser_ends_with_its_test") else { return };
    let (process, folder) = browser.connection.traces();
    assert!(folder.exists() && (is_alive(process) || !Path::new("/proc").exists()));
    drop(browser);
    assert!(!folder.exists(), "{}", folder.display());
    wait_until("processes of the group are left", || !is_alive(process));
}

/// Whether the group has a process. One that has ended and that nobody waits for does not count: in a container that
/// may be so forever.
fn is_alive(group: u32) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok()).any(|stat| {
        // After the name, in parentheses: state, parent, group.
        let fields: Vec<_> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        fields.get(2) == Some(&group.to_string().as_str()) && fields[0] != "Z"
    })
}

#[test]
fn a_browser_is_looked_for() {
    assert_eq!(program(Some(OsString::from("mine")), &["true"]), Some(OsString::from("mine")));
    assert_eq!(program(Some(OsString::new()), &["no-such-program", "false", "true"]), Some(OsString::from("true")));
    assert_eq!(program(None, &["no-such-program"]), None);
    assert_eq!(address(Path::new("/a b/ü#?.html")), "file:///a%20b/%C3%BC%23%3F.html");
    assert_eq!(base64("aGVsbG8h"), b"hello!");
    assert_eq!(base64("aGVsbG8="), b"hello");
}
