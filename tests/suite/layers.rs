//! The structure of the sources: every module uses only the layers below it, and nothing unfinished is left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The modules ("rooms") of each package by layer ("floor"), lowest first; modules of one layer do not use each other. The
/// compiler checks that packages use only packages below them. (`files`, `time`, `text`, `similar`, `sort`, `sorted_blocks`,
/// `counts`, `tres` and `request` are below the other basic modules, which use them; `program` is above them.)
const FLOORS: [&[&str]; 20] = [
    &["files", "time", "text", "similar", "sort", "sorted_blocks"],
    &["counts"],
    &["tres"],
    &["request"],
    &["job", "spec", "settings_file", "stats", "rng", "parallel"],
    &["program"],
    &["machine"],
    &["trace"],
    &["model"],
    &["predict", "schedule"],
    &["engine"],
    &["metrics"],
    &["experiment", "output"],
    &["report"],
    &["malleable", "production", "runs", "search"],
    &["fidelity", "wait"],
    &["meta", "recommend", "sweep"],
    &["reproduce"],
    &["compare"],
    &["cli"],
];

/// The sources, with their paths in their packages: `trace/clean.rs`, but `core/lib.rs`.
fn sources() -> Vec<(PathBuf, String)> {
    fn visit(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => visit(&path, files),
                false => files.push(path),
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    visit(&root, &mut files);
    files.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files.sort();
    assert!(files.len() > 40, "the sources were not found");
    let in_package = |path: &Path| {
        let path = path.strip_prefix(&root).unwrap();
        let inner = ["core", "studies"].iter().find_map(|package| path.strip_prefix(package).ok());
        inner.filter(|inner| *inner != Path::new("lib.rs")).unwrap_or(path).to_path_buf()
    };
    files.into_iter().map(|path| (in_package(&path), std::fs::read_to_string(&path).unwrap())).collect()
}

fn room(path: &Path) -> String {
    let first = path.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_string()
}

/// A source without its unit tests, which may use any module: without each item that follows `#[cfg(test)]`. In formatted code
/// an item ends at the first line with its own indentation that ends with `}` or `;`.
fn without_tests(text: &str) -> String {
    let (mut kept, mut lines) = (String::new(), text.lines());
    while let Some(line) = lines.next() {
        match line.trim_start() {
            "#[cfg(test)]" => {
                let indentation = &line[..line.len() - "#[cfg(test)]".len()];
                let own = |line: &str| line.strip_prefix(indentation).is_some_and(|rest| !rest.starts_with(' '));
                let end = lines.find(|line| own(line) && line.ends_with(['}', ';']));
                assert!(end.is_some(), "an item of a test has no end");
            }
            _ => kept += &format!("{line}\n"),
        }
    }
    kept
}

#[test]
fn only_the_tests_themselves_are_left_out() {
    let text = "use a;\n#[cfg(test)]\nmod tests;\nfn b() {\n    #[cfg(test)]\n    #[inline]\n    fn c() {\n        d();\n    }\n    e();\n}\n\
                #[cfg(test)]\nmod more {\n    use f;\n\n    fn g() {}\n}\nfn h() {}\n";
    assert_eq!(without_tests(text), "use a;\nfn b() {\n    e();\n}\nfn h() {}\n");
}

/// The rooms that a source names as `crate::room`.
fn rooms_used(text: &str) -> Vec<String> {
    let code: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let name = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    // An exported macro is at the top of its package.
    let is_room = |room: &String| !room.is_empty() && room != "column_list";
    code.split("crate::").skip(1).map(name).filter(is_room).collect()
}

#[test]
fn every_room_uses_only_the_floors_below_it() {
    let floor: BTreeMap<&str, usize> =
        FLOORS.iter().enumerate().flat_map(|(floor, rooms)| rooms.iter().map(move |room| (*room, floor))).collect();
    for (path, text) in sources() {
        let own = room(&path);
        // `report` is a package: its modules have their own names.
        if path.ends_with("lib.rs") || own == "main" || own == "report" {
            continue;
        }
        let own_floor = *floor.get(own.as_str()).unwrap_or_else(|| panic!("the room '{own}' is on no floor"));
        for used in rooms_used(&without_tests(&text)).iter().filter(|used| **used != own) {
            let used_floor = *floor.get(used.as_str()).unwrap_or_else(|| panic!("{path:?} uses the unknown '{used}'"));
            assert!(used_floor < own_floor, "{path:?}: '{own}' uses '{used}', which is not below it");
        }
    }
}

#[test]
fn reports_know_nothing_of_the_engine() {
    for (path, text) in sources() {
        assert!(room(&path) != "report" || !text.contains("engine::"), "{path:?}");
    }
}

/// The traits, each with its file and the other modules of the folder that the trait itself is written in terms of. Any
/// other module of the folder is an implementation, a part of one, or the catalog.
const TRAITS: [(&str, &str, &[&str]); 2] = [
    ("Predictor", "predict/predictor.rs", &["board", "deadline"]),
    ("Policy", "schedule/policy.rs", &["queue", "machine"]),
];

/// The names that a file takes from its own folder: what follows `super::` or `crate::room::`, also within braces.
fn names_from_own_folder(text: &str, room: &str) -> Vec<String> {
    let code = without_tests(text);
    let code: Vec<_> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let first =
        |rest: &str| rest.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut names = Vec::new();
    for prefix in ["super::".to_string(), format!("crate::{room}::")] {
        for rest in code.split(&prefix).skip(1) {
            let Some(group) = rest.strip_prefix('{') else {
                names.push(first(rest));
                continue;
            };
            // A name of the group begins where no inner brace is open: at its start, and after each such comma.
            let (mut depth, mut begins) = (0, true);
            for (at, c) in group.char_indices() {
                if begins && depth == 0 && !c.is_whitespace() {
                    names.push(first(&group[at..]));
                    begins = false;
                }
                match c {
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    '{' => depth += 1,
                    ',' => begins = true,
                    _ => {}
                }
            }
        }
    }
    names.retain(|name| !name.is_empty() && name != "self");
    names
}

#[test]
fn the_trait_files_know_no_implementation() {
    let sources = sources();
    for (name, file, needs) in TRAITS {
        let (room, own) = file.split_once('/').unwrap();
        let (_, text) = sources.iter().find(|(path, _)| path == Path::new(file)).unwrap();
        // Covers every module, also new ones: a module that is not needed may not be named.
        for used in names_from_own_folder(text, room) {
            assert!(needs.contains(&used.as_str()), "{file} uses '{used}', which the trait does not need");
        }
        for need in needs {
            assert_ne!(format!("{need}.rs"), own);
            let module = |path: &PathBuf| {
                path.starts_with(Path::new(room).join(need)) || *path == Path::new(room).join(format!("{need}.rs"))
            };
            let files: Vec<_> = sources.iter().filter(|(path, _)| module(path)).collect();
            assert!(!files.is_empty(), "there is no module '{need}' in {room}");
            for (path, text) in files {
                let implements = format!("impl {name} for ");
                assert!(!without_tests(text).contains(&implements), "{file} uses {path:?}, which is an implementation");
            }
        }
    }
}

#[test]
fn names_from_the_own_folder_are_found_however_they_are_written() {
    let text = "//! Not super::comments.\nuse super::ruh::Ruh;\nuse super::{late, sbh::{Sbh, SBH}, self as own,\n    \
                smith as templates};\nuse crate::predict::easy::{Easy};\nuse crate::predict::{twins};\nuse crate::job::Job;\n\
                fn f() { super::gibbons::ask(crate::time::now()) }\n#[cfg(test)]\nmod tests { use super::downey; }\n";
    let mut names = names_from_own_folder(text, "predict");
    names.sort();
    assert_eq!(names, ["easy", "gibbons", "late", "ruh", "sbh", "smith", "twins"]);
}

/// The paths of the `use` trees of a source, with whether they are handed on (`pub use`).
fn used_paths(code: &str) -> Vec<(bool, String)> {
    fn expand(begin: &str, tree: &str, paths: &mut Vec<String>) {
        let Some((own, group)) = tree.split_once('{') else { return paths.push(format!("{begin}{}", tree.trim())) };
        let begin = format!("{begin}{}", own.trim());
        let (mut depth, mut from) = (0, 0);
        let group = group.trim_end().trim_end_matches('}');
        for (at, c) in group.char_indices() {
            depth += i32::from(c == '{') - i32::from(c == '}');
            if c == ',' && depth == 0 {
                expand(&begin, &group[from..at], paths);
                from = at + 1;
            }
        }
        if !group[from..].trim().is_empty() {
            expand(&begin, &group[from..], paths);
        }
    }
    let mut found = Vec::new();
    for statement in code.split(';') {
        let start = statement.rfind("use ").filter(|&at| {
            let before = statement[..at].rsplit('\n').next().unwrap_or_default().trim();
            before.is_empty() || before.starts_with("pub")
        });
        if let Some(at) = start {
            let is_handed_on =
                statement[..at].rsplit('\n').next().is_some_and(|before| before.trim().starts_with("pub"));
            let mut paths = Vec::new();
            expand("", &statement[at + "use ".len()..], &mut paths);
            found.extend(paths.into_iter().map(|path| (is_handed_on, path)));
        }
    }
    found
}

/// The modules of a package, with what they use of each other.
struct Modules {
    /// By path of the module: the file, and its code without comments and tests.
    files: BTreeMap<Vec<String>, (PathBuf, String)>,
    /// By path of the module: the names that it hands on, with what they are.
    handed_on: BTreeMap<Vec<String>, BTreeMap<String, Vec<String>>>,
}

impl Modules {
    fn of(sources: Vec<(PathBuf, String)>) -> Modules {
        let mut modules = Modules { files: BTreeMap::new(), handed_on: BTreeMap::new() };
        for (path, text) in sources.into_iter().filter(|(path, _)| !path.ends_with("tests.rs")) {
            let mut module: Vec<String> =
                path.with_extension("").iter().map(|part| part.to_string_lossy().into()).collect();
            if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
                module.pop();
            }
            let code = without_tests(&text);
            let code: Vec<_> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            modules.files.insert(module, (path, code.join("\n")));
        }
        for (module, (_, code)) in &modules.files {
            let names =
                used_paths(code).into_iter().filter(|(is_handed_on, _)| *is_handed_on).filter_map(|(_, path)| {
                    let (path, alias) =
                        path.split_once(" as ").map_or((path.as_str(), None), |(path, alias)| (path, Some(alias)));
                    let path = modules.absolute(module, path)?;
                    Some((alias.unwrap_or(path.last()?).to_string(), path))
                });
            let names = names.collect();
            modules.handed_on.insert(module.clone(), names);
        }
        modules
    }

    /// The path from the top of the package. None if it is of another one.
    fn absolute(&self, module: &[String], path: &str) -> Option<Vec<String>> {
        let mut parts = path.split("::").map(str::trim).peekable();
        let mut from = module.to_vec();
        match parts.peek()? {
            // The reports are a package whose files are in a folder of that name.
            &"crate" => from.truncate(usize::from(module.first().is_some_and(|first| first == "report"))),
            &("self" | "super") => {}
            first => {
                from.push(first.to_string());
                let is_own = self.files.contains_key(&from);
                from.pop();
                return is_own.then(|| from.into_iter().chain(parts.map(str::to_string)).collect());
            }
        }
        while let Some(part) = parts.next_if(|part| ["crate", "self", "super"].contains(part)) {
            if part == "super" {
                from.pop();
            }
        }
        Some(from.into_iter().chain(parts.filter(|part| *part != "self").map(str::to_string)).collect())
    }

    /// The module that a path names, and the module that has what it names, which the first may only hand on.
    fn meant(&self, path: &[String]) -> Vec<&Vec<String>> {
        let (mut found, mut path, mut steps) = (Vec::new(), path.to_vec(), 0);
        while steps < 9 {
            steps += 1;
            let Some(end) = (1..=path.len()).rev().find(|&end| self.files.contains_key(&path[..end])) else { break };
            found.extend(self.files.get_key_value(&path[..end]).map(|(module, _)| module));
            let handed_on = path.get(end).and_then(|name| self.handed_on[&path[..end]].get(name));
            match handed_on {
                Some(other) => path = other.iter().chain(&path[end + 1..]).cloned().collect(),
                None => break,
            }
        }
        found
    }

    /// The modules that a module uses, without those that it is in and those that are in it.
    fn used_by(&self, module: &[String]) -> Vec<&Vec<String>> {
        let code = &self.files[module].1;
        let mut paths: Vec<_> = used_paths(code).into_iter().map(|(_, path)| path).collect();
        // Paths in the code begin with a word before `::`.
        let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let words = code.split(|c| !is_of_path(c)).filter(|word| word.contains("::") && !word.starts_with("::"));
        paths.extend(words.map(str::to_string));
        let used = paths.iter().filter_map(|path| self.absolute(module, path.split(" as ").next().unwrap_or(path)));
        let mut used: Vec<_> = used.flat_map(|path| self.meant(&path)).collect();
        used.retain(|other| !other.starts_with(module) && !module.starts_with(other.as_slice()));
        used.sort();
        used.dedup();
        used
    }
}

/// No file uses itself by way of others. A file uses the modules that it names, and those that have what it names. (The file of a
/// module and the files in its folder are one thing.)
#[test]
fn no_files_use_each_other_in_a_circle() {
    let modules = Modules::of(sources());
    let uses: BTreeMap<_, _> = modules.files.keys().map(|module| (module, modules.used_by(module))).collect();
    let count: usize = uses.values().map(Vec::len).sum();
    assert!(count > 1900, "{count}");
    // What uses nothing that is left cannot be in a circle, nor what nothing uses that is left.
    let mut left: BTreeMap<_, _> = uses.clone();
    loop {
        let before = left.len();
        let used: Vec<_> = left.values().flatten().copied().collect();
        let is_left = |module: &Vec<String>| left.contains_key(module);
        let kept: Vec<_> = left
            .iter()
            .filter(|(module, uses)| used.contains(module) && uses.iter().any(|other| is_left(other)))
            .map(|(module, uses)| (*module, uses.iter().copied().filter(|other| is_left(other)).collect::<Vec<_>>()))
            .collect();
        left = kept.into_iter().collect();
        if left.len() == before {
            break;
        }
    }
    let files = |module: &Vec<String>| modules.files[module].0.clone();
    let circles: Vec<_> = left
        .iter()
        .map(|(module, uses)| (files(module), uses.iter().map(|other| files(other)).collect::<Vec<_>>()))
        .collect();
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn circles_of_files_are_found() {
    let source = |path: &str, text: &str| (PathBuf::from(path), text.to_string());
    let uses = |text: &str| {
        let modules = Modules::of(vec![
            source("a/mod.rs", "mod b;\npub mod c;\npub use b::{B, c as d};\n"),
            source("a/b.rs", text),
            source("a/c.rs", ""),
            source("e.rs", ""),
        ]);
        modules
            .used_by(&["a".to_string(), "b".to_string()])
            .into_iter()
            .map(|module| module.join("::"))
            .collect::<Vec<_>>()
    };
    assert_eq!(uses("use super::{c::{C, D}, B};\nuse crate::e::{self, F};\n"), ["a::c", "e"]);
    assert_eq!(uses("fn f() -> crate::e::F {\n    super::c::g()\n}\n// use crate::e;\n"), ["a::c", "e"]);
    assert_eq!(uses("#[cfg(test)]\nmod tests {\n    use crate::e;\n}\n"), [""; 0]);
    let modules = Modules::of(vec![
        source("a/mod.rs", "pub use b::B as Other;\nmod b;\n"),
        source("a/b.rs", ""),
        source("e.rs", "use crate::a::Other;\n"),
    ]);
    let used: Vec<_> = modules.used_by(&["e".to_string()]).into_iter().map(|module| module.join("::")).collect();
    assert_eq!(used, ["a", "a::b"]);
}

/// `Child` is not the same on systems that cannot run programs.
#[test]
fn the_name_of_a_type_means_one_thing() {
    let mut places: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for (path, text) in sources().into_iter().filter(|(path, _)| !path.ends_with("tests.rs")) {
        for line in without_tests(&text).lines().filter(|line| !line.starts_with([' ', '/'])) {
            let mut words = line.split_whitespace().skip_while(|word| !["struct", "enum", "trait"].contains(word));
            if let Some(name) = words.nth(1).filter(|_| line.ends_with(['{', ';', '>', ')'])) {
                let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap();
                places.entry(name.to_string()).or_default().push(path.clone());
            }
        }
    }
    assert!(places.len() > 500 && places.contains_key("Simulation"), "{}", places.len());
    places.retain(|name, places| places.len() > 1 && name != "Child");
    assert!(places.is_empty(), "{places:#?}");
}

#[test]
fn the_map_of_the_house_is_true() {
    let sources = sources();
    let lib = |path: &str| &sources.iter().find(|(source, _)| source == Path::new(path)).unwrap().1;
    let modules = |path: &str| {
        lib(path).lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect::<Vec<_>>()
    };
    let mut declared = [vec!["report"], modules("core/lib.rs"), modules("studies/lib.rs"), modules("lib.rs")].concat();
    let mut planned: Vec<_> = FLOORS.concat();
    declared.sort_unstable();
    planned.sort_unstable();
    assert_eq!(declared, planned);
    let lib = lib("lib.rs");
    for room in declared {
        assert!(lib.contains(&format!("[`{room}`]")), "the map does not show '{room}'");
    }
}

/// Names of columns of results are written in one table only; other code refers to that table. (Other names are options
/// too, or columns of other results, which this test cannot distinguish.)
#[test]
fn columns_of_results_are_named_in_one_place() {
    let names = ["ai_mean", "ra_mean", "mae", "mae_pct", "wait_improvement_pct"];
    for (path, text) in sources() {
        let is_table = path == Path::new("metrics/columns.rs");
        for name in names {
            let named = without_tests(&text).contains(&format!("\"{name}\""));
            assert_eq!(named, is_table, "{path:?} and the column {name}");
        }
        assert!(
            is_table || !without_tests(&text).contains("_improvement_pct"),
            "{path:?} names columns of improvement"
        );
    }
}

/// Clippy finds the macros of unfinished code and the macros that print (`[workspace.lints.clippy]`), if a package asks for it.
#[test]
fn nothing_unfinished_and_nothing_printed_from_below() {
    for (path, text) in sources() {
        assert!(!text.contains("FIXME"), "{path:?} has FIXME");
        assert!(!text.contains("allow(clippy::print"), "{path:?} prints: use cli/stderr.rs");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for package in ["", "src/core", "src/report", "src/studies", "tests/twins"] {
        let manifest = std::fs::read_to_string(root.join(package).join("Cargo.toml")).unwrap();
        assert!(manifest.contains("\n[lints]\nworkspace = true\n"), "'{package}' has other lints");
    }
}

/// "1 jobs" is wrong. A number before a noun is written by `text::counted` or `text::counted_as`, which know both forms.
#[test]
fn counts_have_their_plural() {
    const NOUNS: [&str; 16] = [
        "jobs",
        "records",
        "rows",
        "cells",
        "lines",
        "runs",
        "sites",
        "processors",
        "days",
        "seeds",
        "tasks",
        "sets",
        "scenarios",
        "threads",
        "logs",
        "times",
    ];
    // These are never 1: more processors than a machine has, more jobs than are allowed.
    const NEVER_ONE: [&str; 2] = ["{needs} processors", "{jobs:.0} jobs"];
    let has_plural = |line: &str| {
        let places = NOUNS.iter().flat_map(|noun| {
            let wanted = format!("}} {noun}");
            line.match_indices(&wanted).map(|(at, found)| (at, at + found.len())).collect::<Vec<_>>()
        });
        let is_whole_word = |end: usize| !line[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        // A name in capitals is a constant.
        let is_constant = |at: usize| {
            let name = line[..at].rsplit('{').next().unwrap_or_default();
            !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        };
        places.into_iter().any(|(at, end)| is_whole_word(end) && !is_constant(at))
    };
    assert!(has_plural("\"{} jobs\"") && has_plural("{count:>3} rows, ") && !has_plural("{MOST} cells, {} jobsite"));
    for (path, text) in sources() {
        // The notes of reproductions are texts of their CSV, which stays as it is.
        if path.starts_with("reproduce") {
            continue;
        }
        let code = without_tests(&text);
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in lines.filter(|line| !NEVER_ONE.iter().any(|known| line.contains(known))) {
            assert!(!has_plural(line), "{path:?}: use text::counted in\n{line}");
        }
    }
}

/// The order of a hash map differs between platforms and versions, so it must not reach the output.
#[test]
fn nobody_goes_over_a_hash_map() {
    for (path, text) in sources() {
        for line in text.lines().filter(|line| line.contains("HashMap<") || line.contains("HashSet<")) {
            let name = line.trim().trim_start_matches("let mut ").trim_start_matches("pub ").trim_start_matches("let ");
            let name: String = name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            for over in [".iter()", ".keys()", ".values()", ".drain(", ".into_iter()", ".values_mut()", ".iter_mut()"] {
                assert!(!text.contains(&format!("{name}{over}")), "{path:?} goes over the hash map '{name}'");
            }
            for looped in [format!("in &{name}"), format!("in &self.{name}"), format!("in self.{name}")] {
                assert!(!text.contains(&format!("{looped} ")), "{path:?} goes over the hash map '{name}'");
            }
        }
    }
}

/// The width of a table depends on the variable COLUMNS, and colours on CLICOLOR_FORCE and others. `support::command` removes them.
#[test]
fn tests_start_programs_in_the_same_environment() {
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite")).unwrap() {
        let path = entry.unwrap().path();
        let is_other = path.is_file() && !["support.rs", "layers.rs"].iter().any(|name| path.ends_with(name));
        let text = if is_other { std::fs::read_to_string(&path).unwrap() } else { String::new() };
        assert!(!text.contains("Command::new("), "{path:?}: use support::command");
    }
}

#[test]
fn the_top_of_the_house_has_only_what_belongs_there() {
    let allowed = ["Cargo.toml", "Cargo.lock", "src", "tests", "benches", "traces", "README.md", "LICENSE", "target"];
    for entry in std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(name.starts_with('.') || allowed.contains(&name.as_str()), "'{name}' does not belong at the top");
    }
}

/// Outputs are compared with the register of all files that were opened, so every file is opened there. Other sources may open
/// files of the program's own, of /proc and of tests.
#[test]
fn files_are_opened_in_one_place() {
    let allowed = [
        "files.rs",
        "cli/interrupt.rs",
        "parallel.rs",
        "production/state_file.rs",
        "reproduce/kept.rs",
        "sweep/slurm.rs",
    ];
    for (path, text) in sources() {
        let opens = ["File::open(", "fs::read(", "fs::read_to_string(", ".read(true)"];
        let is_opening = opens.iter().any(|open| without_tests(&text).contains(open));
        assert!(!is_opening || allowed.iter().any(|file| path == Path::new(file)), "{path:?}: use crate::files::open");
    }
}
