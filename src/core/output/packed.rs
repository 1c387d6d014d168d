//! Compressed output, chosen by the end of a file's name: `.gz` or `.zst`.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// What writes the content of a file.
pub type WriteOnce<'a> = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + 'a>;

/// How the content of a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    None,
    /// gzip, without the time of writing: the same content gives the same bytes.
    Gzip,
    /// Zstandard, in frames of [`FRAME`] bytes of content.
    Zstd,
}

impl Packing {
    /// By the end of a name.
    pub fn of(name: &str) -> Packing {
        match name {
            _ if name.ends_with(".gz") => Packing::Gzip,
            _ if name.ends_with(".zst") => Packing::Zstd,
            _ => Packing::None,
        }
    }

    /// Writes what `write` writes to `out`, compressed.
    ///
    /// # Errors
    /// If a write fails.
    pub fn write(self, out: &mut dyn Write, write: WriteOnce<'_>) -> io::Result<()> {
        match self {
            Packing::None => write(out),
            Packing::Gzip => {
                let mut encoder = GzEncoder::new(out, Compression::default());
                write(&mut encoder)?;
                encoder.finish().map(drop)
            }
            Packing::Zstd => {
                let mut frames = Frames { out, content: Vec::new() };
                write(&mut frames)?;
                frames.end_frame()
            }
        }
    }
}

/// The content of one frame, in bytes. The encoder takes a frame at a time, so a file has several of them.
const FRAME: usize = 4 << 20;

/// Collects content, and writes it as one frame after the other.
struct Frames<'a> {
    out: &'a mut dyn Write,
    content: Vec<u8>,
}

impl Frames<'_> {
    fn end_frame(&mut self) -> io::Result<()> {
        self.out.write_all(&compress_to_vec(&self.content[..], CompressionLevel::Fastest))?;
        self.content.clear();
        Ok(())
    }
}

impl Write for Frames<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(FRAME - self.content.len());
        self.content.extend_from_slice(&bytes[..taken]);
        if self.content.len() == FRAME {
            self.end_frame()?;
        }
        Ok(taken)
    }

    /// Frames are written when they are full and at the end.
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn names_say_how_a_file_is_packed() {
        assert_eq!(Packing::of("jobs.csv.gz"), Packing::Gzip);
        assert_eq!(Packing::of("new.swf.zst"), Packing::Zstd);
        assert_eq!(Packing::of("gz"), Packing::None);
        assert_eq!(Packing::of("-"), Packing::None);
    }

    #[test]
    fn what_is_packed_can_be_unpacked() {
        // More than two frames, and nothing at all.
        let long: Vec<u8> = (0..9_000_000u32).map(|at| (at / 7 % 251) as u8).collect();
        for content in [&long[..], b""] {
            let packed = |packing: Packing| {
                let mut out = Vec::new();
                packing.write(&mut out, Box::new(|out| out.write_all(content))).unwrap();
                out
            };
            assert_eq!(packed(Packing::None), content);
            let mut unpacked = Vec::new();
            flate2::read::GzDecoder::new(&packed(Packing::Gzip)[..]).read_to_end(&mut unpacked).unwrap();
            assert!(unpacked == content, "gzip");
            assert_eq!(packed(Packing::Gzip), packed(Packing::Gzip));
            let (zstd, mut unpacked) = (packed(Packing::Zstd), Vec::new());
            let mut rest = &zstd[..];
            while !rest.is_empty() {
                let mut decoder = ruzstd::decoding::StreamingDecoder::new(&mut rest).unwrap();
                decoder.read_to_end(&mut unpacked).unwrap();
            }
            assert!(unpacked == content, "zstd");
        }
    }
}
