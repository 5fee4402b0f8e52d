//! The weights of the probe and of the status of statements, written by `tools/train_probe.py`.

pub(super) const PROBE_BIAS: f64 = -2.9025;
pub(super) const PROBE: [f64; 17] = [
    0.0000, 0.0000, 0.8029, 0.0000, 0.1814, 0.6802, 0.5206, 0.0000, 0.4128, -1.5019, 0.0000, 1.1916, -0.6891, 0.0000,
    0.1866, 2.0225, 1.8749,
];

pub(super) const STATUS_BIAS: f64 = -3.2328;
pub(super) const STATUS: [f64; 17] = [
    0.0000, 0.4571, 1.0813, 0.0413, 0.0000, 1.1423, 0.9077, 0.0000, 0.0012, -1.7242, 0.2142, 1.0817, -0.6096, -0.0288,
    0.2637, 1.9325, 2.3151,
];
