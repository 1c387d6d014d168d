//! The accounts of a real Slurm on this machine: slurmdbd, its database, and users.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::process::{Command, Stdio};

use crate::slurm_cluster::{Cluster, UP, find_program};
use crate::support;

/// What is needed beside Slurm.
pub const PROGRAMS: [&str; 6] = ["slurmdbd", "sacctmgr", "mariadbd", "mariadb-install-db", "useradd", "userdel"];

/// The users that a cluster added to this machine. They are removed with this value.
pub struct Users(Vec<String>);

impl Users {
    /// Adds the users of these commands of sacctmgr. Those that the machine has are used as they are.
    pub fn add(accounts: &str) -> Users {
        let mut added = Users(Vec::new());
        for user in accounts.lines().filter_map(|line| line.strip_prefix("add user ")?.split(' ').next()) {
            if !is_success(support::command("id").arg(user)) {
                let mut useradd = support::command(find_program("useradd").unwrap());
                assert!(is_success(useradd.args(["--no-create-home", "--no-user-group", user])), "useradd {user}");
                added.0.push(user.to_string());
            }
        }
        added
    }
}

impl Drop for Users {
    fn drop(&mut self) {
        for user in &self.0 {
            is_success(support::command(find_program("userdel").unwrap()).arg(user));
        }
    }
}

/// Runs a command without its output.
fn is_success(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

impl Cluster {
    /// Starts a database and slurmdbd, and runs the commands of sacctmgr. The ports are those of slurm.conf.
    pub fn start_accounting(&mut self, ports: &[u16], accounts: &str) {
        let folder = self.file("");
        let (folder, slurmdbd, database) = (folder.display(), ports[1], ports[2]);
        // Jobs of other users than root read their scripts there.
        fs::set_permissions(self.file(""), Permissions::from_mode(0o711)).unwrap();
        let data = format!("--datadir={folder}database");
        let mut install = self.daemon("mariadb-install-db");
        install.args(["--no-defaults", "--user=root", "--skip-test-db", &data]);
        assert!(is_success(&mut install), "mariadb-install-db failed");
        let mut command = self.daemon("mariadbd");
        command.args(["--no-defaults", "--user=root", &data, "--bind-address=127.0.0.1"]);
        command.args([format!("--port={database}"), format!("--socket={folder}database.sock")]);
        // Without passwords. slurmdbd asks for the last two.
        command.args(["--skip-grant-tables", "--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900"]);
        self.spawn("mariadbd", command);
        self.wait(UP, "mariadbd", |cluster| cluster.file("database.sock").exists());

        let conf = format!(
            "AuthType=auth/munge
AuthInfo=socket={folder}munge/sock
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={slurmdbd}
SlurmUser=root
LogFile={folder}log/slurmdbd.log
PidFile={folder}state/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database}
StorageUser=slurm
StoragePass=none
StorageLoc=accounts
CommunicationParameters=NoInAddrAny
"
        );
        // slurmdbd refuses a file that others can read.
        let file = File::options().write(true).create_new(true).mode(0o600).open(self.file("slurmdbd.conf"));
        file.unwrap().write_all(conf.as_bytes()).unwrap();
        let mut command = self.daemon("slurmdbd");
        command.arg("-D");
        self.spawn("slurmdbd", command);
        self.wait(UP, "slurmdbd", |cluster| is_success(cluster.command("sacctmgr").args(["-n", "list", "cluster"])));
        for line in ["add cluster test"].into_iter().chain(accounts.lines()) {
            let output = self.command("sacctmgr").arg("-i").args(line.split(' ')).output().unwrap();
            assert!(output.status.success(), "sacctmgr {line}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
