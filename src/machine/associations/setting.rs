//! One setting of a line for `sacctmgr`, such as `fairshare=2` or `qos+=hi`, and what it changes.

use super::dump::{listed, number, shares};
use super::limits::{LimitForm, LimitOwner, Limits};
use super::{Account, Association, QualityOfService};
use crate::text::shortened;

/// How a value changes what is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SettingChange {
    Set,
    Add,
    Remove,
}

/// `key=value`, `key+=value` or `key-=value`.
pub(super) struct AccountSetting<'a> {
    pub key: &'a str,
    pub change: SettingChange,
    pub value: &'a str,
}

impl<'a> AccountSetting<'a> {
    /// A word without `=` is a name.
    pub fn of(word: &'a str) -> AccountSetting<'a> {
        let Some((key, value)) = word.split_once('=') else {
            return AccountSetting { key: "name", change: SettingChange::Set, value: word };
        };
        match (key.strip_suffix('+'), key.strip_suffix('-')) {
            (Some(key), _) => AccountSetting { key, change: SettingChange::Add, value },
            (_, Some(key)) => AccountSetting { key, change: SettingChange::Remove, value },
            _ => AccountSetting { key, change: SettingChange::Set, value },
        }
    }

    pub fn is(&self, names: &[&str]) -> bool {
        names.iter().any(|name| name.eq_ignore_ascii_case(self.key))
    }
}

pub(super) const NAME: [&str; 2] = ["name", "names"];
pub(super) const ACCOUNT: [&str; 4] = ["account", "accounts", "acct", "accts"];
pub(super) const CLUSTER: [&str; 2] = ["cluster", "clusters"];
pub(super) const DEFAULT_ACCOUNT: [&str; 2] = ["defaultaccount", "defaultacct"];
const QOS: [&str; 3] = ["qos", "qoslevel", "qoslevels"];

/// Keys that say nothing of scheduling.
pub(super) const HARMLESS: [&str; 9] = [
    "AdminLevel",
    "Description",
    "Organization",
    "Cluster",
    "Clusters",
    "Coordinator",
    "DefaultWCKey",
    "WCKeys",
    "format",
];

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

/// Sets something of a quality of service. Returns what has no effect.
pub(super) fn set_qos(qos: &mut QualityOfService, setting: &AccountSetting) -> Result<Vec<String>, String> {
    if setting.is(&["Priority"]) {
        qos.priority = number(setting.value)?.unwrap_or(0);
    } else if setting.is(&["UsageFactor"]) {
        qos.usage_factor = factor(setting.value)?;
    } else if setting.is(&["Flags"]) {
        let (own, others): (Vec<String>, Vec<String>) =
            listed(setting.value).into_iter().partition(|flag| flag.eq_ignore_ascii_case("DenyOnLimit"));
        qos.deny_on_limit = match setting.change {
            SettingChange::Set => !own.is_empty(),
            SettingChange::Add => qos.deny_on_limit || !own.is_empty(),
            SettingChange::Remove => qos.deny_on_limit && own.is_empty(),
        };
        return Ok(others.into_iter().map(|flag| format!("Flags={}", shortened(&flag))).collect());
    } else {
        return set_limit(&mut qos.limits, LimitOwner::Qos, setting);
    }
    Ok(Vec::new())
}

pub(super) fn set_account(account: &mut Account, setting: &AccountSetting) -> Result<Vec<String>, String> {
    if !setting.is(&["parent"]) {
        return set_association(&mut account.own, setting);
    }
    account.parent = setting.value.to_string();
    Ok(Vec::new())
}

/// Sets what accounts and users have in common.
pub(super) fn set_association(own: &mut Association, setting: &AccountSetting) -> Result<Vec<String>, String> {
    if setting.is(&["Fairshare", "Share", "Shares"]) {
        own.shares = shares(setting.value)?;
    } else if setting.is(&["DefaultQOS"]) {
        own.default_qos = setting.value.to_string();
    } else if setting.is(&QOS) {
        let (names, qos) = (listed(setting.value), &mut own.qos);
        match setting.change {
            SettingChange::Set => *qos = names,
            SettingChange::Add => qos.extend(names.into_iter().filter(|name| !qos.contains(name)).collect::<Vec<_>>()),
            SettingChange::Remove => qos.retain(|name| !names.contains(name)),
        }
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
