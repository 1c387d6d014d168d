//! How a log is read, as a spec: `sacct:unit=nodes,cluster=c1`, or `auto:unit=nodes` where the content tells the format.

use super::csv_columns::CsvColumns;
use super::keys::{
    CLUSTER, COLUMNS, ESTIMATE_FIELD, PARTITION_LIMIT, SUBMIT_TIME, UNIT, columns, partition_limits, print_limits,
};
use super::{FORMATS, FormatEntry, csv};
use crate::spec::{Form, Kind, Spec, SpecError, quote};
use crate::trace::error::TraceError;
use crate::trace::log_format::LogFormat;
use crate::trace::rows::{EstimateField, LogReading, SubmitTime, Unit};

/// The content tells the format. It has the keys that can apply to several files.
const AUTO: Form = Form {
    name: "auto",
    about: "told by the content",
    keys: &[UNIT, SUBMIT_TIME, PARTITION_LIMIT, ESTIMATE_FIELD, CLUSTER],
};

impl LogReading {
    /// Reads a format with its keys, such as `sacct:unit=nodes` or `csv:submit=COLUMN,...`. [`LogReading::spec`] prints it.
    ///
    /// # Errors
    /// If it is none of the formats of logs, or a key or a value is none of the format.
    ///
    /// ```
    /// # extern crate shadowtime_core as shadowtime;
    /// use shadowtime::trace::LogReading;
    /// for text in ["swf", "sacct:unit=nodes,partition-limit=a=1d", "csv:submit=submit_time,run=run_time,procs=node_num"] {
    ///     assert_eq!(LogReading::parse(text).unwrap().spec(), text);
    /// }
    /// assert_eq!(LogReading::parse("auto:unit=cpus").unwrap().spec(), "");
    /// assert!(LogReading::parse("xls").is_err() && LogReading::parse("swf:unit=nodes").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<LogReading, SpecError> {
        let (name, given) = text.split_once(':').map_or((text, None), |(name, given)| (name, Some(given)));
        if name == csv::FORMAT.name {
            let columns =
                given.ok_or("name its columns: csv:submit=COLUMN,...".to_string()).and_then(CsvColumns::parse);
            let columns = columns.map_err(|why| SpecError(format!("{name}: {why}")))?;
            let format = LogFormat { columns: Some(Box::new(columns)), ..LogFormat::from(&csv::FORMAT) };
            return Ok(LogReading { format: Some(format), ..LogReading::default() });
        }
        if text.contains('=') && given.is_none() {
            return Err(SpecError(format!("'{text}' has no format before its keys: write auto:{text}")));
        }
        let spec = Spec::parse(text, "log format", &forms())?;
        let text = |key: &str| spec.get(key).filter(|value| !value.is_empty());
        Ok(LogReading {
            format: FORMATS.iter().find(|entry| entry.name == spec.name()).map(LogFormat::from),
            unit: text("unit").map_or(Unit::Cpus, |name| of_name(&Unit::COUNTED, |unit| unit.name(), name)),
            submit_time: text("submit-time").map_or(SubmitTime::default(), |name| {
                of_name(&[SubmitTime::Eligible, SubmitTime::Submitted], SubmitTime::name, name)
            }),
            estimate_field: text("estimate-field").map_or(EstimateField::default(), |name| {
                of_name(&[EstimateField::Walltime, EstimateField::SoftWalltime], EstimateField::name, name)
            }),
            columns: text("columns").map(columns).transpose().map_err(SpecError)?,
            partition_limits: text("partition-limit").map_or(Ok(Vec::new()), partition_limits).map_err(SpecError)?,
            cluster: text("cluster").map(str::to_string),
            requests: None,
        })
    }

    /// The shortest spec that [`LogReading::parse`] reads as this. Empty if nothing differs from what the content tells.
    pub fn spec(&self) -> String {
        let format = self.format.as_ref().map_or(AUTO.name.to_string(), LogFormat::to_string);
        let keys: Vec<String> =
            self.written().into_iter().map(|(key, value)| format!("{key}={}", in_spec(&value))).collect();
        match (self.format.is_some(), keys.is_empty()) {
            (false, true) => String::new(),
            (true, true) => format,
            (_, false) => format!("{format}:{}", keys.join(",")),
        }
    }

    /// The keys that differ from their defaults, with their values.
    fn written(&self) -> Vec<(&'static str, String)> {
        let default = LogReading::default();
        let all = [
            (UNIT.name, self.unit.name().to_string(), self.unit != default.unit),
            (SUBMIT_TIME.name, self.submit_time.name().to_string(), self.submit_time != default.submit_time),
            (PARTITION_LIMIT.name, print_limits(&self.partition_limits), !self.partition_limits.is_empty()),
            (
                ESTIMATE_FIELD.name,
                self.estimate_field.name().to_string(),
                self.estimate_field != default.estimate_field,
            ),
            (
                COLUMNS.name,
                self.columns.as_ref().map_or(String::new(), |names| names.join(",")),
                self.columns.is_some(),
            ),
            (CLUSTER.name, self.cluster.clone().unwrap_or_default(), self.cluster.is_some()),
        ];
        all.into_iter().filter(|(.., is_written)| *is_written).map(|(key, value, _)| (key, value)).collect()
    }
}

impl LogFormat {
    /// Refuses keys that it does not have: its content told the format after they were read.
    pub fn check(&self, reading: &LogReading, name: &str) -> Result<(), TraceError> {
        let entry = self.entry();
        for (key, value) in reading.written() {
            let why = match entry.keys.iter().find(|own| own.name == key) {
                // A rule for all logs of a list, of which some have no held jobs.
                _ if key == SUBMIT_TIME.name => continue,
                Some(own) if !matches!(own.kind, Kind::Choice(words) if !words.contains(&value.as_str())) => continue,
                _ if key == UNIT.name => {
                    format!(
                        "a log in the format {} does not say the {value} of jobs: leave out unit={value}",
                        entry.name
                    )
                }
                _ => format!("the key {key} does not apply to a log in the format {}: leave it out", entry.name),
            };
            return Err(TraceError::unusable(name, why));
        }
        Ok(())
    }
}

impl FormatEntry {
    const fn form(&self) -> Form {
        Form { name: self.name, about: self.about, keys: self.keys }
    }
}

/// The forms of formats that specs can name, except that of a table, whose keys are columns.
fn forms() -> [&'static Form; FORMS.len()] {
    FORMS.each_ref()
}

/// Formats of logs come first in the table, and that of tables is the last of these.
static FORMS: [Form; 7] = [
    AUTO,
    FORMATS[0].form(),
    FORMATS[1].form(),
    FORMATS[2].form(),
    FORMATS[3].form(),
    FORMATS[4].form(),
    FORMATS[5].form(),
];

/// The value of this name, which was checked.
fn of_name<T: Copy>(all: &[T], name_of: fn(T) -> &'static str, name: &str) -> T {
    all.iter().copied().find(|one| name_of(*one) == name).expect("a word of the key")
}

/// A value as it is written in a spec: in quotes if it has commas.
fn in_spec(value: &str) -> String {
    if value.contains(',') { quote(value) } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::log_formats;

    #[test]
    fn every_format_of_logs_can_be_named_and_its_keys_are_printed_as_they_are_read() {
        for (name, _) in log_formats() {
            let text = if name == "csv" { "csv:submit=a,start=b,run=c,procs=d" } else { name };
            let reading = LogReading::parse(text).unwrap();
            let format = reading.format.clone().unwrap();
            assert_eq!((format.name(), reading.spec(), format.entry().name), (name, text.to_string(), name));
        }
        for (text, printed) in [
            ("auto", ""),
            ("auto:unit=nodes,submit-time=eligible", "auto:unit=nodes"),
            ("pbs:estimate-field=soft_walltime", "pbs:estimate-field=soft_walltime"),
            ("sacct:partition-limit=a=24h", "sacct:partition-limit=a=1d"),
            (
                r#"sacct:columns="JobID, Submit",partition-limit="a=24h,b=90",cluster=c1"#,
                r#"sacct:partition-limit="a=1d,b=90s",columns="JobID,Submit",cluster=c1"#,
            ),
        ] {
            let reading = LogReading::parse(text).unwrap();
            assert_eq!(reading.spec(), printed);
            assert!(printed.is_empty() || LogReading::parse(printed).unwrap() == reading);
        }
        for (text, why) in [
            ("squeue", "unknown log format 'squeue': the log formats are auto, swf, sacct, pbs, lsf, sge, events"),
            ("csv", "name its columns"),
            ("unit=nodes", "write auto:unit=nodes"),
            ("swf:unit=nodes", "swf takes no keys"),
            ("sacct:unit=node", "unit: 'node' is not one of cpus, nodes, gpus; did you mean"),
            ("events:unit=nodes", "unit: 'nodes' is not one of cpus, gpus"),
            ("sacct:clutser=c1", "no key 'clutser'; the keys of sacct are unit, submit-time"),
            (r#"sacct:partition-limit="a=1d,a=2d""#, "the partition 'a' is there twice"),
            ("sacct:partition-limit=a", "'a' is not NAME=DURATION"),
        ] {
            let message = LogReading::parse(text).unwrap_err().0;
            assert!(message.contains(why), "{text}: {message}");
        }
    }
}
