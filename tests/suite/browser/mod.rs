//! Opens a page in a real browser and says what is wrong with it: texts that overlap or are cut off, horizontal
//! scrolling, errors in the console, requests to other places, colours that are hard to read.
//!
//! The page may forbid all scripts. The checks run in a world of their own, which no policy of the page reaches.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

mod fixtures;
mod protocol;

use protocol::Connection;

const CHECK: &str = include_str!("check.js");
const OPEN_DETAILS: &str = "for (const part of document.querySelectorAll('details')) part.open = true";
/// Software that draws has a limit of 16,384 pixels; below it the picture would be empty.
const TALLEST_PICTURE: f64 = 16_000.0;

/// One way to look at a page.
#[derive(Clone, Copy)]
struct Look {
    name: &'static str,
    width: u32,
    scheme: &'static str,
    media: &'static str,
    scripts: bool,
    /// All `<details>` are open.
    open: bool,
    /// The page gets half a second in which it asks for nothing: a script may ask late.
    settle: bool,
}

const PLAIN: Look =
    Look { name: "800-light", width: 800, scheme: "light", media: "screen", scripts: true, open: false, settle: false };

const LOOKS: [Look; 9] = [
    Look { name: "400-light", width: 400, settle: true, ..PLAIN },
    PLAIN,
    Look { name: "1600-light", width: 1600, ..PLAIN },
    Look { name: "400-dark", width: 400, scheme: "dark", ..PLAIN },
    Look { name: "800-dark", scheme: "dark", ..PLAIN },
    Look { name: "1600-dark", width: 1600, scheme: "dark", ..PLAIN },
    Look { name: "800-open", open: true, ..PLAIN },
    Look { name: "800-no-scripts", scripts: false, ..PLAIN },
    // The width of A4 between margins of one centimetre. Browsers print the light colours.
    Look { name: "print", width: 718, media: "print", ..PLAIN },
];

pub struct Browser {
    connection: Connection,
}

impl Browser {
    /// Starts the browser, if there is one.
    pub fn find(test: &str) -> Option<Browser> {
        let usual = ["chromium", "chromium-browser", "google-chrome"];
        let program = program(std::env::var_os("SHADOWTIME_BROWSER"), &usual);
        if program.is_none() {
            let why = "there is no browser: install chromium, or name one in SHADOWTIME_BROWSER";
            crate::support::missing(test, why);
        }
        let mut browser = Browser { connection: Connection::start(&program?) };
        if browser.width_of_text() == 0.0 {
            crate::support::missing(test, "the browser has no fonts: install fonts-dejavu-core");
            return None;
        }
        Some(browser)
    }

    /// A new tab: the page and its session.
    fn tab(&mut self) -> (Value, String) {
        let target =
            self.connection.call("", "Target.createTarget", json!({ "url": "about:blank" }))["targetId"].take();
        let attach = json!({ "targetId": target, "flatten": true });
        let session = self.connection.call("", "Target.attachToTarget", attach);
        (target, text_of(&session["sessionId"]))
    }

    /// The width of a text at 100 pixels, in the font of reports: 0 if there is no font at all.
    fn width_of_text(&mut self) -> f64 {
        let width = "const text = document.createElement('span'); text.textContent = 'The quick brown fox 0123456789'; \
                     text.style = 'font: 100px system-ui, sans-serif; white-space: nowrap'; \
                     document.body.appendChild(text).offsetWidth";
        let (target, session) = self.tab();
        let found = self.connection.call(&session, "Runtime.evaluate", json!({ "expression": width }));
        self.connection.call("", "Target.closeTarget", json!({ "targetId": target }));
        self.connection.take_events();
        found["result"]["value"].as_f64().expect("a width")
    }

    /// Whether the font of reports is no wider than the widest one in common use, DejaVu Sans: 1710 pixels. Labels of charts
    /// have no room for more. (Some systems use a font of typewriters if they have no other: 1800 pixels.)
    pub fn has_usual_font(&mut self) -> bool {
        self.width_of_text() < 1750.0
    }

    /// Opens a page in every way and returns its faults, one sentence each. The pictures go into the folder, if there
    /// is one, as `NAME-LOOK.png`.
    pub fn check(&mut self, page: &Path, pictures: Option<&Path>) -> Vec<String> {
        self.check_looks(page, pictures, &LOOKS)
    }

    fn check_looks(&mut self, page: &Path, pictures: Option<&Path>, looks: &[Look]) -> Vec<String> {
        let page = fs::canonicalize(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        let (target, session) = self.tab();
        let mut tab = Tab { connection: &mut self.connection, session, address: address(&page) };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab.call("Page.setLifecycleEventsEnabled", json!({ "enabled": true }));
        // The same fault at several looks is one sentence.
        let mut faults: Vec<(String, String, Vec<&str>)> = Vec::new();
        for look in looks {
            for (text, detail) in tab.open(look) {
                match faults.iter_mut().find(|(known, ..)| *known == text) {
                    Some((.., names)) => names.push(look.name),
                    None => faults.push((text, detail, vec![look.name])),
                }
            }
            if let Some(folder) = pictures {
                let name = page.file_stem().unwrap_or_default().to_string_lossy();
                fs::write(folder.join(format!("{name}-{}.png", look.name)), tab.picture())
                    .expect("the picture is written");
            }
        }
        self.connection.call("", "Target.closeTarget", json!({ "targetId": target }));
        self.connection.take_events();
        let sentence = |(text, detail, mut names): (String, String, Vec<&str>)| {
            names.dedup();
            format!("{text}{detail} [{}]", names.join(", "))
        };
        faults.into_iter().map(sentence).collect()
    }
}

/// A page in the browser.
struct Tab<'a> {
    connection: &'a mut Connection,
    session: String,
    address: String,
}

impl Tab<'_> {
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.connection.call(&self.session, method, parameters)
    }

    /// Opens the page anew, so that styles and scripts start with this look. Returns the faults: what is wrong, and how
    /// much.
    fn open(&mut self, look: &Look) -> Vec<(String, String)> {
        let features = json!([{ "name": "prefers-color-scheme", "value": look.scheme }]);
        let size = json!({ "width": look.width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
        self.call("Emulation.setEmulatedMedia", json!({ "media": look.media, "features": features }));
        self.call("Emulation.setScriptExecutionDisabled", json!({ "value": !look.scripts }));
        self.connection.take_events();
        let opened = self.call("Page.navigate", json!({ "url": self.address }));
        assert!(opened["errorText"].is_null(), "the browser cannot open {}: {}", self.address, opened["errorText"]);
        let state = if look.settle { "networkIdle" } else { "load" };
        self.connection.wait_for("the page loads", |event| {
            let parameters = &event["params"];
            event["method"] == "Page.lifecycleEvent"
                && parameters["name"] == state
                && parameters["loaderId"] == opened["loaderId"]
        });
        let world = json!({ "frameId": opened["frameId"], "worldName": "check" });
        let world = self.call("Page.createIsolatedWorld", world)["executionContextId"].take();
        if look.open {
            self.evaluate(&world, OPEN_DETAILS);
        }
        let found = self.evaluate(&world, CHECK);
        for note in found["notes"].as_array().into_iter().flatten() {
            eprintln!("not checked: {} [{}]", text_of(note), look.name);
        }
        let mut faults: Vec<_> = self.connection.take_events().iter().filter_map(|event| self.fault(event)).collect();
        let seen = found["faults"].as_array().expect("the check gives faults");
        faults.extend(seen.iter().map(|fault| (text_of(&fault["text"]), text_of(&fault["detail"]))));
        faults
    }

    fn evaluate(&mut self, world: &Value, script: &str) -> Value {
        let parameters = json!({ "expression": script, "contextId": world, "returnByValue": true });
        let mut result = self.call("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "the check fails: {}", result["exceptionDetails"]);
        result["result"]["value"].take()
    }

    /// What an event says against the page, if anything.
    fn fault(&self, event: &Value) -> Option<(String, String)> {
        let parameters = &event["params"];
        if event["sessionId"] != self.session.as_str() {
            return None;
        }
        let text = match event["method"].as_str()? {
            "Log.entryAdded" => {
                let entry = &parameters["entry"];
                let level = entry["level"].as_str().filter(|level| ["error", "warning"].contains(level))?;
                format!("the console has the {level}: {}", text_of(&entry["text"]))
            }
            "Runtime.consoleAPICalled" => {
                let kind = parameters["type"].as_str().filter(|kind| ["error", "warning", "assert"].contains(kind))?;
                let value = |part: &Value| part["value"].as_str().map_or_else(|| part.to_string(), str::to_string);
                let parts: Vec<_> = parameters["args"].as_array()?.iter().map(value).collect();
                format!("the console has the {kind}: {}", parts.join(" "))
            }
            "Runtime.exceptionThrown" => {
                let details = &parameters["exceptionDetails"];
                let what = details["exception"]["description"].as_str().or(details["text"].as_str())?;
                format!("a script fails: {}", what.lines().next().unwrap_or_default())
            }
            "Network.requestWillBeSent" => {
                let address = parameters["request"]["url"].as_str()?;
                let is_page = address == self.address && parameters["type"] == "Document";
                if is_page || address.starts_with("data:") {
                    return None;
                }
                format!("the page asks for {address}")
            }
            "Network.webSocketCreated" => format!("the page asks for {}", text_of(&parameters["url"])),
            "Page.javascriptDialogOpening" => format!("the page opens a dialog: {}", text_of(&parameters["message"])),
            "Inspector.targetCrashed" => "the page makes the browser crash".to_string(),
            _ => return None,
        };
        Some((text, String::new()))
    }

    /// The whole page, as PNG.
    fn picture(&mut self) -> Vec<u8> {
        let metrics = self.call("Page.getLayoutMetrics", json!({}));
        let size = &metrics["cssContentSize"];
        let height = size["height"].as_f64().expect("a height").clamp(1.0, TALLEST_PICTURE);
        let clip = json!({ "x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1 });
        let parameters = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let bytes = base64(self.call("Page.captureScreenshot", parameters)["data"].as_str().expect("a picture"));
        assert!(bytes.starts_with(b"\x89PNG"), "the picture is not PNG");
        bytes
    }
}

/// The browser that is named, else the first of the usual ones that runs. Some systems have a program of that name that
/// only says how to install the browser.
fn program(named: Option<OsString>, usual: &[&str]) -> Option<OsString> {
    let runs = |name: &&&str| {
        let version = Command::new(name).arg("--version").stdin(Stdio::null()).output();
        version.is_ok_and(|output| output.status.success())
    };
    named.filter(|name| !name.is_empty()).or_else(|| usual.iter().find(runs).map(OsString::from))
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

/// The address of a file. All but the plainest characters are escaped.
fn address(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let escaped = |&byte: &u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    format!("file://{}", path.as_os_str().as_bytes().iter().map(escaped).collect::<String>())
}

/// Decodes the bytes of a picture.
fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::with_capacity(text.len() / 4 * 3), 0_u32, 0);
    for digit in text.bytes().filter_map(|byte| DIGITS.iter().position(|&digit| digit == byte)) {
        bits = bits << 6 | digit as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}
