;; A plugin for the contract as it was released: wit/released/plugin-0.1.0.wit. It stays as it is, so that every later
;; host shows that it still loads and runs what was built for 0.1.0. It calls every import and answers every hook.
(module
  (import "compact-review:plugin/host@0.1.0" "log" (func $log (param i32 i32 i32)))
  (import "compact-review:plugin/host@0.1.0" "raise-alert" (func $raise-alert (param i32 i32 i32 i32 i32)))
  (import "compact-review:plugin/host@0.1.0" "settings" (func $settings (param i32)))
  (import "compact-review:plugin/host@0.1.0" "count-tokens" (func $count-tokens (param i32 i32 i32)))
  (import "compact-review:plugin/host@0.1.0" "load-state" (func $load-state (param i32 i32 i32 i32 i32)))
  (import "compact-review:plugin/host@0.1.0" "save-state" (func $save-state (param i32 i32 i32 i32 i32 i32 i32)))
  (import "compact-review:plugin/host@0.1.0" "clear-state" (func $clear-state (param i32 i32 i32 i32 i32)))
  (import "compact-review:plugin/host@0.1.0" "read-checkpoint" (func $read-checkpoint (param i32 i32 i32)))
  (import "compact-review:plugin/host@0.1.0" "write-checkpoint"
    (func $write-checkpoint (param i32 i32 i32 i32 i32 i64 i32)))
  (import "compact-review:plugin/host@0.1.0" "read-note" (func $read-note (param i32 i32 i32 i32 i32)))
  (import "compact-review:plugin/host@0.1.0" "append-note" (func $append-note (param i32 i32 i32 i32 i32 i32 i32 i32 i32)))

  (memory (export "memory") 64)
  ;; Texts: a slot, another one, a date, the id of an entry, what the state is.
  (data (i32.const 512) "signalsother2026-11-18entry-1kept by 0.1.0")
  ;; A list of one text, for the tokenizer.
  (data (i32.const 600) "\00\02\00\00\07\00\00\00")
  (global $next (mut i32) (i32.const 0x10000))

  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    global.get $next
    (global.set $next
      (i32.and (i32.add (i32.add (global.get $next) (local.get 3)) (i32.const 15)) (i32.const -16))))

  ;; What a hook of 0.1.0 was given must be well: the first byte of a result that the host wrote is 0.
  (func $fine (param $result i32) (if (i32.load8_u (local.get $result)) (then unreachable)))

  ;; Answers are at 64; memory is fresh, so what is not set is 0, false, empty or none.
  (func (export "compact-review:plugin/hooks@0.1.0#configure") (param $text i32) (param $length i32) (result i32)
    (i32.store (i32.const 68) (local.get $text))
    (i32.store (i32.const 72) (local.get $length))
    i32.const 64)

  ;; Calls all imports; the number of signals is that of the messages.
  (func (export "compact-review:plugin/hooks@0.1.0#before-compaction") (param $event i32) (result i32)
    (local $key i32) (local $key-length i32)
    (local.set $key (i32.load (local.get $event)))
    (local.set $key-length (i32.load offset=4 (local.get $event)))
    (call $log (i32.const 1) (i32.const 512) (i32.const 7))
    (call $raise-alert (i32.const 1) (i32.const 512) (i32.const 7) (i32.const 534) (i32.const 7))
    (call $settings (i32.const 256))
    (call $count-tokens (i32.const 600) (i32.const 1) (i32.const 256))
    (call $save-state (local.get $key) (local.get $key-length) (i32.const 512) (i32.const 7)
      (i32.const 541) (i32.const 13) (i32.const 256))
    (call $fine (i32.const 256))
    (call $clear-state (local.get $key) (local.get $key-length) (i32.const 519) (i32.const 5) (i32.const 256))
    (call $fine (i32.const 256))
    (call $write-checkpoint (local.get $key) (local.get $key-length) (i32.const 541) (i32.const 13)
      (i32.const 50) (i64.const 5000000) (i32.const 256))
    (call $fine (i32.const 256))
    (call $read-checkpoint (local.get $key) (local.get $key-length) (i32.const 256))
    (call $fine (i32.const 256))
    (call $append-note (local.get $key) (local.get $key-length) (i32.const 524) (i32.const 10)
      (i32.const 534) (i32.const 7) (i32.const 541) (i32.const 13) (i32.const 256))
    (call $fine (i32.const 256))
    (call $read-note (local.get $key) (local.get $key-length) (i32.const 524) (i32.const 10) (i32.const 256))
    (call $fine (i32.const 256))
    (i32.store (i32.const 68) (i32.load offset=132 (local.get $event)))
    i32.const 64)

  ;; The score is 50, the verdict is lossy, and its reason is the state that the hook before saved.
  (func (export "compact-review:plugin/hooks@0.1.0#after-compaction") (param $event i32) (result i32)
    (call $load-state (i32.load (local.get $event)) (i32.load offset=4 (local.get $event))
      (i32.const 512) (i32.const 7) (i32.const 256))
    (call $fine (i32.const 256))
    (i32.store8 (i32.const 72) (i32.const 1))
    (f64.store (i32.const 80) (f64.const 50))
    (i32.store8 (i32.const 88) (i32.const 1))
    (i32.store (i32.const 92) (i32.load (i32.const 264)))
    (i32.store (i32.const 96) (i32.load (i32.const 268)))
    i32.const 64)

  (func (export "compact-review:plugin/hooks@0.1.0#before-prompt")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32) (result i32) i32.const 64)
  (func (export "compact-review:plugin/hooks@0.1.0#checkpoint") (param i32) (result i32) i32.const 64)
  (func (export "compact-review:plugin/hooks@0.1.0#session-start") (param i32) (result i32) i32.const 64)
  (func (export "compact-review:plugin/hooks@0.1.0#usage") (param i32) (result i32) i32.const 64)
  ;; The status line is the session key.
  (func (export "compact-review:plugin/hooks@0.1.0#status")
    (param $key i32) (param $key-length i32) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    (i32.store (i32.const 144) (local.get $key))
    (i32.store (i32.const 148) (local.get $key-length))
    i32.const 64)
  (func (export "compact-review:plugin/hooks@0.1.0#plan") (param i32) (result i32) i32.const 64)
)
