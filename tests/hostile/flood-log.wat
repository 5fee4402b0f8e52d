;; Logs 10,000 lines of 8 KiB and answers.
(func $hook (result i32)
  (local $n i32)
  (memory.fill (i32.const 1024) (i32.const 0x78) (i32.const 8192))
  (loop $again
    (call $log (i32.const 1) (i32.const 1024) (i32.const 8192))
    (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 10000))))
  i32.const 64)
