;; Takes memory until there is none.
(func $hook (result i32) (loop $again (drop (memory.grow (i32.const 100))) br $again) unreachable)
