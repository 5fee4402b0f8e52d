#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| compact_review_fuzz::redaction(data));
