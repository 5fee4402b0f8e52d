;; Appends an entry to the notes of 1,000 days and answers.
(data (i32.const 256) "k2026-11-18id")
(func $hook (result i32)
  (local $n i32)
  (loop $again
    ;; The last two digits of the year, of the month.
    (i32.store8 (i32.const 260) (i32.add (i32.const 0x30) (i32.rem_u (local.get $n) (i32.const 10))))
    (i32.store8 (i32.const 259) (i32.add (i32.const 0x30) (i32.rem_u (i32.div_u (local.get $n) (i32.const 10)) (i32.const 10))))
    (i32.store8 (i32.const 258) (i32.add (i32.const 0x30) (i32.div_u (local.get $n) (i32.const 100))))
    (call $append-note (i32.const 256) (i32.const 1) (i32.const 257) (i32.const 10) (i32.const 267) (i32.const 2)
      (i32.const 267) (i32.const 2) (i32.const 128))
    (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 1000))))
  i32.const 64)
