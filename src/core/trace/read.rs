//! Reads a [`Log`] of any format, from one file or several.

use super::error::TraceError;
use super::formats::detect;
use super::join::join;
use super::lines::RawLines;
use super::log::{Log, ReadOptions};
use super::log_format::LogFormat;
use super::requests::with_requests;
use super::rows::Collector;
use super::source::{Digesting, Source};

/// Opens a log, or a present queue, and tells its format, unless the options name it.
pub fn open(source: &Source, options: &ReadOptions, is_queue: bool) -> Result<(LogFormat, RawLines), TraceError> {
    let mut raw = RawLines::new(Digesting::new(source.open()?, options.digest), source.name());
    if raw.head().is_empty() {
        // Either a read failed before the first byte, or there is none.
        raw.cut()?;
    }
    let format = match &options.reading.format {
        Some(format) => format.clone(),
        None => detect(raw.head(), is_queue).map_err(|why| TraceError::unusable(raw.name(), why))?,
    };
    if !is_queue {
        format.check(&options.reading, raw.name())?;
    }
    Ok((format, raw))
}

/// Reads a whole log of any format. `progress` is called after every 65,536 records with the number of records so far.
///
/// # Errors
/// If the log cannot be read, is of no known format, has 2^32 or more records, or has a faulty line and
/// [`ReadOptions::skip_bad_lines`] is not set.
pub fn read(source: &Source, options: ReadOptions, progress: &mut dyn FnMut(usize)) -> Result<Log, TraceError> {
    let (format, raw) = open(source, &options, false)?;
    with_requests(&options, read_opened(source, format, raw, &options, progress)?)
}

fn read_opened(
    source: &Source,
    format: LogFormat,
    mut raw: RawLines,
    options: &ReadOptions,
    progress: &mut dyn FnMut(usize),
) -> Result<Log, TraceError> {
    let mut collector = Collector::new(source, format, options, None, progress);
    collector.read(&mut raw)?;
    collector.finish()
}

/// Reads several files as one log: the rotated files of one accounting. The first gives the log its name. Records are in
/// order of submission. A record that several files have is read once (see [`RowCause::Repeated`](super::RowCause::Repeated)). The data lines of SWF
/// logs are kept, and their times count from the earliest `UnixStartTime`; those of one file stay as they are.
///
/// # Errors
/// As [`read`], or if the files have different formats, or are SWF logs whose times or numbers cannot be compared.
pub fn read_joined(
    sources: &[Source],
    options: &ReadOptions,
    progress: &mut dyn FnMut(usize),
) -> Result<Log, TraceError> {
    let (first, raw) = open(&sources[0], options, false)?;
    // Standard input can be opened only once.
    let mut opened = Some((first.clone(), raw));
    let mut next = |source: &Source| {
        let (format, raw) = opened.take().map_or_else(|| open(source, options, false), Ok)?;
        if format == first {
            return Ok(raw);
        }
        let (name, own, other) = (sources[0].name(), first.name(), format.name());
        let why = format!("its format is {other}, but that of {name} is {own}: logs of one format can be joined");
        Err(TraceError::unusable(raw.name(), why))
    };
    if first.name() == "swf" {
        let how = ReadOptions { keep_text: true, ..options.clone() };
        let mut read = |source| read_opened(source, first.clone(), next(source)?, &how, progress);
        return with_requests(options, join(sources.iter().map(&mut read).collect::<Result<_, _>>()?)?);
    }
    let mut collector = Collector::new(&sources[0], first.clone(), options, None, progress);
    for source in sources {
        collector.read(&mut next(source)?)?;
    }
    with_requests(options, collector.finish()?)
}
