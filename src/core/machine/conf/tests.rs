//! Machines of small configurations, worked out by hand.

use super::super::{PartitionState, joined_names};
use super::*;
use crate::time::{DAY, HOUR, MINUTE};
use crate::tres::{Resource, Tres};

fn read(text: &str) -> Result<(Cluster, Vec<Ignored>), String> {
    parse_slurm_conf(text, Path::new("/no such folder")).map_err(|error| error.to_string())
}

fn machine(text: &str) -> Cluster {
    read(text).unwrap().0
}

fn wrong(text: &str) -> String {
    read(text).unwrap_err()
}

fn ignored(text: &str) -> Vec<(usize, String, bool)> {
    let line = |ignored: Ignored| (ignored.place.line, ignored.name, ignored.matters);
    read(text).unwrap().1.into_iter().map(line).collect()
}

fn names(cluster: &Cluster, places: &[u32]) -> String {
    joined_names(places.iter().map(|at| cluster.nodes[*at as usize].name.as_str()))
}

const SITE: &str = "\
ClusterName=site
DefMemPerCPU=1000
NodeName=DEFAULT RealMemory=48000 Sockets=2 CoresPerSocket=6 Feature=old
NodeName=n[2-10] Feature=ib,std
NodeName=b1 RealMemory=512000 MemSpecLimit=2000 Features=ib,big Weight=10 Port=7001
NodeName=g[01-02] Gres=gpu:tesla:2,gpu:k80:1 CoreSpecCount=1
PartitionName=DEFAULT MaxTime=3-0 PriorityTier=2
PartitionName=batch Nodes=n[2-9],b1 Default=YES DefaultTime=30 MaxNodes=4 QOS=normal
PartitionName=gpu Nodes=g[01-02],n2 MaxTime=INFINITE Priority=7 OverSubscribe=EXCLUSIVE LLN=YES AllowQOS=a
PartitionName=all Nodes=ALL DefMemPerCPU=0 MinNodes=2 MaxCPUsPerNode=8 State=DRAIN
";

#[test]
fn a_site_is_read_as_slurm_reads_it() {
    let cluster = machine(SITE);
    let all: Vec<u32> = (0..12).collect();
    assert_eq!(names(&cluster, &all), "b1,g[01-02],n[2-10]");
    assert_eq!(
        (cluster.cpus(), cluster.total().memory(), cluster.total().count(Resource::Gpus)),
        (12 * 12 - 2, 11 * 48_000 + 510_000, 6)
    );
    let node = |name: &str, (cpus, memory, gpus), features: &[&str], weight| Node {
        name: name.to_string(),
        has: Tres::on_node(cpus, memory).with(Resource::Gpus, gpus),
        features: features.iter().map(ToString::to_string).collect(),
        weight,
        threads_per_core: 1,
        is_down: false,
    };
    assert_eq!(cluster.nodes[0], node("b1", (12, 510_000, 0), &["ib", "big"], 10));
    assert_eq!(cluster.nodes[1], node("g01", (11, 48_000, 3), &["old"], 1));
    assert_eq!(cluster.nodes[3], node("n2", (12, 48_000, 0), &["ib", "std"], 1));
    let [batch, gpu, whole] = &cluster.partitions[..] else { panic!("{:?}", cluster.partitions) };
    assert_eq!((names(&cluster, &batch.nodes).as_str(), batch.is_default), ("b1,n[2-9]", true));
    assert_eq!((batch.max_time, batch.default_time), (Some(3 * DAY), Some(30 * MINUTE)));
    // The limit of a job that has none: without a default of its own, a partition gives its longest.
    assert_eq!(batch.time_of_unlimited(), Some(30 * MINUTE));
    assert_eq!((whole.time_of_unlimited(), gpu.time_of_unlimited()), (Some(3 * DAY), None));
    assert_eq!((batch.priority_tier, batch.priority_job_factor, batch.max_nodes), (2, 1, Some(4)));
    assert_eq!((batch.memory_per_cpu, batch.qos.as_str()), (Some(1000), "normal"));
    assert_eq!((names(&cluster, &gpu.nodes).as_str(), gpu.max_time), ("g[01-02],n2", None));
    assert_eq!((gpu.priority_tier, gpu.priority_job_factor), (7, 7));
    assert!(gpu.exclusive && gpu.least_loaded_first && !batch.exclusive && !batch.least_loaded_first);
    assert_eq!((whole.nodes.len(), whole.memory_per_cpu, whole.min_nodes), (12, None, 2));
    assert_eq!((whole.max_cpus_per_node, whole.state), (Some(8), PartitionState::Drain));
    assert_eq!(cluster.default_partition(), Some(0));
    let expected = [
        (5, "NodeName Port", false),
        (6, "NodeName Gres, the type tesla", true),
        (6, "NodeName Gres, the type k80", true),
        (9, "PartitionName AllowQOS", true),
    ];
    assert_eq!(ignored(SITE), expected.map(|(line, name, matters)| (line, name.to_string(), matters)));
}

#[test]
fn nodes_that_are_down_and_what_the_system_keeps() {
    let text = "NodeName=DEFAULT CPUs=8 ThreadsPerCore=2 RealMemory=1000\nNodeName=a State=DOWN\nNodeName=b State=drained\n\
                NodeName=c State=FAILING\nNodeName=d\nNodeName=e State=IDLE CoreSpecCount=1\nNodeName=f CPUSpecList=0-1,4\n\
                DownNodes=d,f Reason=\"x y\"\nDownNodes=e State=UNKNOWN\nNodeName=g State=CLOUD\n\
                PartitionName=p Nodes=ALL DefMemPerNode=500 State=INACTIVE\nPartitionName=q Nodes=ALL DefMemPerCPU=0\n\
                PartitionName=r Nodes=ALL\nDefMemPerNode=700";
    let cluster = machine(text);
    let down: Vec<bool> = cluster.nodes.iter().map(|node| node.is_down).collect();
    assert_eq!(down, [true, true, true, true, false, true, false]);
    assert_eq!(cluster.nodes.iter().map(|node| node.has.cpus()).collect::<Vec<_>>(), [8, 8, 8, 8, 6, 4, 8]);
    assert_eq!(cluster.down(), (5, 36));
    let of = |at: usize| (cluster.partitions[at].memory_per_cpu, cluster.partitions[at].memory_per_node);
    assert_eq!([of(0), of(1), of(2)], [(None, Some(500)), (None, None), (None, Some(700))]);
    assert_eq!(cluster.partitions[0].state, PartitionState::Down);
    assert_eq!(ignored(text), [(10, "NodeName State=CLOUD".to_string(), true)]);
    let select = "SelectTypeParameters=CR_Socket_Memory,CR_ONE_TASK_PER_CORE,LL_SHARED_GRES\nNodeName=a CPUs=4";
    let names = ["CR_Socket_Memory", "CR_ONE_TASK_PER_CORE", "LL_SHARED_GRES"];
    let noted = |matters: [bool; 3]| -> Vec<_> {
        names.iter().zip(matters).map(|(name, matters)| (1, format!("SelectTypeParameters={name}"), matters)).collect()
    };
    assert_eq!(ignored(select), noted([true, false, false]));
    assert_eq!(ignored(&format!("{select} ThreadsPerCore=2")), noted([true, true, false]));
}

#[test]
fn what_select_means_is_kept() {
    let with = |text: &str| machine(&format!("NodeName=a\nPartitionName=p Nodes=a MaxTime=1:00:00\n{text}"));
    let plain = with("");
    assert_eq!((plain.shares_cores, plain.ignores_memory), (false, false));
    let cpus = with("SelectTypeParameters=CR_CPU,CR_LLN");
    assert_eq!((cpus.shares_cores, cpus.ignores_memory), (true, true));
    assert!(cpus.partitions[0].least_loaded_first && !cpus.partitions[0].exclusive);
    assert!(with("SelectType=select/linear").partitions[0].exclusive);
    let cores = with("SelectTypeParameters=CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK");
    assert_eq!((cores.shares_cores, cores.ignores_memory), (false, false));
    assert_eq!(cores.partitions[0].max_time, Some(HOUR));
}

#[test]
fn nodes_of_the_future_and_sets_of_nodes() {
    let text = "NodeName=n[1-4] Feature=x\nNodeName=m1\nNodeName=f[1-2] State=FUTURE\n\
                NodeSet=xs Feature=x\nNodeSet=two Nodes=m1,n1\nPartitionName=a Nodes=xs,f1\nPartitionName=b Nodes=two\n\
                PartitionName=empty\nPartitionName=c Nodes=f[1-2]\n";
    let cluster = machine(text);
    assert_eq!(cluster.nodes.len(), 5);
    let of = |at: usize| names(&cluster, &cluster.partitions[at].nodes);
    assert_eq!((of(0).as_str(), of(1).as_str(), cluster.partitions.len()), ("n[1-4]", "m1,n1", 2));
    let expected = [
        (3, "NodeName State=FUTURE: these nodes do not exist yet", false),
        (8, "PartitionName empty, which has no nodes", true),
        (9, "PartitionName c, which has no nodes", true),
    ];
    assert_eq!(ignored(text), expected.map(|(line, name, matters)| (line, name.to_string(), matters)));
    // A file without partitions has one of all nodes.
    let one = machine("NodeName=n[1-2]");
    assert_eq!((one.partitions[0].name.as_str(), &one.partitions[0].nodes[..]), ("all", &[0, 1][..]));
}

#[test]
fn the_files_beside_it_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "topology.conf",
        "SwitchName=s1 Nodes=n[1-2] LinkSpeed=1\nSwitchName=top Switches=s[1-2]\nSwitchName=s2 Nodes=n[3-9]\n",
    );
    write(
        "gres.conf",
        "AutoDetect=off\nNodeName=n[1-2] Name=gpu Type=a Count=2\nNodeName=n2 Name=gpu File=/dev/n[0-3]\nName=nic Count=1\n",
    );
    let text = "TopologyPlugin=topology/tree\nNodeName=n1 Gres=gpu:7\nNodeName=n2 Gres=gpu\nNodeName=n3\nNodeName=n4 Gres=gpu\n";
    let read = || parse_slurm_conf(text, folder.path());
    let (cluster, ignored) = read().unwrap();
    assert_eq!(cluster.nodes.iter().map(|node| node.has.count(Resource::Gpus)).collect::<Vec<_>>(), [7, 6, 0, 1]);
    let switch = |name: &str, nodes: &[u32], switches: &[u32]| super::super::Switch {
        name: name.to_string(),
        nodes: nodes.to_vec(),
        switches: switches.to_vec(),
    };
    assert_eq!(cluster.switches, [switch("s1", &[0, 1], &[]), switch("top", &[], &[0, 2]), switch("s2", &[2, 3], &[])]);
    let shown: Vec<_> = ignored.iter().map(|ignored| format!("{}: {}", ignored.place, ignored.name)).collect();
    let expected = [
        "gres.conf, line 1: AutoDetect",
        "gres.conf, line 4: Name=nic",
        "topology.conf, line 1: SwitchName LinkSpeed",
        "topology.conf, line 3: SwitchName s2: 5 nodes that do not exist, such as n5",
    ];
    assert_eq!(shown, expected);
    write("topology.conf", "SwitchName=a Switches=b\nSwitchName=b Switches=a\n");
    assert_eq!(read().unwrap_err().to_string(), "topology.conf, line 1: the switch 'a' is below itself");
    write("topology.conf", "SwitchName=a Switches=spine\nSwitchName=spin\n");
    let why = "topology.conf, line 1: the switch 'a': there is no switch 'spine'; did you mean 'spin'?";
    assert_eq!(read().unwrap_err().to_string(), why);
    write("topology.conf", "SwitchName=a\nSwitchName=a\n");
    assert_eq!(read().unwrap_err().to_string(), "topology.conf, line 2: the switch 'a': another one has this name");
}

#[test]
fn mistakes_are_named_with_their_lines() {
    for (text, why) in [
        ("ClusterName=x", "line 1: there are no nodes: write NodeName=n[1-4] CPUs=12"),
        ("NodeName=n[1-3]\n\nNodeName=m1,n2", "line 3: the node 'n2' is there a second time; the first is in line 1"),
        ("NodeName=n[1-3],n2", "line 1: the node 'n2' is there twice in the list"),
        ("NodeName=n[1-1000000]", "line 1: NodeName: 1,000,000 nodes; a machine has at most 500,000"),
        ("NodeName=n[0-4294967295]m[0-4294967295]p[0-9]", "line 1: NodeName: too many nodes; a machine has at most"),
        ("NodeName=n[1-500000] CPUs=10000", "line 1: 5,000,000,000 CPUs; a machine has at most 4,294,967,295"),
        ("NodeName=n/1", "line 1: NodeName: 'n/1' is no name of a node"),
        (
            "NodeName=n[1-3]\nPartitionName=a Nodes=n[1-4]",
            "line 2: PartitionName a: there is no node 'n4'; the nodes are n[1-3]",
        ),
        ("NodeName=n1\nPartitionName=a Nodes=n[1", "line 2: PartitionName a: 'n[1' is no list such as n[1-9]"),
        ("NodeName=n1\nPartitionName=a Nodes=n[1-9999999]", "line 2: PartitionName a: too long a list"),
        (
            "NodeName=n1\nPartitionName=a Nodes=n1\nPartitionName=a Nodes=n1",
            "line 3: PartitionName a: another line has",
        ),
        (
            "NodeName=n1\nPartitionName=a Nodes=n1 MaxTim=3",
            "line 2: PartitionName: no key 'MaxTim'; the keys are Nodes, ",
        ),
        ("NodeName=n1\nPartitionName=a Nodes=n1 MaxTime=soon", "line 2: PartitionName a: MaxTime=soon: not a time"),
        (
            "NodeName=n1\nPartitionName=a Nodes=n1 MaxNodes=-3",
            "line 2: PartitionName a: MaxNodes=-3: not a whole number",
        ),
        (
            "NodeName=n1\nPartitionName=a Nodes=n1 Default=maybe",
            "line 2: PartitionName a: Default=maybe: neither YES nor NO",
        ),
        ("NodeName=n1\nDownNodes=n[1", "line 2: DownNodes: 'n[1' is no list such as n[1-9]"),
        (
            "NodeName=n1 CPUs=4 CoreSpecCount=4",
            "line 1: NodeName: CoreSpecCount or CPUSpecList: no CPU is left for jobs",
        ),
        ("NodeName=n1 CPUSpecList=x", "line 1: NodeName: CPUSpecList=x: not a whole number"),
        ("NodeName=n1\nPartitionName=a Nodes=n1 State=OFF", "line 2: PartitionName a: State=OFF: neither UP nor DOWN"),
        ("NodeName=n1\nDefMemPerCPU=much", "line 2: DefMemPerCPU=much: not memory such as 8G"),
    ] {
        let error = wrong(text);
        assert!(error.starts_with(why), "{text}: {error}");
    }
}
