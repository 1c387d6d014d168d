//! Fair shares worked out by hand.

use super::*;
use crate::machine::associations::Associations;

const ACCOUNTS: &str = "\
add account name=a Fairshare=2
add account name=b Fairshare=1
add user name=a1 DefaultAccount=a
add user name=a2 DefaultAccount=a
add user name=b1 DefaultAccount=b
";

fn owners(script: &str) -> Owners {
    Owners::new(&Associations::of_commands(script))
}

/// The half-life is such that use decays by a thousandth in a second.
fn fair_share(rule: FairShareRule, owners: &Owners) -> FairShare {
    FairShare::new(rule, 1.0 - 0.693 / 693.0, 10, owners)
}

fn on(cpus: f64, owner: usize, start: Time) -> RunningUse {
    RunningUse { owner, cpus, start, factor: 1.0 }
}

fn recalculate(fair_share: &mut FairShare, now: Time, running: &[RunningUse]) {
    fair_share.begin(now);
    running.iter().for_each(|job| fair_share.count(job));
    fair_share.finish();
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn use_decays_and_counts_for_the_accounts_above() {
    let mut owners = owners(ACCOUNTS);
    let (a1, b1) = (owners.find("a1", ""), owners.find("b1", ""));
    let mut fair_share = fair_share(FairShareRule::Tree, &owners);
    recalculate(&mut fair_share, 10, &[on(2.0, a1, 4), RunningUse { factor: 0.5, ..on(4.0, b1, 10) }]);
    let first = 6.0 * 0.999f64.powi(6) * 2.0;
    assert_close(fair_share.members[a1].usage, first);
    // The rest of a1's job up to 13, then all of 20 seconds of b1's.
    fair_share.count_rest(&on(2.0, a1, 4), 13);
    let rest = 3.0 * 0.999f64.powi(3) * 2.0;
    assert_close(fair_share.members[a1].usage, first + rest);
    recalculate(&mut fair_share, 30, &[RunningUse { factor: 0.5, ..on(4.0, b1, 10) }]);
    let decay = 0.999f64.powi(20);
    assert_close(fair_share.members[a1].usage, (first + rest) * decay);
    assert_close(fair_share.members[b1].usage, 20.0 * decay * 2.0);
    assert_close(fair_share.members[0].usage, (first + rest + 40.0) * decay);
}

#[test]
fn fair_tree_ranks_users_level_by_level() {
    let mut owners = owners(ACCOUNTS);
    let users =
        [("root", "root"), ("a1", ""), ("a2", ""), ("b1", "")].map(|(user, account)| owners.find(user, account));
    let mut fair_share = fair_share(FairShareRule::Tree, &owners);
    let mut factors = |now, running: &[RunningUse]| {
        recalculate(&mut fair_share, now, running);
        users.map(|user| fair_share.factor(user))
    };
    // Without use all are equal.
    assert_eq!(factors(10, &[]), [1.0; 4]);
    // The user root and the account b have used nothing. b is tied with root, and so is its first user. Within a, a2 comes first.
    assert_eq!(factors(20, &[on(1.0, users[1], 10)]), [1.0, 0.25, 0.5, 1.0]);
    // Now b is used beyond its share: 1/4 of the shares, 2/3 of the use. a has 1/2 and 1/3.
    assert_eq!(factors(30, &[on(1.0, users[1], 20), on(4.0, users[3], 20)]), [1.0, 0.5, 0.75, 0.25]);
}

/// Without accounts. The next rank after a tie is that of its place.
#[test]
fn fair_tree_has_ties() {
    let mut owners = Owners::new(&Associations::default());
    let users = ["x", "y", "z", "w"].map(|user| owners.find(user, ""));
    let mut fair_share = fair_share(FairShareRule::Tree, &owners);
    let [x, y, z, w] = users;
    recalculate(&mut fair_share, 10, &[on(2.0, z, 0), on(1.0, x, 0), on(1.0, y, 0), on(3.0, w, 0)]);
    assert_eq!(users.map(|user| fair_share.factor(user)), [1.0, 1.0, 0.5, 0.25]);
    // Someone new is counted from the next recalculation on.
    let late = owners.find("late", "");
    fair_share.grow(&owners);
    recalculate(&mut fair_share, 20, &[]);
    assert_eq!([late, x, y, z, w].map(|user| fair_share.factor(user)), [1.0, 0.8, 0.8, 0.4, 0.2]);
}

#[test]
fn the_classic_factor_compares_use_with_shares() {
    let mut owners = owners(ACCOUNTS);
    let (a1, a2) = (owners.find("a1", ""), owners.find("a2", ""));
    let mut factors = [1.0, 2.0].map(|dampening| {
        let mut fair_share = fair_share(FairShareRule::Classic { dampening }, &owners);
        let mut factors = vec![fair_share.factor(a1)];
        for now in [10, 20] {
            recalculate(&mut fair_share, now, &[on(1.0, a1, 0)]);
            factors.extend([fair_share.factor(a1), fair_share.factor(a2)]);
        }
        factors
    });
    // a has 2 of 4 shares (one is root's), each of its users 1/4. After the first recalculation a has still no effective use, that of
    // a1 is 1 + (0 - 1) / 2. After the second a has 1, a1 1 + (1 - 1) / 2, and a2 0 + (1 - 0) / 2.
    let expected = [0.0f64, 2.0, 0.0, 4.0, 2.0];
    for (dampening, factors) in [1.0, 2.0].into_iter().zip(&mut factors) {
        factors.iter().zip(expected).for_each(|(&found, times)| assert_close(found, (-times / dampening).exp2()));
    }
}

/// A user's use is what it was when it was first needed after a recalculation.
#[test]
fn the_classic_use_of_a_user_stays_until_the_next_recalculation() {
    let mut owners = owners(ACCOUNTS);
    let (a1, b1) = (owners.find("a1", ""), owners.find("b1", ""));
    let mut fair_share = fair_share(FairShareRule::Classic { dampening: 1.0 }, &owners);
    fair_share.begin(10);
    fair_share.count(&on(1.0, a1, 0));
    assert_close(fair_share.factor(a1), 0.25);
    fair_share.count(&on(1.0, b1, 0));
    assert_close(fair_share.factor(a1), 0.25);
    // b1 is alone in b, which had no use before. Its share is 1/4.
    assert_close(fair_share.factor(b1), 1.0);
    recalculate(&mut fair_share, 20, &[]);
    // Both accounts have used a half: a1 1/2 + (1/2 - 1/2) / 2, b1 1/2.
    assert_close(fair_share.factor(a1), 0.25);
    assert_close(fair_share.factor(b1), 0.25);
}

/// `Fairshare=parent`: c is as if its users were directly below the root, and c2 has what the root has.
#[test]
fn shares_may_be_those_of_the_parent() {
    let text = "add account name=c Fairshare=parent\nadd user name=c1 DefaultAccount=c\nadd user name=c2 DefaultAccount=c Fairshare=parent\n";
    let mut owners = owners(text);
    let [c1, c2] = ["c1", "c2"].map(|user| owners.find(user, ""));
    let root = owners.find("root", "root");
    let running = [on(1.0, c1, 0), on(3.0, c2, 0)];
    let mut tree = fair_share(FairShareRule::Tree, &owners);
    recalculate(&mut tree, 10, &running);
    assert_eq!([root, c2, c1].map(|user| tree.factor(user)), [1.0, 1.0, 1.0 / 3.0]);
    let mut classic = fair_share(FairShareRule::Classic { dampening: 1.0 }, &owners);
    recalculate(&mut classic, 10, &running);
    recalculate(&mut classic, 20, &[]);
    // The root has used all of its share. c1 has 1/2 of the shares and 1/4 of the use.
    assert_close(classic.factor(c2), 0.5);
    assert_close(classic.factor(c1), (-0.5f64).exp2());
}
