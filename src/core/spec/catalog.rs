//! A list of things that specs name, such as all predictors. Programs of other crates can add to it.

use std::sync::OnceLock;

use super::{Form, Spec, SpecError};

/// Forms, each with the function of type `B` that builds what a spec of that form describes.
pub struct Catalog<B: 'static> {
    /// What is listed: "predictor" or "scheduler".
    what: &'static str,
    own: &'static [(&'static Form, B)],
    /// Those of other crates. Written once, before the first use, and never changed.
    added: OnceLock<&'static [(&'static Form, B)]>,
}

impl<B: Copy> Catalog<B> {
    /// A catalog of this crate's own entries.
    pub const fn new(what: &'static str, own: &'static [(&'static Form, B)]) -> Catalog<B> {
        Catalog { what, own, added: OnceLock::new() }
    }

    /// Adds entries of another crate, for the whole process. Call it once, before anything else of this crate.
    ///
    /// # Errors
    ///
    /// If the process has already added entries, if a name is already in the catalog, or if a name could not be told from the
    /// rest of a spec.
    pub fn extend(&self, entries: &'static [(&'static Form, B)]) -> Result<(), SpecError> {
        let what = self.what;
        let mut names: Vec<&str> = self.own.iter().map(|(form, _)| form.name).collect();
        for (form, _) in entries {
            if names.contains(&form.name) {
                return Err(SpecError(format!("there are two {what}s of the name '{}'", form.name)));
            }
            if form.name.is_empty() || form.name.contains([':', ',', '=', '/', ' ']) {
                return Err(SpecError(format!("'{}' cannot be the name of a {what}", form.name)));
            }
            names.push(form.name);
        }
        self.added.set(entries).map_err(|_| SpecError(format!("the catalog of {what}s was extended twice")))
    }

    fn entries(&self) -> impl Iterator<Item = &'static (&'static Form, B)> {
        self.own.iter().chain(self.added.get().copied().unwrap_or_default())
    }

    /// The names and keys of all entries, in the order in which they are listed to users.
    pub fn forms(&self) -> Vec<&'static Form> {
        self.entries().map(|(form, _)| *form).collect()
    }

    /// Reads a spec of one of the forms.
    ///
    /// # Errors
    /// If the name, a key or a value is unknown.
    pub fn parse(&self, text: &str) -> Result<Spec, SpecError> {
        Spec::parse(text, self.what, &self.forms())
    }

    /// The function that builds what a spec describes.
    ///
    /// # Panics
    /// If [`Catalog::parse`] did not return the spec.
    pub fn builder(&self, spec: &Spec) -> B {
        let entry = self.entries().find(|(form, _)| form.name == spec.name());
        entry.expect("a spec of this catalog").1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Form = Form { name: "own", about: "", keys: &[] };
    const ADDED: Form = Form { name: "added", about: "", keys: &[] };
    const BAD: Form = Form { name: "a:b", about: "", keys: &[] };

    #[test]
    fn names_are_added_once_and_only_if_they_are_new() {
        let catalog = Catalog::new("thing", &[(&OWN, 1)]);
        let refused = |entries| catalog.extend(entries).unwrap_err().0;
        assert_eq!(refused(&[(&OWN, 2)]), "there are two things of the name 'own'");
        assert_eq!(refused(&[(&ADDED, 2), (&ADDED, 3)]), "there are two things of the name 'added'");
        assert_eq!(refused(&[(&BAD, 2)]), "'a:b' cannot be the name of a thing");
        assert!(catalog.parse("added").is_err() && catalog.extend(&[(&ADDED, 2)]).is_ok());
        assert_eq!(["own", "added"].map(|name| catalog.builder(&catalog.parse(name).unwrap())), [1, 2]);
        assert_eq!(refused(&[]), "the catalog of things was extended twice");
    }
}
