//! The weights of the probe and of the status of statements, written by `tools/train_probe.py`.

pub(super) const PROBE_BIAS: f64 = -3.0967;
pub(super) const PROBE: [f64; 15] = [
    0.9971, 0.0000, 0.2074, 0.6762, 0.2373, 1.1282, 0.6412, 0.0000, 0.3935, -1.2542, 0.0000, 1.4886, 0.0000, 0.0000,
    -0.2740,
];

pub(super) const STATUS_BIAS: f64 = -3.3556;
pub(super) const STATUS: [f64; 15] = [
    0.9422, 0.7070, 0.7429, 0.7537, 0.0000, 1.7878, 1.0020, 0.0000, 0.0120, -1.4590, 0.3622, 1.3777, 0.0000, -0.0071,
    -0.2077,
];
