//! A fixed piece of code. How long its compilation takes says how fast this machine compiles.

use std::collections::BTreeMap;

macro_rules! kinds {
    ($($name:ident)*) => {
        $(
            #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
            pub struct $name(u64, String);

            impl $name {
                pub fn grouped(items: &[$name]) -> BTreeMap<u64, Vec<$name>> {
                    let mut groups: BTreeMap<u64, Vec<$name>> = BTreeMap::new();
                    for item in items.iter().filter(|item| item.0 > 1) {
                        groups.entry(item.0 % 7).or_default().push(item.clone());
                    }
                    groups.values_mut().for_each(|group| group.sort_by_key(|item| std::cmp::Reverse(item.1.len())));
                    groups
                }

                pub fn shown(items: &[$name]) -> String {
                    let mut lines: Vec<_> = Self::grouped(items).into_iter().flat_map(|(_, group)| group).collect();
                    lines.sort();
                    lines.dedup();
                    lines.iter().map(|line| format!("{line:?}")).collect::<Vec<_>>().join("\n")
                }
            }
        )*
    };
}

kinds! { A B C D E F G H }
