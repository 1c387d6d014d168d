//! Parallel work, with results that do not depend on the number of threads.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::{self, Builder};

/// Calls `work` for each item on up to `threads` threads and returns the results in the order of the items. `progress` is
/// called after each item with the number of finished items.
pub fn map<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    progress: impl Fn(usize) + Sync,
) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let share = || {
        let mut made = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return made };
            made.push((at, work(item)));
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    for (at, result) in on_threads(threads.min(items.len()), share).into_iter().flatten() {
        results[at] = Some(result);
    }
    results.into_iter().map(|result| result.expect("every item was taken by a thread")).collect()
}

/// Runs `worker` on up to this number of threads, including the calling one, and returns the results in no special order. If
/// the system cannot start more threads (`ulimit -u`, `ulimit -v`) it runs on fewer, so the result must not depend on their
/// number.
pub fn on_threads<R: Send>(threads: usize, worker: impl Fn() -> R + Sync) -> Vec<R> {
    let made = Mutex::new(Vec::new());
    run_on(threads, &|| {
        let result = worker();
        made.lock().unwrap_or_else(PoisonError::into_inner).push(result);
    });
    made.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// As [`on_threads`]; compiled once for all workers.
fn run_on(threads: usize, worker: &(dyn Fn() + Sync)) {
    thread::scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, worker).ok();
        let others: Vec<_> = (0..with_room(threads.saturating_sub(1))).map_while(start).collect();
        worker();
        for other in others {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

/// Starts a thread with a small stack, which runs until the program ends.
///
/// # Errors
/// If the thread cannot be started.
pub fn start_beside(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    if !has_room(SMALL_STACK * 4) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    Builder::new().stack_size(SMALL_STACK).spawn(work).map(|_| ())
}

const SMALL_STACK: usize = 1 << 18;

/// The address space that a thread needs when it starts, in bytes: its stack, and the reserve of the C library's allocator.
const ROOM_OF_A_THREAD: usize = 66 << 20;

/// The bytes that must be left for the work after all threads are started.
const ROOM_OF_THE_WORK: usize = 128 << 20;

/// The number of threads, at most `threads`, for which there is enough memory. It is computed before the first one starts,
/// because a thread that is starting has not allocated its memory yet.
fn with_room(threads: usize) -> usize {
    let fits = |threads: usize| has_room(threads.saturating_mul(ROOM_OF_A_THREAD).saturating_add(ROOM_OF_THE_WORK));
    let mut threads = threads;
    while threads > 0 && !fits(threads) {
        threads -= threads.div_ceil(8);
    }
    threads
}

/// Whether the process can allocate this number of bytes. If a thread gets no memory while it starts, the whole program
/// aborts, so this is tried first. It is fast, because the memory is never used.
fn has_room(bytes: usize) -> bool {
    static LIMITED: LazyLock<bool> = LazyLock::new(is_memory_limited);
    if !*LIMITED {
        return true;
    }
    let mut probe = Vec::<u8>::new();
    let has_room = probe.try_reserve_exact(bytes).is_ok();
    // Otherwise the compiler could remove the unused allocation.
    std::hint::black_box(probe);
    has_room
}

/// Whether `ulimit -v` or `ulimit -d` limits the memory of this process. Known only on Linux; elsewhere false.
#[cfg(target_os = "linux")]
fn is_memory_limited() -> bool {
    use rustix::process::{Resource, getrlimit};
    [Resource::As, Resource::Data].into_iter().any(|resource| getrlimit(resource).current.is_some())
}

#[cfg(not(target_os = "linux"))]
fn is_memory_limited() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..1000).collect();
        let squares: Vec<u64> = items.iter().map(|n| n * n).collect();
        for threads in [1, 2, 7] {
            let reported = AtomicUsize::new(0);
            let watch = |done| {
                reported.fetch_max(done, Ordering::Relaxed);
            };
            assert_eq!(map(&items, threads, |n| n * n, watch), squares);
            assert_eq!(reported.into_inner(), 1000);
        }
        // The thread of the first item ends last.
        let slow_first = |n: &u64| {
            thread::sleep(Duration::from_millis(if *n == 0 { 50 } else { 0 }));
            n * n
        };
        assert_eq!(map(&items, 3, slow_first, |_| ()), squares);
        assert!(map(&[], 4, |n: &u64| *n, |_| ()).is_empty());
    }
}
