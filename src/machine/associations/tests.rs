//! Scripts and dumps, with what they mean worked out by hand.

use super::*;
use crate::time::{DAY, HOUR};

fn read(text: &str) -> Result<(Associations, Vec<String>), String> {
    let mut associations = Associations::default();
    let ignored = associations.add_text(text).map_err(|error| error.to_string())?;
    let line =
        |ignored: Ignored| format!("{} {}{}", ignored.place.line, ignored.name, if ignored.matters { "!" } else { "" });
    Ok((associations, ignored.into_iter().map(line).collect()))
}

fn wrong(text: &str) -> String {
    read(text).unwrap_err()
}

#[test]
fn a_script_is_followed_line_by_line() {
    let text = "\
# qualities of service
modify QOS set normal Priority=10
add qos Name=hi,lo MaxTRESPerUser=cpu=12,gres/gpu=2,billing=9 MaxJobsPerUser=3 Flags=DenyOnLimit,NoDecay
sacctmgr -i modify qos where name=lo set GrpCPUs=20 GrpTRES=mem=4G UsageFactor=0.5 MaxWall=2-0 GraceTime=5
add cluster name=c qos=normal,hi
add account name=a1 fairshare=2 Description=\"some words\"
add account name=a2 parent=a1 GrpTRES=cpu=30
add user name=u1,u2 account=a1
add user u1 account=a2 Fairshare=parent
modify user set qoslevel=\"normal,hi\"
modify user where name=u1 account=a2 set qos+=lo qos-=hi MaxSubmitJobs=7
modify user where name=u1 partition=p set MaxJobs=1
add account gone
add user u2 account=gone
remove account where name=gone
remove user name=u2
add user name=u3 DefaultAccount=a2 Partition=p
list associations format=Account
";
    let (associations, ignored) = read(text).unwrap();
    let Associations { qos, accounts, users } = &associations;
    let names: Vec<_> = qos.iter().map(|qos| (qos.name.as_str(), qos.priority, qos.deny_on_limit)).collect();
    assert_eq!(names, [("normal", 10, false), ("hi", 0, true), ("lo", 0, true)]);
    let limit = Tres { cpus: Some(12), gpus: Some(2), ..Tres::default() };
    assert_eq!((qos[1].limits.max_tres_per_user, qos[1].limits.max_jobs), (limit, Some(3)));
    assert_eq!(qos[2].limits.group_tres, Tres { cpus: Some(20), memory: Some(4096), ..Tres::default() });
    assert_eq!((qos[2].usage_factor, qos[2].limits.max_wall), (0.5, Some(2 * DAY)));
    let shown: Vec<_> =
        accounts.iter().map(|one| (&*one.name, &*one.parent, one.own.shares, one.own.qos.join(","))).collect();
    let none = String::new;
    assert_eq!(
        shown,
        [
            ("root", "root", Some(1), "normal,hi".to_string()),
            ("a1", "root", Some(2), none()),
            ("a2", "a1", Some(1), none())
        ]
    );
    assert_eq!(accounts[2].own.limits.group_tres.cpus, Some(30));
    let shown: Vec<_> = users
        .iter()
        .map(|one| {
            (
                &*one.name,
                &*one.account,
                one.is_default,
                one.own.shares,
                one.own.qos.join(","),
                one.own.limits.max_submit_jobs,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("u1", "a1", true, Some(1), "normal,hi".to_string(), None),
            ("u1", "a2", false, None, "normal,lo".to_string(), Some(7)),
            ("u3", "a2", true, Some(1), none(), None),
        ]
    );
    assert_eq!(
        ignored,
        [
            "3 MaxTRESPerUser billing!",
            "3 Flags=NoDecay!",
            "4 GraceTime!",
            "6 Description",
            "12 a change where partition=p!",
            "17 Partition!",
            "18 list"
        ]
    );
}

#[test]
fn mistakes_of_scripts_are_named_with_their_lines() {
    for (text, why) in [
        ("", "line 1: nothing to read: give a script for sacctmgr, or the output of 'sacctmgr show assoc -P'"),
        ("\nhello", "line 2: 'hello' is no line for sacctmgr such as 'add user name=u1 account=a1 fairshare=2'"),
        ("frob user name=a", "line 1: 'frob user name=a' is no line for sacctmgr"),
        ("add user name=u", "line 1: the user 'u' has no account: write account=..."),
        ("add user name=u account=b", "line 1: there is no account 'b': write 'add account name=b' before"),
        ("add account name=a parent=b", "line 1: there is no account 'b'"),
        ("add account name=a Fairshare=lots", "line 1: Fairshare=lots: 'lots' is no whole number"),
        ("add account name=a MaxWall=soon", "line 1: MaxWall=soon: 'soon' is no time such as 7-0 or 30:00"),
        ("add account name=a GrpTRES=12", "line 1: GrpTRES=12: '12' is no amount such as cpu=12,mem=4G"),
        ("add account name=a GrpJobs=-7", "line 1: GrpJobs=-7: '-7' is no whole number"),
        ("add account", "line 1: no name: write name=..."),
        ("modify qos normal", "line 1: nothing follows: write set key=value"),
        ("add account \"a", "line 1: a quote is not closed"),
        (
            "add account a\nadd account b parent=a\nmodify account name=a set parent=b",
            "line 3: the account 'a': it is below itself",
        ),
    ] {
        let error = wrong(text);
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
fn dumps_of_associations_are_read() {
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
    assert_eq!(physics.own.limits.group_tres, Tres { cpus: Some(30), memory: Some(8192), ..Tres::default() });
    let ann = &associations.users[1];
    assert_eq!(
        (ann.name.as_str(), ann.account.as_str(), ann.own.shares, ann.is_default),
        ("ann", "optics", None, true)
    );
    assert_eq!((ann.own.limits.group_jobs, ann.own.limits.max_wall), (Some(4), Some(DAY)));
    assert_eq!(ignored, ["1 the column Cluster", "1 the column Priority!", "7 the row of ann in the partition gpu!"]);
}

#[test]
fn dumps_of_qualities_of_service_are_read() {
    let text = "Name|Priority|GraceTime|Flags|UsageFactor|MaxTRESPU|MaxJobsPU|MaxWall|\nnormal|0|00:00:00||1.000000||||\n\
                hi|100|00:00:00|DenyOnLimit,OverPartQOS|0.500000|cpu=12|3|12:00:00|\n";
    let (associations, ignored) = read(text).unwrap();
    let hi = &associations.qos[1];
    assert_eq!((hi.name.as_str(), hi.priority, hi.usage_factor, hi.deny_on_limit), ("hi", 100, 0.5, true));
    assert_eq!(
        (hi.limits.max_tres_per_user.cpus, hi.limits.max_jobs, hi.limits.max_wall),
        (Some(12), Some(3), Some(12 * HOUR))
    );
    assert_eq!(ignored, ["1 the column GraceTime!", "3 Flags=OverPartQOS!"]);
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
    let text = "add qos q MaxTRESPerUser=cpu=12,mem=3000,node=2,gres/gpu=1 GrpWall=3:00:00 MaxJobsPerAccount=2";
    let limits = read(text).unwrap().0.qos[1].limits.clone();
    assert_eq!(
        limits.in_words(LimitOwner::Qos),
        "group_wall=3h max_jobs_per_account=2 max_tres_per_user=cpu=12,mem=3000M,node=2,gres/gpu=1"
    );
}
