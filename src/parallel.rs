//! Work spread over threads, with results that do not depend on how many there are.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Does `work` on each item, on so many threads, and returns the results in the order of the items. The watcher is told
/// after each how many are done.
pub fn map<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    watch: impl Fn(usize) + Sync,
) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let share = || {
        let mut made = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return made };
            made.push((at, work(item)));
            watch(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    let mut made: Vec<(usize, R)> = std::thread::scope(|scope| {
        // This thread is one of them.
        let others: Vec<_> = (1..threads.min(items.len())).map(|_| scope.spawn(share)).collect();
        let mut made = share();
        for other in others {
            made.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        made
    });
    made.sort_unstable_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..1000).collect();
        let squares: Vec<u64> = items.iter().map(|n| n * n).collect();
        for threads in [1, 2, 7] {
            let told = AtomicUsize::new(0);
            let watch = |done| {
                told.fetch_max(done, Ordering::Relaxed);
            };
            assert_eq!(map(&items, threads, |n| n * n, watch), squares);
            assert_eq!(told.into_inner(), 1000);
        }
        assert!(map(&[], 4, |n: &u64| *n, |_| ()).is_empty());
    }
}
