//! Text in lines of a given width.

/// Breaks a text between words into lines of at most `width` characters. A longer word has a line of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        match lines.last_mut() {
            Some(line) if length + 1 + letters <= width => {
                line.push(' ');
                line.push_str(word);
                length += 1 + letters;
            }
            _ => {
                lines.push(word.to_string());
                length = letters;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_filled_and_long_words_stay_whole() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one incomprehensible two", 7), ["one", "incomprehensible", "two"]);
        assert_eq!(wrapped("  ", 7), Vec::<String>::new());
    }
}
