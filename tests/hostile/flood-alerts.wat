;; Raises 10,000 alerts and answers.
(func $hook (result i32)
  (local $n i32)
  (memory.fill (i32.const 1024) (i32.const 0x78) (i32.const 8192))
  (loop $again
    (call $raise-alert (i32.const 2) (i32.const 1024) (i32.const 8192) (i32.const 1024) (i32.const 8192))
    (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 10000))))
  i32.const 64)
