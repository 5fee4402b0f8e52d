;; Takes no argument: the function that gives the host room for it loops.
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (loop $again br $again) unreachable)
(func $hook (result i32) i32.const 64)
