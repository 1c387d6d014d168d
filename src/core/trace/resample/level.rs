//! Moves of copies by which weekly loads vary as in the log.
//!
//! Users of a busy machine hold back. If copies move freely, the standard deviation of weekly loads is 1.2 to 2.1 times that of
//! the log, and jobs wait up to 4.6 times as long at the same load.

use rand::{Rng, RngExt};

use super::Year;
use crate::sort::sort_by;

/// How often all large copies are moved at most.
const SWEEPS: usize = 4;

/// The largest copies that together have this share of the area are moved.
const MOVED_AREA: f64 = 0.9;

/// Weeks of the log in blocks, drawn with replacement around the circle until there are as many as in the log.
pub fn blocks(weeks: usize, block: usize, rng: &mut impl Rng) -> Vec<usize> {
    let mut drawn = Vec::with_capacity(weeks);
    while drawn.len() < weeks {
        let begin = rng.random_range(0..weeks);
        drawn.extend((begin..begin + block.min(weeks - drawn.len())).map(|week| week % weeks));
    }
    drawn
}

/// Moves the large copies, the largest first, so that the sum over weeks of (area - profile)^2 is the least. The profile are blocks
/// of the weekly areas of the log, scaled to the area of the copies.
pub fn level(year: &Year<'_>, copies: &[usize], moves: &mut [usize], block: usize, rng: &mut impl Rng) {
    let weeks = year.weeks;
    // The area of each user in the weeks in which there is any: most users have few of these.
    let of_user: Vec<Vec<(usize, f64)>> = year.users.iter().map(|user| weekly_areas(year, &user.jobs)).collect();
    let mut of_log = vec![0.0; weeks];
    of_user.iter().flatten().for_each(|&(week, area)| of_log[week] += area);
    let drawn = blocks(weeks, block, rng);
    let area: f64 = copies.iter().map(|&user| year.users[user].area).sum();
    let scale = area / drawn.iter().map(|&week| of_log[week]).sum::<f64>();
    // What the copies have more than the profile.
    let mut excess: Vec<f64> = drawn.iter().map(|&week| -of_log[week] * scale).collect();
    let add = |excess: &mut [f64], copy: usize, moved: usize, sign: f64| {
        of_user[copies[copy]].iter().for_each(|&(week, area)| excess[(week + moved) % weeks] += sign * area);
    };
    (0..copies.len()).for_each(|copy| add(&mut excess, copy, moves[copy], 1.0));
    let large = large_copies(year, copies, area);
    for _ in 0..SWEEPS {
        let mut is_changed = false;
        for &copy in &large {
            add(&mut excess, copy, moves[copy], -1.0);
            // Of the sum of squares, only twice the product of the excess of the others and of this copy depends on the move.
            let product = |moved: usize| -> f64 {
                of_user[copies[copy]].iter().map(|&(week, area)| area * excess[(week + moved) % weeks]).sum()
            };
            let products: Vec<f64> = (0..weeks).map(product).collect();
            let best = (0..weeks).fold(0, |best, moved| if products[moved] < products[best] { moved } else { best });
            is_changed |= best != moves[copy];
            moves[copy] = best;
            add(&mut excess, copy, best, 1.0);
        }
        if !is_changed {
            break;
        }
    }
}

/// The largest copies that together have most of the area, the largest first.
fn large_copies(year: &Year<'_>, copies: &[usize], area: f64) -> Vec<usize> {
    let area_of = |copy: &usize| year.users[copies[*copy]].area;
    let mut large: Vec<usize> = (0..copies.len()).collect();
    sort_by(&mut large, |one, other| area_of(other).total_cmp(&area_of(one)));
    let mut sum = 0.0;
    let before = large.iter().take_while(|copy| {
        let is_before = sum < MOVED_AREA * area;
        sum += area_of(copy);
        is_before
    });
    let count = before.count();
    large.truncate(count);
    large
}

fn weekly_areas(year: &Year<'_>, jobs: &[u32]) -> Vec<(usize, f64)> {
    let mut areas: Vec<(usize, f64)> = Vec::new();
    for &at in jobs {
        let (week, area) = (year.week(at), super::area(&year.jobs[at as usize]));
        match areas.iter_mut().rfind(|(other, _)| *other == week) {
            Some((_, sum)) => *sum += area,
            None => areas.push((week, area)),
        }
    }
    areas
}
