;; Wants 640 MiB before it has done anything.
(memory (export "memory") 10240)
(func $hook (result i32) i32.const 64)
