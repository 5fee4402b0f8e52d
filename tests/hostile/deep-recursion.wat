;; Calls itself without end.
(func $deep call $deep)
(func $hook (result i32) call $deep unreachable)
