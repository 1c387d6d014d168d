//! Names of users, groups, executables, queues and partitions, and their numbers in the log.

use rustc_hash::FxHashMap;

/// What a number of a log stands for, in the order of SWF's fields. Each kind has its own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A user.
    User,
    /// The group or the account of a user.
    Group,
    /// A program, or the name of a job.
    Executable,
    /// A queue.
    Queue,
    /// A partition.
    Partition,
}

impl NameKind {
    /// All of them.
    pub const ALL: [NameKind; 5] =
        [NameKind::User, NameKind::Group, NameKind::Executable, NameKind::Queue, NameKind::Partition];

    /// The word for it.
    pub fn word(self) -> &'static str {
        ["user", "group", "executable", "queue", "partition"][self as usize]
    }
}

/// The number of kinds.
const KINDS: usize = NameKind::ALL.len();

/// The names of one kind while a file is read. Their numbers are those of the first appearance in the file.
#[derive(Debug, Default)]
struct Interner {
    names: Vec<Box<[u8]>>,
    places: FxHashMap<Box<[u8]>, u32>,
    /// The place of the last name: rows of one user often follow each other.
    last: u32,
}

impl Interner {
    #[inline]
    fn place(&mut self, name: &[u8]) -> u32 {
        if self.names.get(self.last as usize).is_some_and(|last| **last == *name) {
            return self.last;
        }
        self.last = match self.places.get(name) {
            Some(&place) => place,
            None => {
                let place = self.names.len() as u32;
                self.names.push(name.into());
                self.places.insert(name.into(), place);
                place
            }
        };
        self.last
    }
}

/// The names of a log while it is read.
#[derive(Debug, Default)]
pub struct NamesRead([Interner; KINDS]);

impl NamesRead {
    /// A provisional number for a name of a kind; -1 if it is empty. [`NamesRead::finish`] has the final numbers.
    #[inline]
    pub fn place(&mut self, kind: usize, name: &[u8]) -> i32 {
        if name.is_empty() { -1 } else { self.0[kind].place(name) as i32 }
    }

    /// Replaces provisional numbers by the final ones: from 1 in the order of `rows`, which are the numbers of each record.
    pub fn finish<'a>(self, rows: impl Iterator<Item = [&'a mut i32; KINDS]>) -> LogNames {
        let mut numbers = self.0.each_ref().map(|kind| vec![0; kind.names.len()]);
        let mut names: [Vec<Box<[u8]>>; KINDS] = Default::default();
        for row in rows {
            for (kind, place) in row.into_iter().enumerate() {
                if let Ok(at) = usize::try_from(*place) {
                    let number = &mut numbers[kind][at];
                    if *number == 0 {
                        names[kind].push(self.0[kind].names[at].clone());
                        *number = names[kind].len() as i32;
                    }
                    *place = *number;
                }
            }
        }
        LogNames { names }
    }
}

/// The names behind the numbers of a log that was made from an accounting file. They are private: nothing prints them
/// except `report::write_names` and what shows [`crate::trace::ShownNames`], which are used only on request.
#[derive(Clone, Debug, Default)]
pub struct LogNames {
    names: [Vec<Box<[u8]>>; KINDS],
}

impl LogNames {
    /// All names with their kinds and numbers: users, groups, executables, queues, partitions.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, i64, &[u8])> {
        let kinds = NameKind::ALL.map(NameKind::word).into_iter().zip(&self.names);
        kinds.flat_map(|(kind, names)| names.iter().zip(1..).map(move |(name, number)| (kind, number, &**name)))
    }

    /// The names of one kind, with their numbers.
    pub fn of_kind(&self, kind: NameKind) -> impl Iterator<Item = (i64, &[u8])> {
        (1..).zip(self.names[kind as usize].iter().map(|name| &**name))
    }

    /// The name of a number. None if the log has no such name, as an SWF log.
    pub fn name(&self, kind: NameKind, number: i64) -> Option<&[u8]> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        self.names[kind as usize].get(at).map(|name| &**name)
    }
}
