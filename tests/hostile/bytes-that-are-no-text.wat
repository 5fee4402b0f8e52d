;; A line for the log that is not UTF-8.
(data (i32.const 256) "\c3\28\a0\a1")
(func $hook (result i32) (call $log (i32.const 1) (i32.const 256) (i32.const 4)) i32.const 64)
