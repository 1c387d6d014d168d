//! Which jobs of a log are in one category of a template: numbers for all of them, worked out quickly.

use rustc_hash::FxHashMap;

use super::space::TemplateField;
use crate::job::Job;
use crate::predict::templates::Template;

/// A log's fields in small numbers, so that the values a template compares fit one word.
pub(super) struct Categories {
    /// For each field, each job's value counted by first appearance, and the bits of the largest.
    fields: Vec<(TemplateField, Vec<u32>, u32)>,
    procs: Vec<u32>,
}

/// Keys of so few bits index a table; longer ones are looked up by hash.
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

    /// Each job's category, and how many there are.
    pub fn number(&self, template: &Template) -> (Vec<u32>, usize) {
        let mut keys = vec![0u64; self.procs.len()];
        let mut used = 0;
        if let Some(size) = template.nodes {
            // Sizes are powers of two.
            let shift = size.trailing_zeros();
            keys.iter_mut().zip(&self.procs).for_each(|(key, procs)| *key = u64::from((procs - 1) >> shift));
            used = bits(keys.iter().copied().max().unwrap_or(0) as u32);
        }
        for (_, numbers, bits) in self.fields.iter().filter(|(field, ..)| field.is_in(template)) {
            if used + bits > u64::BITS {
                // What is there so far becomes a small number of its own.
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

/// The bits of the numbers up to this.
fn bits(largest: u32) -> u32 {
    u32::BITS - largest.leading_zeros()
}

/// Numbers keys of so many bits by first appearance.
fn number(keys: &[u64], bits: u32) -> (Vec<u32>, usize) {
    const NEW: u32 = u32::MAX;
    let mut count = 0;
    let mut place = |known: &mut u32| {
        if *known == NEW {
            *known = count;
            count += 1;
        }
        *known
    };
    let numbers = if bits <= TABLE {
        let mut table = vec![NEW; 1 << bits];
        keys.iter().map(|&key| place(&mut table[key as usize])).collect()
    } else {
        let mut map: FxHashMap<u64, u32> = FxHashMap::default();
        keys.iter().map(|&key| place(map.entry(key).or_insert(NEW))).collect()
    };
    (numbers, count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Submission;
    use crate::rng::stream;
    use rand::RngExt;

    /// Against the values as the template itself compares them.
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
                Job { submission, runtime: 1, recorded_wait: None.into(), record: 0, number: 0 }
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
