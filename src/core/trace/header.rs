//! The comment lines at the head of a log, and the fields written there as `; Name: value`.

/// The most bytes kept of lines with a field, and of other comments. Headers of real logs have a few thousand bytes; a
/// file that has only comments must not fill the memory.
const ROOM_FOR_FIELDS: usize = 1 << 20;
const ROOM_FOR_COMMENTS: usize = 1 << 16;

/// The fields that the program reads. The first one of each name is always kept.
const NEEDED: [&str; 8] =
    ["MaxProcs", "MaxNodes", "MaxJobs", "UnixStartTime", "TimeZoneString", "TimeZone", "Computer", "Installation"];

/// A log's header, byte for byte as written. If it is unusually large, a part of it is missing.
#[derive(Clone, Debug, Default)]
pub struct Header {
    lines: Vec<Vec<u8>>,
    fields_size: usize,
    comments_size: usize,
    /// Which of the needed fields have a value.
    found: [bool; NEEDED.len()],
}

impl Header {
    /// Adds a comment line (with its semicolon, without its line end).
    pub fn push(&mut self, line: &[u8]) {
        self.lines.push(line.to_vec());
    }

    /// Adds a comment line of a log, unless the header is already too large and the line is not needed.
    pub fn push_if_room(&mut self, line: &[u8]) {
        let size = line.len() + size_of::<Vec<u8>>();
        let needed = match memchr::memchr(b':', line) {
            None => {
                self.comments_size = self.comments_size.saturating_add(size);
                if self.comments_size <= ROOM_FOR_COMMENTS {
                    self.push(line);
                }
                return;
            }
            Some(_) if self.found == [true; NEEDED.len()] => None,
            Some(_) => field(line).and_then(|(name, value)| {
                NEEDED.iter().position(|needed| needed.eq_ignore_ascii_case(&name)).filter(|_| !value.is_empty())
            }),
        };
        let is_first = needed.is_some_and(|at| !std::mem::replace(&mut self.found[at], true));
        self.fields_size = self.fields_size.saturating_add(size);
        if is_first || self.fields_size <= ROOM_FOR_FIELDS {
            self.push(line);
        }
    }

    /// The comment lines with their semicolons, without line ends.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(Vec::as_slice)
    }

    /// The value of the first field of this name that is not empty. The case of letters is ignored.
    pub fn get(&self, name: &str) -> Option<String> {
        self.lines.iter().find_map(|line| match field(line) {
            Some((found, value)) if found.eq_ignore_ascii_case(name) && !value.is_empty() => Some(value),
            _ => None,
        })
    }

    /// The number at the beginning of a field's value. In archive logs a remark may follow: `338 (batch partition)`.
    pub fn number(&self, name: &str) -> Option<i64> {
        let value = self.get(name)?;
        let digits = value.strip_prefix('-').unwrap_or(&value);
        let length = digits.bytes().take_while(u8::is_ascii_digit).count() + (value.len() - digits.len());
        value[..length].parse().ok()
    }

    /// The processors of the machine: `MaxProcs`, or else `MaxNodes`. None if neither is above 0.
    pub fn procs(&self) -> Option<u32> {
        ["MaxProcs", "MaxNodes"].iter().find_map(|name| u32::try_from(self.number(name)?).ok().filter(|&n| n > 0))
    }

    /// The names that lines such as `; Queue: 1 express (2 hours)` have: a number, a name, and perhaps details in parentheses. Of
    /// several lines with one number, the first counts.
    pub fn numbered(&self, name: &str) -> Vec<(i64, String)> {
        let mut all: Vec<(i64, String)> = Vec::new();
        for (_, value) in
            self.lines.iter().filter_map(|line| field(line)).filter(|(found, _)| found.eq_ignore_ascii_case(name))
        {
            let digits = value.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = value.split_at(digits);
            let text = rest.split(" (").next().unwrap_or_default().trim_start_matches([' ', '\t', ':', '=']).trim();
            if let Ok(number) = number.parse()
                && !text.is_empty()
                && !all.iter().any(|(other, _)| *other == number)
            {
                all.push((number, text.to_string()));
            }
        }
        all
    }

    /// The same header with `MaxProcs` set to this number of processors.
    pub fn with_procs(&self, procs: u32) -> Header {
        if self.procs() == Some(procs) {
            return self.clone();
        }
        self.with_field("MaxProcs", procs)
    }

    /// The same header with this field set to this value, in the place of the old value or at the end.
    pub fn with_field(&self, name: &str, value: impl std::fmt::Display) -> Header {
        let is_field = |line: &Vec<u8>| field(line).is_some_and(|(other, _)| other.eq_ignore_ascii_case(name));
        let at = self.lines.iter().position(is_field).unwrap_or(self.lines.len());
        let mut lines: Vec<_> = self.lines.iter().filter(|line| !is_field(line)).cloned().collect();
        lines.insert(at, format!("; {name}: {value}").into_bytes());
        Header { lines, ..*self }
    }
}

fn field(line: &[u8]) -> Option<(String, String)> {
    let text = String::from_utf8_lossy(line);
    let (name, value) = text.trim_start().trim_start_matches(';').split_once(':')?;
    Some((name.trim().to_string(), value.trim().to_string()))
}

#[cfg(test)]
impl Header {
    /// A header of these lines.
    pub(super) fn of_lines(lines: &[&str]) -> Header {
        let mut header = Header::default();
        lines.iter().for_each(|line| header.push(line.as_bytes()));
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_the_leading_number_of_max_procs_else_max_nodes() {
        assert_eq!(Header::of_lines(&["; MaxProcs: 1664 (72, 1368, 224)", "; MaxNodes: 184"]).procs(), Some(1664));
        assert_eq!(Header::of_lines(&["; MaxNodes: 338 (batch partition; 512 total)"]).procs(), Some(338));
        assert_eq!(Header::of_lines(&["; MaxProcs: -1", ";maxnodes:64"]).procs(), Some(64));
        assert_eq!(Header::of_lines(&["; MaxProcs: 0", "; MaxNodes: many", "; MaxJobs: 7"]).procs(), None);
        assert_eq!(Header::of_lines(&["; MaxProcs:", "; MaxProcs: 12"]).procs(), Some(12));
    }

    #[test]
    fn queues_have_a_number_a_name_and_perhaps_details() {
        let header = Header::of_lines(&[
            "; Queues: by length",
            "; Queue:  0  interactive      ",
            ";queue: 4  express32        (p690 /  2hr)",
            "; Queue: 1 [fque:1]",
            "; Queue: 5 = large one",
            "; Queue: 0 again",
            "; Queue: 7",
            "; Queue: batch",
        ]);
        let names = [(0, "interactive"), (4, "express32"), (1, "[fque:1]"), (5, "large one")];
        assert_eq!(header.numbered("Queue"), names.map(|(number, name)| (number, name.to_string())));
    }

    #[test]
    fn values_may_hold_colons_and_any_bytes() {
        let mut header = Header::of_lines(&["; Note: a: b", "; no field here"]);
        header.push(b"; Computer: caf\xe9");
        assert_eq!(header.get("note").as_deref(), Some("a: b"));
        assert_eq!(header.get("Computer").as_deref(), Some("caf\u{fffd}"));
        assert_eq!(header.get("Installation"), None);
    }

    #[test]
    fn a_header_takes_no_more_room_than_headers_need() {
        let mut header = Header::default();
        let mut all = Vec::new();
        let mut read = |line: String| {
            header.push_if_room(line.as_bytes());
            all.push(line);
        };
        read("; Version: 2.2".to_string());
        read(";".to_string());
        (0..100_000).for_each(|at| read(format!("; comment {at}")));
        read("; Note: behind all comments".to_string());
        (0..100_000).for_each(|at| read(format!("; Note: {at}")));
        read("; MaxProcs:".to_string());
        read("; maxprocs: 12".to_string());
        (0..100_000).for_each(|at| read(format!("; MaxProcs: {at}")));
        let kept: Vec<_> = header.lines().map(|line| String::from_utf8(line.to_vec()).unwrap()).collect();
        // A short header is there as it was written, and what is kept of a long one is in the order of the file.
        assert_eq!(kept[..100], all[..100]);
        let mut rest = all.iter();
        assert!(kept.iter().all(|line| rest.any(|other| other == line)));
        assert!(kept.contains(&"; Note: behind all comments".to_string()));
        assert_eq!(header.procs(), Some(12));
        let size: usize = header.lines().map(|line| line.len() + size_of::<Vec<u8>>()).sum();
        assert!(size <= ROOM_FOR_FIELDS + ROOM_FOR_COMMENTS + 100, "{size}");
    }

    #[test]
    fn the_header_of_a_schedule_says_what_the_machine_was() {
        let log = Header::of_lines(&["; Version: 2.2", "; MaxProcs: 338", "; Note: x"]);
        let text = |h: &Header| h.lines().map(|l| String::from_utf8_lossy(l).into_owned()).collect::<Vec<_>>();
        assert_eq!(text(&log.with_procs(338)), text(&log));
        assert_eq!(text(&log.with_procs(512)), ["; Version: 2.2", "; MaxProcs: 512", "; Note: x"]);
        assert_eq!(text(&Header::of_lines(&["; Note: x"]).with_procs(8)), ["; Note: x", "; MaxProcs: 8"]);
    }
}
