//! The number of different estimates and their values (Tsafrir et al., sections 6, 7 and 9.2).

use crate::time::{HOUR, MINUTE, Seconds};

/// The linear model of K: jobs, and different estimates (Table 3).
const TABLE_3: [(usize, usize); 7] =
    [(0, 0), (20, 10), (200, 20), (1000, 35), (10_000, 90), (70_000, 340), (250_000, 565)];

/// The 15 estimates that are popular in all logs of the paper (Table 5).
const JOINT: [Seconds; 15] = [
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    20 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    4 * HOUR,
    5 * HOUR,
    6 * HOUR,
    8 * HOUR,
    10 * HOUR,
    12 * HOUR,
    18 * HOUR,
];

/// Multiples of these complete the head (section 9.2, step 3).
const ROUND: [Seconds; 10] =
    [200 * HOUR, 100 * HOUR, 50 * HOUR, 10 * HOUR, 5 * HOUR, 2 * HOUR, HOUR, 20 * MINUTE, 10 * MINUTE, 5 * MINUTE];

/// K, the number of different estimates of N jobs: alpha N^beta, or by default linear between the points of Table 3 and
/// constant after the last one. At least 1 and at most the number of jobs.
pub fn how_many(jobs: usize, power: Option<(f64, f64)>) -> usize {
    let count = match power {
        Some((alpha, beta)) => alpha * libm::pow(jobs as f64, beta),
        None => linear(jobs),
    };
    (count.round() as usize).clamp(1, jobs.max(1))
}

fn linear(jobs: usize) -> f64 {
    let between = TABLE_3.windows(2).find(|points| jobs <= points[1].0);
    between.map_or(TABLE_3[6].1 as f64, |points| {
        let ((x0, y0), (x1, y1)) = (points[0], points[1]);
        y0 as f64 + (jobs - x0) as f64 * (y1 - y0) as f64 / (x1 - x0) as f64
    })
}

/// F_tim of all time ranks: `count` different times in whole minutes, ascending up to the longest (section 7). `tmax` must
/// have at least `count` minutes.
pub fn all(count: usize, tmax: Seconds) -> Vec<Seconds> {
    let k = count as f64;
    // Fig. 9: a = 1 + alpha K^beta.
    let a = 1.0 + 12.1039 * libm::pow(k, -0.6026);
    let longest = tmax / MINUTE;
    let mut last = 0;
    (1..=count)
        .map(|rank| {
            let x = rank as f64 / k;
            // F_tim(i) = T_max (a - 1) x / (a - x), x = i / K, to the nearest minute.
            let minutes = (longest as f64 * (a - 1.0) * x / (a - x)).round() as i64;
            // A time that is already used is moved to the next minute, but not so far that later ones have no minute left.
            last = minutes.max(last + 1).min(longest - (count - rank) as i64);
            last * MINUTE
        })
        .collect()
}

/// The times of the head, at most `most`: the longest first, then the others in ascending order (section 9.2).
pub fn head(tmax: Seconds, most: usize) -> Vec<Seconds> {
    let mut head = vec![tmax];
    let multiples = |unit: &Seconds| {
        let unit = *unit;
        (1..=tmax / unit).rev().map(move |times| times * unit)
    };
    // A year has 100,000 multiples of 5 minutes, but the loop ends when the head is full.
    for time in JOINT.into_iter().chain(ROUND.iter().flat_map(multiples)) {
        if head.len() >= most {
            break;
        }
        if time < tmax && !head.contains(&time) {
            head.push(time);
        }
    }
    head[1..].sort_unstable();
    head
}

/// The head with the given times: they fill it up to `most`, then replace those that are closest to them, but never the
/// longest, which is the first (section 9.4).
pub fn with_pairs(mut head: Vec<Seconds>, given: &[Seconds], most: usize) -> Vec<Seconds> {
    let mut new: Vec<Seconds> = given.iter().copied().filter(|time| !head.contains(time)).collect();
    while head.len() < most && !new.is_empty() {
        head.push(new.remove(0));
    }
    let others: Vec<Seconds> = head[1..].iter().copied().filter(|time| !given.contains(time)).collect();
    let replaced = closest(&new, &others);
    head.retain(|time| !replaced.contains(time));
    head.extend(new);
    head[1..].sort_unstable();
    head
}

/// The times of the tail: all times except those that are replaced by the closest times of the head (end of section 9.2).
pub fn tail(all: Vec<Seconds>, head: &[Seconds]) -> Vec<Seconds> {
    let replaced = closest(head, &all);
    all.into_iter().filter(|time| !replaced.contains(time)).collect()
}

/// Pairs each of `times` with one of `others` and returns those. The closest pairs are made first, so that equal times are
/// paired; of equally close ones the shorter is taken.
fn closest(times: &[Seconds], others: &[Seconds]) -> Vec<Seconds> {
    let pairs = times.iter().flat_map(|&time| others.iter().map(move |&other| ((time - other).abs(), other, time)));
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_unstable();
    let (mut served, mut taken) = (Vec::new(), Vec::new());
    for (_, other, time) in pairs {
        if !served.contains(&time) && !taken.contains(&other) {
            served.push(time);
            taken.push(other);
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_estimates_is_that_of_the_papers_table() {
        for (jobs, count) in &TABLE_3[1..] {
            assert_eq!(how_many(*jobs, None), *count);
        }
        // Worked by hand for the sane jobs of Table 1: SDSC-106 90 + 43,673 / 240, CTC 340 + 7,222 / 800,
        // KTH 90 + 13,070 / 240, BLUE 340 + 153,407 / 800. (The logs themselves have 339, 265, 106 and 525.)
        for (jobs, count) in [(53_673, 272), (77_222, 349), (23_070, 144), (223_407, 532)] {
            assert_eq!(how_many(jobs, None), count);
        }
        assert_eq!((how_many(1, None), how_many(2, None), how_many(10_000_000, None)), (1, 1, 565));
        // 1.1 times the square root.
        assert_eq!((how_many(10_000, Some((1.1, 0.5))), how_many(4, Some((100.0, 1.0)))), (110, 4));
    }

    #[test]
    fn times_follow_the_fractional_function() {
        // Table 4: the fitted a of CTC's 265 estimates is 1.57, of BLUE's 525 1.24, of KTH's 106 1.91.
        for (k, a, off) in [(265.0, 1.57, 0.16), (525.0, 1.24, 0.06), (106.0, 1.91, 0.20)] {
            assert!((1.0 + 12.1039 * libm::pow(k, -0.6026) - a).abs() < off, "{k}");
        }
        let times = all(100, 18 * HOUR);
        assert_eq!((times.len(), times[99]), (100, 18 * HOUR));
        // a = 1.7547; at half of the ranks 0.7547 * 0.5 / 1.2547 = 0.30076 of the maximum, 324.8 minutes.
        assert_eq!(times[49], 325 * MINUTE);
        assert!(times.is_sorted_by(|a, b| a < b) && times.iter().all(|time| time % MINUTE == 0 && *time > 0));
    }

    #[test]
    fn as_many_times_as_there_are_minutes_is_every_minute() {
        let every: Vec<_> = (1..=60).map(|minute| minute * MINUTE).collect();
        assert_eq!(all(60, HOUR), every);
        assert_eq!(all(1, 7 * MINUTE), [7 * MINUTE]);
        // Nearly as many: still different, and up to the longest.
        let times = all(55, HOUR);
        assert!(times.is_sorted_by(|a, b| a < b) && times[54] == HOUR && times[0] >= MINUTE);
    }

    #[test]
    fn the_heads_of_the_papers_machines() {
        let minutes = |tmax| head(tmax, 20).iter().map(|time| time / MINUTE).collect::<Vec<_>>();
        let hours = |hours: [i64; 14]| hours.map(|hour| hour * 60);
        // 18 hours: the joint times; then 15h of the multiples of 5h; 16h and 14h; 17h and 13h.
        let long = hours([1, 2, 3, 4, 5, 6, 8, 10, 12, 13, 14, 15, 16, 17]);
        assert_eq!(minutes(18 * HOUR), [&[1080, 5, 10, 15, 20, 30], &long[..]].concat());
        // 4 hours: the joint times; 3:40 3:20 2:40 2:20 1:40 1:20 0:40; then 3:50 3:30 3:10 2:50.
        let short = [5, 10, 15, 20, 30, 40, 60, 80, 100, 120, 140, 160, 170, 180, 190, 200, 210, 220, 230];
        assert_eq!(minutes(4 * HOUR), [&[240], &short[..]].concat());
        // 400 hours: all joint times, and 200h, 300h, 100h, 350h, as the paper's reports of longer limits have them.
        let found = minutes(400 * HOUR);
        assert_eq!(found.len(), 20);
        assert_eq!(found[16..], [100, 200, 300, 350].map(|hour| hour * 60));
        // An hour has 12 multiples of 5 minutes, and a head must not have more than the requested number.
        assert_eq!((minutes(HOUR).len(), head(18 * HOUR, 3)), (12, vec![18 * HOUR, 5 * MINUTE, 10 * MINUTE]));
        assert_eq!(head(3 * MINUTE, 20), [3 * MINUTE]);
    }

    #[test]
    fn given_times_replace_the_closest() {
        let minutes = |times: &[Seconds]| times.iter().map(|time| time / MINUTE).collect::<Vec<_>>();
        let given = |times: &[i64]| times.iter().map(|minute| minute * MINUTE).collect::<Vec<_>>();
        let head = head(4 * HOUR, 20);
        // 15 is there; 7 lies closer to 5 than to 10; 239 would replace 240, but that is the longest.
        let merged = with_pairs(head.clone(), &given(&[7, 15, 239]), 20);
        let expected = [240, 7, 10, 15, 20, 30, 40, 60, 80, 100, 120, 140, 160, 170, 180, 190, 200, 210, 220, 239];
        assert_eq!(minutes(&merged), expected);
        // Where there is room they are added.
        assert_eq!(minutes(&with_pairs(given(&[10, 5]), &given(&[7]), 20)), [10, 5, 7]);
        assert_eq!(with_pairs(head.clone(), &[], 20), head);
    }

    #[test]
    fn the_head_replaces_the_closest_of_all_times() {
        let given = |times: &[i64]| times.iter().map(|minute| minute * MINUTE).collect::<Vec<_>>();
        // 60 finds itself; 5 takes 4 (1 away, as is 6: the shorter), 10 takes 12.
        assert_eq!(tail(given(&[2, 4, 6, 12, 30, 60]), &given(&[60, 5, 10])), given(&[2, 6, 30]));
        for count in [20, 144, 349, 565] {
            let head = head(18 * HOUR, 20);
            let tail = tail(all(count, 18 * HOUR), &head);
            assert_eq!(tail.len(), count - 20);
            assert!(tail.iter().all(|time| !head.contains(time)));
        }
    }
}
