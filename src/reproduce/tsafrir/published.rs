//! What the paper prints: its logs, the bins of their estimates, and what its model is told of each.

use crate::reproduce::logs::LogName;
use crate::time::{HOUR, MINUTE, Seconds};

use super::prepare::Version;

/// A log of the paper, as the paper prepares it.
pub(super) struct Published {
    /// As the paper calls it.
    pub name: &'static str,
    pub log: LogName,
    pub version: Version,
    /// Table 1: the machine's processors, which for CTC are more than the log says (338),
    pub procs: u32,
    /// sane jobs, and different estimates.
    pub jobs: &'static str,
    pub bins: &'static str,
    /// Table 2: how many bins cover each of [`COVERED`] percent of the jobs.
    pub covering: [&'static str; 8],
    /// Table 5: the 20 most popular estimates and their percentages; none for the logs that it leaves out.
    pub head: &'static [(Seconds, &'static str)],
    pub head_sum: &'static str,
    /// What the model of section 10 is told (vanilla), and what else (improved; section 11.1): of CTC and SDSC-106 "three
    /// additional pairs (of the most popular estimates)". None where the paper has no model.
    pub models: Option<Models>,
}

pub(super) struct Models {
    pub vanilla: &'static str,
    pub improved: &'static str,
    /// The limit that the accuracy model of Mu'alem and Feitelson cuts estimates at.
    pub feit: &'static str,
}

pub(super) const COVERED: [f64; 8] = [10.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0, 100.0];

const SDSC: LogName = LogName { short: "SDSC-SP2", prefix: "SDSC-SP2-1998", thanks: "Victor Hazlewood" };
const CTC: LogName = LogName { short: "CTC", prefix: "CTC-SP2-1996", thanks: "Dan Dwyer and Steve Hotovy" };
const KTH: LogName = LogName { short: "KTH", prefix: "KTH-SP2-1996", thanks: "Lars Malinowsky" };
const BLUE: LogName =
    LogName { short: "SDSC-BLUE", prefix: "SDSC-BLUE-2000", thanks: "Travis Earheart and Nancy Wilkins-Diehr" };

pub(super) const LOGS: [LogName; 4] = [SDSC, CTC, KTH, BLUE];

const fn at(hours: i64, minutes: i64) -> Seconds {
    hours * HOUR + minutes * MINUTE
}

pub(super) const PUBLISHED: [Published; 6] = [
    Published {
        name: "SDSC-106",
        log: SDSC,
        version: Version::WithoutTheGreatestOwner,
        procs: 128,
        jobs: "53673",
        bins: "339",
        covering: ["1", "6", "12", "22", "39", "77", "116", "339"],
        head: &[
            (at(0, 5), "11.3"),
            (at(0, 10), "7.9"),
            (at(0, 12), "1.2"),
            (at(0, 15), "3.0"),
            (at(0, 20), "4.8"),
            (at(0, 30), "4.7"),
            (at(0, 45), "1.1"),
            (at(1, 0), "10.5"),
            (at(2, 0), "5.3"),
            (at(2, 30), "1.2"),
            (at(3, 0), "3.8"),
            (at(4, 0), "5.7"),
            (at(5, 0), "1.4"),
            (at(6, 0), "2.0"),
            (at(7, 0), "0.9"),
            (at(8, 0), "3.4"),
            (at(10, 0), "3.3"),
            (at(12, 0), "4.0"),
            (at(15, 0), "0.9"),
            (at(18, 0), "9.8"),
        ],
        head_sum: "86.4",
        models: Some(Models {
            vanilla: "tsafrir:tmax=18h,at-tmax=9.8",
            improved: "tsafrir:tmax=18h,at-tmax=9.8,pairs=5m:11.3/10m:7.9/1h:10.5",
            feit: "feit:max=18h",
        }),
    },
    Published {
        name: "CTC",
        log: CTC,
        version: Version::Sane,
        procs: 512,
        jobs: "77222",
        bins: "265",
        covering: ["1", "4", "10", "22", "36", "62", "89", "265"],
        head: &[
            (at(0, 5), "8.8"),
            (at(0, 10), "6.4"),
            (at(0, 15), "10.6"),
            (at(0, 20), "2.0"),
            (at(0, 30), "3.5"),
            (at(1, 0), "4.2"),
            (at(1, 30), "0.8"),
            (at(2, 0), "5.4"),
            (at(3, 0), "4.9"),
            (at(4, 0), "2.2"),
            (at(4, 50), "0.6"),
            (at(5, 0), "1.1"),
            (at(6, 0), "6.1"),
            (at(8, 0), "1.5"),
            (at(10, 0), "1.7"),
            (at(12, 0), "2.2"),
            (at(15, 0), "1.5"),
            (at(16, 0), "1.0"),
            (at(17, 0), "0.6"),
            (at(18, 0), "23.8"),
        ],
        head_sum: "88.9",
        models: Some(Models {
            vanilla: "tsafrir:tmax=18h,at-tmax=23.8",
            improved: "tsafrir:tmax=18h,at-tmax=23.8,pairs=5m:8.8/10m:6.4/15m:10.6",
            feit: "feit:max=18h",
        }),
    },
    Published {
        name: "KTH4H",
        log: KTH,
        version: Version::EstimatesUpTo(4 * HOUR),
        procs: 100,
        jobs: "23070",
        bins: "106",
        covering: ["1", "6", "12", "21", "28", "36", "43", "106"],
        head: &[
            (at(0, 1), "6.6"),
            (at(0, 2), "4.0"),
            (at(0, 3), "2.2"),
            (at(0, 4), "1.2"),
            (at(0, 5), "11.5"),
            (at(0, 10), "9.6"),
            (at(0, 15), "5.3"),
            (at(0, 20), "3.1"),
            (at(0, 30), "5.5"),
            (at(0, 40), "1.3"),
            (at(1, 0), "5.8"),
            (at(1, 30), "1.3"),
            (at(1, 40), "1.4"),
            (at(2, 0), "4.5"),
            (at(2, 10), "1.3"),
            (at(2, 30), "1.4"),
            (at(3, 0), "2.5"),
            (at(3, 20), "5.1"),
            (at(3, 50), "3.3"),
            (at(4, 0), "12.5"),
        ],
        head_sum: "89.3",
        models: Some(Models {
            vanilla: "tsafrir:tmax=4h,at-tmax=12.5",
            improved: "tsafrir:tmax=4h,at-tmax=12.5,pairs=5m:25",
            feit: "feit:max=4h",
        }),
    },
    Published {
        name: "BLUE",
        log: BLUE,
        version: Version::Sane,
        procs: 1152,
        jobs: "223407",
        // Table 2 has 563.
        bins: "525",
        covering: ["1", "3", "8", "23", "42", "76", "116", "563"],
        head: &[
            (at(0, 5), "2.7"),
            (at(0, 10), "4.3"),
            (at(0, 15), "16.0"),
            (at(0, 20), "2.5"),
            (at(0, 30), "17.7"),
            (at(0, 40), "0.5"),
            (at(0, 50), "0.5"),
            (at(1, 0), "4.9"),
            (at(1, 30), "1.5"),
            (at(1, 59), "6.0"),
            (at(2, 0), "21.3"),
            (at(3, 0), "1.8"),
            (at(4, 0), "1.6"),
            (at(5, 0), "0.9"),
            (at(6, 0), "1.0"),
            (at(8, 0), "0.8"),
            (at(10, 0), "0.9"),
            (at(12, 0), "0.6"),
            (at(18, 0), "2.1"),
            (at(36, 0), "1.1"),
        ],
        head_sum: "88.7",
        models: Some(Models {
            // Section 9.4: the two pairs that make 2 hours, with the mode of 1:59, the effective maximum.
            vanilla: "tsafrir:tmax=36h,at-tmax=1,pairs=2h:27",
            improved: "tsafrir:tmax=36h,at-tmax=1,pairs=15m:16/30m:18/2h:27",
            feit: "feit:max=36h",
        }),
    },
    Published {
        name: "SDSC",
        log: SDSC,
        version: Version::Sane,
        procs: 128,
        jobs: "54053",
        bins: "543",
        covering: ["1", "6", "12", "23", "43", "91", "156", "543"],
        head: &[],
        head_sum: "",
        models: None,
    },
    Published {
        name: "KTH",
        log: KTH,
        version: Version::Sane,
        procs: 100,
        jobs: "28490",
        // Table 2 has 270.
        bins: "271",
        covering: ["1", "8", "21", "41", "60", "89", "122", "270"],
        head: &[],
        head_sum: "",
        models: None,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EstimateModel;

    /// The paper's own figures agree with each other, so that none was copied wrongly.
    #[test]
    fn heads_have_twenty_values_and_the_sum_printed_below_them() {
        for published in PUBLISHED.iter().filter(|published| !published.head.is_empty()) {
            assert_eq!(published.head.len(), 20, "{}", published.name);
            assert!(published.head.is_sorted_by(|a, b| a.0 < b.0));
            let sum: f64 = published.head.iter().map(|(_, percent)| percent.parse::<f64>().unwrap()).sum();
            let printed: f64 = published.head_sum.parse().unwrap();
            // Twenty roundings of up to 0.05 each.
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
