//! The length of a summary: what the gateway said, checked by what the host counts.

use crate::event::AfterCompaction;
use crate::host::Host;
use crate::report::Report;

/// Puts the host's count in the place of another one that the gateway gave, and says so. An estimate corrects nothing.
pub fn check_tokens(host: &mut dyn Host, event: &AfterCompaction, report: &mut Report) {
    let (Some(told), Some(text)) = (event.summary_tokens, event.summary_text.as_deref()) else { return };
    let counts = host.count_tokens(&[text]).unwrap_or_default();
    let &[counted] = counts.as_slice() else { return };
    let counted = u64::from(counted);
    if counted != told {
        report.summary_tokens = Some(counted);
        report.notices.push(format!("summaryTokens was {told}; the tokenizer counts {counted}, which is used"));
    }
}
