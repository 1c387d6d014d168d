//! The templates that are possible with the fields of a log, and their binary coding.

use crate::job::{Job, Submission};
use crate::predict::templates::{CategoryEstimate, Data, LARGEST_RANGE, Template};

/// The properties that templates of a log may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateSpace {
    /// The fields in which the jobs of the log differ.
    pub fields: Vec<TemplateField>,
    /// The sizes of node ranges that separate its jobs: powers of two.
    pub ranges: Vec<u32>,
    /// Whether its jobs have estimates, so that run times can be relative to them.
    pub relative: bool,
    /// Whether the length of histories is searched for, too.
    pub histories: bool,
}

/// A field of a log that a template can compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateField {
    /// The user number.
    User,
    /// The group number.
    Group,
    /// The number of the application.
    Executable,
    /// The queue number.
    Queue,
    /// The partition number.
    Partition,
}

use TemplateField::{Executable, Group, Partition, Queue, User};

impl TemplateField {
    /// In the order of their letters in a template.
    pub const ALL: [TemplateField; 5] = [User, Group, Executable, Queue, Partition];

    pub(super) fn of(self, job: &Job) -> i32 {
        let Submission { user, group, executable, queue, partition, .. } = job.submission;
        [user, group, executable, queue, partition][self as usize]
    }

    pub(super) fn is_in(self, template: &Template) -> bool {
        let Template { user, group, executable, queue, partition, .. } = *template;
        [user, group, executable, queue, partition][self as usize]
    }

    /// Makes a template compare this field.
    pub fn enable(self, template: &mut Template) {
        let Template { user, group, executable, queue, partition, .. } = template;
        *[user, group, executable, queue, partition][self as usize] = true;
    }

    /// As in the text of a template.
    pub fn letter(self) -> char {
        ['u', 'g', 'e', 'q', 'p'][self as usize]
    }
}

/// Bits of a node range's size, and of a history's length.
const NUMBER: usize = 4;

impl TemplateSpace {
    /// The space of a log. A field that is equal in all jobs is left out, and so are node ranges at least as wide as
    /// the widest job. `relative` and `histories` are copied.
    pub fn of(jobs: &[Job], relative: bool, histories: bool) -> TemplateSpace {
        let differ = |field: &TemplateField| jobs.windows(2).any(|pair| field.of(&pair[0]) != field.of(&pair[1]));
        let fields = TemplateField::ALL.into_iter().filter(differ).collect();
        let widest = jobs.iter().map(|job| job.submission.procs).max().unwrap_or(1);
        let sizes = std::iter::successors(Some(1), |size| Some(size * 2)).take_while(|&size| size <= LARGEST_RANGE);
        TemplateSpace { fields, ranges: sizes.take_while(|&size| size < widest).collect(), relative, histories }
    }

    /// The number of bits of a template.
    pub fn bits(&self) -> usize {
        let nodes = if self.ranges.is_empty() { 0 } else { 1 + NUMBER };
        let histories = if self.histories { 1 + NUMBER } else { 0 };
        1 + usize::from(self.relative) + self.fields.len() + nodes + histories
    }

    /// The template that `bits` encode: mean or regression; absolute or relative; one bit per field; whether node
    /// ranges are used, and the exponent of their size; the same for the length of the history, from 2 on. A size index
    /// beyond the last size wraps around.
    ///
    /// # Panics
    ///
    /// If there are fewer than [`TemplateSpace::bits`] bits.
    pub fn decode(&self, bits: &[bool]) -> Template {
        let mut bits = bits.iter().copied();
        let mut next = || bits.next().expect("as many bits as a template has");
        let mut template = Template::default();
        if next() {
            template.method = CategoryEstimate::Regression;
        }
        if self.relative && next() {
            template.data = Data::Relative;
        }
        for field in &self.fields {
            if next() {
                field.enable(&mut template);
            }
        }
        let mut number = || {
            let enabled = next();
            let number = (0..NUMBER).fold(0, |number, _| number * 2 + usize::from(next()));
            enabled.then_some(number)
        };
        if !self.ranges.is_empty() {
            template.nodes = number().map(|number| self.ranges[number % self.ranges.len()]);
        }
        if self.histories {
            template.history = number().map(|number| 2 << number);
        }
        template
    }

    /// A short text for people, such as `u, q, n=1..64, mean, lr, act`.
    pub fn describe(&self) -> String {
        let mut words: Vec<String> = self.fields.iter().map(|field| field.letter().to_string()).collect();
        if let (Some(first), Some(last)) = (self.ranges.first(), self.ranges.last()) {
            words.push(format!("n={first}..{last}"));
        }
        words.push("mean, lr".to_string());
        words.push(if self.relative { "act, rel" } else { "act" }.to_string());
        if self.histories {
            words.push("h=2..65536".to_string());
        }
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(users: &[i32], procs: u32) -> Vec<Job> {
        let job = |&user: &i32| Job {
            recorded_wait: Some(0).into(),
            number: 1,
            ..Job::new(Submission { user, queue: 7, ..Submission::new(0, procs, 10) }, 5)
        };
        users.iter().map(job).collect()
    }

    #[test]
    fn what_a_log_lacks_is_left_out() {
        let space = TemplateSpace::of(&jobs(&[1, 1, 2], 5), false, false);
        assert_eq!((space.fields.clone(), space.ranges.clone()), (vec![TemplateField::User], vec![1, 2, 4]));
        assert_eq!(space.bits(), 1 + 1 + 5);
        let serial = TemplateSpace::of(&jobs(&[-1, -1], 1), true, true);
        assert_eq!((serial.fields.len(), serial.ranges.len(), serial.bits()), (0, 0, 1 + 1 + 5));
    }

    #[test]
    fn bits_are_templates() {
        let space = TemplateSpace { fields: vec![User, Queue], ranges: vec![1, 2, 4], relative: true, histories: true };
        assert_eq!(space.bits(), 14);
        let decode = |text: &str| {
            let bits: Vec<bool> = text.chars().filter(|c| *c != ' ').map(|c| c == '1').collect();
            space.decode(&bits).to_string()
        };
        assert_eq!(decode("0 0 00 0 0000 0 0000"), "()");
        assert_eq!(decode("1 0 10 0 0010 0 0000"), "(u,lr)");
        assert_eq!(decode("0 1 11 1 0010 1 0101"), "(u,q,n=4,rel,h=64)");
        assert_eq!(decode("0 0 01 1 0011 1 1111"), "(q,n=1,h=65536)");
    }
}
