;; Saves bytes that are no ledger where the next hook looks for one, and answers.
(data (i32.const 256) "agent:main:testsignals\ff\fe\00\01\80\80\80\80\80\80\80\80\80\7f")
(func $hook (result i32)
  (call $save-state (i32.const 256) (i32.const 15) (i32.const 271) (i32.const 7) (i32.const 278) (i32.const 14)
    (i32.const 128))
  (if (i32.load8_u (i32.const 128)) (then unreachable))
  i32.const 64)
