//! How wide a text is in the fonts of browsers, to keep labels apart.

/// The width of a text in parts of its size. Fonts differ: these are the widths of DejaVu Sans, one of the widest.
pub fn text_width(text: &str) -> f64 {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | 'J' | '\'' => 0.29,
        ' ' | '.' | ',' | ':' | ';' | '/' | '|' | '!' => 0.34,
        'f' | 't' | 'r' | '-' | '(' | ')' | '[' | ']' | '{' | '}' => 0.41,
        's' | 'z' | 'c' | '*' | '_' => 0.55,
        '0'..='9' | 'a'..='l' | 'n'..='q' | 'u' | 'v' | 'x' | 'y' => 0.64,
        'A'..='H' | 'K' | 'L' | 'N'..='V' | 'X'..='Z' => 0.79,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 1.0,
        '+' | '=' | '<' | '>' | '~' | '#' | '\u{2212}' | '\u{d7}' | '&' => 0.84,
        // Letters of Chinese and Japanese are as wide as high.
        _ => 1.0,
    }
}
