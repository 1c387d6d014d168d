//! Templates (Smith et al., section 2): which past jobs are similar, and how they predict. Reads and prints them.

use std::fmt;

use crate::job::Submission;

/// The characteristics in which similar jobs agree, and how a prediction is made from them: `(u,e,n=4,lr,rel,h=64)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Template {
    /// Similar jobs have the same user.
    pub user: bool,
    /// Similar jobs have the same group.
    pub group: bool,
    /// Similar jobs have the same executable.
    pub executable: bool,
    /// Similar jobs have the same queue.
    pub queue: bool,
    /// Similar jobs have the same partition.
    pub partition: bool,
    /// The size K of node ranges: similar jobs all have 1 to K processors, or K + 1 to 2K, and so on. None if the number
    /// of processors is not compared.
    pub nodes: Option<u32>,
    /// How the prediction is computed.
    pub method: CategoryEstimate,
    /// What is stored of past jobs.
    pub data: Data,
    /// Only this number of the latest jobs of a category counts. None if all count.
    pub history: Option<u32>,
}

/// How a category predicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CategoryEstimate {
    /// The mean of the category.
    #[default]
    Mean,
    /// A linear regression over the number of processors.
    Regression,
}

/// What a category stores of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Data {
    /// Its runtime.
    #[default]
    Actual,
    /// Its runtime divided by its estimate; a prediction is multiplied by the estimate of the predicted job.
    Relative,
}

/// The values of a job that a template compares; -1 and 0 for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Values {
    names: [i32; 5],
    range: u32,
}

/// The largest size of node ranges, in processors.
pub const LARGEST_RANGE: u32 = 512;

const KNOWN: &str = "a template is a list, in parentheses, of u (user), g (group), e (executable), q (queue), \
    p (partition), n=K (node ranges of K = 1, 2, 4 ... 512), mean or lr, act or rel, h=N (the last N jobs)";

impl Template {
    /// Reads a set such as `(u,e,n=4,rel);(u);()`.
    ///
    /// # Errors
    /// If the text is not a set of templates; the message shows where.
    pub fn parse_set(text: &str) -> Result<Vec<Template>, String> {
        let mut templates = Vec::new();
        let mut at = 0;
        loop {
            let end = text[at..].find(';').map_or(text.len(), |length| at + length);
            templates.push(parse(text, at, end)?);
            if end == text.len() {
                return Ok(templates);
            }
            at = end + 1;
        }
    }

    /// Prints a set so that [`Template::parse_set`] reads it back.
    pub fn print_set(templates: &[Template]) -> String {
        templates.iter().map(Template::to_string).collect::<Vec<_>>().join(";")
    }

    /// The values of a job that this template compares. Jobs with equal values are in one category.
    pub fn values(&self, job: &Submission) -> Values {
        let name = |wanted: bool, value: i32| if wanted { value } else { -1 };
        Values {
            names: [
                name(self.user, job.user),
                name(self.group, job.group),
                name(self.executable, job.executable),
                name(self.queue, job.queue),
                name(self.partition, job.partition),
            ],
            range: self.nodes.map_or(0, |size| (job.procs - 1) / size + 1),
        }
    }
}

/// Reads the template at `from..to`.
fn parse(text: &str, from: usize, to: usize) -> Result<Template, String> {
    let wrong = |at: usize, why: String| Err(format!("{why}; {KNOWN}\n  {text}\n  {}^", " ".repeat(columns(text, at))));
    let piece = &text[from..to];
    let open = from + piece.len() - piece.trim_start().len();
    // For a piece of blanks only, `trim_end` would end before `open`.
    let close = (from + piece.trim_end().len()).max(open);
    if !text[open..close].starts_with('(') {
        return wrong(open, "a template begins with '('".to_string());
    }
    if close < open + 2 || !text[..close].ends_with(')') {
        return wrong(close, "a template ends with ')'".to_string());
    }
    let mut template = Template::default();
    let (mut method, mut data) = (None, None);
    let inside = &text[open + 1..close - 1];
    let mut at = open + 1;
    for raw in inside.split(',') {
        let word = raw.trim();
        let place = at + raw.len() - raw.trim_start().len();
        at += raw.len() + 1;
        let twice = match word {
            "" if inside.trim().is_empty() => false,
            "u" => std::mem::replace(&mut template.user, true),
            "g" => std::mem::replace(&mut template.group, true),
            "e" => std::mem::replace(&mut template.executable, true),
            "q" => std::mem::replace(&mut template.queue, true),
            "p" => std::mem::replace(&mut template.partition, true),
            "mean" => method.replace(CategoryEstimate::Mean).is_some(),
            "lr" => method.replace(CategoryEstimate::Regression).is_some(),
            "act" => data.replace(Data::Actual).is_some(),
            "rel" => data.replace(Data::Relative).is_some(),
            _ => match word.split_once('=').map(|(key, value)| (key, value.parse::<u32>())) {
                Some(("n", Ok(size))) if size.is_power_of_two() && size <= LARGEST_RANGE => {
                    template.nodes.replace(size).is_some()
                }
                Some(("n", _)) => return wrong(place, format!("'{word}' is not n=K with K = 1, 2, 4 ... 512")),
                Some(("h", Ok(length))) if length >= 1 => template.history.replace(length).is_some(),
                Some(("h", _)) => return wrong(place, format!("'{word}' is not h=N with N at least 1")),
                _ => return wrong(place, format!("'{word}' is not a word of a template")),
            },
        };
        if twice {
            return wrong(place, format!("'{word}' repeats or contradicts an earlier word"));
        }
    }
    (template.method, template.data) = (method.unwrap_or_default(), data.unwrap_or_default());
    Ok(template)
}

/// The number of characters before a byte.
fn columns(text: &str, at: usize) -> usize {
    text[..at].chars().count()
}

/// Prints in a fixed order and without the defaults `mean` and `act`, so that equal templates have equal texts.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = Vec::new();
        let names =
            [(self.user, "u"), (self.group, "g"), (self.executable, "e"), (self.queue, "q"), (self.partition, "p")];
        words.extend(names.iter().filter(|(wanted, _)| *wanted).map(|(_, name)| name.to_string()));
        words.extend(self.nodes.map(|size| format!("n={size}")));
        words.extend((self.method == CategoryEstimate::Regression).then(|| "lr".to_string()));
        words.extend((self.data == Data::Relative).then(|| "rel".to_string()));
        words.extend(self.history.map(|length| format!("h={length}")));
        write!(f, "({})", words.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_read_and_printed_back() {
        for (text, printed) in [
            ("()", "()"),
            ("(mean,act)", "()"),
            ("(u,e,n=4,mean,rel,h=64)", "(u,e,n=4,rel,h=64)"),
            ("(h=64,rel,n=4,e,u)", "(u,e,n=4,rel,h=64)"),
            ("(p,q,e,g,u,lr);( u , n=512 ) ; ()", "(u,g,e,q,p,lr);(u,n=512);()"),
        ] {
            let set = Template::parse_set(text).unwrap();
            assert_eq!(Template::print_set(&set), printed);
            assert_eq!(Template::parse_set(printed).unwrap(), set);
        }
    }

    #[test]
    fn errors_point_into_the_text() {
        for (text, why, pointer) in [
            ("", "begins with '('", 0),
            ("u,e", "begins with '('", 0),
            ("(u);", "begins with '('", 4),
            ("(u); ", "begins with '('", 5),
            ("(u); ;(g)", "begins with '('", 5),
            (" ", "begins with '('", 1),
            ("(u", "ends with ')'", 2),
            ("(", "ends with ')'", 1),
            ("(u,x)", "'x' is not a word of a template", 3),
            ("(u);(e, z=4)", "'z=4' is not a word of a template", 8),
            ("(u,,e)", "'' is not a word of a template", 3),
            ("(n=3)", "'n=3' is not n=K", 1),
            ("(n=1024)", "'n=1024' is not n=K", 1),
            ("(n)", "'n' is not a word of a template", 1),
            ("(u,h=0)", "'h=0' is not h=N", 3),
            ("(u,e,u)", "'u' repeats", 5),
            ("(mean,lr)", "'lr' repeats", 6),
        ] {
            let error = Template::parse_set(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
            assert!(error.ends_with(&format!("\n  {text}\n  {}^", " ".repeat(pointer))), "{text}: {error}");
        }
    }

    #[test]
    fn node_ranges_are_of_equal_size() {
        let range =
            |text: &str, procs: u32| Template::parse_set(text).unwrap()[0].values(&Submission::new(0, procs, 1)).range;
        assert_eq!([1, 4, 5, 8, 9].map(|procs| range("(n=4)", procs)), [1, 1, 2, 2, 3]);
        assert_eq!([1, 2, 512].map(|procs| range("(n=1)", procs)), [1, 2, 512]);
        assert_eq!([1, 700].map(|procs| range("()", procs)), [0, 0]);
    }
}
