//! The features that a job asks for, in Slurm's words: `ib&bigmem`, `(v100|a100)&ib`, `[rack1|rack2]`.

use std::fmt;

/// A constraint. As in Slurm, `&` and `|` do not bind differently: they are applied from left to right. A comma means `&`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraint {
    /// What each node must have.
    all: Option<Features>,
    /// What stands in brackets: one of these holds for all nodes of a job. Empty: there are no brackets.
    one_of: Vec<Features>,
}

/// An expression of features.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Features {
    Has(String),
    Both(Box<[Features; 2]>),
    Either(Box<[Features; 2]>),
}

impl Features {
    fn hold_for(&self, features: &[String]) -> bool {
        match self {
            Features::Has(name) => features.contains(name),
            Features::Both(parts) => parts.iter().all(|part| part.hold_for(features)),
            Features::Either(parts) => parts.iter().any(|part| part.hold_for(features)),
        }
    }

    /// This after what is to its left.
    fn after(self, left: Option<Features>, joins: char) -> Features {
        match left {
            None => self,
            Some(left) if joins == '|' => Features::Either(Box::new([left, self])),
            Some(left) => Features::Both(Box::new([left, self])),
        }
    }
}

/// Why a constraint is not simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BadConstraint {
    /// It asks for numbers of nodes with some features: `rack1*4`.
    Counts,
    /// It is none of Slurm's, which has no `!` and no parentheses inside others.
    Form,
}

impl fmt::Display for BadConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadConstraint::Counts => {
                "its constraint asks for counts of nodes, such as rack1*4, which are not simulated"
            }
            BadConstraint::Form => "its constraint is not one of Slurm's, such as (v100|a100)&ib or [rack1|rack2]",
        })
    }
}

impl Constraint {
    /// Reads a constraint as Slurm 22.05 does.
    ///
    /// # Errors
    /// If it has counts, or is none of Slurm's.
    pub fn parse(text: &str) -> Result<Constraint, BadConstraint> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if text.contains('*') {
            return Err(BadConstraint::Counts);
        }
        let mut constraint = Constraint::default();
        let (mut rest, mut joins) = (text.as_str(), '&');
        while !rest.is_empty() {
            if let Some(inside) = rest.strip_prefix('[') {
                let (inside, after) = inside.split_once(']').ok_or(BadConstraint::Form)?;
                if !constraint.one_of.is_empty() || joins != '&' || after.starts_with('|') {
                    return Err(BadConstraint::Form);
                }
                let mut left = inside;
                loop {
                    let (term, after) = term(left)?;
                    constraint.one_of.push(term);
                    match after.strip_prefix('|') {
                        Some(after) => left = after,
                        None if after.is_empty() => break,
                        // Without a count, Slurm has no `&` here outside of parentheses.
                        None => return Err(BadConstraint::Form),
                    }
                }
                rest = after;
            } else {
                let (term, after) = term(rest)?;
                constraint.all = Some(term.after(constraint.all.take(), joins));
                rest = after;
            }
            if let Some(next) = rest.chars().next() {
                joins = operator(next).ok_or(BadConstraint::Form)?;
                rest = &rest[1..];
                if rest.is_empty() {
                    return Err(BadConstraint::Form);
                }
            }
        }
        Ok(constraint)
    }

    /// How many kinds of nodes it has, of which all nodes of a job are one.
    pub fn kinds(&self) -> usize {
        self.one_of.len().max(1)
    }

    /// Whether a node with these features is of a kind.
    pub fn holds_for(&self, kind: usize, features: &[String]) -> bool {
        let is_one = self.one_of.get(kind).is_none_or(|one| one.hold_for(features));
        is_one && self.all.as_ref().is_none_or(|all| all.hold_for(features))
    }
}

fn operator(character: char) -> Option<char> {
    match character {
        '&' | ',' => Some('&'),
        '|' => Some('|'),
        _ => None,
    }
}

/// A feature or an expression in parentheses, and the rest of the text.
fn term(text: &str) -> Result<(Features, &str), BadConstraint> {
    let Some(inside) = text.strip_prefix('(') else {
        let end = text.find(['&', ',', '|', '(', ')', '[', ']']).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let is_name = !name.is_empty() && !name.contains('!');
        return is_name.then(|| (Features::Has(name.to_string()), rest)).ok_or(BadConstraint::Form);
    };
    let (inside, after) = inside.split_once(')').ok_or(BadConstraint::Form)?;
    let (mut all, mut rest, mut joins) = (None, inside, '&');
    loop {
        if rest.starts_with('(') {
            return Err(BadConstraint::Form);
        }
        let (part, left) = term(rest)?;
        let joined = part.after(all.take(), joins);
        let Some(next) = left.chars().next() else { return Ok((joined, after)) };
        joins = operator(next).ok_or(BadConstraint::Form)?;
        (all, rest) = (Some(joined), &left[1..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(text: &str, kind: usize, features: &str) -> bool {
        let features: Vec<String> = features.split(',').map(str::to_string).collect();
        Constraint::parse(text).unwrap().holds_for(kind, &features)
    }

    #[test]
    fn a_node_needs_what_the_expression_says() {
        assert!(has("", 0, "") && has("ib", 0, "ib,big") && !has("ib", 0, "big"));
        assert!(has("ib&big", 0, "ib,big") && !has("ib&big", 0, "ib") && !has("ib,big", 0, "ib"));
        assert!(has("v100|a100", 0, "a100") && !has("v100|a100", 0, "ib"));
        assert!(has("(a|b)&c", 0, "a,c") && has(" (a | b) & c ", 0, "b,c") && !has("(a|b)&c", 0, "a"));
        assert!(has("c&(a|b)", 0, "b,c") && !has("c&(a|b)", 0, "c") && has("(a&b)|(c&d)", 0, "c,d"));
        // From left to right: (a|b)&c, and (a&b)|c.
        assert!(!has("a|b&c", 0, "a") && has("a|b&c", 0, "a,c") && has("a&b|c", 0, "c"));
    }

    #[test]
    fn all_nodes_are_of_one_kind_in_brackets() {
        let kinds = |text: &str| Constraint::parse(text).unwrap().kinds();
        assert_eq!((kinds(""), kinds("a|b"), kinds("[a|b]"), kinds("c&[a|b|(d&e)]")), (1, 1, 2, 3));
        assert!(has("[a|b]", 0, "a") && !has("[a|b]", 0, "b") && has("[a|b]", 1, "b"));
        assert!(has("[a|b]&c", 1, "b,c") && !has("[a|b]&c", 1, "b") && has("c&[a|(d&e)]", 1, "c,d,e"));
    }

    #[test]
    fn what_is_not_simulated_is_refused() {
        for text in ["a*2&b*1", "[a*2&b*1]", "rack1*4"] {
            assert_eq!(Constraint::parse(text), Err(BadConstraint::Counts), "{text}");
        }
        let others = ["!a", "a&!b", "a&", "&a", "(a", "a)", "((a))", "(a)(b)", "[a|b", "[a|b]|c", "c|[a|b]", "[a&b]"];
        for text in others.into_iter().chain(["[a|b]&[c|d]", "()", "[]", "a||b", "a(b)"]) {
            assert_eq!(Constraint::parse(text), Err(BadConstraint::Form), "{text}");
        }
    }
}
