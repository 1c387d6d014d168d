//! The model of Lublin and Feitelson against its own definition, worked out without random numbers, and against what the
//! authors' program makes. Seeds are fixed; a critical value is what one right model in a thousand would exceed.

use shadowtime::model::{BUCKETS, DailyCycle, Lublin, LublinArrivals, LublinClass, LublinParameters, ModelJob};
use statrs::distribution::{ChiSquared, Continuous, ContinuousCDF, Gamma};

use LublinClass::{Batch, Interactive};

const MODEL: Lublin = Lublin { jobs: 5000, procs: 128, only: None, users: None, gap_factor: 1.0, seed: 1 };

fn jobs_of(class: LublinClass, procs: u32, jobs: usize) -> Vec<ModelJob> {
    Lublin { jobs, only: Some(class), procs, ..MODEL }.jobs().collect()
}

fn gamma(shape: f64, scale: f64) -> Gamma {
    Gamma::new(shape, 1.0 / scale).unwrap()
}

/// The probability of each size from 1 on, on the machine of 128 processors to which the parameters were fitted.
fn size_probabilities(class: LublinClass) -> Vec<f64> {
    let LublinParameters { serial_prob, pow2_prob, ulow, uprob, .. } = class.parameters();
    // As printed in the authors' program.
    let (umed, uhi) = if class == Batch { (5.0, 7.0) } else { (3.0, 5.5) };
    let below = |x: f64| {
        let (first, second) = ((x - ulow) / (umed - ulow), (x - umed) / (uhi - umed));
        uprob * first.clamp(0.0, 1.0) + (1.0 - uprob) * second.clamp(0.0, 1.0)
    };
    let mut sizes = vec![0.0; 129];
    sizes[1] = serial_prob;
    for k in 0..=7 {
        sizes[1 << k] += pow2_prob * (below(f64::from(k) + 0.5) - below(f64::from(k) - 0.5));
    }
    for (size, probability) in sizes.iter_mut().enumerate().skip(1) {
        let share = below((size as f64 + 0.5).log2()) - below((size as f64 - 0.5).log2());
        *probability += (1.0 - serial_prob - pow2_prob) * share;
    }
    assert!((sizes.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    sizes
}

/// The probability that a job of this size runs for at most this number of whole seconds.
fn runtime_cdf(class: LublinClass, size: usize, seconds: i64) -> f64 {
    let LublinParameters { a1, b1, a2, b2, pa, pb, .. } = class.parameters();
    let p = (pa * size as f64 + pb).clamp(0.0, 1.0);
    let mixture = |x: f64| p * gamma(a1, b1).cdf(x) + (1.0 - p) * gamma(a2, b2).cdf(x);
    // Cut to whole seconds, and drawn again above 12.
    mixture(((seconds + 1) as f64).ln().min(12.0)) / mixture(12.0)
}

/// The largest distance between the distribution of values and a model's, looked at in these places.
fn largest_distance(values: &mut [i64], places: impl Iterator<Item = i64>, cdf: impl Fn(i64) -> f64) -> f64 {
    values.sort_unstable();
    let distance = |place| {
        let below = values.partition_point(|&value| value <= place) as f64 / values.len() as f64;
        (below - cdf(place)).abs()
    };
    places.map(distance).fold(0.0, f64::max)
}

/// Kolmogorov and Smirnov: exceeded once in a thousand times.
fn critical_distance(values: usize) -> f64 {
    1.95 / (values as f64).sqrt()
}

/// Whole seconds up to `most`, every one of them at first and then in steps of 1%.
fn places(most: i64) -> impl Iterator<Item = i64> {
    std::iter::successors(Some(1), |&place| Some(place + (place / 100).max(1))).take_while(move |&place| place < most)
}

#[test]
fn sizes_are_distributed_as_the_model_says() {
    for class in [Batch, Interactive] {
        let jobs = jobs_of(class, 128, 300_000);
        let expected = size_probabilities(class);
        let mut counts = [0u32; 129];
        jobs.iter().for_each(|job| counts[job.procs as usize] += 1);
        let (mut chi_square, mut freedom) = (0.0, -1.0);
        for (&count, probability) in counts.iter().zip(&expected) {
            let expected = probability * jobs.len() as f64;
            match expected < 1e-9 {
                true => assert_eq!(count, 0),
                false => {
                    chi_square += (f64::from(count) - expected).powi(2) / expected;
                    freedom += 1.0;
                }
            }
        }
        let critical = ChiSquared::new(freedom).unwrap().inverse_cdf(0.999);
        assert!(chi_square < critical, "{class:?}: chi-square {chi_square:.1}, critical {critical:.1}");
        // The share of powers of two above 1 is a little more than the parameter: other sizes happen to be one.
        let powers = |of: &dyn Fn(usize) -> f64| (1..=7).map(|k| of(1 << k)).sum::<f64>();
        let expected = powers(&|size| expected[size]);
        let found = powers(&|size| f64::from(counts[size]) / jobs.len() as f64);
        assert!((found - expected).abs() < 0.003, "{class:?}: powers of two {found:.4}, expected {expected:.4}");
    }
}

#[test]
fn runtimes_are_distributed_as_the_model_says() {
    for class in [Batch, Interactive] {
        let jobs = jobs_of(class, 128, 300_000);
        let probabilities = size_probabilities(class);
        let sizes: Vec<_> = probabilities.iter().enumerate().filter(|&(_, &p)| p > 0.0).collect();
        let mut all: Vec<_> = jobs.iter().map(|job| job.runtime).collect();
        let any_size = |seconds| sizes.iter().map(|&(size, p)| p * runtime_cdf(class, size, seconds)).sum();
        let distance = largest_distance(&mut all, places(162_754), any_size);
        assert!(distance < critical_distance(all.len()), "{class:?}: {distance:.5}");
        for size in [1, 2, 8, 32] {
            let mut some: Vec<_> = jobs.iter().filter(|job| job.procs == size).map(|job| job.runtime).collect();
            let distance = largest_distance(&mut some, places(162_754), |s| runtime_cdf(class, size as usize, s));
            assert!(distance < critical_distance(some.len()), "{class:?} {size}: {distance:.5}, {} jobs", some.len());
        }
    }
}

/// Days differ (gaps are long at times), so that a half hour's mean is judged by how its count varies between days.
#[test]
fn the_half_hours_of_the_day_are_as_busy_as_their_weights() {
    for class in [Batch, Interactive] {
        let LublinParameters { anum, bnum, .. } = class.parameters();
        let weights = *DailyCycle::gamma(anum, bnum).weights();
        let jobs = jobs_of(class, 128, 500_000);
        let days = (jobs.last().unwrap().submit / 86_400) as usize;
        let mut counts = vec![[0.0; BUCKETS]; days];
        for job in jobs.iter().filter(|job| ((job.submit / 86_400) as usize) < days) {
            counts[(job.submit / 86_400) as usize][(job.submit % 86_400 / 1800) as usize] += 1.0;
        }
        let daily = counts.iter().flatten().sum::<f64>() / days as f64;
        for (half_hour, weight) in weights.iter().enumerate() {
            let expected = daily * weight / 48.0;
            let mean = counts.iter().map(|day| day[half_hour]).sum::<f64>() / days as f64;
            let variance = counts.iter().map(|day| (day[half_hour] - mean).powi(2)).sum::<f64>() / (days - 1) as f64;
            let deviations = (mean - expected) / (variance / days as f64).sqrt();
            // One in a thousand, of 48.
            assert!(deviations.abs() < 4.27, "{class:?} {half_hour}: {mean:.3}, expected {expected:.3}");
            assert!((mean / expected - 1.0).abs() < 0.1, "{class:?} {half_hour}: {mean:.3}, expected {expected:.3}");
        }
    }
}

/// Of a gamma variable that is drawn again above a limit: its mean, its variance, and the mean of e to its power.
fn moments_below(shape: f64, scale: f64, limit: f64) -> [f64; 3] {
    const STEPS: usize = 20_000;
    let density = gamma(shape, scale);
    let mut sums = [0.0; 4];
    for step in 0..STEPS {
        let x = limit * (step as f64 + 0.5) / STEPS as f64;
        for (sum, value) in sums.iter_mut().zip([1.0, x, x * x, x.exp()]) {
            *sum += density.pdf(x) * value;
        }
    }
    let mean = sums[1] / sums[0];
    [mean, sums[2] / sums[0] - mean * mean, sums[3] / sums[0]]
}

/// The shape and scale of a gamma variable that has this mean and variance when it is drawn again above a limit.
fn gamma_from_moments(mean: f64, variance: f64, limit: f64) -> (f64, f64) {
    let (mut whole_mean, mut whole_variance) = (mean, variance);
    let parameters = |mean: f64, variance: f64| (mean * mean / variance, variance / mean);
    for _ in 0..20 {
        let (shape, scale) = parameters(whole_mean, whole_variance);
        let [found_mean, found_variance, _] = moments_below(shape, scale, limit);
        whole_mean += mean - found_mean;
        whole_variance += variance - found_variance;
    }
    parameters(whole_mean, whole_variance)
}

/// From a log back to the parameters of its arrivals.
#[test]
fn gaps_give_back_the_parameters_of_the_arrivals() {
    for class in [Batch, Interactive] {
        let LublinParameters { aarr, barr, arar, anum, bnum, .. } = class.parameters();
        let cycle = DailyCycle::gamma(anum, bnum);
        // Whole seconds would blur short gaps: a hundred times longer they do not.
        let jobs = Lublin { jobs: 300_001, only: Some(class), gap_factor: 100.0, ..MODEL }.jobs();
        let weighted: Vec<_> = jobs.map(|job| cycle.weighted(job.submit as f64 + 0.5)).collect();
        let gaps: Vec<_> = weighted.windows(2).map(|pair| ((pair[1] - pair[0]) / 100.0).max(1e-3).ln()).collect();
        let mean = gaps.iter().sum::<f64>() / 300_000.0;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / 300_000.0;
        let (shape, scale) = gamma_from_moments(mean, variance, 13.0);
        assert!((shape / (aarr * arar) - 1.0).abs() < 0.02, "{class:?}: {shape:.4}, put in {:.4}", aarr * arar);
        assert!((scale / barr - 1.0).abs() < 0.02, "{class:?}: {scale:.4}, put in {barr}");
        // 3516.9 and 619.3 s; the authors' program, which loses half a second in each, has 3518.2 and 618.5.
        let [.., mean_gap] = moments_below(aarr * arar, barr, 13.0);
        let found = (weighted[300_000] - weighted[0]) / 300_000.0 / 100.0;
        assert!((found / mean_gap - 1.0).abs() < 0.025, "{class:?}: {found:.1}, expected {mean_gap:.1}");
    }
}

/// From a log back to the parameters of its runtimes: wide jobs show the second gamma distribution alone, serial ones both.
#[test]
fn runtimes_give_back_their_gamma_parameters() {
    for (class, pure) in [(Batch, 233), (Interactive, 78)] {
        let LublinParameters { a1, b1, a2, b2, pa, pb, .. } = class.parameters();
        let jobs = jobs_of(class, 4096, 600_000);
        let moments = |wanted: &dyn Fn(u32) -> bool| {
            let (mut count, mut mean, mut square) = (0.0, 0.0, 0.0);
            for job in jobs.iter().filter(|job| wanted(job.procs)) {
                let logarithm = (job.runtime as f64 + 0.5).ln();
                count += 1.0;
                mean += logarithm;
                square += logarithm * logarithm;
            }
            (mean / count, square / count)
        };
        let parameters = |(mean, square): (f64, f64)| {
            let variance = square - mean * mean;
            (mean * mean / variance, variance / mean)
        };
        let within = |found: f64, known: f64, tolerance: f64| {
            assert!((found / known - 1.0).abs() < tolerance, "{class:?}: {found:.4}, put in {known}");
        };
        let second = moments(&|procs| procs >= pure);
        let (shape, scale) = parameters(second);
        within(shape, a2, 0.05);
        within(scale, b2, 0.05);
        let (p, serial) = (pa + pb, moments(&|procs| procs == 1));
        let unmixed = |both: f64, second: f64| (both - (1.0 - p) * second) / p;
        let (shape, scale) = parameters((unmixed(serial.0, second.0), unmixed(serial.1, second.1)));
        within(shape, a1, 0.08);
        within(scale, b1, 0.08);
    }
}

/// Against the authors' program (lublin99.c of the Parallel Workloads Archive, its functions transcribed): six runs of twenty
/// million jobs, with its own random numbers and gamma generator, make these averages. The tolerances are four standard errors of our three million jobs.
#[test]
fn jobs_are_those_of_the_authors_program() {
    let jobs: Vec<_> = Lublin { jobs: 3_000_000, ..MODEL }.jobs().collect();
    let mut load = 0.0;
    for (class, share, size, runtime, logarithm, work) in
        [(Batch, 0.14951, 13.886, 9492.9, 6.93892, 163_410.0), (Interactive, 0.85049, 8.0467, 240.32, 2.87737, 2955.2)]
    {
        let of_class: Vec<_> = jobs.iter().filter(|job| job.queue == class.queue()).collect();
        let count = of_class.len() as f64;
        let mean = |value: &dyn Fn(&ModelJob) -> f64| of_class.iter().map(|job| value(job)).sum::<f64>() / count;
        let near = |what: &str, found: f64, theirs: f64, tolerance: f64| {
            assert!((found / theirs - 1.0).abs() < tolerance, "{class:?} {what}: {found:.4}, theirs {theirs}");
        };
        near("share", count / jobs.len() as f64, share, 0.025);
        near("size", mean(&|job| f64::from(job.procs)), size, 0.01);
        near("runtime", mean(&|job| job.runtime as f64), runtime, 0.02);
        near("logarithm of the runtime", mean(&|job| (job.runtime as f64).ln()), logarithm, 0.002);
        near("work", mean(&|job| f64::from(job.procs) * job.runtime as f64), work, 0.03);
        load += of_class.iter().map(|job| f64::from(job.procs) * job.runtime as f64).sum::<f64>();
    }
    load /= 128.0 * jobs.last().unwrap().submit as f64;
    assert!((load / 0.4002 - 1.0).abs() < 0.03, "{load}");
}

#[test]
fn any_machine_has_jobs_that_fit_it() {
    for procs in [1, 2, 3, 4, 5, 7, 8, 100, 128, 1000, 93_312, 1_000_000_000] {
        for class in [Batch, Interactive] {
            let jobs = jobs_of(class, procs, 20_000);
            let widest = jobs.iter().map(|job| job.procs).max().unwrap();
            assert!(jobs.iter().all(|job| (1..=procs).contains(&job.procs) && (1..=162_754).contains(&job.runtime)));
            // Batch jobs come near the whole machine, interactive ones to about a third of it, and to two processors always.
            let least = if class == Batch { procs / 2 + 1 } else { procs / 4 };
            assert!(widest >= least.max(2).min(procs), "{class:?} on {procs}: {widest} at most");
            let serial = jobs.iter().filter(|job| job.procs == 1).count() as f64 / 20_000.0;
            let expected = if procs == 1 { 1.0 } else { class.parameters().serial_prob };
            assert!((serial - expected).abs() < 0.012, "{class:?} on {procs}: {serial} serial");
        }
    }
}

#[test]
fn seeds_and_classes_have_streams_of_their_own() {
    let jobs = |model: Lublin| model.jobs().collect::<Vec<_>>();
    let both = jobs(MODEL);
    assert_eq!(both, jobs(MODEL));
    assert_ne!(both, jobs(Lublin { seed: 2, ..MODEL }));
    assert!(both.is_sorted_by_key(|job| job.submit));
    // A class has the same jobs alone and together with the other.
    for class in [Batch, Interactive] {
        let part: Vec<_> = both.iter().filter(|job| job.queue == class.queue()).copied().collect();
        assert!(part.len() > 100 && jobs_of(class, 128, part.len()) == part);
    }
    // Shorter gaps bring the same jobs earlier.
    let sorted = |mut jobs: Vec<ModelJob>| {
        jobs.sort_by_key(|job| (job.queue, job.procs, job.runtime));
        jobs.iter().map(|job| (job.queue, job.procs, job.runtime)).collect::<Vec<_>>()
    };
    assert_eq!(sorted(both), sorted(jobs(Lublin { gap_factor: 0.3, ..MODEL })));
    let batch = Lublin { only: Some(Batch), ..MODEL };
    let (plain, short) = (jobs(batch), jobs(Lublin { gap_factor: 0.5, ..batch }));
    let same = |a: &ModelJob, b: &ModelJob| (a.procs, a.runtime) == (b.procs, b.runtime) && a.submit >= b.submit;
    assert!(plain.iter().zip(&short).all(|(a, b)| same(a, b)));
    let cycle = LublinArrivals::new(Batch, 1.0).cycle().clone();
    let ratio = cycle.weighted(short[4999].submit as f64) / cycle.weighted(plain[4999].submit as f64);
    assert!((ratio - 0.5).abs() < 1e-5, "{ratio}");
}
