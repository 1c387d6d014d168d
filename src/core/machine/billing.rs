//! What jobs are charged for: the weights of Slurm's `TRESBillingWeights`.

use super::resources::NodeShare;
use crate::text::shortened;

/// The charge for a second of each resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Billing {
    cpu: f64,
    /// For each MB.
    memory: f64,
    node: f64,
    gpu: f64,
}

/// Without weights the CPUs count.
impl Default for Billing {
    fn default() -> Billing {
        Billing { cpu: 1.0, memory: 0.0, node: 0.0, gpu: 0.0 }
    }
}

impl Billing {
    /// Reads weights such as `CPU=1.0,Mem=0.25G,GRES/gpu=2.0`; that of memory is for each MB, or of the unit that follows it. Empty:
    /// the CPUs count.
    ///
    /// # Errors
    /// If an item is not a name of these (or `node`) with a number of at least 0.
    pub fn parse(text: &str) -> Result<Billing, String> {
        if text.trim().is_empty() {
            return Ok(Billing::default());
        }
        let mut billing = Billing { cpu: 0.0, memory: 0.0, node: 0.0, gpu: 0.0 };
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let wrong =
                || format!("'{}' is no weight such as CPU=1.0, Mem=0.25G, Node=1 or GRES/gpu=2", shortened(item));
            let (name, value) = item.split_once('=').ok_or_else(wrong)?;
            let name = name.trim().to_ascii_lowercase();
            let (number, unit) = match value.trim().split_at_checked(value.trim().len().saturating_sub(1)) {
                Some((number, "K" | "k")) => (number, 1.0 / 1024.0),
                Some((number, "M" | "m")) => (number, 1.0),
                Some((number, "G" | "g")) => (number, 1024.0),
                Some((number, "T" | "t")) => (number, 1024.0 * 1024.0),
                _ => (value.trim(), 1.0),
            };
            let number: f64 =
                number.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0).ok_or_else(wrong)?;
            match name.as_str() {
                "cpu" if unit == 1.0 => billing.cpu = number,
                "mem" => billing.memory = number / unit,
                "node" if unit == 1.0 => billing.node = number,
                "gres/gpu" if unit == 1.0 => billing.gpu = number,
                _ => return Err(wrong()),
            }
        }
        Ok(billing)
    }

    /// The charge for a second of what a job was given.
    pub fn of(&self, grant: &[NodeShare]) -> f64 {
        let sum = |amount: fn(&NodeShare) -> f64| grant.iter().map(amount).sum::<f64>();
        self.cpu * sum(|share| f64::from(share.what.cpus))
            + self.memory * sum(|share| share.what.memory as f64)
            + self.node * grant.len() as f64
            + self.gpu * sum(|share| f64::from(share.what.gpus))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Resources;

    #[test]
    fn weights_of_what_a_job_was_given() {
        let share = |node| NodeShare::new(node, Resources { cpus: 4, memory: 8192, gpus: 1 });
        let grant = [share(0), share(3)];
        let charge = |text: &str| Billing::parse(text).unwrap().of(&grant);
        assert_eq!((charge(""), charge("CPU=1.5")), (8.0, 12.0));
        assert_eq!(charge("cpu=1.0,Mem=0.25G,GRES/gpu=2.0"), 8.0 + 4.0 + 4.0);
        assert_eq!((charge("mem=0.5"), charge("mem=0.5M"), charge("Node=3")), (8192.0, 8192.0, 6.0));
        for wrong in ["cpu", "cpu=x", "cpu=-1", "cpu=1G", "license/a=1", "mem=G"] {
            assert!(Billing::parse(wrong).is_err(), "{wrong}");
        }
    }
}
