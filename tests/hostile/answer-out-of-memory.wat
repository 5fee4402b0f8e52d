;; The answer lies behind the end of memory.
(func $hook (result i32) i32.const -16)
