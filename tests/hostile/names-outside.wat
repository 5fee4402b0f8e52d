;; Asks for files outside the notes by name, and traps if one of the names is taken.
(data (i32.const 256) "k../../../x\00.md")
(func $refused (if (i32.ne (i32.load8_u (i32.const 128)) (i32.const 1)) (then unreachable)))
(func $hook (result i32)
  ;; A slot and a date of ten bytes: "../../../x".
  (call $save-state (i32.const 256) (i32.const 1) (i32.const 257) (i32.const 10) (i32.const 256) (i32.const 1)
    (i32.const 128))
  call $refused
  (call $load-state (i32.const 256) (i32.const 1) (i32.const 257) (i32.const 10) (i32.const 128))
  call $refused
  (call $read-note (i32.const 256) (i32.const 1) (i32.const 257) (i32.const 10) (i32.const 128))
  call $refused
  (call $append-note (i32.const 256) (i32.const 1) (i32.const 257) (i32.const 10) (i32.const 266) (i32.const 1)
    (i32.const 266) (i32.const 1) (i32.const 128))
  call $refused
  i32.const 64)
