;; Never gets to its first hook: the module's start function loops.
(func $spin (loop $again br $again))
(start $spin)
(func $hook (result i32) i32.const 64)
