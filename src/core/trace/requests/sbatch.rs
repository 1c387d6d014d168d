//! What a job asks for by the options of `sbatch`.

use super::fields::REQUEST_FIELDS;
use crate::request::{DeviceAsked, Request};
use crate::trace::formats::slurm::count_in_gres;
use crate::trace::rows::{Bad, leading_number};
use crate::tres::Resource;

/// The values of the options that a request is made from, as written. Empty: the option is not given.
#[derive(Default)]
pub struct SbatchAsked<'r> {
    /// Those of [`REQUEST_FIELDS`].
    pub values: [&'r [u8]; REQUEST_FIELDS.len()],
    pub gres: &'r [u8],
}

impl<'r> SbatchAsked<'r> {
    /// The value of the option that is this field.
    pub fn value(&self, name: &str) -> &'r [u8] {
        let at = REQUEST_FIELDS.iter().position(|field| field.name == name).expect("a field with this name");
        self.values[at]
    }

    /// The request, as sbatch makes it: tasks that are not given follow from the nodes, and there are no more nodes than tasks.
    pub fn request(&self) -> Result<Request, Bad<'r>> {
        let mut request = Request::default();
        for (field, value) in REQUEST_FIELDS.iter().zip(self.values) {
            let (_, name) = field.option;
            let text = match field.name {
                // `--mem=0` is all memory of each node.
                "nodes" | "tasks" | "tasks_per_node" | "cpus_per_task" | "memory_per_cpu"
                    if !value.is_empty() && leading_number(value).is_none_or(|number| number == 0) =>
                {
                    return Err(Bad::value(value, name, "is not an amount above 0"));
                }
                // `a100:2`: a request has no kinds of GPUs.
                "gpus" | "gpus_per_node" => value.rsplit(|&byte| byte == b':').next().unwrap_or(value),
                "nice" if value == b"yes" => b"100",
                // With `user` and `mcs`, other jobs of the user may be on the nodes.
                "exclusive" if matches!(value, b"user" | b"mcs") => b"",
                _ => value,
            };
            field.set(&mut request, &String::from_utf8_lossy(text)).map_err(|wrong| Bad::value(value, name, wrong))?;
        }
        for kind in Resource::DEVICES {
            let Some(count) = count_in_gres(self.gres, kind) else { continue };
            if request.devices[kind] != DeviceAsked::None {
                return Err(Bad::value(self.gres, "--gres", "has GPUs beside --gpus: a job has one of the two"));
            }
            request.devices[kind] = DeviceAsked::PerNode(count as u32);
        }
        let [tasks, per_node, per_task] = ["tasks", "tasks_per_node", "cpus_per_task"].map(|field| self.value(field));
        let too_many = |at| Bad::value(at, "CPUs", "are 2^31 or more");
        let times = |a: u32, b: u32, at| a.checked_mul(b).filter(|&all| all < 1 << 31).ok_or(too_many(at));
        if request.tasks == 0 && request.min_nodes > 0 && request.tasks_per_node > 0 {
            request.tasks = times(request.min_nodes, request.tasks_per_node, per_node)?;
        }
        if request.tasks > 0 {
            request.min_nodes = request.min_nodes.min(request.tasks);
            request.max_nodes = request.max_nodes.min(request.tasks);
        }
        let tasks_at = if per_task.is_empty() { tasks } else { per_task };
        let least = if request.tasks > 0 { request.tasks } else { request.min_nodes.max(1) };
        request.cpus = times(least, request.cpus_per_task.max(1), tasks_at)?;
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::MemoryAsked;

    /// The request of options such as `("--nodes", "2")`.
    fn asked(options: &[(&str, &'static str)]) -> Result<Request, Bad<'static>> {
        let mut given = SbatchAsked::default();
        for (name, value) in options {
            match REQUEST_FIELDS.iter().position(|field| field.option.1 == *name) {
                Some(at) => given.values[at] = value.as_bytes(),
                None => given.gres = value.as_bytes(),
            }
        }
        given.request()
    }

    /// CPUs, tasks and the two numbers of nodes.
    fn sizes(options: &[(&str, &'static str)]) -> [u32; 4] {
        let request = asked(options).unwrap();
        [request.cpus, request.tasks, request.min_nodes, request.max_nodes]
    }

    #[test]
    fn tasks_and_nodes_follow_from_each_other() {
        assert_eq!(sizes(&[]), [1, 0, 0, 0]);
        assert_eq!(sizes(&[("--cpus-per-task", "4")]), [4, 0, 0, 0]);
        assert_eq!(sizes(&[("--nodes", "3"), ("--cpus-per-task", "4")]), [12, 0, 3, 3]);
        assert_eq!(sizes(&[("--nodes", "2-4")]), [2, 0, 2, 4]);
        assert_eq!(sizes(&[("--nodes", "2-4"), ("--ntasks-per-node", "5")]), [10, 10, 2, 4]);
        assert_eq!(sizes(&[("--ntasks", "6"), ("--cpus-per-task", "2")]), [12, 6, 0, 0]);
        assert_eq!(sizes(&[("--ntasks", "3"), ("--nodes", "2-4")]), [3, 3, 2, 3]);
        assert_eq!(
            sizes(&[("--ntasks", "1"), ("--nodes", "2")]),
            [1, 1, 1, 1],
            "sbatch takes no more nodes than tasks"
        );
        assert_eq!(sizes(&[("--ntasks-per-node", "5")]), [1, 0, 0, 0], "as long as the nodes are not known");
    }

    #[test]
    fn memory_gpus_and_exclusive_nodes() {
        let all = asked(&[("--mem-per-cpu", "2G"), ("--gres", "gpu:a100:2,shard:1"), ("--exclusive", "yes")]).unwrap();
        assert_eq!(
            (all.memory, all.devices[Resource::Gpus], all.exclusive),
            (MemoryAsked::PerCpu(2048), DeviceAsked::PerNode(2), true)
        );
        assert_eq!(asked(&[("--gpus", "a100:3")]).unwrap().devices[Resource::Gpus], DeviceAsked::Total(3));
        assert_eq!(asked(&[("--gpus-per-node", "3")]).unwrap().devices[Resource::Gpus], DeviceAsked::PerNode(3));
        assert!(!asked(&[("--exclusive", "user")]).unwrap().exclusive);
        assert_eq!(asked(&[("--mem", "0")]).unwrap().memory, MemoryAsked::PerNode(0));
    }

    #[test]
    fn what_sbatch_refuses() {
        for options in [
            [("--ntasks", "0"), ("--nodes", "")],
            [("--ntasks", "-3"), ("--nodes", "")],
            [("--nodes", "4-2"), ("--ntasks", "")],
            [("--mem-per-cpu", "0"), ("--ntasks", "")],
            [("--mem", "much"), ("--ntasks", "")],
            [("--mem", "1G"), ("--mem-per-cpu", "1G")],
            [("--gpus", "2"), ("--gres", "gpu:1")],
            [("--ntasks", "100000"), ("--cpus-per-task", "100000")],
            [("--nodes", "100000"), ("--ntasks-per-node", "100000")],
            [("--exclusive", "perhaps"), ("--nodes", "")],
        ] {
            assert!(asked(&options).is_err(), "{options:?}");
        }
    }
}
