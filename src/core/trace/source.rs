//! Where a log comes from: a file, standard input or the binary itself. It may be plain, gzip or zstd; the content decides.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::TraceError;
use crate::files;
use crate::similar::similar_file;

/// The bytes read at once. A read of this size from a [`Source`] bypasses the buffer of `BufReader`.
pub const BUFFER: usize = 1 << 18;

/// A place to read a log from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file, plain or compressed.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// Bytes in memory.
    Bytes {
        /// The name in error messages and results.
        name: &'static str,
        /// The content of a log, plain or compressed.
        bytes: Cow<'static, [u8]>,
    },
}

impl Source {
    /// From a command-line argument: `-` is standard input, anything else a file.
    pub fn from_argument(text: &str) -> Source {
        if text == "-" { Source::Stdin } else { Source::File(PathBuf::from(text)) }
    }

    /// The name in error messages.
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Stdin => "standard input".to_string(),
            Source::Bytes { name, .. } => (*name).to_string(),
        }
    }

    /// The name in results: the file's name without folders and extensions, so that results do not depend on where a log
    /// is stored or how it is compressed.
    pub fn label(&self) -> String {
        match self {
            Source::File(path) => label(path),
            Source::Stdin => "stdin".to_string(),
            Source::Bytes { name, .. } => (*name).to_string(),
        }
    }

    /// Opens it for reading and decompresses it.
    ///
    /// # Errors
    /// If it cannot be opened or its first bytes cannot be read.
    pub fn open(&self) -> Result<Box<dyn BufRead>, TraceError> {
        let failed = |error: io::Error| {
            let similar = match self {
                Source::File(path) if error.kind() == io::ErrorKind::NotFound => similar_file(path),
                _ => None,
            };
            TraceError::Open { name: self.name(), error, similar }
        };
        let packed: Box<dyn Read> = match self {
            Source::File(path) => {
                let file = files::open(path).map_err(failed)?;
                if file.metadata().map_err(failed)?.is_dir() {
                    let why =
                        "it is a folder, not a log (`sim trace convert FILE... --out NEW.swf` joins the files of one)";
                    return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, why)));
                }
                Box::new(file)
            }
            Source::Stdin => {
                files::add_input(Path::new("-"));
                Box::new(io::stdin().lock())
            }
            Source::Bytes { bytes, .. } => Box::new(Cursor::new(bytes.clone())),
        };
        unpack(packed).map_err(failed)
    }
}

/// A hash of a log's decompressed content. It does not depend on the log's name or compression.
///
/// # Errors
/// If the log cannot be read.
pub fn digest(source: &Source) -> Result<u128, TraceError> {
    let mut reader = Digesting::new(source.open()?, true);
    let failed = |error| TraceError::Read { name: source.name(), lines: 0, error };
    io::copy(&mut reader, &mut io::sink()).map_err(failed)?;
    Ok(reader.digest().expect("a hash is computed"))
}

/// A reader that can compute the hash of everything read through it.
pub struct Digesting {
    input: Box<dyn Read>,
    hasher: Option<twox_hash::xxhash3_128::Hasher>,
}

impl Digesting {
    pub fn new(input: Box<dyn Read>, enabled: bool) -> Self {
        Digesting { input, hasher: enabled.then(twox_hash::xxhash3_128::Hasher::new) }
    }

    /// The hash so far. None if it is not enabled.
    pub fn digest(&self) -> Option<u128> {
        self.hasher.as_ref().map(|hasher| hasher.finish_128())
    }
}

impl Read for Digesting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.write(&buffer[..count]);
        }
        Ok(count)
    }
}

/// A file's name without its folders and extensions.
pub fn label(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    name.strip_suffix(".swf").unwrap_or(name).to_string()
}

/// Chooses the decoder by the first bytes.
fn unpack(mut packed: Box<dyn Read>) -> io::Result<Box<dyn BufRead>> {
    let mut start = Vec::new();
    // A pipe may return less than four bytes per read; `read_to_end` reads until it has them or the stream ends.
    packed.by_ref().take(4).read_to_end(&mut start)?;
    let whole = BufReader::with_capacity(BUFFER, Cursor::new(start.clone()).chain(packed));
    Ok(match start[..] {
        [0x1f, 0x8b, ..] => Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(whole))),
        // The second form is a skippable frame: some tools write one first.
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
            Box::new(BufReader::with_capacity(BUFFER, ZstdFrames::new(whole)))
        }
        _ => Box::new(whole),
    })
}

/// Reads all frames of a zstd file; the crate's own reader stops after the first.
struct ZstdFrames<R> {
    packed: R,
    decoder: FrameDecoder,
    inside_a_frame: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(packed: R) -> Self {
        let mut decoder = FrameDecoder::new();
        // `zstd --ultra -22` needs this, and it is the default maximum of the zstd tool.
        decoder.set_max_window_size(1 << 27);
        ZstdFrames { packed, decoder, inside_a_frame: false }
    }

    /// Enters the next frame; false at the end of the file.
    fn enter_frame(&mut self) -> io::Result<bool> {
        while !self.packed.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.packed) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut self.packed.by_ref().take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.inside_a_frame {
                self.inside_a_frame = self.enter_frame()?;
                if !self.inside_a_frame {
                    return Ok(0);
                }
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one_block = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.packed, one_block).map_err(io::Error::other)?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let stored = self.decoder.get_checksum_from_data();
            if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
                return Err(io::Error::other("the zstd checksum does not match: the file is damaged"));
            }
            self.inside_a_frame = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_depend_on_folder_or_packing() {
        for name in ["KTH-2.1", "KTH-2.1.swf", "a/KTH-2.1.swf.gz", "/b/c/KTH-2.1.swf.zst", "KTH-2.1.gz"] {
            assert_eq!(Source::from_argument(name).label(), "KTH-2.1");
        }
        assert_eq!(Source::from_argument("-").label(), "stdin");
    }
}
