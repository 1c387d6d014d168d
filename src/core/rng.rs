//! One seed, many named streams of random numbers.
//!
//! Each part of a model has its own stream, so that an additional draw in one part does not change the random numbers of
//! another part.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The stream `name` of `seed`. The same pair gives the same numbers on every machine and in every version.
pub fn stream(seed: u64, name: &str) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(fnv1a(name.as_bytes()));
    rng
}

/// The 64-bit FNV-1a hash: short code, and it does not change between versions.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// How many random cases a unit test checks, the same in every run. With SHADOWTIME_SEED they are drawn from it: CI has others on
/// every day.
#[cfg(test)]
pub fn random_cases(cases: u32) -> proptest::test_runner::Config {
    let seed = std::env::var("SHADOWTIME_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let rng_seed = proptest::test_runner::RngSeed::Fixed(seed);
    proptest::test_runner::Config { cases, rng_seed, failure_persistence: None, ..Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |seed, name| stream(seed, name).random::<u64>();
        assert_eq!(draw(1, "arrivals"), draw(1, "arrivals"));
        assert_ne!(draw(1, "arrivals"), draw(1, "runtimes"));
        assert_ne!(draw(1, "arrivals"), draw(2, "arrivals"));
        // The hash's published test vector for "a".
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
