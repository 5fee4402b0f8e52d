//! The weights of the probe, written by `tools/train_probe.py`.

pub(super) const BIAS: f64 = -3.3714;
pub(super) const WEIGHTS: [f64; 10] =
    [1.1905, 0.0000, 1.0238, 0.4300, 0.3150, 1.6036, 0.5100, -0.3085, 0.6249, -0.5333];
