;; The answer has a notice of 1 MiB.
(data (i32.const 0x100) "\00\00\10\00\00\00\10\00")
(func $hook (result i32)
  (memory.fill (i32.const 0x100000) (i32.const 0x78) (i32.const 0x100000))
  (i32.store (i32.const 88) (i32.const 0x100))
  (i32.store (i32.const 92) (i32.const 1))
  i32.const 64)
