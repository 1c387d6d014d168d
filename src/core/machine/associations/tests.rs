//! Dumps and tables, with what they mean worked out by hand.

use super::*;
use crate::time::{DAY, HOUR, MINUTE};
use crate::tres::{Resource, Tres};

/// As a real Slurm wrote them: see the README there.
const DUMP: &str = include_str!("../../../../tests/slurm-accounts/limits.dump");
const QOS: &str = include_str!("../../../../tests/slurm-accounts/limits.qos");
const SHOWN: &str = include_str!("../../../../tests/slurm-accounts/limits.assoc");
const TREE: &str = include_str!("../../../../tests/slurm-accounts/limits.tree");

/// What texts say of a cluster, with the lines of what has no effect; a `!` marks what matters.
fn read_of(cluster: Option<&str>, texts: &[&str]) -> Result<(Associations, Vec<String>), String> {
    let mut chosen = ChosenCluster { cluster: cluster.map(str::to_string), seen: BTreeSet::new() };
    let (mut associations, mut lines) = (Associations::default(), Vec::new());
    for text in texts {
        let ignored = associations.add_text(text, &mut chosen).map_err(|error| error.to_string())?;
        let line = |one: Ignored| format!("{} {}{}", one.place.line, one.name, if one.matters { "!" } else { "" });
        lines.extend(ignored.into_iter().map(line));
    }
    Ok((associations, lines))
}

fn read(text: &str) -> Result<(Associations, Vec<String>), String> {
    read_of(None, &[text])
}

fn wrong(text: &str) -> String {
    read(text).unwrap_err()
}

fn account<'a>(all: &'a Associations, name: &str) -> &'a Account {
    all.accounts.iter().find(|one| one.name == name).unwrap()
}

fn user<'a>(all: &'a Associations, name: &str, account: &str) -> &'a User {
    all.users.iter().find(|one| one.name == name && one.account == account).unwrap()
}

#[test]
fn a_dump_of_a_real_slurm_is_read() {
    let (all, ignored) = read(DUMP).unwrap();
    let shown: Vec<_> = all.accounts.iter().map(|one| (&*one.name, &*one.parent, one.own.shares)).collect();
    let expected = [("root", "root", 1), ("biology", "root", 1), ("physics", "root", 5), ("optics", "physics", 2)];
    assert_eq!(shown, expected.map(|(name, parent, shares)| (name, parent, Some(shares))));
    let cpus = |cpus| Tres::default().with(Resource::Cpus, Some(cpus));
    assert_eq!(account(&all, "root").own.limits.group_tres, cpus(500));
    assert_eq!(account(&all, "biology").own.limits.max_wall, Some(DAY));
    let physics = &account(&all, "physics").own;
    assert_eq!((physics.qos.join(","), physics.default_qos.as_str()), ("hi,normal".to_string(), "hi"));
    assert_eq!(physics.limits.group_tres, cpus(30).with(Resource::Memory, Some(8192)));
    assert_eq!(account(&all, "optics").own.limits.group_tres_running_minutes, cpus(1000));
    let shown: Vec<_> =
        all.users.iter().map(|one| (&*one.name, &*one.account, one.is_default, one.own.shares)).collect();
    let expected = [
        ("root", "root", true, Some(1)),
        ("bob", "biology", true, Some(1)),
        ("bob", "physics", false, Some(3)),
        // Slurm writes 2147483647 for the shares of the account above.
        ("ann", "optics", true, None),
    ];
    assert_eq!(shown, expected);
    let bob = &user(&all, "bob", "physics").own;
    assert_eq!((bob.limits.max_jobs, bob.limits.max_submit_jobs), (Some(7), Some(9)));
    assert_eq!(bob.limits.max_tres_per_job, Tres::default().with(Resource::Gpus, Some(1)));
    // +lo is beside what the account has.
    assert_eq!(bob.qos.join(","), "hi,normal,lo");
    let ann = &user(&all, "ann", "optics").own.limits;
    assert_eq!((ann.group_jobs, ann.max_tres_minutes_per_job), (Some(4), cpus(100)));
    let mattering: Vec<_> = ignored.iter().filter(|line| line.ends_with('!')).collect();
    assert_eq!(mattering, ["21 Priority!", "24 the line of ann in the partition gpu!"]);
    assert_eq!(all.unknown_qos().into_iter().collect::<Vec<_>>(), ["hi", "lo"]);
}

/// A dump and what `show` prints of the same database mean the same. Slurm shows the limits of accounts for their users too, and the
/// shares of the parent as a word.
#[test]
fn a_dump_means_what_the_tables_mean() {
    let (dump, _) = read_of(None, &[DUMP, QOS]).unwrap();
    let (tree, ignored) = read_of(Some("test"), &[TREE, QOS]).unwrap();
    assert_eq!((&dump.qos, dump.unknown_qos().len()), (&tree.qos, 0));
    let names = |all: &Associations| all.qos.iter().map(|qos| qos.name.clone()).collect::<Vec<_>>().join(",");
    assert_eq!(names(&dump), "normal,lo,hi");
    for one in &dump.accounts {
        let other = account(&tree, &one.name);
        assert_eq!((&one.parent, one.own.shares), (&other.parent, other.own.shares), "{}", one.name);
        assert_eq!(one.own.limits, other.own.limits, "{}", one.name);
    }
    assert_eq!((dump.accounts.len(), dump.users.len()), (tree.accounts.len(), tree.users.len()));
    let sorted = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    for one in &dump.users {
        let other = user(&tree, &one.name, &one.account);
        assert_eq!(one.own.shares, other.own.shares, "{}", one.name);
        assert!(one.own.qos.is_empty() || sorted(&one.own.qos) == sorted(&other.own.qos), "{}", one.name);
    }
    assert_eq!(ignored, ["11 the column Priority!", "13 the row of ann in the partition gpu!"]);
    // Without a column for it, or a tree, the accounts above are not known.
    let (flat, ignored) = read_of(Some("test"), &[SHOWN]).unwrap();
    assert!(flat.accounts.iter().all(|account| account.parent == ROOT));
    assert!(ignored.contains(&"1 no column ParentName: all accounts are directly below the root!".to_string()));
}

#[test]
fn rows_of_another_cluster_are_not_read() {
    let (other, _) = read_of(Some("other"), &[TREE]).unwrap();
    let names: Vec<_> = other.users.iter().map(|user| &*user.name).collect();
    assert_eq!((other.accounts.len(), names), (2, vec!["root", "cat"]));
    let two = "Cluster - 'a'\nParent - 'root'\nAccount - 'x'\nCluster - 'B'\nParent - 'root'\nAccount - 'y'\n";
    let names = |cluster| {
        let (all, _) = read_of(cluster, &[two]).unwrap();
        all.accounts.iter().map(|account| account.name.clone()).collect::<Vec<_>>().join(",")
    };
    assert_eq!((names(Some("a")), names(Some("b"))), ("root,x".to_string(), "root,y".to_string()));
    assert_eq!(Associations::parse(two).unwrap_err().to_string(), "line 1: of several clusters: a, b");
}

/// Newer versions of Slurm write qualities of service into a dump too.
#[test]
fn a_dump_may_have_lines_of_qos() {
    let text = "\
QOS - 'normal':Description='Normal QOS default'
QOS - 'hi':Description='it's: fast':Flags='DenyOnLimit,NoDecay':GraceTime=0:MaxJobsPU=3:MaxTRESPerUser=cpu=12,gres/gpu:v100=2:Priority=100:UsageFactor=0.500000
Cluster - c:Classification='Capability'   # of the site
Parent - \"root\"
Account - 'a':Description='x':MaxTRESRunMins=cpu=5:MaxJobsAccrue=2
";
    let (all, ignored) = read(text).unwrap();
    let hi = &all.qos[1];
    assert_eq!((hi.priority, hi.usage_factor, hi.deny_on_limit, hi.limits.max_jobs), (100, 0.5, true, Some(3)));
    assert_eq!(hi.limits.max_tres_per_user, Tres::default().with(Resource::Cpus, Some(12)));
    assert_eq!(all.accounts.iter().map(|one| &*one.name).collect::<Vec<_>>(), ["root", "a"]);
    let mattering: Vec<_> = ignored.iter().filter(|line| line.ends_with('!')).map(String::as_str).collect();
    let expected = ["2 Flags=NoDecay!", "2 MaxTRESPerUser gres/gpu:v100!", "5 MaxTRESRunMins!", "5 MaxJobsAccrue!"];
    assert_eq!(mattering, expected);
    // What two files say of a QOS must be the same.
    let table = "Name|Priority|Flags|MaxJobsPU|MaxTRESPU|UsageFactor\nhi|100|DenyOnLimit|3|cpu=12|0.5\n";
    assert_eq!(read_of(None, &[text, table]).unwrap().0.qos.len(), 2);
    let other = table.replace("100", "7");
    assert_eq!(read_of(None, &[text, &other]).unwrap_err(), "line 2: the QOS 'hi' is there twice");
}

#[test]
fn mistakes_of_dumps_are_named_with_their_lines() {
    let of = |line: &str| format!("Cluster - 'c'\nParent - 'root'\n{line}");
    for (text, why) in [
        (String::new(), "line 1: nothing to read: export the accounts with 'sacctmgr dump CLUSTER file=site.dump' and"),
        ("\nhello".into(), "line 2: 'hello' is no line of a dump such as User - 'ann':"),
        ("Frob - 'a'".into(), "line 1: 'Frob - 'a'' is no line of a dump"),
        (
            "# a script\nadd user name=u account=a".into(),
            "line 2: 'add user name=u account=a' is a command for sacctmgr: such scripts are not read, because they do not say what \
             was there before; export the accounts with 'sacctmgr dump CLUSTER file=site.dump'",
        ),
        ("sacctmgr -i modify qos normal set Priority=1".into(), "line 1: 'sacctmgr -i modify qos"),
        ("Parent - 'root'".into(), "line 1: Parent before the first line 'Cluster - NAME'"),
        ("Cluster - 'c'\nAccount - 'a'".into(), "line 2: Account before a line 'Parent - NAME'"),
        (of("Parent - 'b'"), "line 3: there is no line 'Account - 'b'' before"),
        (of("Account - 'a':Fairshare=lots"), "line 3: Fairshare=lots: 'lots' is no whole number"),
        (of("Account - 'a':MaxWall=soon"), "line 3: MaxWall=soon: 'soon' is no time such as 7-0 or 30:00"),
        (of("Account - 'a':GrpTRES=12"), "line 3: GrpTRES=12: '12' is no amount such as cpu=12,mem=4G"),
        (of("Account - 'a':GrpJobs=-7"), "line 3: GrpJobs=-7: '-7' is no whole number"),
        (of("Account - ''"), "line 3: Account - without a name"),
        (of("Account - 'a"), "line 3: a quote is not closed"),
        (of("Account - 'a':Fairshare"), "line 3: ':Fairshare' is not :key=value"),
        (of("Account - 'a'\nAccount - 'a'"), "line 4: the account 'a': another one has this name"),
    ] {
        let error = wrong(&text);
        assert!(error.starts_with(why), "{text}: {error}");
    }
}

const ASSOC: &str = "\
Cluster|Account|User|Partition|Share|Priority|GrpJobs|GrpTRES|GrpSubmit|GrpWall|GrpTRESMins|MaxJobs|MaxTRES|MaxTRESPerNode|MaxSubmit|MaxWall|MaxTRESMins|QOS|Def QOS|GrpTRESRunMins
c|root|||1|||||||||||||normal||
c|root|root||1|||||||||||||normal||
c| physics|||5|||cpu=30,mem=8G||||||||||normal,hi|hi|
c|  optics|||2|||||||||||||normal||
c|  optics|ann||parent||4|||||||||1-00:00:00||normal||
c|  optics|ann|gpu|1|||||||||||||normal||
c| biology|||1|||||||||||||normal||
";

#[test]
fn tables_of_associations_are_read() {
    let (associations, ignored) = read(ASSOC).unwrap();
    let accounts: Vec<_> = associations.accounts.iter().map(|one| (&*one.name, &*one.parent, one.own.shares)).collect();
    assert_eq!(
        accounts,
        [
            ("root", "root", Some(1)),
            ("physics", "root", Some(5)),
            ("optics", "physics", Some(2)),
            ("biology", "root", Some(1))
        ]
    );
    let physics = &associations.accounts[1];
    assert_eq!((physics.own.qos.join(","), physics.own.default_qos.as_str()), ("normal,hi".to_string(), "hi"));
    assert_eq!(
        physics.own.limits.group_tres,
        Tres::default().with(Resource::Cpus, Some(30)).with(Resource::Memory, Some(8192))
    );
    let ann = &associations.users[1];
    assert_eq!(
        (ann.name.as_str(), ann.account.as_str(), ann.own.shares, ann.is_default),
        ("ann", "optics", None, true)
    );
    assert_eq!((ann.own.limits.group_jobs, ann.own.limits.max_wall), (Some(4), Some(DAY)));
    assert_eq!(ignored, ["7 the row of ann in the partition gpu!"]);
}

#[test]
fn tables_of_qualities_of_service_are_read() {
    let text = "Name|Priority|GraceTime|Flags|UsageFactor|MaxTRESPU|MaxJobsPU|MaxWall|\nnormal|0|00:00:00||1.000000||||\n\
                hi|100|00:00:00|DenyOnLimit,OverPartQOS|0.500000|cpu=12|3|12:00:00|\n";
    let (associations, ignored) = read(text).unwrap();
    let hi = &associations.qos[1];
    assert_eq!((hi.name.as_str(), hi.priority, hi.usage_factor, hi.deny_on_limit), ("hi", 100, 0.5, true));
    assert_eq!(
        (hi.limits.max_tres_per_user[Resource::Cpus], hi.limits.max_jobs, hi.limits.max_wall),
        (Some(12), Some(3), Some(12 * HOUR))
    );
    assert_eq!(ignored, ["3 Flags=OverPartQOS!"]);
    // A column that is not used matters where it says something.
    let unused = "Name|LimitFactor|Other\na|0|\nb|2|x\n";
    assert_eq!(read(unused).unwrap().1, ["3 the column LimitFactor!", "3 the column Other!"]);
    let preempting = "Name|GraceTime|PreemptMode|Preempt|PreemptExemptTime\na|00:00:00|cluster||\n\
                      b|00:05:00|cancel|a,c|00:00:20\nc|90|requeue,within||\nd||suspend||1\n";
    let (Associations { qos, .. }, ignored) = read(preempting).unwrap();
    let of = |at: usize| (qos[at].grace, qos[at].preempt_mode, qos[at].preempts.join(","), qos[at].preempt_exempt);
    let none = String::new();
    assert_eq!(of(0), (0, None, none.clone(), None));
    assert_eq!(of(1), (300, Some(PreemptMode::Cancel), "a,c".to_string(), Some(20)));
    assert_eq!(of(2), (90, Some(PreemptMode::Requeue), none.clone(), None));
    assert_eq!(of(3), (0, Some(PreemptMode::Off), none, Some(MINUTE)));
    assert_eq!(ignored, ["4 PreemptMode=within!", "5 PreemptMode=suspend!"]);
    assert!(wrong("Name|GraceTime\na|soon\n").starts_with("line 2: GraceTime: 'soon' is no time such as 00:20:00"));
    for (text, why) in [
        ("a|b\n", "line 1: neither a column Account nor a column Name in 'a|b': give the output of"),
        ("Name|Priority\nx|1|2\n", "line 2: 3 cells; the header has 2 columns"),
        ("Name|Priority\nx|much\n", "line 2: 'much' is no whole number"),
        ("Name|Priority\nx|1\nx|2\n", "line 3: the QOS 'x' is there twice"),
        ("Account|User|ParentName\na||b\n", "line 1: the account 'a': there is no account 'b'"),
    ] {
        let error = wrong(text);
        assert!(error.starts_with(why), "{text}: {error}");
    }
}

#[test]
fn limits_are_written_as_they_are_read() {
    let text = "QOS - 'q':MaxTRESPerUser=cpu=12,mem=3000,node=2,gres/gpu=1:GrpWall=180:MaxJobsPA=2";
    let limits = read(text).unwrap().0.qos[0].limits.clone();
    assert_eq!(
        limits.in_words(LimitOwner::Qos),
        "group_wall=3h max_jobs_per_account=2 max_tres_per_user=cpu=12,mem=3000M,node=2,gres/gpu=1"
    );
}
