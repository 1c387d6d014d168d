//! Criteria by which past jobs count as similar (Talby et al., section 5.2).

/// The fields that must be equal for a past job to match. `*` means none of them: every job matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Criterion {
    pub procs: bool,
    pub estimate: bool,
    pub executable: bool,
    pub queue: bool,
}

impl Criterion {
    /// Reads a list such as `PE/P/E/*`.
    pub fn parse_list(text: &str) -> Result<Vec<Criterion>, String> {
        text.split('/').map(Criterion::parse).collect()
    }

    /// Prints a list with the letters in the order P, E, X, Q, so that equal lists have equal texts.
    pub fn print_list(criteria: &[Criterion]) -> String {
        criteria.iter().map(Criterion::print).collect::<Vec<_>>().join("/")
    }

    fn parse(text: &str) -> Result<Criterion, String> {
        let known =
            "a criterion is * or letters of P (processors), E (estimate), X (executable), Q (queue), as in PE/P/*";
        if text == "*" {
            return Ok(Criterion::default());
        }
        if text.is_empty() {
            return Err(format!("a criterion is empty; {known}"));
        }
        let mut criterion = Criterion::default();
        for letter in text.chars() {
            let place = match letter {
                'P' => &mut criterion.procs,
                'E' => &mut criterion.estimate,
                'X' => &mut criterion.executable,
                'Q' => &mut criterion.queue,
                _ => return Err(format!("'{text}' has a '{letter}'; {known}")),
            };
            if std::mem::replace(place, true) {
                return Err(format!("'{text}' has '{letter}' twice; {known}"));
            }
        }
        Ok(criterion)
    }

    fn print(&self) -> String {
        let letters = [(self.procs, 'P'), (self.estimate, 'E'), (self.executable, 'X'), (self.queue, 'Q')];
        let text: String = letters.into_iter().filter(|(has, _)| *has).map(|(_, letter)| letter).collect();
        if text.is_empty() { "*".to_string() } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_are_printed_so_that_equal_ones_look_equal() {
        for (text, printed) in [("PE/P/E/*", "PE/P/E/*"), ("XEP/QP", "PEX/PQ"), ("*", "*")] {
            let criteria = Criterion::parse_list(text).unwrap();
            assert_eq!(Criterion::print_list(&criteria), printed);
        }
        for (text, message) in [
            ("", "empty"),
            ("PE//P", "empty"),
            ("P*", "has a '*'"),
            ("PP", "twice"),
            ("pe", "has a 'p'"),
            ("*/Z", "'Z'"),
        ] {
            let error = Criterion::parse_list(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
