;; Saves 26 states of 8 MiB and answers.
(data (i32.const 256) "kslot")
(func $hook (result i32)
  (local $n i32)
  (loop $again
    (i32.store8 (i32.const 257) (i32.add (i32.const 0x61) (local.get $n)))
    (call $save-state (i32.const 256) (i32.const 1) (i32.const 257) (i32.const 4) (i32.const 1024) (i32.const 0x800000)
      (i32.const 128))
    (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 26))))
  i32.const 64)
