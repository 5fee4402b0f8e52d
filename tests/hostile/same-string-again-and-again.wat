;; A list of 100,000 texts that are all the same MiB of memory: 100 GB for who believes it.
(memory (export "memory") 400)
(func $hook (result i32)
  (local $at i32)
  (local.set $at (i32.const 0x200000))
  (memory.fill (i32.const 0x100000) (i32.const 0x78) (i32.const 0x100000))
  (loop $again
    (i32.store (local.get $at) (i32.const 0x100000))
    (i32.store offset=4 (local.get $at) (i32.const 0x100000))
    (br_if $again (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 0x2c3500))))
  (call $count-tokens (i32.const 0x200000) (i32.const 100000) (i32.const 64))
  i32.const 64)
