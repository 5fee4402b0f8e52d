;; Has the host count the tokens of 250 texts of 120 KiB in one call: 30 MB, all different.
(func $hook (result i32)
  (local $n i32) (local $at i32)
  ;; 256 KiB of letters without a pattern that is soon over.
  (loop $letters
    (i32.store8 (i32.add (i32.const 0x10000) (local.get $n))
      (i32.add (i32.const 0x61) (i32.and (i32.const 15)
        (i32.shr_u (i32.mul (local.get $n) (i32.add (local.get $n) (i32.const 40503))) (i32.const 7)))))
    (br_if $letters (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 0x40000))))
  (local.set $n (i32.const 0))
  (loop $texts
    (local.set $at (i32.add (i32.const 1024) (i32.shl (local.get $n) (i32.const 3))))
    (i32.store (local.get $at) (i32.add (i32.const 0x10000) (i32.mul (local.get $n) (i32.const 11))))
    (i32.store offset=4 (local.get $at) (i32.const 0x1e000))
    (br_if $texts (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 250))))
  (call $count-tokens (i32.const 1024) (i32.const 250) (i32.const 128))
  i32.const 64)
