//! The weights of the probe and of the status of statements, written by `tools/train_probe.py`.

pub(super) const PROBE_BIAS: f64 = -3.1051;
pub(super) const PROBE: [f64; 15] = [
    0.9963, 0.0000, 0.1827, 0.6884, 0.2520, 1.1338, 0.6564, 0.0000, 0.3882, -0.6007, 0.0000, 1.4767, 0.0000, 0.0000,
    -0.2662,
];

pub(super) const STATUS_BIAS: f64 = -3.3898;
pub(super) const STATUS: [f64; 15] = [
    0.9556, 0.7325, 0.7270, 0.7836, 0.0000, 1.7745, 1.0121, 0.0000, 0.0146, -1.0062, 0.3580, 1.3901, 0.0000, 0.0000,
    -0.2031,
];
