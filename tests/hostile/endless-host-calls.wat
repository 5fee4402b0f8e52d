;; Spends its time in the host: has it count the tokens of 256 KiB again and again, each time of another text.
(data (i32.const 256) "\00\04\00\00\00\00\04\00")
(func $hook (result i32)
  (local $n i32)
  (memory.fill (i32.const 1024) (i32.const 0x61) (i32.const 0x40000))
  (loop $again
    (local.set $n (i32.add (local.get $n) (i32.const 1)))
    (i32.store8 (i32.const 1024) (i32.add (i32.const 0x41) (i32.rem_u (local.get $n) (i32.const 26))))
    (i32.store8 (i32.const 1025) (i32.add (i32.const 0x41) (i32.rem_u (i32.div_u (local.get $n) (i32.const 26)) (i32.const 26))))
    (call $count-tokens (i32.const 256) (i32.const 1) (i32.const 64))
    br $again)
  unreachable)
