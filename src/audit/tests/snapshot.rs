//! A whole report, byte by byte. `UPDATE_SNAPSHOTS=1 cargo test -p compact-review --lib snapshot` writes it anew.

use super::*;

const EXPECTED: &str = include_str!("report.json");

#[test]
fn a_whole_report_is_as_it_was() {
    let summary = "## State\n- The export in billing/export.py failed because the cursor was closed too early; fixed.\n\
                   - The nightly job runs on port 9911 from now on.\n- See billing/ledger_sync.py.\n\
                   - The user approved the merge request.";
    let report = audit(SESSION, &after(summary));
    let json = serde_json::to_string_pretty(&report).unwrap() + "\n";
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/audit/tests/report.json");
        std::fs::write(path, &json).unwrap();
    } else {
        assert_eq!(json, EXPECTED);
    }
}
