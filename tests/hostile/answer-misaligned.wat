;; The answer lies at an odd address.
(func $hook (result i32) i32.const 65)
