;; Answers well, and loops when the host tells it that the answer was read.
(func $hook (result i32) i32.const 64)
(func (export "cabi_post_compact-review:plugin/hooks@0.1.0#before-compaction") (param i32) (loop $again br $again))
