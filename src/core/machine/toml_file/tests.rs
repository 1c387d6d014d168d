//! Machines in TOML, worked out by hand, and what is written read back.

use std::path::Path;

use super::super::associations::Associations;
use super::super::{Cluster, parse_slurm_conf};
use super::*;
use crate::time::DAY;

fn written(cluster: &Cluster) -> String {
    let mut out = Vec::new();
    cluster.write_toml(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn wrong(text: &str) -> String {
    parse_toml(text).unwrap_err().to_string()
}

const SITE: &str = r#"shares_cores = true

[[nodes]]
name = "b1"
cpus = 8
memory = "510000M"
features = ["big", "ib"]
weight = 10
threads_per_core = 2
down = true

[[nodes]]
name = "n[1-6,8]"
cpus = 4
memory = "8G"
gpus = 2

[[partitions]]
name = "batch"
nodes = "b1,n[1-6]"
default = true
priority_tier = 3
max_time = "3d"
default_time = "90s"
min_nodes = 1
max_nodes = 4
exclusive = true
memory_per_cpu = "2800M"
qos = "normal"
billing = "CPU=1.0,Mem=0.25G"
preempt_mode = "requeue"
grace_time = "10s"

[[partitions]]
name = "all"
nodes = "ALL"
priority_job_factor = 7
state = "drain"
least_loaded_first = true
max_cpus_per_node = 2
memory_per_node = "3G"

[[switches]]
name = "s1"
nodes = "n[1-6]"

[[switches]]
name = "top"
nodes = "b1"
switches = ["s1"]

[[qos]]
name = "normal"
priority = 100
usage_factor = 0.25
deny_on_limit = true
preempt = ["low"]
preempt_mode = "cancel"
preempt_exempt = "20s"
grace_time = "5m"
max_jobs_per_user = 3
max_tres_per_user = "cpu=12,mem=4G,node=2,gres/gpu=1"

[[accounts]]
name = "physics"
shares = 5
qos = ["normal"]
group_wall = "2d"

[[accounts]]
name = "optics"
parent = "physics"

[[users]]
name = "ann"
account = "optics"
default = true
shares = "parent"
default_qos = "normal"
max_jobs = 4

"#;

#[test]
fn a_machine_is_read_and_written_again() {
    let cluster = parse_toml(SITE).unwrap();
    assert_eq!(
        (cluster.nodes.len(), cluster.cpus(), cluster.total().memory(), cluster.total().count(Resource::Gpus)),
        (8, 36, 510_000 + 7 * 8192, 14)
    );
    assert_eq!((cluster.nodes[0].name.as_str(), cluster.nodes[7].name.as_str()), ("b1", "n8"));
    assert!(cluster.shares_cores && !cluster.ignores_memory);
    let batch = &cluster.partitions[0];
    assert_eq!((batch.nodes.len(), batch.max_time, batch.default_time), (7, Some(3 * DAY), Some(90)));
    assert_eq!((batch.memory_per_cpu, batch.priority_tier, batch.priority_job_factor), (Some(2800), 3, 1));
    assert_eq!((&cluster.switches[1].nodes[..], &cluster.switches[1].switches[..]), (&[0][..], &[0][..]));
    assert_eq!(cluster.associations.users[0].own.shares, None);
    assert_eq!(written(&cluster), SITE);
}

#[test]
fn short_files_have_defaults() {
    let cluster = parse_toml("[[nodes]]\nname = [\"a[1-2]\", \"b\"]\ncpus = 4\nfeatures = 'x,y'\n").unwrap();
    assert_eq!((cluster.nodes.len(), cluster.ignores_memory), (3, true));
    assert_eq!((cluster.nodes[2].features.len(), cluster.nodes[2].weight), (2, 1));
    assert_eq!((cluster.partitions.len(), cluster.partitions[0].nodes.len()), (1, 3));
    assert_eq!(parse_toml(&written(&cluster)).unwrap(), cluster);
    assert!(!parse_toml("[[nodes]]\nname = 'a'\ncpus = 1\nmemory = 1").unwrap().ignores_memory);
    let both = parse_toml("ignores_memory = true\n[[nodes]]\nname = 'a'\ncpus = 1\nmemory = '8G'").unwrap();
    assert!(both.ignores_memory && both.nodes[0].has.memory() == 8192);
    assert_eq!(parse_toml(&written(&both)).unwrap(), both);
}

#[test]
fn a_slurm_conf_becomes_toml_and_stays_the_same_machine() {
    let text = "ClusterName=Big\nSelectTypeParameters=CR_CPU\nNodeName=n[1-4],r[1-2]x[01-12] CPUs=4 RealMemory=7000\n\
                NodeName=z CPUs=8 ThreadsPerCore=2 Gres=gpu:3 Feature=a,\"b\\\\\nPartitionName=p Nodes=n[1-4],r2x[02-05]\n\
                PartitionName=\"odd name\" Nodes=ALL MaxTime=30 DefMemPerCPU=100 MaxNodes=0\n";
    let text = text.replace(",\"b\\\\", ",b");
    let (mut cluster, _) = parse_slurm_conf(&text, Path::new("/no such folder")).unwrap();
    cluster.nodes[0].features.push("\"quoted\" \\ and\ttab".to_string());
    cluster.associations =
        Associations::of_commands("add qos hi Priority=3\nadd account a GrpTRES=cpu=3\nadd user u account=a");
    let toml = written(&cluster);
    assert!(toml.starts_with("cluster = \"Big\"\n"), "{toml}");
    assert_eq!(parse_toml(&toml).unwrap(), cluster, "{toml}");
}

#[test]
fn mistakes_are_named_with_their_lines() {
    let node = "[[nodes]]\nname = \"n[1-3]\"\ncpus = 4\n";
    let of_node = |line: &str| wrong(&format!("{node}{line}"));
    let of_partition = |line: &str| wrong(&format!("{node}[[partitions]]\nname = \"p\"\n{line}"));
    for (error, why) in [
        (wrong(""), "line 1: there are no nodes: write [[nodes]] with name"),
        (wrong("\nnodes = 3"), "line 2: 'nodes' has another form; write [[nodes]]"),
        (wrong("[nodes]\nname = 'a'"), "line 1: 'nodes' has another form; write [[nodes]]"),
        (wrong("\n[[node]]"), "line 2: no key 'node'; a machine has tables [[nodes]], [[partitions]], "),
        (wrong("[[nodes]]\ncpus = 3"), "line 1: nodes: name: missing; write name = \"n[1-4]\""),
        (wrong("[[nodes]]\nname = \"a\""), "line 1: nodes: cpus: missing; write cpus = 12"),
        (wrong("[[nodes]]\nname = \"n[1\"\ncpus = 1"), "line 2: nodes: name: 'n[1' is no list such as n[1-9]"),
        (
            wrong("[[nodes]]\nname = \"n[1-1000000]\"\ncpus = 1"),
            "line 2: nodes: name: 1,000,000 nodes; a machine has at most",
        ),
        (wrong("[[nodes]]\nname = \"n 1\"\ncpus = 1"), "line 2: nodes: name: 'n 1' is no name of a node"),
        (wrong("[[nodes]]\nname = 'a'\ncpus = 0"), "line 3: nodes: cpus: 0: not a whole number from 1 to 1000000"),
        (wrong("[[nodes]]\nname = 'a'\ncpus = -4"), "line 3: nodes: cpus: -4: not a whole number"),
        (wrong("[[nodes]]\nname = 'a'\ncpus = 99999999999"), "line 3: nodes: cpus: 99999999999: not a whole number"),
        (wrong("[[nodes]]\nname = 'a'\ncpus = 99999999999999999999"), "line 3: too large a number"),
        (wrong("[[nodes]]\nname = 'a'\ncpus = 1.5"), "line 3: nodes: cpus: 1.5: not a whole number"),
        (of_node("memory = \"8 GB\""), "line 4: nodes: memory: 8 GB: not memory such as 8G, 512000M or 512000 (MB)"),
        (of_node("memory = -1"), "line 4: nodes: memory: -1: not memory"),
        (
            of_node("cpu = 3"),
            "line 4: nodes: no key 'cpu'; the keys are name, cpus, memory, gpus, features, weight, threads_per_core, down; did you mean 'cpus'?",
        ),
        (of_node("threads_per_core = 3"), "line 4: nodes: threads_per_core: does not divide cpus"),
        (of_node("memory = 1\n[[nodes]]\nname='x'\ncpus=1"), "line 5: nodes: memory: missing, and other nodes have it"),
        (
            of_node("[[nodes]]\nname = 'n2'\ncpus = 1"),
            "line 5: the node 'n2' is there a second time; the first is in line 2",
        ),
        (of_partition(""), "line 4: partitions: nodes: missing; write nodes = \"ALL\""),
        (of_partition("nodes = \"n[1-4]\""), "line 6: partitions: nodes: there is no node 'n4'; the nodes are n[1-3]"),
        (
            of_partition("nodes = 'ALL'\nmax_time = 'soon'"),
            "line 7: partitions: max_time: soon: 'soon' is not a duration",
        ),
        (of_partition("nodes = 'ALL'\nstate = 'off'"), "line 7: partitions: state: neither up nor down nor drain"),
        (
            of_partition("nodes = 'ALL'\nmemory_per_cpu = 1\nmemory_per_node = 1"),
            "line 8: partitions: memory_per_node: is given beside memory_per_cpu",
        ),
        (of_partition("nodes = 'ALL'\nexclusive = 1"), "line 7: partitions: exclusive: a number; write true or false"),
        (
            of_partition("nodes = 'ALL'\n[[partitions]]\nname = 'p'\nnodes = 'ALL'"),
            "line 8: partitions: name: another partition",
        ),
        (of_node("[[users]]\nname = 'u'\naccount = 'a'"), "line 5: the user 'u': there is no account 'a'"),
        (of_node("[[qos]]\nname = 'q'\nmax_jobs = 1"), "line 6: qos: no key 'max_jobs'; the keys are name, priority, "),
        (
            of_node("[[qos]]\nname = 'q'\ngroup_tres = 'cup=1'"),
            "line 6: qos: group_tres: cup=1: no amount 'cup'; there are cpu, mem",
        ),
        (wrong("[[nodes]\nname"), "line 1: not TOML"),
    ] {
        assert!(error.starts_with(why), "{error}\n{why}");
    }
}
