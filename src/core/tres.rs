//! Resources: what nodes have, what jobs ask for and get, what they are charged for and limited by. Slurm calls them trackable
//! resources (TRES).
//!
//! [`Resource`] is the table of them, [`Tres`] has something of each: an amount, a limit, a weight.

use std::fmt;
use std::ops::{Index, IndexMut};

use crate::counts::CauseWords;
use crate::text::{counted, shortened};

/// Defines the resources with what is written of them.
macro_rules! resources {
    (
        { $($(#[$about:meta])* $kind:ident slurm $short:literal name $name:literal is $one:literal are $many:literal;)* }
        devices {
            $($(#[$about_device:meta])* $device:ident gres $gres:literal name $names:literal is $piece:literal are $pieces:literal;)*
        }
    ) => {
        /// A resource. They are in the order in which Slurm prints them.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Resource {
            $($(#[$about])* $kind,)*
            $($(#[$about_device])* $device,)*
        }

        const FORMS: &[ResourceForm] = &[
            $(form!($short, $short, $name, $one, $many),)*
            $(form!(concat!("gres/", $gres), $gres, $names, $piece, $pieces),)*
        ];

        impl Resource {
            /// All of them.
            pub const ALL: [Resource; COUNT] = [$(Resource::$kind,)* $(Resource::$device),*];

            /// What nodes have besides CPUs and memory, in whole pieces.
            pub const DEVICES: [Resource; DEVICES] = [$(Resource::$device),*];

            /// The names of [`Resource::DEVICES`].
            pub const DEVICE_NAMES: [&str; DEVICES] = [$($names),*];

            /// The names that PBS and Torque have for each of [`Resource::DEVICES`].
            pub const PBS_NAMES: [[&str; 3]; DEVICES] = [$([concat!("n", $names), $names, $gres]),*];
        }

        /// The number of resources.
        const COUNT: usize = FORMS.len();

        /// The number of devices.
        const DEVICES: usize = [$(Resource::$device),*].len();
    };
}

/// What is written of a resource with these names.
macro_rules! form {
    ($slurm:expr, $short:literal, $name:literal, $one:literal, $many:literal) => {
        ResourceForm {
            slurm: $slurm,
            name: $name,
            one: $one,
            many: $many,
            beside: concat!("is given beside ", $name, ": a job has one of the two"),
            columns: ResourceColumns {
                size: ($name, concat!("the ", $many, " of its nodes together")),
                asked: ($name, concat!("its ", $many, ", all together")),
                asked_per_node: (concat!($name, "_per_node"), concat!("its ", $many, " on each node")),
                asking_jobs: (concat!($short, "_jobs"), concat!("jobs with ", $many)),
                asked_by_all: ($name, concat!("the ", $many, " of these jobs together")),
                asked_at_most: (concat!($name, "_max"), concat!("most ", $many, " of a job")),
                jobs_without: CauseWords::drops(concat!("jobs without ", $many))
                    .column(concat!("without_", $name), concat!("jobs without ", $many))
                    .noted(concat!("job without ", $many), concat!("jobs without ", $many))
                    .found("job", concat!("without ", $many, ": dropped")),
                utilization: (
                    concat!("utilization_", $name),
                    concat!("share of the ", $many, " that jobs were given; empty without ", $many),
                ),
                waits: (concat!("wait_hours_", $name), concat!("job-hours of waiting for want of ", $many)),
            },
        }
    };
}

resources! {
    {
        /// CPUs.
        #[default]
        Cpus slurm "cpu" name "cpus" is "CPU" are "CPUs";
        /// Memory, in MB.
        Memory slurm "mem" name "memory" is "memory" are "memory";
        /// Nodes: how many a job has. A node has none.
        Nodes slurm "node" name "nodes" is "node" are "nodes";
    }
    devices {
        /// GPUs.
        Gpus gres "gpu" name "gpus" is "GPU" are "GPUs";
    }
}

/// What is written of a resource.
struct ResourceForm {
    slurm: &'static str,
    name: &'static str,
    one: &'static str,
    many: &'static str,
    beside: &'static str,
    columns: ResourceColumns,
}

/// The columns that outputs have of a resource: the name and the meaning of each.
#[derive(Debug)]
pub struct ResourceColumns {
    /// What nodes have.
    pub size: (&'static str, &'static str),
    /// What a job asks for.
    pub asked: (&'static str, &'static str),
    /// What a job asks for on each node.
    pub asked_per_node: (&'static str, &'static str),
    /// How many jobs of a log ask for some.
    pub asking_jobs: (&'static str, &'static str),
    /// All they ask for.
    pub asked_by_all: (&'static str, &'static str),
    /// The most that one of them asks for.
    pub asked_at_most: (&'static str, &'static str),
    /// How many jobs of a log ask for none, if it is the unit.
    pub jobs_without: CauseWords,
    /// The share of it that jobs were given.
    pub utilization: (&'static str, &'static str),
    /// Waits for want of it.
    pub waits: (&'static str, &'static str),
}

/// Three lists as one, such as the names before those of devices, theirs, and the names behind them.
pub const fn joined<T: Copy, const A: usize, const B: usize, const C: usize, const ALL: usize>(
    before: [T; A],
    own: [T; B],
    behind: [T; C],
) -> [T; ALL] {
    assert!(A + B + C == ALL);
    let mut all = [before[0]; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < A {
            before[at]
        } else if at < A + B {
            own[at - A]
        } else {
            behind[at - A - B]
        };
        at += 1;
    }
    all
}

impl Resource {
    /// What nodes have.
    pub const OF_NODES: [Resource; 2 + DEVICES] = joined([Resource::Cpus, Resource::Memory], Resource::DEVICES, []);

    /// What is counted in whole pieces, as a processor is.
    pub const COUNTED: [Resource; 2 + DEVICES] = joined([Resource::Cpus, Resource::Nodes], Resource::DEVICES, []);

    const fn form(self) -> &'static ResourceForm {
        &FORMS[self as usize]
    }

    /// Its name in Slurm's lists: `cpu`.
    pub const fn slurm(self) -> &'static str {
        self.form().slurm
    }

    /// The resource with a name in Slurm's lists, in capitals or not.
    pub fn of_slurm(name: &str) -> Option<Resource> {
        Resource::ALL.into_iter().find(|kind| kind.slurm().eq_ignore_ascii_case(name))
    }

    /// Its name in the lists of a node (Slurm's Gres). None for CPUs, memory and nodes.
    pub fn gres(self) -> Option<&'static str> {
        self.slurm().strip_prefix("gres/")
    }

    /// The resource with a name in the lists of nodes, in capitals or not.
    pub fn of_gres(name: &str) -> Option<Resource> {
        Resource::DEVICES.into_iter().find(|kind| kind.gres().is_some_and(|own| own.eq_ignore_ascii_case(name)))
    }

    /// Its name in results and in files of our own: `cpus`.
    pub const fn name(self) -> &'static str {
        self.form().name
    }

    /// One of it, in words.
    pub const fn one(self) -> &'static str {
        self.form().one
    }

    /// Several of it, in words.
    pub const fn many(self) -> &'static str {
        self.form().many
    }

    /// An amount in words: `4 CPUs`, `8G of memory`.
    pub fn in_words(self, amount: u64) -> String {
        match self {
            Resource::Memory => format!("{} of memory", print_memory(amount)),
            _ => counted(amount, self.one()),
        }
    }

    /// What is wrong if a job asks for it in two ways.
    pub const fn given_twice(self) -> &'static str {
        self.form().beside
    }

    /// The columns that outputs have of it.
    pub const fn columns(self) -> &'static ResourceColumns {
        &self.form().columns
    }

    /// The device with a name in PBS and Torque.
    pub fn of_pbs(name: &[u8]) -> Option<Resource> {
        let is_of = |names: &[&str; 3]| names.iter().any(|own| own.as_bytes() == name);
        Resource::PBS_NAMES.iter().position(is_of).map(|at| Resource::DEVICES[at])
    }
}

/// Something of each resource: an amount, if nothing else is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tres<T = u64>([T; COUNT]);

impl<T> Index<Resource> for Tres<T> {
    type Output = T;

    fn index(&self, kind: Resource) -> &T {
        &self.0[kind as usize]
    }
}

impl<T> IndexMut<Resource> for Tres<T> {
    fn index_mut(&mut self, kind: Resource) -> &mut T {
        &mut self.0[kind as usize]
    }
}

impl<T: Copy> Tres<T> {
    /// The same of each.
    pub const fn all(value: T) -> Tres<T> {
        Tres([value; COUNT])
    }

    /// What a rule says of each.
    pub fn of(rule: impl FnMut(Resource) -> T) -> Tres<T> {
        Tres(Resource::ALL.map(rule))
    }

    /// What a rule says of each device. The others have the usual value.
    pub fn of_devices(mut rule: impl FnMut(Resource) -> T) -> Tres<T>
    where
        T: Default,
    {
        Resource::DEVICES.into_iter().fold(Tres::default(), |all, kind| all.with(kind, rule(kind)))
    }

    /// With another value of one.
    pub fn with(mut self, kind: Resource, value: T) -> Tres<T> {
        self[kind] = value;
        self
    }

    /// Each changed by a rule.
    pub fn map<U: Copy>(self, rule: impl FnMut(T) -> U) -> Tres<U> {
        Tres(self.0.map(rule))
    }

    /// Each with its resource.
    pub fn iter(&self) -> impl Iterator<Item = (Resource, T)> {
        Resource::ALL.into_iter().zip(self.0)
    }

    /// Changes each by what another has of it.
    pub fn change<U: Copy>(&mut self, other: &Tres<U>, mut rule: impl FnMut(&mut T, U)) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| rule(own, other));
    }
}

impl Tres {
    /// CPUs and memory of a node.
    pub const fn on_node(cpus: u32, memory: u64) -> Tres {
        let mut amounts = [0; COUNT];
        amounts[Resource::Cpus as usize] = cpus as u64;
        amounts[Resource::Memory as usize] = memory;
        Tres(amounts)
    }

    /// Its CPUs, of which a node has fewer than 2^32.
    #[inline(always)]
    pub const fn cpus(&self) -> u32 {
        self.0[Resource::Cpus as usize] as u32
    }

    /// Its memory in MB.
    #[inline(always)]
    pub const fn memory(&self) -> u64 {
        self.0[Resource::Memory as usize]
    }

    /// How much of a device, of which a node has fewer than 2^32.
    #[inline(always)]
    pub const fn count(&self, kind: Resource) -> u32 {
        self.0[kind as usize] as u32
    }

    /// Whether all of this is at least the other.
    #[inline]
    pub fn holds(&self, other: &Tres) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own >= other)
    }

    /// Adds what a job gives back.
    #[inline]
    pub fn give(&mut self, other: &Tres) {
        self.change(other, |own, other| *own += other);
    }

    /// Removes what a job takes; what is not there is not taken.
    #[inline]
    pub fn take(&mut self, other: &Tres) {
        self.change(other, |own, other| *own = own.saturating_sub(other));
    }
}

/// An item of a list such as `cpu=12,mem=4G,gres/gpu:a100=1`.
pub struct TresItem<'a> {
    /// All of it.
    pub text: &'a str,
    /// What is before the first `=`.
    pub name: &'a str,
    /// What is after it.
    pub value: Option<&'a str>,
    /// What it is of. None: nothing that is known.
    pub kind: Option<Resource>,
    /// What it is of if it is of one type of it only.
    pub kind_of_type: Option<Resource>,
}

/// The items of a list.
pub fn tres_items(list: &str, between: char) -> impl Iterator<Item = TresItem<'_>> {
    list.split(between).map(str::trim).filter(|item| !item.is_empty()).map(|text| {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name.trim(), Some(value)));
        let kind_of_type = name.split_once(':').and_then(|(name, _)| Resource::of_slurm(name));
        TresItem { text, name, value, kind: Resource::of_slurm(name), kind_of_type }
    })
}

/// Limits. None: no limit.
impl Tres<Option<u64>> {
    /// Sets amounts such as `cpu=12,mem=4G,node=2,gres/gpu=1`; the others stay. Returns what else the text lists.
    ///
    /// # Errors
    /// If an item is not `name=number`.
    pub fn set(&mut self, text: &str) -> Result<Vec<String>, String> {
        let mut others = Vec::new();
        for TresItem { text, name, value, kind, .. } in tres_items(text, ',') {
            let form = || format!("'{}' is no amount such as cpu=12,mem=4G,node=2,gres/gpu=1", shortened(text));
            let value = Some(value.ok_or_else(form)?).filter(|value| !is_unlimited(value));
            let amount = |value: &str| match kind {
                Some(Resource::Memory) => parse_memory(value).ok_or_else(|| format!("{text}: {MEMORY_FORM}")),
                _ => value.parse().map_err(|_| form()),
            };
            match kind {
                Some(kind) => self[kind] = value.map(amount).transpose()?,
                None => others.push(name.to_string()),
            }
        }
        Ok(others)
    }

    /// Whether nothing is limited.
    pub fn is_unlimited(&self) -> bool {
        *self == Tres::default()
    }

    /// These amounts, and those of the other where there is none.
    pub fn or(&self, other: &Tres<Option<u64>>) -> Tres<Option<u64>> {
        Tres::of(|kind| self[kind].or(other[kind]))
    }
}

/// As [`Tres::set`] reads it.
impl fmt::Display for Tres<Option<u64>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let item = |(kind, amount): (Resource, Option<u64>)| match kind {
            Resource::Memory => Some(format!("{}={}", kind.slurm(), print_memory(amount?))),
            _ => Some(format!("{}={}", kind.slurm(), amount?)),
        };
        f.write_str(&self.iter().filter_map(item).collect::<Vec<_>>().join(","))
    }
}

/// Weights.
impl Tres<f64> {
    /// Reads what a job is charged for each second: `CPU=1.0,Mem=0.25G,GRES/gpu=2.0` (Slurm's `TRESBillingWeights`); the weight of
    /// memory is for each MB, or of the unit that follows it. Empty: the CPUs count.
    ///
    /// # Errors
    /// If an item is not a name of these (or `node`) with a number of at least 0.
    pub fn of_billing(text: &str) -> Result<Tres<f64>, String> {
        let mut weights = Tres::default();
        if text.trim().is_empty() {
            return Ok(weights.with(Resource::Cpus, 1.0));
        }
        for TresItem { text, value, kind, .. } in tres_items(text, ',') {
            let wrong =
                || format!("'{}' is no weight such as CPU=1.0, Mem=0.25G, Node=1 or GRES/gpu=2", shortened(text));
            let value = value.ok_or_else(wrong)?.trim();
            let (number, unit) = match value.split_at_checked(value.len().saturating_sub(1)) {
                Some((number, "K" | "k")) => (number, 1.0 / 1024.0),
                Some((number, "M" | "m")) => (number, 1.0),
                Some((number, "G" | "g")) => (number, 1024.0),
                Some((number, "T" | "t")) => (number, 1024.0 * 1024.0),
                _ => (value, 1.0),
            };
            let kind = kind.filter(|kind| *kind == Resource::Memory || unit == 1.0).ok_or_else(wrong)?;
            weights[kind] = weight(number).ok_or_else(wrong)? / unit;
        }
        Ok(weights)
    }

    /// Reads weights of what jobs ask for: `cpu=1000;mem=0.03;gres/gpu=30000`.
    ///
    /// # Errors
    /// If an item is not a name of these (or `node`) with a number of at least 0.
    pub fn of_priority(text: &str) -> Result<Tres<f64>, String> {
        let mut weights = Tres::default();
        for TresItem { text, value, kind, .. } in tres_items(text, ';') {
            match (kind, weight(value.unwrap_or_default().trim())) {
                (Some(kind), Some(number)) => weights[kind] = number,
                _ => return Err(format!("'{text}' is no weight of cpu, mem, node or gres/gpu such as cpu=1000")),
            }
        }
        Ok(weights)
    }

    /// The text that [`Tres::of_priority`] reads: the same for equal weights.
    pub fn priority_text(&self) -> String {
        let items = self.iter().filter(|(_, weight)| *weight > 0.0);
        items.map(|(kind, weight)| format!("{}={weight}", kind.slurm())).collect::<Vec<_>>().join(";")
    }

    /// The sum of these amounts, each times its weight.
    pub fn sum(&self, amounts: Tres<f64>) -> f64 {
        amounts.iter().map(|(kind, amount)| amount * self[kind]).sum()
    }
}

fn weight(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// The most memory, in MB. The sum over all nodes of a machine fits into a `u64`.
const MOST_MEMORY: u64 = 1 << 44;

/// Reads memory in MB: `512000`, `512000M`, `8G`, `2T`. None if it is something else, or too much.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::tres::parse_memory;
/// assert_eq!((parse_memory("8G"), parse_memory("512000"), parse_memory("-1")), (Some(8192), Some(512_000), None));
/// ```
pub fn parse_memory(text: &str) -> Option<u64> {
    let (number, factor) = match text.char_indices().last()? {
        (at, 'M' | 'm') => (&text[..at], 1),
        (at, 'G' | 'g') => (&text[..at], 1 << 10),
        (at, 'T' | 't') => (&text[..at], 1 << 20),
        _ => (text, 1),
    };
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let memory = is_number.then(|| number.parse::<u64>().ok())??.checked_mul(factor)?;
    (memory <= MOST_MEMORY).then_some(memory)
}

/// Writes memory in the largest unit that divides it: `8G`, `512000M`. [`parse_memory`] reads it back.
pub fn print_memory(memory: u64) -> String {
    match memory {
        0 => "0M".to_string(),
        memory if memory % (1 << 20) == 0 => format!("{}T", memory >> 20),
        memory if memory % (1 << 10) == 0 => format!("{}G", memory >> 10),
        memory => format!("{memory}M"),
    }
}

/// What memory is in a configuration, for messages.
pub const MEMORY_FORM: &str = "not memory such as 8G, 512000M or 512000 (MB)";

/// Whether a value of Slurm means that there is no limit.
pub fn is_unlimited(value: &str) -> bool {
    ["UNLIMITED", "INFINITE", "-1"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back() {
        let mut free = Tres::on_node(8, 4000).with(Resource::Gpus, 2);
        let (all, job) = (free, Tres::on_node(3, 1000).with(Resource::Gpus, 1));
        assert!(free.holds(&job) && !job.holds(&free) && !free.holds(&job.with(Resource::Gpus, 3)));
        free.take(&job);
        assert_eq!((free.cpus(), free.memory(), free.count(Resource::Gpus)), (5, 3000, 1));
        free.give(&job);
        assert_eq!(free, all);
        // Only a replay takes what is not there.
        free.take(&Tres::on_node(9, 0));
        assert_eq!((free.cpus(), free.memory()), (0, 4000));
    }

    #[test]
    fn resources_have_names() {
        assert_eq!(Resource::ALL.map(Resource::slurm), ["cpu", "mem", "node", "gres/gpu"]);
        assert_eq!(Resource::OF_NODES.map(Resource::name), ["cpus", "memory", "gpus"]);
        assert_eq!((Resource::of_gres("GPU"), Resource::of_gres("mem")), (Some(Resource::Gpus), None));
        assert!(Resource::DEVICES.iter().all(|kind| kind.gres().is_some()));
        let kinds: Vec<_> = tres_items("CPU=1, gres/gpu:a100=2,gres/gpumem=5,x", ',')
            .map(|item| (item.kind, item.kind_of_type))
            .collect();
        assert_eq!(kinds, [(Some(Resource::Cpus), None), (None, Some(Resource::Gpus)), (None, None), (None, None)]);
    }

    #[test]
    fn limits_are_read_as_they_are_printed() {
        let mut limits = Tres::default();
        let others = limits.set("cpu=12,mem=4G,node=-1,GRES/gpu=1,license/a=3,gres/gpu:v100=2").unwrap();
        assert_eq!(
            (limits.to_string().as_str(), others.join(" ")),
            ("cpu=12,mem=4G,gres/gpu=1", "license/a gres/gpu:v100".into())
        );
        let memory = Tres::default().with(Resource::Memory, Some(3000));
        assert_eq!(memory.or(&limits).to_string(), "cpu=12,mem=3000M,gres/gpu=1");
        limits.set("cpu=unlimited,mem=-1,gres/gpu=-1").unwrap();
        assert!(limits.is_unlimited());
        for wrong in ["cpu", "license/a", "cpu=x", "mem=x", "node=1.5"] {
            assert!(limits.set(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn weights_of_what_a_job_was_given() {
        let given =
            Tres::on_node(8, 16384).with(Resource::Nodes, 2).with(Resource::Gpus, 2).map(|amount| amount as f64);
        let charge = |text: &str| Tres::of_billing(text).unwrap().sum(given);
        assert_eq!((charge(""), charge("CPU=1.5")), (8.0, 12.0));
        assert_eq!(charge("cpu=1.0,Mem=0.25G,GRES/gpu=2.0"), 8.0 + 4.0 + 4.0);
        assert_eq!((charge("mem=0.5"), charge("mem=0.5M"), charge("Node=3")), (8192.0, 8192.0, 6.0));
        // 16 GB are 16,777,216 KB, and a 64th of a TB.
        assert_eq!((charge("mem=1K"), charge("mem=64t")), (16_777_216.0, 1.0));
        for wrong in ["cpu", "cpu=x", "cpu=-1", "cpu=1G", "license/a=1", "mem=G"] {
            assert!(Tres::of_billing(wrong).is_err(), "{wrong}");
        }
        let text = |text| Tres::of_priority(text).map(|weights| weights.priority_text());
        assert_eq!(text(" GRES/gpu=30; cpu = 1e3;node=0").unwrap(), "cpu=1000;gres/gpu=30");
        for wrong in ["cpu", "cpu=-1", "cpu=1,mem=2", "license/a=1"] {
            assert!(text(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn memory_has_units() {
        for (text, memory) in [
            ("0", Some(0)),
            ("1t", Some(1 << 20)),
            ("2800m", Some(2800)),
            ("", None),
            ("G", None),
            ("1.5G", None),
            ("8GB", None),
            ("+8", None),
            ("99999999999999999999", None),
            ("20000000T", None),
        ] {
            assert_eq!(parse_memory(text), memory, "{text}");
        }
        for memory in [0, 1, 1023, 1024, 187_000, 1 << 20, 3 << 30] {
            assert_eq!(parse_memory(&print_memory(memory)), Some(memory));
        }
    }
}
