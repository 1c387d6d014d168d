//! One setting of a line of a dump, such as `Fairshare=2` or `GrpTRES=cpu=30`, and what it changes.

use super::limits::{LimitForm, LimitOwner, Limits};
use super::{Association, QualityOfService};
use crate::machine::preempt_mode::PreemptMode;
use crate::machine::units::slurm_time;
use crate::text::shortened;
use crate::time::Seconds;

/// `key=value`.
pub(super) struct AccountSetting<'a> {
    pub key: &'a str,
    pub value: &'a str,
}

impl AccountSetting<'_> {
    pub fn is(&self, names: &[&str]) -> bool {
        names.iter().any(|name| name.eq_ignore_ascii_case(self.key))
    }
}

/// Keys that say nothing of scheduling.
pub(super) const HARMLESS: [&str; 8] =
    ["AdminLevel", "Classification", "Comment", "Coordinator", "DefaultWCKey", "Description", "Organization", "WCKeys"];

/// Names of limits in old versions of Slurm, with their present names and what they limit.
const OLD_LIMITS: [(&str, &str, &str); 11] = [
    ("GrpCPUs", "GrpTRES", "cpu"),
    ("GrpNodes", "GrpTRES", "node"),
    ("GrpMemory", "GrpTRES", "mem"),
    ("GrpCPUMins", "GrpTRESMins", "cpu"),
    ("GrpCPURunMins", "GrpTRESRunMins", "cpu"),
    ("MaxCPUs", "MaxTRES", "cpu"),
    ("MaxNodes", "MaxTRES", "node"),
    ("MaxCPUsPerUser", "MaxTRESPerUser", "cpu"),
    ("MaxNodesPerUser", "MaxTRESPerUser", "node"),
    ("MaxCPUMins", "MaxTRESMins", "cpu"),
    ("MaxWallDuration", "MaxWall", ""),
];

/// Whether the value of something that is not simulated changes nothing. PreemptMode is `cluster` unless it is set.
pub(super) fn says_nothing(value: &str) -> bool {
    let is_zero = value.chars().all(|c| "0:.".contains(c));
    is_zero || ["-1", "cluster"].iter().any(|word| word.eq_ignore_ascii_case(value))
}

/// Sets something of a quality of service. Returns what has no effect.
pub(super) fn set_qos(qos: &mut QualityOfService, setting: &AccountSetting) -> Result<Vec<String>, String> {
    if setting.is(&["Priority"]) {
        qos.priority = number(setting.value)?.unwrap_or(0);
    } else if setting.is(&["UsageFactor"]) {
        qos.usage_factor = factor(setting.value)?;
    } else if setting.is(&["Flags"]) {
        return Ok(set_flags(qos, setting.value));
    } else if setting.is(&["Preempt"]) {
        qos.preempts = listed(setting.value);
    } else if setting.is(&["GraceTime"]) {
        qos.grace = time(setting.value, |text| text.parse().ok())?.unwrap_or(0);
    } else if setting.is(&["PreemptExemptTime"]) {
        qos.preempt_exempt = time(setting.value, |_| None)?;
    } else if setting.is(&["PreemptMode"]) {
        if !setting.value.is_empty() && !says_nothing(setting.value) {
            let (mode, others) = PreemptMode::of_list(setting.value);
            // Jobs cannot be suspended here: they do not make way.
            qos.preempt_mode = Some(mode.unwrap_or_default());
            return Ok(others.into_iter().map(|word| format!("PreemptMode={}", shortened(word))).collect());
        }
    } else {
        return set_limit(&mut qos.limits, LimitOwner::Qos, setting);
    }
    Ok(Vec::new())
}

/// Sets the flags of a quality of service. Returns those that have no effect.
pub(super) fn set_flags(qos: &mut QualityOfService, flags: &str) -> Vec<String> {
    let (own, others): (Vec<String>, Vec<String>) =
        listed(flags).into_iter().partition(|flag| flag.eq_ignore_ascii_case("DenyOnLimit"));
    qos.deny_on_limit = !own.is_empty();
    others.into_iter().map(|flag| format!("Flags={}", shortened(&flag))).collect()
}

/// Sets what accounts and users have in common. Returns what has no effect.
pub(super) fn set_association(own: &mut Association, setting: &AccountSetting) -> Result<Vec<String>, String> {
    if setting.is(&["Fairshare", "Share", "Shares"]) {
        own.shares = shares(setting.value)?;
    } else if setting.is(&["DefaultQOS"]) {
        own.default_qos = setting.value.to_string();
    } else if setting.is(&["QOS", "QOSLevel"]) {
        own.qos = listed(setting.value);
    } else {
        return set_limit(&mut own.limits, LimitOwner::Association, setting);
    }
    Ok(Vec::new())
}

fn set_limit(limits: &mut Limits, owner: LimitOwner, setting: &AccountSetting) -> Result<Vec<String>, String> {
    let old = OLD_LIMITS.iter().find(|(old, ..)| setting.is(&[old]));
    let (name, value) = match old {
        Some((_, name, "")) => (*name, setting.value.to_string()),
        Some((_, name, tres)) => (*name, format!("{tres}={}", setting.value)),
        None => (setting.key, setting.value.to_string()),
    };
    match LimitForm::of_slurm(name, owner) {
        Some(form) => {
            let others = form.set_from_slurm(limits, &value)?;
            Ok(others.into_iter().map(|other| format!("{} {}", shortened(setting.key), shortened(&other))).collect())
        }
        None => Ok(vec![shortened(setting.key).into_owned()]),
    }
}

/// A factor of use: 1 if it is not given.
pub(in crate::machine) fn factor(text: &str) -> Result<f64, String> {
    let number = || text.parse::<f64>().ok().filter(|factor| (0.0..=1e6).contains(factor));
    match text.is_empty() {
        true => Ok(1.0),
        false => number().ok_or_else(|| format!("'{}' is no factor such as 0.5", shortened(text))),
    }
}

/// Names with commas between them.
pub(super) fn listed(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_string).collect()
}

/// A whole number. None if there is none.
pub(super) fn number(text: &str) -> Result<Option<u32>, String> {
    let number = || text.parse().map_err(|_| format!("'{}' is no whole number", shortened(text)));
    if text.is_empty() || text == "-1" { Ok(None) } else { number().map(Some) }
}

/// A time such as 00:20:00, in the form of `bare` if it is only a number there. None if there is none.
fn time(text: &str, bare: impl Fn(&str) -> Option<Seconds>) -> Result<Option<Seconds>, String> {
    let wrong = || format!("'{}' is no time such as 00:20:00", shortened(text));
    let time = || bare(text).or_else(|| slurm_time(text)).ok_or_else(wrong);
    if text.is_empty() || text == "-1" { Ok(None) } else { time().map(Some) }
}

/// Shares: a number, or `parent`. A dump has the number by which Slurm means the parent (SLURMDB_FS_USE_PARENT).
pub(super) fn shares(text: &str) -> Result<Option<u32>, String> {
    match text.eq_ignore_ascii_case("parent") || text == "2147483647" {
        true => Ok(None),
        false => Ok(Some(number(text)?.unwrap_or(1))),
    }
}
