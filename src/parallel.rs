//! Work spread over threads, with results that do not depend on how many there are.

use std::io;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

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
    let mut made: Vec<(usize, R)> = on_threads(threads.min(items.len()), share).into_iter().flatten().collect();
    made.sort_unstable_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, result)| result).collect()
}

/// Runs `worker` on up to this many threads, the calling one among them, and returns what each returned. Where the system
/// starts no more threads (`ulimit -u`, `ulimit -v`) it runs on fewer, so the result must not depend on their number.
pub fn on_threads<R: Send>(threads: usize, worker: impl Fn() -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, &worker).ok();
        let others: Vec<_> = (0..with_room(threads.saturating_sub(1))).map_while(start).collect();
        let mut made = vec![worker()];
        for other in others {
            made.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        made
    })
}

/// Starts a thread for little work that goes on until the program ends.
pub fn start_beside(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    if !has_room(SMALL_STACK * 4) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    Builder::new().stack_size(SMALL_STACK).spawn(work).map(|_| ())
}

const SMALL_STACK: usize = 1 << 18;

/// What a thread takes of the address space when it starts: its stack, and what the C library's allocator reserves.
const ROOM_OF_A_THREAD: usize = 66 << 20;

/// What must be left for the work when all threads are started.
const ROOM_OF_THE_WORK: usize = 128 << 20;

/// Of this many threads, the number that the process has the memory to start. All are counted before the first is started,
/// because one that is starting has not taken its memory yet.
fn with_room(threads: usize) -> usize {
    let fits = |threads: usize| has_room(threads.saturating_mul(ROOM_OF_A_THREAD).saturating_add(ROOM_OF_THE_WORK));
    let mut threads = threads;
    while threads > 0 && !fits(threads) {
        threads -= threads.div_ceil(8);
    }
    threads
}

/// Whether the process may have this much more memory, where it is limited. A thread that gets no memory while it starts
/// aborts the whole program, so this is tried before. The memory is never touched, which makes it cheap.
fn has_room(bytes: usize) -> bool {
    static LIMITED: LazyLock<bool> = LazyLock::new(is_memory_limited);
    if !*LIMITED {
        return true;
    }
    let mut probe = Vec::<u8>::new();
    let has_room = probe.try_reserve_exact(bytes).is_ok();
    // The compiler may leave out an allocation that nobody uses.
    std::hint::black_box(probe);
    has_room
}

/// Whether `ulimit -v` or `ulimit -d` limits the memory of this process. Only Linux says so.
fn is_memory_limited() -> bool {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let lines = ["Max address space", "Max data size"].map(|name| limits.lines().find_map(|l| l.strip_prefix(name)));
    // The soft limit comes first; it is the one that holds.
    lines.into_iter().flatten().any(|values| values.split_whitespace().next() != Some("unlimited"))
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
