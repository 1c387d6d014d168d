//! Who waits longer than in the virtual schedule: the accounts of the users.

use rustc_hash::FxHashMap;

use crate::time::Time;

/// The accounts of all users, in whole numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct UserAccounts {
    by_user: FxHashMap<i32, u32>,
    accounts: Vec<WaitAccount>,
}

/// The account of one user. It counts jobs times seconds.
#[derive(Clone, Copy, Debug, Default)]
struct WaitAccount {
    /// The jobs that have arrived.
    arrived: i64,
    /// The jobs that wait in the virtual schedule now.
    waiting_virtually: i64,
    /// The jobs that wait in reality now.
    waiting: i64,
    /// Until when the two integrals are known.
    until: Time,
    /// The integral of the jobs that wait virtually, less those that wait in reality.
    gain: i128,
    /// The integral of the jobs that wait virtually.
    virtual_wait: i128,
}

/// A user is behind who has lost more than this part of the virtual waits, plus the seconds below for each job.
const TOLERATED_PART_INVERSE: i128 = 20;
const TOLERATED_SECONDS: i128 = 30;

impl WaitAccount {
    /// The account at an instant that is not before the last event.
    fn at(&self, now: Time) -> WaitAccount {
        let seconds = i128::from(now - self.until);
        let gain = self.gain + i128::from(self.waiting_virtually - self.waiting) * seconds;
        let virtual_wait = self.virtual_wait + i128::from(self.waiting_virtually) * seconds;
        WaitAccount { until: now, gain, virtual_wait, ..*self }
    }

    fn is_behind(&self) -> bool {
        let tolerated = self.virtual_wait + TOLERATED_PART_INVERSE * TOLERATED_SECONDS * i128::from(self.arrived);
        TOLERATED_PART_INVERSE * self.gain < -tolerated
    }
}

impl UserAccounts {
    /// The number of a user's account.
    pub fn number(&mut self, user: i32) -> u32 {
        *self.by_user.entry(user).or_insert_with(|| {
            self.accounts.push(WaitAccount::default());
            self.accounts.len() as u32 - 1
        })
    }

    fn change(&mut self, account: u32, now: Time) -> &mut WaitAccount {
        let account = &mut self.accounts[account as usize];
        *account = account.at(now);
        account
    }

    /// A job of the user arrives and waits in both schedules.
    pub fn arrive(&mut self, account: u32, now: Time) {
        let account = self.change(account, now);
        account.arrived += 1;
        account.waiting_virtually += 1;
        account.waiting += 1;
    }

    /// A job no longer waits in reality.
    pub fn leave(&mut self, account: u32, now: Time) {
        self.change(account, now).waiting -= 1;
    }

    /// A job no longer waits in the virtual schedule.
    pub fn leave_virtually(&mut self, account: u32, now: Time) {
        self.change(account, now).waiting_virtually -= 1;
    }

    /// Whether the user has lost more than is tolerated.
    pub fn is_behind(&self, account: u32, now: Time) -> bool {
        self.accounts[account as usize].at(now).is_behind()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two jobs arrive at 0. One starts virtually at 100, the other at 200; in reality they wait on. Until 100 nothing is lost;
    /// until 200 it is one second per second, then two. The virtual waits are 300, of which 15 are tolerated, and 60 seconds more
    /// for the two jobs.
    #[test]
    fn a_user_is_behind_who_has_lost_more_than_is_tolerated() {
        let mut users = UserAccounts::default();
        let (account, other) = (users.number(7), users.number(8));
        assert_ne!(account, other);
        assert_eq!(users.number(7), account);
        users.arrive(account, 0);
        users.arrive(account, 0);
        users.leave_virtually(account, 100);
        // Lost: 70. Tolerated: 270 / 20 + 60 = 73.5.
        assert!(!users.is_behind(account, 170));
        // Lost: 74. Tolerated: 274 / 20 + 60 = 73.7.
        assert!(users.is_behind(account, 174));
        users.leave_virtually(account, 200);
        users.leave(account, 200);
        assert!(users.is_behind(account, 200));
        assert!(!users.is_behind(other, 200));
        // From now on one second is lost per second. Another job gains what it waits only virtually.
        users.arrive(account, 200);
        users.leave(account, 200);
        // Lost: 100 + 40 - 40. Tolerated: (300 + 40) / 20 + 90.
        assert!(!users.is_behind(account, 240));
    }
}
