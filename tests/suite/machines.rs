//! Machines of nodes: configurations of sites, what `sim machine` shows of them, their conversion to TOML, and bad input.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use shadowtime::machine::associations::Associations;
use shadowtime::machine::{
    AssociationsFile, Cluster, Ignored, Resource, joined_names, parse_cluster, parse_toml, read_cluster,
};
use shadowtime::time::{DAY, HOUR, MINUTE};

use super::support::{Folder, dump_of_site, real_logs, sim, sim_ok};

/// As TOML, read back.
fn through_toml(cluster: &Cluster) -> Cluster {
    let mut text = Vec::new();
    cluster.write_toml(&mut text).unwrap();
    parse_toml(std::str::from_utf8(&text).unwrap()).unwrap()
}

/// The nodes of a partition as a list.
fn nodes_of(cluster: &Cluster, name: &str) -> String {
    let partition = &cluster.partitions[cluster.partition(name).unwrap()];
    joined_names(partition.nodes.iter().map(|at| cluster.nodes[*at as usize].name.as_str()))
}

fn shown(ignored: &[Ignored], matters: bool) -> Vec<String> {
    let of_kind = ignored.iter().filter(|ignored| ignored.matters == matters);
    of_kind.map(|ignored| format!("{}: {}", ignored.place, ignored.name)).collect()
}

const CONF: &str = "\
ClusterName=small
SelectTypeParameters=CR_Core_Memory
NodeName=n[1-3] CPUs=12 RealMemory=48000 Feature=ib NodeAddr=10.0.0.[1-3]
NodeName=g1 CPUs=8 RealMemory=16000 Gres=gpu:2 CoreSpecCount=1
PartitionName=batch Nodes=n[1-3] Default=YES MaxTime=3-0 DefMemPerCPU=2800
PartitionName=all Nodes=ALL PriorityTier=2 MaxNodes=2 AllowQos=hi
";

/// The output is the machine, and notes say what of the configuration is not in it.
#[test]
fn a_configuration_becomes_toml() {
    let folder = Folder::new();
    let conf = folder.write("slurm.conf", CONF);
    let dump = "QOS - 'normal'\nQOS - 'hi':Priority=5:MaxJobsPU=2\nCluster - 'small'\nParent - 'root'\n\
        Account - 'a':Fairshare=3\nParent - 'a'\nUser - 'u':DefaultAccount='a':AdminLevel='Operator'\n";
    let dump = folder.write("dump", dump);
    let ran = sim(&["machine", &conf, "--associations", &dump]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for note in [
        format!(
            "warning: {conf}: not simulated, though it may change which jobs start: PartitionName AllowQos (line 6)\n"
        ),
        format!("note: {conf}: not used: NodeName NodeAddr (line 3)\n"),
        format!("note: {dump}: not used: AdminLevel ({dump}, line 7)\n"),
        format!("note: {conf}: 4 nodes, 2 partitions\n"),
    ] {
        assert!(ran.err.contains(&note), "{note}\n{}", ran.err);
    }
    for line in ["name = \"n[1-3]\"", "memory_per_cpu = \"2800M\"", "max_jobs_per_user = 2", "shares = 3"] {
        assert!(ran.out.contains(line), "{line}\n{}", ran.out);
    }
    let toml = folder.text("site");
    let ran = sim(&["-q", "machine", &conf, "--out", &toml]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    // The content decides what a file is, and what is written is what was read.
    assert_eq!(sim_ok(&["machine", &toml]), folder.read("site"));
    assert_eq!(read_cluster(Path::new(&toml)).unwrap().0, read_cluster(Path::new(&conf)).unwrap().0);
    let taken = sim(&["machine", &conf, "--out", &conf]);
    assert!(taken.code == 2 && taken.err.contains("would overwrite"), "{}", taken.err);
}

#[test]
fn bad_files_are_named_with_their_lines() {
    let folder = Folder::new();
    for (text, why) in [
        ("", ": line 1: there are no nodes: write NodeName=n[1-4]"),
        ("\n[[nodes]]\nname = \"a\"\ncpu = 4\n", ": line 4: nodes: no key 'cpu'; the keys are name, cpus, "),
        (
            "[[nodes]]\nname = \"n[1-9]\"\ncpus = 4\n[[nodes]]\nname = \"n9\"\ncpus = 4",
            ": line 5: the node 'n9' is there a second",
        ),
        (
            "NodeName=n1\nPartitionName=p Nodes=n[1-2]",
            ": line 2: PartitionName p: there is no node 'n2'; the nodes are n1",
        ),
        ("NodeName=n1 CPUs=-1", ": line 1: NodeName: CPUs=-1 is not a whole number above 0"),
        ("NodeName=n1 CPUs=99999999999", ": line 1: NodeName: CPUs=99999999999 is not a whole number"),
        (
            "[[nodes]]\nname = \"n1\"\ncpus = 99999999999",
            ": line 3: nodes: cpus: 99999999999: not a whole number from 1 to",
        ),
    ] {
        let file = folder.write("machine", text);
        let ran = sim(&["machine", &file]);
        assert!(
            ran.code == 2 && ran.out.is_empty() && ran.err.contains(&format!("{file}{why}")),
            "{text}: {}",
            ran.err
        );
    }
    let ran = sim(&["machine", &folder.text("nothing")]);
    assert!(ran.code == 2 && ran.err.contains("cannot read "), "{}", ran.err);
    let (conf, script) = (folder.write("conf", "NodeName=a"), folder.write("script", "\nadd user u"));
    let ran = sim(&["machine", &conf, "--associations", &script]);
    let why = format!("{script}: line 2: 'add user u' is a command for sacctmgr: such scripts are not read");
    assert!(ran.code == 2 && ran.err.contains(&why), "{}", ran.err);
}

/// Nothing of a list is made before it is counted.
#[test]
fn lists_of_a_million_nodes_are_refused_at_once() {
    let since = Instant::now();
    let many = |list: &str| [format!("NodeName={list} CPUs=4"), format!("[[nodes]]\nname = \"{list}\"\ncpus = 4")];
    for list in ["n[1-1000000]", "n[1-4000000000]", "r[1-1000]c[1-1000]n[1-1000000]", "a[0-499999],b"] {
        for text in many(list) {
            let error = parse_cluster(&text, Path::new("")).unwrap_err().to_string();
            assert!(error.contains(" nodes; a machine has at most 500,000"), "{error}");
        }
    }
    let partitions = "PartitionName=p Nodes=n[1-4000000000]";
    let error = parse_cluster(&format!("NodeName=n1\n{partitions}"), Path::new("")).unwrap_err().to_string();
    assert!(error.starts_with("line 2: PartitionName p: too long a list"), "{error}");
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
}

/// Texts of pieces that files have, so that more than the first line is read.
fn pieces() -> impl Strategy<Value = String> {
    let words = [
        "NodeName=",
        "PartitionName=",
        "DEFAULT",
        "n[1-3]",
        "n[",
        "]",
        "ALL",
        " CPUs=4",
        " Nodes=",
        " Gres=gpu:2(",
        "gpu:",
        "(",
        ")",
        "\n",
        "\n",
        " ",
        "=",
        ",",
        "\"",
        "\\",
        "#",
        "[[nodes]]\n",
        "[[partitions]]\n",
        "name = \"a\"\n",
        "cpus = 1\n",
        "nodes = ",
        "'x[1-2]'",
        "add ",
        "User - ",
        "Account - ",
        "Parent - 'root'\n",
        "Cluster - 'c'\n",
        "QOS - ",
        ":Fairshare=",
        ":QOS='+",
        "'",
        ":",
        "u1",
        "|",
        "Account|User|Share\n",
        "Name|Priority\n",
        "MaxTRES=cpu=1,",
        "é",
        "\u{202e}",
        "\t",
        "-1",
        "99999999999999999999",
        "NodeSet=",
        "Feature=",
        "*",
        "0",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_is_too_strange(text in pieces(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for text in [text, String::from_utf8_lossy(&bytes).into_owned()] {
            if let Ok((cluster, _)) = parse_cluster(&text, Path::new("/no such folder")) {
                prop_assert_eq!(through_toml(&cluster), cluster);
            }
            let _ = Associations::parse(&text);
        }
    }
}

/// The micro cluster of UB. By hand: 10 nodes of 12 cores; 9 of 48,000 MB and b1 of 512,000 MB; g1 has 2 GPUs.
#[test]
fn the_micro_cluster_of_ub() {
    let Some(logs) = real_logs("the_micro_cluster_of_ub") else { return };
    let folder = logs.join("nodes/ub-micro");
    let (mut cluster, ignored) = read_cluster(&folder.join("slurm.conf")).unwrap();
    assert_eq!((cluster.nodes.len(), cluster.cpus(), cluster.total()[Resource::Gpus]), (10, 120, 2));
    assert_eq!(cluster.total().memory(), 9 * 48_000 + 512_000);
    let names: Vec<_> = cluster.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(joined_names(names), "b1,g1,m[1-4],n[1-4]");
    assert_eq!(cluster.nodes[0].features, ["IB", "CPU-G", "BigMem"]);
    assert_eq!(
        (nodes_of(&cluster, "normal").as_str(), nodes_of(&cluster, "debug").as_str()),
        ("b1,g1,m[1-4],n[1-4]", "n[1-2]")
    );
    let normal = &cluster.partitions[0];
    assert_eq!((normal.is_default, normal.max_time, normal.memory_per_cpu), (true, None, Some(2800)));
    assert_eq!((cluster.switches.len(), &cluster.switches[3].switches[..]), (4, &[0, 1, 2][..]));
    assert_eq!(shown(&ignored, true), Vec::<String>::new());
    let others = shown(&ignored, false);
    assert!(others.contains(&"line 61: SchedulerParameters".to_string()), "{others:?}");
    assert!(!others.iter().any(|line| line.contains("NodeName") || line.contains("PartitionName")), "{others:?}");
    let (associations, ignored) = accounts_of("ub-micro", &cluster);
    cluster.associations = associations;
    let Associations { qos, accounts, users } = &cluster.associations;
    assert_eq!(
        qos.iter().map(|qos| (&*qos.name, qos.priority)).collect::<Vec<_>>(),
        [("normal", 0), ("supporters", 100)]
    );
    let shares: Vec<_> = accounts.iter().map(|account| (&*account.name, account.own.shares)).collect();
    assert_eq!(shares, [("root", Some(1)), ("account0", Some(100)), ("account1", Some(100)), ("account2", Some(100))]);
    let of_users: Vec<_> = users.iter().map(|user| format!("{}@{}", user.name, user.account)).collect();
    let expected =
        ["admin@account0", "user1@account1", "user2@account1", "user3@account1", "user4@account2", "user5@account2"];
    assert_eq!(of_users, expected);
    assert!(
        users
            .iter()
            .all(|user| user.own.limits.max_submit_jobs == Some(1000) && user.own.qos == ["normal", "supporters"])
    );
    assert_eq!(shown(&ignored, true), Vec::<String>::new());
    let others = shown(&ignored, false);
    assert!(others.iter().any(|line| line.ends_with("ub-micro.dump, line 7: AdminLevel")), "{others:?}");
    assert_eq!(through_toml(&cluster), cluster);
}

/// The accounts of a cluster of UB for a machine, and what has no effect.
fn accounts_of(site: &str, cluster: &Cluster) -> (Associations, Vec<Ignored>) {
    let file = AssociationsFile::read(&dump_of_site(site)).unwrap();
    let own = file.of(cluster).unwrap();
    (own.associations.clone(), own.ignored.clone())
}

/// A part of UB's machine. By hand: n 87 and gn 2 of 32 cores; g 8, m 96 and b 24 of 40; b has 754,000 MB, the others 187,000; g
/// and gn have 2 GPUs each.
#[test]
fn the_medium_cluster_of_ub() {
    let Some(logs) = real_logs("the_medium_cluster_of_ub") else { return };
    let folder = logs.join("nodes/ub-medium");
    let (mut cluster, ignored) = read_cluster(&folder.join("slurm.conf")).unwrap();
    assert_eq!(cluster.nodes.len(), 87 + 2 + 8 + 96 + 24);
    assert_eq!(cluster.cpus(), (87 + 2) * 32 + (8 + 96 + 24) * 40);
    assert_eq!((cluster.total().memory(), cluster.total()[Resource::Gpus]), (193 * 187_000 + 24 * 754_000, 10 * 2));
    let kinds: Vec<_> = cluster
        .kinds()
        .iter()
        .map(|kind| {
            (joined_names(kind.iter().map(|at| cluster.nodes[*at].name.as_str())), cluster.nodes[kind[0]].weight)
        })
        .collect();
    let expected =
        [("b[001-024]", 160), ("g[001-008]", 190), ("gn[001-002]", 190), ("m[001-096]", 70), ("n[001-087]", 60)];
    assert_eq!(kinds, expected.map(|(names, weight)| (names.to_string(), weight)));
    let [general, debug] = &cluster.partitions[..] else { panic!("{:?}", cluster.partitions) };
    assert_eq!((general.nodes.len(), general.priority_tier, general.priority_job_factor), (215, 100, 100));
    assert_eq!((general.max_time, general.default_time), (Some(3 * DAY), Some(DAY)));
    assert_eq!((debug.max_time, debug.default_time, debug.qos.as_str()), (Some(HOUR), Some(DAY), "debug"));
    assert_eq!(nodes_of(&cluster, "debug"), "gn[001-002]");
    let mattering = shown(&ignored, true);
    assert_eq!(mattering.len(), 4, "{mattering:?}");
    assert!(
        mattering[0].ends_with("the type tesla_p100-pcie-16gb") && mattering[3].ends_with("PartitionName AllowQOS")
    );
    let others = shown(&ignored, false);
    for missing in ["line 1: SwitchName IBN: 13 nodes", "line 2: SwitchName IBM: 4 nodes", "line 1: AutoDetect"] {
        assert!(others.iter().any(|line| line.contains(missing)), "{missing}: {others:?}");
    }
    let (associations, ignored) = accounts_of("ub-medium", &cluster);
    cluster.associations = associations;
    let Associations { qos, accounts, users } = &cluster.associations;
    let names: Vec<_> = qos.iter().map(|qos| (&*qos.name, qos.priority, qos.limits.max_submit_jobs)).collect();
    let expected = [
        ("general-compute", 0, Some(10_000)),
        ("supporters", 200, Some(1000)),
        ("priority", 200, Some(10_000)),
        ("priority-supporters", 400, Some(1000)),
        ("debug", 0, Some(20)),
    ];
    assert_eq!(names, expected);
    // With the root, which has the settings of the cluster.
    assert_eq!((accounts.len(), users.len()), (63, 96));
    assert!(shown(&ignored, true).is_empty(), "{:?}", shown(&ignored, true));
    assert_eq!(through_toml(&cluster), cluster);
}

/// The text of a record, which may be compressed.
fn record(path: &Path) -> serde_json::Value {
    let mut text = Vec::new();
    let file = std::fs::File::open(path).unwrap();
    match path.extension().is_some_and(|extension| extension == "gz") {
        true => flate2::read::GzDecoder::new(file).read_to_end(&mut text),
        false => std::io::BufReader::new(file).read_to_end(&mut text),
    }
    .unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// The configurations inside the records of a real Slurm. By hand: n1-6 have 4 CPUs (N5: 8, two a core) and 8,000 MB, b1-3 8 CPUs
/// and 32,000 MB, g1-2 4 CPUs, 16,000 MB and 2 GPUs each; MC1 is UB's micro cluster.
#[test]
fn the_configurations_of_all_records() {
    let Some(logs) = real_logs("the_configurations_of_all_records") else { return };
    let mut files: Vec<_> =
        std::fs::read_dir(logs.join("nodes/slurm-record")).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.to_string_lossy().contains(".json"));
    files.sort();
    assert!(files.len() >= 12, "{files:?}");
    for path in files {
        let (record, folder) = (record(&path), Folder::new());
        let name = record["name"].as_str().unwrap().to_string();
        let conf = folder.write("slurm.conf", record["conf"].as_str().unwrap());
        folder.write("gres.conf", record["gresconf"].as_str().unwrap());
        let tree = record["topo"].as_str().unwrap_or_default();
        if !tree.is_empty() {
            folder.write("topology.conf", tree);
        }
        let (cluster, ignored) = read_cluster(Path::new(&conf)).unwrap();
        assert_eq!(through_toml(&cluster), cluster, "{name}");
        assert_eq!(shown(&ignored, true), Vec::<String>::new(), "{name}");
        let ports = ignored.iter().filter(|ignored| ignored.name == "NodeName Port").count();
        assert_eq!(ports, cluster.nodes.len(), "{name}");
        let totals = (cluster.nodes.len(), cluster.cpus(), cluster.total().memory(), cluster.total()[Resource::Gpus]);
        if name.starts_with("MC") {
            assert_eq!((totals, cluster.switches.len()), ((10, 120, 944_000, 2), 4));
            continue;
        }
        let is_threaded = name == "N5";
        let cpus = if is_threaded { 6 * 8 + 3 * 8 + 2 * 4 } else { 6 * 4 + 3 * 8 + 2 * 4 };
        assert_eq!(totals, (11, cpus, 6 * 8000 + 3 * 32_000 + 2 * 16_000, 4), "{name}");
        assert_eq!(cluster.nodes[5].threads_per_core, if is_threaded { 2 } else { 1 }, "{name}");
        assert_eq!((cluster.ignores_memory, cluster.shares_cores), (name == "N5", name == "N4"), "{name}");
        let lists = ["batch", "all", "gpu", "short", "debug"].map(|name| nodes_of(&cluster, name));
        let expected = ["b[1-3],n[1-6]", "b[1-3],g[1-2],n[1-6]", "g[1-2]", "b[1-2],n[4-6]", "n[1-2]"];
        assert_eq!(lists, expected, "{name}");
        let [batch, all, gpu, short, debug] = &cluster.partitions[..] else { panic!("{name}") };
        assert_eq!((batch.is_default, batch.default_time, batch.max_time), (true, Some(2 * MINUTE), Some(30 * MINUTE)));
        assert_eq!(
            (all.max_nodes, gpu.priority_tier, debug.priority_tier, short.priority_job_factor),
            (Some(4), 2, 5, 30)
        );
        assert_eq!((all.least_loaded_first, short.exclusive), (name == "N4", name == "N4"), "{name}");
        assert_eq!(batch.memory_per_cpu, if is_threaded { None } else { Some(1000) }, "{name}");
        assert_eq!(cluster.switches.len(), if name == "N8" { 4 } else { 0 }, "{name}");
    }
}
