;; One line of 36 MiB for the log.
(memory (export "memory") 600)
(func $hook (result i32)
  (memory.fill (i32.const 1024) (i32.const 0x78) (i32.const 0x2400000))
  (call $log (i32.const 1) (i32.const 1024) (i32.const 0x2400000))
  i32.const 64)
