//! The pictures of a report: every shape is where its axes say, and has the value that the table of its chart has.

use std::collections::BTreeMap;

use shadowtime::trace::demo_workload;

use crate::html::{report, table_after};

/// The part of a picture with its own axes.
#[derive(Default)]
struct Panel {
    /// Of the axes, in units: left, top, right, bottom.
    sides: [f64; 4],
    /// The labels of the ticks and their places, from left to right.
    x: Vec<(String, f64)>,
    /// The same, from the bottom to the top.
    y: Vec<(String, f64)>,
    /// The filled shapes with tooltips.
    shapes: Vec<Shape>,
    /// The lines without tooltips, by their classes.
    lines: BTreeMap<String, Vec<(f64, f64)>>,
}

#[derive(Debug)]
struct Shape {
    title: String,
    class: String,
    points: Vec<(f64, f64)>,
}

impl Shape {
    /// Left, top, right, bottom.
    fn sides(&self) -> [f64; 4] {
        let fold = |of: fn(&(f64, f64)) -> f64, with: fn(f64, f64) -> f64| self.points.iter().map(of).reduce(with);
        [fold(|p| p.0, f64::min), fold(|p| p.1, f64::min), fold(|p| p.0, f64::max), fold(|p| p.1, f64::max)]
            .map(|side| side.expect("a shape has points"))
    }

    fn middle(&self) -> (f64, f64) {
        let mean = |of: fn(&(f64, f64)) -> f64| self.points.iter().map(of).sum::<f64>() / self.points.len() as f64;
        (mean(|p| p.0), mean(|p| p.1))
    }
}

fn attribute<'a>(tag: &'a str, name: &str) -> &'a str {
    tag.split(&format!(" {name}=\"")).nth(1).map_or("", |rest| rest.split('"').next().unwrap())
}

/// The corners of a shape, or the points of a line.
fn points(tag: &str) -> Vec<(f64, f64)> {
    let number = |name: &str| attribute(tag, name).parse::<f64>().unwrap();
    match tag.split(' ').next().unwrap() {
        "rect" => {
            let (x, y) = (number("x"), number("y"));
            vec![(x, y), (x + number("width"), y + number("height"))]
        }
        "circle" => vec![(number("cx"), number("cy"))],
        _ => {
            let pair = |text: &str| text.split_once(' ').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()));
            attribute(tag, "d").trim_end_matches('z').split(['M', 'L']).filter_map(pair).collect()
        }
    }
}

/// The panels of the picture after a text.
fn panels(page: &str, text: &str) -> Vec<Panel> {
    let from = page.find(text).unwrap_or_else(|| panic!("'{text}' is not in the page"));
    let picture = page[from..].split("<svg viewBox").nth(1).unwrap().split("</svg>").next().unwrap();
    let (mut panels, mut title, mut tick): (Vec<Panel>, String, Option<(bool, f64)>) =
        (Vec::new(), String::new(), None);
    for piece in picture.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap();
        let class = attribute(tag, "class");
        match (tag.split([' ', '/']).next().unwrap(), panels.last_mut()) {
            ("title", _) => title = text.to_string(),
            ("", _) if tag == "/g" => title.clear(),
            ("text", Some(panel)) => match tick.take() {
                Some((true, place)) => panel.x.push((text.to_string(), place)),
                Some((false, place)) => panel.y.push((text.to_string(), place)),
                None => {}
            },
            ("path" | "rect" | "circle", panel) => match (points(tag), panel) {
                (points, _) if class == "la" && points.len() == 3 => {
                    let sides = [points[0].0, points[0].1, points[2].0, points[2].1];
                    panels.push(Panel { sides, ..Panel::default() });
                }
                (points, _) if class == "la" && (points[1].1 - points[0].1 - 3.0).abs() < 0.05 => {
                    tick = Some((true, points[0].0));
                }
                (points, _) if class == "la" && (points[1].0 - points[0].0 - 3.0).abs() < 0.15 => {
                    tick = Some((false, points[0].1));
                }
                (points, Some(panel)) if class.starts_with('f') && !title.is_empty() => {
                    panel.shapes.push(Shape { title: title.clone(), class: class.to_string(), points });
                }
                (points, Some(panel)) if title.is_empty() => drop(panel.lines.insert(class.to_string(), points)),
                _ => {}
            },
            _ => {}
        }
    }
    assert!(!panels.is_empty() && panels.iter().all(|panel| panel.x.len() > 1 && panel.y.len() > 1), "{text}");
    panels
}

/// The number that a label or a tooltip says: `40%`, `1,000`, `+10 min`, `1d 04h`, `2 d 12 h`, `1:30` (hours), `5 Jan` (the time
/// since the new year, with which the embedded log begins).
fn value(label: &str) -> f64 {
    let (sign, rest) = label.strip_prefix('-').map_or((1.0, label), |rest| (-1.0, rest));
    let rest = rest.trim_start_matches('+').replace(',', "");
    if let Some(day) = rest.strip_suffix(" Jan") {
        return (day.parse::<f64>().unwrap() - 1.0) * 86_400.0;
    }
    if let Some((hours, minutes)) = rest.split_once(':') {
        return sign * (hours.parse::<f64>().unwrap() * 3600.0 + minutes.parse::<f64>().unwrap() * 60.0);
    }
    let (mut sum, mut digits) = (0.0, String::new());
    let mut words = rest.chars().filter(|c| *c != ' ').peekable();
    while let Some(c) = words.next() {
        digits.push(c);
        if words.peek().is_some_and(|next| next.is_ascii_digit() || ".e".contains(*next)) {
            continue;
        }
        let mut unit = String::new();
        while let Some(letter) = words.next_if(|next| !next.is_ascii_digit()) {
            unit.push(letter);
        }
        let unit = match unit.as_str() {
            "" | "s" => 1.0,
            "%" => 0.01,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            "y" => 365.0 * 86_400.0,
            other => panic!("'{other}' of '{label}' is no unit"),
        };
        sum += unit * digits.parse::<f64>().unwrap_or_else(|_| panic!("'{label}'"));
        digits.clear();
    }
    sign * sum
}

/// Where a value is on an axis by its first and its last tick. All other ticks must be where these two say.
fn place(ticks: &[(String, f64)], scale: fn(f64) -> f64, at: f64) -> f64 {
    let ((low, low_at), (high, high_at)) = (&ticks[0], &ticks[ticks.len() - 1]);
    let (low, high) = (scale(value(low)), scale(value(high)));
    let place = |at: f64| low_at + (scale(at) - low) / (high - low) * (high_at - low_at);
    for (label, tick_at) in ticks {
        assert!((place(value(label)) - tick_at).abs() < 0.2, "{label} of {ticks:?}");
    }
    place(at)
}

fn linear(value: f64) -> f64 {
    value
}

fn assert_at(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: drawn at {found} instead of {expected}");
}

/// The height of a line at a place.
fn height(line: &[(f64, f64)], x: f64) -> f64 {
    let after = line.iter().position(|point| point.0 >= x - 0.05).unwrap_or(line.len() - 1);
    let (from, to) = (line[after.saturating_sub(1)], line[after]);
    if to.0 - from.0 < 0.1 { to.1 } else { from.1 + (to.1 - from.1) * (x - from.0) / (to.0 - from.0) }
}

#[test]
fn shapes_are_where_their_values_are() {
    let page = report(&["--predictor", "ruh", "--baseline", "easy/estimate"]);
    let first = demo_workload().first_submit() as f64;

    // Curves: in each row of the table the place, the value of the baseline, and that of the setting.
    for (title, scale) in [
        ("How long jobs wait</h3>", f64::ln as fn(f64) -> f64),
        ("How much jobs are slowed down</h3>", f64::ln),
        ("Jobs in the queue</h3>", linear),
        ("Utilization</h3>", linear),
    ] {
        let [panel] = &panels(&page, title)[..] else { panic!("{title}") };
        // Labels are cut to the ends of the axis, which are those of the frame.
        let [left, top, _, bottom] = panel.sides;
        let has_dates = panel.x[0].0.ends_with(" Jan");
        let zero = if has_dates { first } else { 0.0 };
        assert!(has_dates || (panel.x[0].1 - left).abs() < 0.2, "{title}");
        assert_at(panel.y[0].1, bottom, 0.2, title);
        if let Some(all) = panel.y.iter().find(|(label, _)| label == "100%") {
            assert_at(all.1, top, 0.2, title);
        }
        let mut checked = 0;
        for row in &table_after(&page, title)[1..] {
            let x = place(&panel.x, scale, zero + row[0].1.unwrap());
            for (line, cell) in ["l0", "l1"].map(|class| &panel.lines[class]).into_iter().zip(&row[1..]) {
                let Some(share) = cell.1.filter(|_| x >= left && x <= line.last().unwrap().0) else { continue };
                // Places are rounded, so a steep curve has several heights at one.
                let vertices = line.iter().filter(|point| (point.0 - x).abs() < 0.2).map(|point| point.1);
                let heights: Vec<f64> = vertices.chain([height(line, x)]).collect();
                let expected = place(&panel.y, linear, share);
                let is_near = heights.iter().any(|height| (height - expected).abs() < 0.5);
                assert!(is_near, "{title} {}: drawn at {heights:?} instead of {expected}", row[0].0);
                checked += 1;
            }
        }
        assert!(checked > 60, "{title}: {checked}");
    }

    // Classes of width and runtime.
    let title = "change by width and runtime</h3>";
    let [panel] = &panels(&page, title)[..] else { panic!("{title}") };
    let table = table_after(&page, title);
    assert_eq!(panel.shapes.len(), table.len() - 1);
    for (shape, row) in panel.shapes.iter().zip(&table[1..]) {
        assert!(shape.title.starts_with(&format!("processors {}, runtime {}: ", row[0].0, row[1].0)), "{shape:?}");
        let runtime = row[1].0.replace("up to ", "\u{2264}");
        let tick = |ticks: &[(String, f64)], name: &str| ticks.iter().find(|(label, _)| label == name).unwrap().1;
        let (x, y) = shape.middle();
        assert_at(x, tick(&panel.x, &runtime), 0.2, &shape.title);
        assert_at(y, tick(&panel.y, &row[0].0), 0.2, &shape.title);
        let class = match row[5].1.unwrap() {
            change if change.abs() < 0.5 => "fa",
            change if change < 0.0 => "fup",
            _ => "fdn",
        };
        assert_eq!(shape.class, class, "{}", shape.title);
    }

    // Users.
    let title = "who gains, who pays</h3>";
    let [panel] = &panels(&page, title)[..] else { panic!("{title}") };
    let table = table_after(&page, title);
    assert_eq!(panel.shapes.len(), table.len() - 1);
    for row in &table[1..] {
        let begin = format!("user {}: ", row[0].0);
        let shape = panel.shapes.iter().find(|shape| shape.title.starts_with(&begin)).unwrap();
        let ((x, y), gain) = (shape.middle(), row[5].1.unwrap());
        assert_at(x, place(&panel.x, f64::ln, row[1].1.unwrap()), 0.3, &shape.title);
        // This axis is neither linear nor logarithmic.
        for (label, tick) in &panel.y {
            assert!((gain >= value(label)) == (y <= *tick) || (y - tick).abs() < 0.3, "{}: {y}, {label}", shape.title);
        }
        assert_eq!(shape.class == "fdn", row[6].0 == "yes", "{}", shape.title);
    }
}

#[test]
fn boxes_of_a_schedule_have_the_times_and_processors_of_their_jobs() {
    let page = report(&["--predictor", "ruh", "--baseline", "easy/estimate"]);
    let title = "The schedule of a window</h3>";
    let (panels, table) = (panels(&page, title), table_after(&page, title));
    assert_eq!(panels.len(), 2);
    let mut begin = None;
    for (panel, column) in panels.iter().zip([4, 8]) {
        let [left, top, right, bottom] = panel.sides;
        assert!(panel.shapes.len() > 50 && panel.y.windows(2).all(|pair| pair[0].1 > pair[1].1));
        let mut boxes: BTreeMap<&str, Vec<[f64; 4]>> = BTreeMap::new();
        for shape in &panel.shapes {
            let job = shape.title.strip_prefix("job ").unwrap().split(' ').next().unwrap();
            let sides = shape.sides();
            let is_inside =
                sides[0] >= left - 0.1 && sides[1] >= top - 0.1 && sides[2] <= right + 0.1 && sides[3] <= bottom + 0.1;
            assert!(is_inside, "{shape:?} of {:?}", panel.sides);
            boxes.entry(job).or_default().push(sides);
        }
        for row in &table[1..] {
            let Some((start, end)) = row[column].1.zip(row[column + 1].1) else { continue };
            let boxes = &boxes[row[0].0.as_str()];
            let high: f64 = boxes.iter().map(|sides| sides[3] - sides[1]).sum();
            let expected = place(&panel.y, linear, 0.0) - place(&panel.y, linear, row[2].1.unwrap());
            assert_at(high, expected, 0.2 * boxes.len() as f64, &format!("the height of job {}", row[0].0));
            // The window is known by the first job that begins in it.
            let x = |time: f64, begin: f64| place(&panel.x, linear, time - begin);
            if boxes[0][0] > left + 1.0 {
                let second = (place(&panel.x, linear, 1e6) - place(&panel.x, linear, 0.0)) / 1e6;
                let begin = *begin.get_or_insert(start - (boxes[0][0] - place(&panel.x, linear, 0.0)) / second);
                assert_at(boxes[0][0], x(start, begin), 0.3, &format!("the start of job {}", row[0].0));
                if boxes[0][2] < right - 1.0 {
                    assert_at(boxes[0][2], x(end, begin), 0.3, &format!("the end of job {}", row[0].0));
                }
            }
        }
    }
    assert!(begin.is_some());
}
