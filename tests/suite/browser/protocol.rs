//! One browser process and the messages to and from it: the Chrome DevTools Protocol over a pair of pipes.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The most that one step may take. A step takes much less than a second; busy machines get the rest.
const LIMIT: Duration = Duration::from_secs(300);

const OPTIONS: [&str; 16] = [
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    // The sandbox refuses to run as root, and in many containers. All pages here are our own.
    "--no-sandbox",
    // Containers have little or no shared memory there.
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--no-default-browser-check",
    "--no-first-run",
    // A page has exactly the width that was asked for.
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    // A request to another machine is seen and reported, but it never leaves this one.
    "--host-resolver-rules=MAP * ~NOTFOUND",
];

/// A browser that runs. It and its folder are gone at the end, also after a panic.
pub struct Connection {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    events: Vec<Value>,
    last: u64,
    folder: tempfile::TempDir,
}

impl Connection {
    pub fn start(program: &OsStr) -> Connection {
        let folder = tempfile::Builder::new().prefix("browser-").tempdir().expect("a temporary folder");
        let errors = File::create(folder.path().join("errors")).expect("a file in the temporary folder");
        let mut profile = std::ffi::OsString::from("--user-data-dir=");
        profile.push(folder.path().join("profile"));
        let mut command = Command::new("sh");
        // The browser reads from descriptor 3 and writes to descriptor 4. The standard library passes only 0 to 2, so a
        // shell gives these two their new numbers.
        command.args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null >&2"#, "sh"]).arg(program).args(OPTIONS).arg(profile);
        // Whatever it stores belongs into the folder, not into the home of the user.
        for variable in ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"] {
            command.env(variable, folder.path());
        }
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("DBUS_SESSION_BUS_ADDRESS");
        // A group of its own, so that all its processes can be ended together.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors).process_group(0);
        let mut child = command.spawn().expect("sh starts");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("its output is a pipe"));
        let (sender, messages) = mpsc::channel();
        // Only another thread can wait for a message and stop waiting at a limit.
        std::thread::spawn(move || {
            for message in BufReader::new(output).split(0) {
                let Some(message) = message.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()) else { break };
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut connection = Connection { child, input, messages, events: Vec::new(), last: 0, folder };
        connection.call("", "Browser.getVersion", json!({}));
        connection
    }

    /// Calls a method and waits for its result. An empty session is the browser itself, another one is a tab.
    pub fn call(&mut self, session: &str, method: &str, parameters: Value) -> Value {
        let id = self.send(session, method, parameters);
        let since = Instant::now();
        loop {
            let mut message = self.receive(method, since);
            if message["id"] == id {
                assert!(message["error"].is_null(), "the browser refuses {method}: {}", message["error"]);
                return message["result"].take();
            }
        }
    }

    /// Waits for an event. All that came since the last `take_events` count.
    pub fn wait_for(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) {
        let since = Instant::now();
        let mut seen = 0;
        loop {
            if self.events[seen..].iter().any(&is_it) {
                return;
            }
            seen = self.events.len();
            self.receive(what, since);
        }
    }

    pub fn take_events(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.events)
    }

    /// What must be gone at the end: its group of processes and its folder.
    pub fn traces(&self) -> (u32, PathBuf) {
        (self.child.id(), self.folder.path().to_path_buf())
    }

    fn send(&mut self, session: &str, method: &str, parameters: Value) -> u64 {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if !session.is_empty() {
            message["sessionId"] = session.into();
        }
        let bytes = [message.to_string().as_bytes(), &[0]].concat();
        let sent = self.input.as_mut().expect("it is open").write_all(&bytes);
        if let Err(error) = sent {
            panic!("the browser takes no message ({method}): {error}{}", self.errors());
        }
        self.last
    }

    /// The next message. An event is stored too.
    fn receive(&mut self, what: &str, since: Instant) -> Value {
        match self.messages.recv_timeout(LIMIT.saturating_sub(since.elapsed())) {
            Ok(message) => {
                if message["id"].is_null() {
                    self.events.push(message.clone());
                }
                // A dialog stops the page until somebody answers.
                if message["method"] == "Page.javascriptDialogOpening" {
                    let session = message["sessionId"].as_str().unwrap_or_default();
                    self.send(session, "Page.handleJavaScriptDialog", json!({ "accept": false }));
                }
                message
            }
            Err(RecvTimeoutError::Timeout) => {
                panic!("the browser has not answered after {} s ({what}){}", LIMIT.as_secs(), self.errors())
            }
            Err(RecvTimeoutError::Disconnected) => panic!("the browser has ended ({what}){}", self.errors()),
        }
    }

    /// The end of what the browser has written about itself.
    fn errors(&self) -> String {
        let text = fs::read(self.folder.path().join("errors")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(10)..].iter().map(|line| format!("\n  {line}")).collect()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.input = None;
        // Every shell has a `kill` of its own. The group keeps its number until its first process is waited for.
        let group = format!("-{}", self.child.id());
        let _ = Command::new("sh").args(["-c", r#"kill -s KILL -- "$1""#, "sh", &group]).status();
        let _ = self.child.wait();
        // The other processes of the group may need a moment to end, and until then they may write into the folder.
        let since = Instant::now();
        while fs::remove_dir_all(self.folder.path()).is_err()
            && self.folder.path().exists()
            && since.elapsed() < Duration::from_secs(10)
        {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
