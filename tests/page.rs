//! The page of `scan --html` in a real browser, driven through chromedriver. Where there is none, it is not tested,
//! and the test says so.

use crate::recorded::{self, lines, write};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const HOSTILE: &str = "Never deploy the billing service on a Friday, because nobody is on call. \
                       </script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">";

/// A browser in a window of a given size and colour scheme.
struct Browser {
    driver: Child,
    session: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(ureq::delete(&self.session).call());
        drop(self.driver.kill());
        drop(self.driver.wait());
    }
}

impl Browser {
    /// `None` where there is no chromedriver or no browser.
    fn open(width: u32, height: u32, dark: bool) -> Option<Browser> {
        let port = std::net::TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let mut driver = Command::new("chromedriver");
        driver.arg(format!("--port={port}")).stdout(Stdio::null()).stderr(Stdio::null());
        let driver = driver.spawn().ok()?;
        let base = format!("http://127.0.0.1:{port}");
        let mut browser = Browser { driver, session: base.clone() };
        let mut arguments = vec![
            "--headless=new".to_string(),
            "--no-sandbox".into(),
            "--disable-gpu".into(),
            "--hide-scrollbars".into(),
        ];
        arguments.push(format!("--window-size={width},{height}"));
        if dark {
            arguments.push("--blink-settings=preferredColorScheme=0".into());
        }
        let wanted = json!({"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": {"args": arguments}}}});
        for _ in 0..100 {
            std::thread::sleep(std::time::Duration::from_millis(100));
            if ureq::get(format!("{base}/status")).call().is_ok() {
                let answer: Value =
                    ureq::post(format!("{base}/session")).send_json(&wanted).ok()?.body_mut().read_json().ok()?;
                browser.session = format!("{base}/session/{}", answer["value"]["sessionId"].as_str()?);
                return Some(browser);
            }
        }
        None
    }

    fn post(&self, path: &str, body: Value) -> Value {
        let request = ureq::post(format!("{}/{path}", self.session)).config().http_status_as_error(false).build();
        let mut answer = request.send_json(&body).unwrap();
        let value = answer.body_mut().read_json::<Value>().unwrap()["value"].take();
        assert!(answer.status().is_success(), "{path} {body}: {}", value["message"]);
        value
    }

    /// What an expression is in the page.
    fn ask(&self, expression: &str) -> Value {
        self.post("execute/sync", json!({"script": format!("return {expression}"), "args": []}))
    }

    fn click(&self, selector: &str) {
        let element = self.post("element", json!({"using": "css selector", "value": selector}));
        let id = element.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_string();
        self.post(&format!("element/{id}/click"), json!({}));
    }

    fn press(&self, key: &str) {
        let keys = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        self.post("actions", json!({"actions": [{"type": "key", "id": "keys", "actions": keys}]}));
    }

    /// A picture of the window. One with nothing on it has a few hundred bytes.
    fn screenshot(&self) -> Vec<u8> {
        let mut answer = ureq::get(format!("{}/screenshot", self.session)).call().unwrap();
        let answer: Value = answer.body_mut().with_config().limit(50_000_000).read_json().unwrap();
        use base64::Engine;
        base64::engine::general_purpose::STANDARD.decode(answer["value"].as_str().unwrap()).unwrap()
    }
}

fn page(folder: &Path) -> String {
    for number in 1..=3 {
        let mut session = recorded::openclaw(&format!("s{number}"));
        if number == 2 {
            session[1]["message"]["content"] = HOSTILE.into();
        }
        session[6]["timestamp"] = format!("2026-03-0{number}T10:00:00Z").into();
        write(folder, &format!("agents/main/sessions/s{number}.jsonl"), lines(&session));
    }
    let mut twice = recorded::claude("c1");
    twice.push(json!({"parentUuid": "e", "isSidechain": false, "sessionId": "c1", "type": "user", "uuid": "k2", "isCompactSummary": true,
        "message": {"role": "user", "content": "Somebody wants to go on with the work on Postgres 17 on db-1.example.internal:5432."}}));
    write(folder, "claude/c1.jsonl", lines(&twice));
    let output = Command::new(env!("CARGO_BIN_EXE_compact-review"))
        .args(["scan", "--no-cache", "--html", "page.html", "."])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    format!("file://{}/page.html", folder.canonicalize().unwrap().display())
}

#[test]
fn the_page_can_be_used_and_hostile_text_stays_text() {
    let Some(browser) = Browser::open(1280, 1000, false) else {
        eprintln!("not tested: no chromedriver or no browser");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    browser.post("url", json!({"url": page(folder.path())}));
    assert!(browser.ask("document.documentElement.dataset.ready").is_string(), "the script ran to its end");
    assert_eq!(browser.ask("document.title"), "What compaction lost · compact-review");
    assert_eq!(browser.ask("document.querySelectorAll('#table tbody tr').length"), 5);
    assert_eq!(browser.ask("document.querySelectorAll('figure svg[aria-label]').length"), 5, "all charts");
    assert_eq!(browser.ask("document.querySelectorAll('img, iframe, main script').length"), 0);
    assert!(browser.screenshot().len() > 20_000);

    // Sorting, by a click on the head of a column.
    let column = "[...document.querySelectorAll('#table tbody tr')].map(tr => tr.cells[5].textContent).join()";
    browser.click("#table th:nth-child(6) button");
    assert_eq!(browser.ask(column), "2,1,1,1,1");
    assert_eq!(browser.ask("document.querySelector('#table th:nth-child(6)').getAttribute('aria-sort')"), "descending");

    // Filtering.
    let search = browser.post("element", json!({"using": "css selector", "value": "#f-text"}));
    let search = search.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_string();
    browser.post(&format!("element/{search}/value"), json!({"text": "s2"}));
    assert_eq!(browser.ask("document.getElementById('count').textContent"), "1 of 5 compactions");

    // A compaction, with the keyboard: its audit beside its source.
    browser.ask("document.querySelector('#table .open').focus()");
    browser.press("\u{e007}");
    assert_eq!(browser.ask("document.getElementById('detail').hidden"), false);
    assert_eq!(browser.ask("document.activeElement.id"), "detail-title");
    let marked = browser.ask("document.querySelector('.source mark').textContent");
    assert!(!marked.as_str().unwrap().is_empty(), "the fact is marked in its message");
    let quotes = "[...document.querySelectorAll('.fact')].map(f => (f.click(), document.querySelector('.source .quote').textContent)).join(' | ')";
    let quoted = browser.ask(quotes);
    assert!(quoted.as_str().unwrap().contains("<img src=x onerror="), "as text: {quoted}");
    browser.click(".facts li:nth-child(2) .fact");
    assert_eq!(browser.ask("document.querySelectorAll('.fact[aria-pressed=true]').length"), 1);
    assert_eq!(
        browser.ask("document.querySelector('.facts li:nth-child(2) .fact').getAttribute('aria-pressed')"),
        "true"
    );
    browser.press("\u{e00c}");
    assert_eq!(browser.ask("document.getElementById('detail').hidden"), true);
    assert_eq!(browser.ask("document.title"), "What compaction lost · compact-review", "nothing of the transcript ran");
}

#[test]
fn the_page_is_readable_in_the_dark_and_on_a_phone() {
    let Some(browser) = Browser::open(500, 900, true) else {
        eprintln!("not tested: no chromedriver or no browser");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    browser.post("url", json!({"url": page(folder.path()) + "#c0"}));
    let wide = browser.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(wide, 0, "the page itself does not scroll sideways");
    assert_eq!(browser.ask("getComputedStyle(document.body).backgroundColor"), "rgb(13, 17, 23)");
    assert_eq!(browser.ask("document.querySelector('.source mark') !== null"), true);
    let columns =
        browser.ask("getComputedStyle(document.querySelector('.facts-sources')).gridTemplateColumns.split(' ').length");
    assert_eq!(columns, 1);
    browser.click(".facts li:nth-child(2) .fact");
    assert_eq!(
        browser.ask("document.querySelector('.facts li:nth-child(2) .source mark') !== null"),
        true,
        "below its fact"
    );
    // Every control has a name for a screen reader.
    let nameless = "[...document.querySelectorAll('button, input, select')].filter(e => !(e.textContent.trim() || e.labels?.length || e.ariaLabel)).length";
    assert_eq!(browser.ask(nameless), 0);
    assert!(browser.screenshot().len() > 10_000);
}
