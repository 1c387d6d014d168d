//! The genetic search (Smith et al., section 2.4): sets of templates are strings of bits, changed by crossover and
//! mutation.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use rustc_hash::FxHashMap;

use super::judge::{Judge, Score};
use super::search_run::{FoundSet, SearchLimits, SearchRun, SearchStep};
use super::space::TemplateSpace;
use crate::predict::templates::Template;
use crate::rng::stream;
use crate::sort::sort_by_key;

/// The parameters of the genetic search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Genetic {
    /// Sets of templates per generation.
    pub population: usize,
    /// Generations that are evaluated, the random first one included.
    pub generations: usize,
    /// The number of best sets of each generation that are copied unchanged into the next.
    pub elite: usize,
    /// The probability that a bit flips.
    pub mutation: f64,
    /// The largest number of templates in a set.
    pub templates: usize,
    /// The same seed gives the same result.
    pub seed: u64,
}

impl Default for Genetic {
    /// Elite, mutation and the number of templates as in the paper. It does not give the number of sets and of
    /// generations.
    fn default() -> Self {
        Genetic { population: 50, generations: 50, elite: 2, mutation: 0.001, templates: 10, seed: 1 }
    }
}

/// A set of templates, one string of bits per template.
type Individual = Vec<Vec<bool>>;

/// The largest fitness of a generation; the smallest is 1.
const FITTEST: f64 = 4.0;

/// Searches with a population of sets, and returns the best set of all generations. None if a limit was reached before
/// any set was evaluated.
pub fn genetic(
    judge: &Judge<'_>,
    space: &TemplateSpace,
    how: &Genetic,
    limits: &SearchLimits<'_>,
    watch: &dyn Fn(&SearchStep),
) -> Option<FoundSet> {
    let mut search = SearchRun::new(judge, limits, watch);
    let mut rng = stream(how.seed, "genetic");
    let mut known: FxHashMap<Vec<Template>, Score> = FxHashMap::default();
    let mut population: Vec<Individual> =
        (0..how.population).map(|_| random_individual(space, how, &mut rng)).collect();
    for generation in 0..how.generations {
        let sets: Vec<Vec<Template>> = population.iter().map(|individual| set_of(individual, space)).collect();
        // A set that occurs again is not evaluated again.
        let mut fresh: Vec<Vec<Template>> = Vec::new();
        for set in &sets {
            if !known.contains_key(set) && !fresh.contains(set) {
                fresh.push(set.clone());
            }
        }
        let Some(judged) = search.judge(&fresh) else { return search.finish(true) };
        known.extend(fresh.into_iter().zip(judged));
        let scores: Vec<Score> = sets.iter().map(|set| known[set]).collect();
        search.step("genetic", generation, &sets, &scores);
        population = next_generation(&population, &scores, space, how, &mut rng);
    }
    search.finish(false)
}

/// The templates of an individual. Of equal templates only the first is kept: ties go to the earlier template, so the
/// later ones have no effect.
fn set_of(individual: &Individual, space: &TemplateSpace) -> Vec<Template> {
    let mut set: Vec<Template> = Vec::with_capacity(individual.len());
    for template in individual.iter().map(|bits| space.decode(bits)) {
        if !set.contains(&template) {
            set.push(template);
        }
    }
    set
}

fn random_individual(space: &TemplateSpace, how: &Genetic, rng: &mut ChaCha8Rng) -> Individual {
    let templates = rng.random_range(1..=how.templates);
    (0..templates).map(|_| (0..space.bits()).map(|_| rng.random()).collect()).collect()
}

fn next_generation(
    population: &[Individual],
    scores: &[Score],
    space: &TemplateSpace,
    how: &Genetic,
    rng: &mut ChaCha8Rng,
) -> Vec<Individual> {
    let errors: Vec<f64> = scores.iter().map(Score::minutes).collect();
    let children = how.population.saturating_sub(how.elite);
    let mut parents = select(&fitness(&errors), children, rng);
    parents.shuffle(rng);
    let mut next: Vec<Individual> = Vec::with_capacity(how.population + 1);
    for pair in parents.chunks(2) {
        // The last of an odd number of parents is paired with the first.
        let (first, second) = (&population[pair[0]], &population[*pair.get(1).unwrap_or(&parents[0])]);
        let (one, other) = cross(first, second, space.bits(), how.templates, rng);
        next.extend([one, other]);
    }
    next.truncate(children);
    for bit in next.iter_mut().flatten().flatten() {
        *bit ^= rng.random_bool(how.mutation);
    }
    let mut best: Vec<usize> = (0..population.len()).collect();
    sort_by_key(&mut best, |&at| scores[at].error);
    next.extend(best.into_iter().take(how.population - children).map(|at| population[at].clone()));
    next
}

/// F = Fmin + (Emax - E) / (Emax - Emin) (Fmax - Fmin), with Fmax = 4 Fmin; Fmin is 1. Equal errors have equal fitness.
fn fitness(errors: &[f64]) -> Vec<f64> {
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let most = errors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let share = |error: &f64| if most > least { (most - error) / (most - least) } else { 0.0 };
    errors.iter().map(|error| 1.0 + share(error) * (FITTEST - 1.0)).collect()
}

/// Stochastic sampling without replacement: an individual is a parent as often as the whole part of F / Favg, and once
/// more with the fractional part as the probability. The draws go through all individuals repeatedly until there are
/// enough parents.
fn select(fitness: &[f64], wanted: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let average = fitness.iter().sum::<f64>() / fitness.len() as f64;
    let expected = fitness.iter().map(|fitness| fitness / average);
    let mut parents = Vec::new();
    let mut fractions: Vec<(usize, f64)> = Vec::new();
    for (at, copies) in expected.enumerate() {
        parents.extend(std::iter::repeat_n(at, copies as usize));
        fractions.push((at, copies.fract()));
    }
    while parents.len() < wanted && fractions.iter().any(|(_, fraction)| *fraction > 0.0) {
        for (at, fraction) in &mut fractions {
            if parents.len() < wanted && *fraction > 0.0 && rng.random_bool(*fraction) {
                parents.push(*at);
                *fraction = 0.0;
            }
        }
    }
    // If the average was rounded up, each individual may have one copy too few.
    parents.extend((0..fitness.len()).cycle().take(wanted.saturating_sub(parents.len())));
    // There may be more parents than needed, because the elite needs none: random ones are removed.
    parents.shuffle(rng);
    parents.truncate(wanted);
    parents
}

/// Cuts the first set within its i-th template and the second within its j-th, after the same number of bits, and
/// exchanges the tails. j is drawn among those that leave both children with at most `most` templates.
fn cross(
    first: &Individual,
    second: &Individual,
    bits: usize,
    most: usize,
    rng: &mut ChaCha8Rng,
) -> (Individual, Individual) {
    let i = rng.random_range(0..first.len());
    let fits = |j: &usize| i + second.len() - j <= most && j + first.len() - i <= most;
    let fitting: Vec<usize> = (0..second.len()).filter(fits).collect();
    let j = fitting[rng.random_range(0..fitting.len())];
    let position = rng.random_range(0..=bits);
    let splice = |head: &Individual, at: usize, tail: &Individual, from: usize| -> Individual {
        let joint = head[at][..position].iter().chain(&tail[from][position..]).copied().collect();
        head[..at].iter().cloned().chain([joint]).chain(tail[from + 1..].iter().cloned()).collect()
    };
    (splice(first, i, second, j), splice(second, j, first, i))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rng(seed: u64) -> ChaCha8Rng {
        stream(seed, "tests of the genetic search")
    }

    #[test]
    fn fitness_is_scaled_between_one_and_four() {
        assert_eq!(fitness(&[10.0, 20.0, 15.0]), [4.0, 1.0, 2.5]);
        assert_eq!(fitness(&[7.0, 7.0]), [1.0, 1.0]);
    }

    #[test]
    fn the_fit_are_parents_more_often() {
        // F / Favg = 8/5, 2/5, 1: the first is a parent at least once, the third exactly once, and three are wanted.
        let mut counts = [0; 3];
        for seed in 0..3000 {
            let parents = select(&[4.0, 1.0, 2.5], 3, &mut rng(seed));
            assert_eq!(parents.len(), 3);
            assert_eq!(parents.iter().filter(|&&at| at == 2).count(), 1);
            parents.iter().for_each(|&at| counts[at] += 1);
        }
        // One more parent is drawn: the first with probability 0.6, else the second with 0.4, else the draw is
        // repeated. So the first is chosen with p = 0.6 + 0.4 * 0.6 * p, that is p = 0.6 / 0.76 = 0.789.
        let share = f64::from(counts[0]) / 3000.0 - 1.0;
        assert!((share - 0.789).abs() < 0.03, "{share}");
        assert_eq!(select(&[1.0; 5], 3, &mut rng(1)).len(), 3);
        assert_eq!(select(&[1.0], 1, &mut rng(1)), [0]);
    }

    #[test]
    fn children_have_the_parents_bits_and_never_too_many_templates() {
        let mut rng = rng(5);
        let bits = 7;
        for _ in 0..5000 {
            let mut individual = || -> Individual {
                let templates = rng.random_range(1..=10);
                (0..templates).map(|_| (0..bits).map(|_| rng.random()).collect()).collect()
            };
            let (first, second) = (individual(), individual());
            let (one, other) = cross(&first, &second, bits, 10, &mut rng);
            for child in [&one, &other] {
                assert!((1..=10).contains(&child.len()) && child.iter().all(|template| template.len() == bits));
            }
            assert_eq!(one.len() + other.len(), first.len() + second.len());
            let ones =
                |sets: [&Individual; 2]| -> usize { sets.into_iter().flatten().flatten().filter(|b| **b).count() };
            assert_eq!(ones([&first, &second]), ones([&one, &other]), "no bit is lost");
            // Each child begins like one parent and ends like the other; only the template at the cut may be new.
            for (child, head, tail) in [(&one, &first, &second), (&other, &second, &first)] {
                let begins = child.iter().zip(head).take_while(|(a, b)| a == b).count();
                let ends = child.iter().rev().zip(tail.iter().rev()).take_while(|(a, b)| a == b).count();
                assert!(begins + ends + 1 >= child.len(), "{begins} and {ends} of {}", child.len());
            }
        }
    }

    #[test]
    fn the_elite_is_copied_unchanged() {
        let space = TemplateSpace { fields: vec![], ranges: vec![1, 2], relative: true, histories: false };
        let how = Genetic { population: 7, mutation: 1.0, ..Genetic::default() };
        let mut rng = rng(9);
        let population: Vec<Individual> = (0..7).map(|_| random_individual(&space, &how, &mut rng)).collect();
        let scores: Vec<Score> =
            [5, 3, 9, 1, 7, 8, 6].map(|error| Score { jobs: 1, error, ..Score::default() }).to_vec();
        let next = next_generation(&population, &scores, &space, &how, &mut rng);
        assert_eq!(next.len(), 7);
        assert_eq!(next[5..], [population[3].clone(), population[1].clone()]);
    }
}
