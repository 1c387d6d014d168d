//! The category of each job of a log under a template, as a number, computed fast.

use rustc_hash::FxHashMap;

use super::space::TemplateField;
use crate::job::Job;
use crate::predict::templates::Template;

/// The fields of a log as small numbers, so that the values that a template compares fit into one word.
pub(super) struct Categories {
    /// For each field, each job's value numbered by first appearance, and the bits of the largest number.
    fields: Vec<(TemplateField, Vec<u32>, u32)>,
    procs: Vec<u32>,
}

/// Keys of at most this many bits index a table; longer ones are looked up by hash.
const TABLE: u32 = 18;

impl Categories {
    pub fn of(jobs: &[Job]) -> Categories {
        let counted = |field: TemplateField| {
            let mut known = FxHashMap::default();
            let number = |job: &Job| {
                let next = known.len() as u32;
                *known.entry(field.of(job)).or_insert(next)
            };
            let numbers: Vec<u32> = jobs.iter().map(number).collect();
            (field, numbers, bits(known.len().saturating_sub(1) as u32))
        };
        Categories {
            fields: TemplateField::ALL.into_iter().map(counted).collect(),
            procs: jobs.iter().map(|job| job.submission.procs).collect(),
        }
    }

    /// The number of each job's category, and the number of categories.
    pub fn number(&self, template: &Template) -> (Vec<u32>, usize) {
        let mut keys = vec![0u64; self.procs.len()];
        let mut used = 0;
        if let Some(size) = template.nodes {
            // Sizes are powers of two, so that a division is a shift.
            let shift = size.trailing_zeros();
            keys.iter_mut().zip(&self.procs).for_each(|(key, procs)| *key = u64::from((procs - 1) >> shift));
            used = bits(keys.iter().copied().max().unwrap_or(0) as u32);
        }
        for (_, numbers, bits) in self.fields.iter().filter(|(field, ..)| field.is_in(template)) {
            if used + bits > u64::BITS {
                // The bits do not fit: the key so far is replaced by a small number.
                let (small, count) = number(&keys, used);
                keys.iter_mut().zip(small).for_each(|(key, number)| *key = u64::from(number));
                used = self::bits(count as u32);
            }
            keys.iter_mut().zip(numbers).for_each(|(key, number)| *key = *key << bits | u64::from(*number));
            used += bits;
        }
        number(&keys, used)
    }
}

/// The number of bits of this number.
fn bits(largest: u32) -> u32 {
    u32::BITS - largest.leading_zeros()
}

/// Numbers keys of at most `bits` bits by first appearance; also returns how many different keys there are.
fn number(keys: &[u64], bits: u32) -> (Vec<u32>, usize) {
    const NEW: u32 = u32::MAX;
    let mut count = 0;
    let mut number = |known: &mut u32| {
        if *known == NEW {
            *known = count;
            count += 1;
        }
        *known
    };
    let numbers = if bits <= TABLE {
        let mut table = vec![NEW; 1 << bits];
        keys.iter().map(|&key| number(&mut table[key as usize])).collect()
    } else {
        let mut map: FxHashMap<u64, u32> = FxHashMap::default();
        keys.iter().map(|&key| number(map.entry(key).or_insert(NEW))).collect()
    };
    (numbers, count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Submission;
    use crate::rng::stream;
    use rand::RngExt;

    /// Compared with the values that the template itself compares.
    #[test]
    fn categories_are_those_of_the_template() {
        let mut rng = stream(1, "categories");
        let jobs: Vec<Job> = (0..3000)
            .map(|_| {
                let submission = Submission {
                    user: rng.random_range(-1..900),
                    group: rng.random_range(-1..3),
                    executable: rng.random_range(0..100_000) * 17,
                    queue: rng.random_range(0..40),
                    partition: rng.random_range(0..2),
                    ..Submission::new(0, rng.random_range(1..2000), 10)
                };
                Job::new(submission, 1)
            })
            .collect();
        let categories = Categories::of(&jobs);
        for text in ["()", "(n=1)", "(n=512)", "(u)", "(e,n=2)", "(u,g,q)", "(u,g,e,q,p,n=1)"] {
            let template = Template::parse_set(text).unwrap()[0];
            let mut known = FxHashMap::default();
            let expected: Vec<u32> = jobs
                .iter()
                .map(|job| {
                    let next = known.len() as u32;
                    *known.entry(template.values(&job.submission)).or_insert(next)
                })
                .collect();
            assert_eq!(categories.number(&template), (expected, known.len()), "{text}");
        }
    }
}
