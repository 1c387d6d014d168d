//! The published figures: the logs, the bins of their estimates, and the parameters of the models for each log.

use crate::reproduce::logs::{ArchiveLog, CTC, KTH, SDSC_BLUE, SDSC_SP2};
use crate::time::{HOUR, MINUTE, Seconds};

use super::prepare::Version;

/// A log of the paper, as the paper prepares it.
pub(super) struct PublishedLog {
    /// The name in the paper.
    pub name: &'static str,
    pub log: ArchiveLog,
    pub version: Version,
    /// The processors of the machine (Table 1). For CTC they are more than in the log (338).
    pub procs: u32,
    /// The number of sane jobs (Table 1).
    pub jobs: &'static str,
    /// The number of different estimates (Table 1).
    pub bins: &'static str,
    /// The number of bins that cover each of [`COVERED`] percent of the jobs (Table 2).
    pub covering: [&'static str; 8],
    /// The 20 most popular estimates with their percentages of the jobs (Table 5), as text: see [`PublishedLog::head`]. Empty
    /// for logs that are not in the table.
    head: &'static str,
    /// The sum of these percentages in the paper.
    pub head_sum: &'static str,
    /// The models that the paper simulates with this log. None if it simulates none.
    pub models: Option<PublishedModels>,
}

/// Specs of models of estimates.
pub(super) struct PublishedModels {
    /// The model of section 10.
    pub vanilla: &'static str,
    /// The same with more parameters (section 11.1): for CTC and SDSC-106 "three additional pairs (of the most popular
    /// estimates)".
    pub improved: &'static str,
    /// The accuracy model of Mu'alem and Feitelson, with the limit at which it cuts estimates.
    pub feit: &'static str,
}

/// The columns of Table 2, in percent.
pub(super) const COVERED: [f64; 8] = [10.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0, 100.0];

impl PublishedLog {
    /// The most popular estimates with their percentages.
    pub fn head(&self) -> impl Iterator<Item = (Seconds, &'static str)> {
        self.head.split(", ").filter(|pair| !pair.is_empty()).map(|pair| {
            let (estimate, percent) = pair.split_once(' ').expect("an estimate and a percentage");
            let (hours, minutes) = estimate.split_once(':').expect("hours and minutes");
            let number = |text: &str| text.parse::<Seconds>().expect("a whole number");
            (number(hours) * HOUR + number(minutes) * MINUTE, percent)
        })
    }
}

pub(super) const PUBLISHED: [PublishedLog; 6] = [
    PublishedLog {
        name: "SDSC-106",
        log: SDSC_SP2,
        version: Version::WithoutExclusiveEstimates,
        procs: 128,
        jobs: "53673",
        bins: "339",
        covering: ["1", "6", "12", "22", "39", "77", "116", "339"],
        head: "0:05 11.3, 0:10 7.9, 0:12 1.2, 0:15 3.0, 0:20 4.8, 0:30 4.7, 0:45 1.1, 1:00 10.5, 2:00 5.3, 2:30 \
            1.2, 3:00 3.8, 4:00 5.7, 5:00 1.4, 6:00 2.0, 7:00 0.9, 8:00 3.4, 10:00 3.3, 12:00 4.0, 15:00 0.9, \
            18:00 9.8",
        head_sum: "86.4",
        models: Some(PublishedModels {
            vanilla: "tsafrir:tmax=18h,at-tmax=9.8",
            improved: "tsafrir:tmax=18h,at-tmax=9.8,pairs=5m:11.3/10m:7.9/1h:10.5",
            feit: "feit:max=18h",
        }),
    },
    PublishedLog {
        name: "CTC",
        log: CTC,
        version: Version::Sane,
        procs: 512,
        jobs: "77222",
        bins: "265",
        covering: ["1", "4", "10", "22", "36", "62", "89", "265"],
        head: "0:05 8.8, 0:10 6.4, 0:15 10.6, 0:20 2.0, 0:30 3.5, 1:00 4.2, 1:30 0.8, 2:00 5.4, 3:00 4.9, 4:00 2.2, \
            4:50 0.6, 5:00 1.1, 6:00 6.1, 8:00 1.5, 10:00 1.7, 12:00 2.2, 15:00 1.5, 16:00 1.0, 17:00 0.6, 18:00 \
            23.8",
        head_sum: "88.9",
        models: Some(PublishedModels {
            vanilla: "tsafrir:tmax=18h,at-tmax=23.8",
            improved: "tsafrir:tmax=18h,at-tmax=23.8,pairs=5m:8.8/10m:6.4/15m:10.6",
            feit: "feit:max=18h",
        }),
    },
    PublishedLog {
        name: "KTH4H",
        log: KTH,
        version: Version::EstimatesUpTo(4 * HOUR),
        procs: 100,
        jobs: "23070",
        bins: "106",
        covering: ["1", "6", "12", "21", "28", "36", "43", "106"],
        head: "0:01 6.6, 0:02 4.0, 0:03 2.2, 0:04 1.2, 0:05 11.5, 0:10 9.6, 0:15 5.3, 0:20 3.1, 0:30 5.5, 0:40 1.3, \
            1:00 5.8, 1:30 1.3, 1:40 1.4, 2:00 4.5, 2:10 1.3, 2:30 1.4, 3:00 2.5, 3:20 5.1, 3:50 3.3, 4:00 12.5",
        head_sum: "89.3",
        models: Some(PublishedModels {
            vanilla: "tsafrir:tmax=4h,at-tmax=12.5",
            improved: "tsafrir:tmax=4h,at-tmax=12.5,pairs=5m:25",
            feit: "feit:max=4h",
        }),
    },
    PublishedLog {
        name: "BLUE",
        log: SDSC_BLUE,
        version: Version::Sane,
        procs: 1152,
        jobs: "223407",
        // Table 2 has 563.
        bins: "525",
        covering: ["1", "3", "8", "23", "42", "76", "116", "563"],
        head: "0:05 2.7, 0:10 4.3, 0:15 16.0, 0:20 2.5, 0:30 17.7, 0:40 0.5, 0:50 0.5, 1:00 4.9, 1:30 1.5, 1:59 \
            6.0, 2:00 21.3, 3:00 1.8, 4:00 1.6, 5:00 0.9, 6:00 1.0, 8:00 0.8, 10:00 0.9, 12:00 0.6, 18:00 2.1, \
            36:00 1.1",
        head_sum: "88.7",
        models: Some(PublishedModels {
            // Section 9.4: 27% at 2 hours, the effective maximum. These are the modes of 1:59 and 2:00 together.
            vanilla: "tsafrir:tmax=36h,at-tmax=1,pairs=2h:27",
            improved: "tsafrir:tmax=36h,at-tmax=1,pairs=15m:16/30m:18/2h:27",
            feit: "feit:max=36h",
        }),
    },
    PublishedLog {
        name: "SDSC",
        log: SDSC_SP2,
        version: Version::Sane,
        procs: 128,
        jobs: "54053",
        bins: "543",
        covering: ["1", "6", "12", "23", "43", "91", "156", "543"],
        head: "",
        head_sum: "",
        models: None,
    },
    PublishedLog {
        name: "KTH",
        log: KTH,
        version: Version::Sane,
        procs: 100,
        jobs: "28490",
        // Table 2 has 270.
        bins: "271",
        covering: ["1", "8", "21", "41", "60", "89", "122", "270"],
        head: "",
        head_sum: "",
        models: None,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EstimateModel;

    /// Finds typing errors: the figures of the paper must agree with each other.
    #[test]
    fn heads_have_twenty_values_and_the_sum_printed_below_them() {
        for published in PUBLISHED.iter().filter(|published| !published.head.is_empty()) {
            let head: Vec<(Seconds, &str)> = published.head().collect();
            assert_eq!(head.len(), 20, "{}", published.name);
            assert!(head.is_sorted_by(|a, b| a.0 < b.0));
            let sum: f64 = head.iter().map(|(_, percent)| percent.parse::<f64>().unwrap()).sum();
            let printed: f64 = published.head_sum.parse().unwrap();
            // The sum has twenty terms, each with a rounding error of up to 0.05.
            assert!((sum - printed).abs() < 0.5, "{}: {sum} is not {printed}", published.name);
        }
    }

    #[test]
    fn every_model_is_one() {
        for models in PUBLISHED.iter().filter_map(|published| published.models.as_ref()) {
            for text in [models.vanilla, models.improved, models.feit] {
                assert_eq!(EstimateModel::parse(text).unwrap().to_string(), text.replace(":max=24h", ""));
            }
        }
    }
}
