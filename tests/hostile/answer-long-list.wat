;; The answer has 100,000 empty notices.
(func $hook (result i32)
  (i32.store (i32.const 88) (i32.const 0x10000))
  (i32.store (i32.const 92) (i32.const 100000))
  i32.const 64)
