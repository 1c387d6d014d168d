//! The lines between a simulation and the program that schedules it.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use crate::machine::Cluster;
use crate::program::json::{LARGEST, Text, pairs, read, seconds};
use crate::time::Time;

/// A machine with the names of its TOML.
pub fn described(cluster: &Cluster) -> serde_json::Value {
    let mut text = Vec::new();
    cluster.write_toml(&mut text).expect("a vector takes every line");
    let text = String::from_utf8(text).expect("TOML is text");
    toml::from_str(&text).expect("what is written as TOML can be read")
}

/// How a program answers the greeting.
#[derive(Clone, Debug, Deserialize)]
pub struct Introduction {
    /// The program's name for its scheduler. It has no effect, but a program without one has probably not understood.
    #[serde(rename = "name")]
    _name: String,
    /// What tells versions of the program apart.
    #[serde(default)]
    pub(super) version: Option<String>,
    #[serde(default)]
    wants: Vec<Wanted>,
    /// The part of the workload that is simulated. None: the whole workload.
    #[serde(default)]
    pub episode: Option<Episode>,
}

/// What is told only to a program that wants to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Wanted {
    Start,
    Prediction,
}

/// A part of a workload that a caller plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Episode {
    /// The number of its first job in the workload, counted from 0.
    pub first_job: usize,
    /// The number of its jobs.
    pub jobs: usize,
    /// Whether it begins with the jobs that wait and run then under `easy/estimate`.
    #[serde(default)]
    pub warm: bool,
}

impl Introduction {
    /// Reads the answer to the greeting.
    ///
    /// # Errors
    /// If it is none, with a message.
    pub fn parse(line: &[u8]) -> Result<Introduction, String> {
        const FORM: &str = r#"{"name":"mine","version":"1","wants":["start","prediction"]}"#;
        read(line).map_err(|why| {
            format!("{why}; it should be like {FORM} (standard output is for answers only, messages belong to standard error)")
        })
    }

    /// As [`Introduction::parse`], for a program that this one has started.
    pub(super) fn of_child(line: &[u8]) -> Result<Introduction, String> {
        let introduction = Introduction::parse(line)?;
        match introduction.episode {
            None => Ok(introduction),
            Some(_) => Err("only the caller of sim can play episodes: exec:command=-".to_string()),
        }
    }

    pub(super) fn wants_starts(&self) -> bool {
        self.wants.contains(&Wanted::Start)
    }

    pub(super) fn wants_predictions(&self) -> bool {
        self.wants.contains(&Wanted::Prediction)
    }
}

/// How a caller answers the end of an episode.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Answer")]
pub struct EndAnswer {
    /// What is played next. None: nothing.
    #[serde(default)]
    pub episode: Option<Episode>,
}

impl EndAnswer {
    /// Reads the answer to the end of an episode.
    ///
    /// # Errors
    /// If it is none, with a message.
    pub fn parse(line: &[u8]) -> Result<EndAnswer, String> {
        const FORM: &str = r#"{"episode":{"first_job":0,"jobs":256,"warm":true}} or {}"#;
        read(line).map_err(|why| format!("{why}; it should be like {FORM}"))
    }
}

/// How a program answers a pass.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Answer")]
pub struct PassAnswer<'a> {
    /// The jobs that start, in this order.
    #[serde(borrow, default)]
    pub start: Option<Vec<AskedStart<'a>>>,
    /// The first jobs of the queue.
    #[serde(borrow, default)]
    pub order: Option<Vec<Text<'a>>>,
    /// Whether one more line of this pass is wanted.
    #[serde(default)]
    pub again: bool,
    /// None if it says nothing of it.
    #[serde(default, deserialize_with = "wake")]
    pub wake: Option<Wake>,
    #[serde(borrow, default, deserialize_with = "reserved")]
    pub reserved: Vec<(Cow<'a, str>, Time)>,
}

impl<'a> PassAnswer<'a> {
    pub fn parse(line: &'a [u8]) -> Result<PassAnswer<'a>, String> {
        const FORM: &str = r#"{"start":["17"]}, {"order":["17","4"]} or {}"#;
        read(line).map_err(|why| format!("{why}; it should be like {FORM}"))
    }
}

/// When the program wants a pass though nothing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    At(Time),
    Never,
}

fn wake<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Option<Wake>, D::Error> {
    let at = Option::<PlainTime>::deserialize(deserializer)?;
    Ok(Some(at.map_or(Wake::Never, |PlainTime(at)| Wake::At(at))))
}

struct PlainTime(Time);

impl<'a> Deserialize<'a> for PlainTime {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        seconds(deserializer, -LARGEST, "a time").map(PlainTime)
    }
}

/// CPUs by the names of nodes, in the order of the line.
type NodeCpus<'a> = Vec<(Cow<'a, str>, u32)>;

/// A job that starts.
#[derive(Debug)]
pub struct AskedStart<'a> {
    pub id: Cow<'a, str>,
    /// Its CPUs by node. None: the machine places it.
    pub nodes: Option<NodeCpus<'a>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for AskedStart<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdOrObject;

        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct StartObject<'a> {
            #[serde(borrow)]
            id: Cow<'a, str>,
            #[serde(borrow, default, deserialize_with = "cpus_by_node")]
            nodes: Option<NodeCpus<'a>>,
        }

        impl<'de> Visitor<'de> for IdOrObject {
            type Value = AskedStart<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the id of a job, or an object with its id and nodes")
            }

            fn visit_borrowed_str<E: de::Error>(self, id: &'de str) -> Result<Self::Value, E> {
                Ok(AskedStart { id: id.into(), nodes: None })
            }

            fn visit_str<E: de::Error>(self, id: &str) -> Result<Self::Value, E> {
                Ok(AskedStart { id: id.to_string().into(), nodes: None })
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Self::Value, M::Error> {
                let StartObject { id, nodes } = StartObject::deserialize(MapAccessDeserializer::new(map))?;
                Ok(AskedStart { id, nodes })
            }
        }

        deserializer.deserialize_any(IdOrObject)
    }
}

fn cpus_by_node<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Option<NodeCpus<'a>>, D::Error> {
    pairs(deserializer, "names of nodes with their CPUs").map(Some)
}

fn reserved<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Vec<(Cow<'a, str>, Time)>, D::Error> {
    let pairs = pairs::<PlainTime, D>(deserializer, "ids of jobs with their reserved starts")?;
    Ok(pairs.into_iter().map(|(id, PlainTime(at))| (id, at)).collect())
}
