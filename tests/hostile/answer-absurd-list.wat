;; The answer has a list of 4,294,967,295 notices.
(func $hook (result i32)
  (i32.store (i32.const 88) (i32.const 0x100))
  (i32.store (i32.const 92) (i32.const -1))
  i32.const 64)
