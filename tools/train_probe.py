#!/usr/bin/env python3
"""Fit the weights of the probe and write src/audit/probe_weights.rs.

usage: train_probe.py FEATURES_PROGRAM SET.jsonl [SET.jsonl ...] [--write]

FEATURES_PROGRAM is `target/release/examples/probe_features`; a set has lines {"id", "summary", "facts", "labels"},
the labels 0 or 1 (null: not used). Each set weighs the same. Figures are AUROC: five folds by document (the last part
of an id), one set held out, and the final fit. numpy is needed.
"""
import json, subprocess, sys, zlib
import numpy as np

RIDGE = 3.0
# Evidence for a fact may only count for it, evidence against only against: a weight of the other sign becomes 0.
SIGNS = np.array([1, 1, 1, 1, 1, 1, 1, -1, 1, -1])

def auroc(score, label):
    order = np.argsort(score, kind="stable"); ranks = np.empty(len(score)); s = score[order]; i = 0
    while i < len(s):
        j = i
        while j < len(s) and s[j] == s[i]: j += 1
        ranks[order[i:j]] = (i + j + 1) / 2; i = j
    pos = label == 1; n, m = pos.sum(), (~pos).sum()
    return (ranks[pos].sum() - n * (n + 1) / 2) / (n * m)

def load(program, path):
    items = [json.loads(line) for line in open(path)]
    out = subprocess.run([program, path], capture_output=True, text=True, check=True).stdout
    X, y, doc = [], [], []
    for item, line in zip(items, out.splitlines()):
        for x, label in zip(json.loads(line)["features"], item["labels"]):
            if label is None: continue
            X.append(x); y.append(label); doc.append(zlib.crc32(item["id"].split("-")[-1].encode()))
    return np.array(X), np.array(y, float), np.array(doc)

def fit(sets):
    X = np.vstack([s[0] for s in sets]); y = np.concatenate([s[1] for s in sets])
    mass = np.concatenate([np.full(len(s[1]), 3000 / len(s[1])) for s in sets])
    use = np.ones(X.shape[1], bool)
    while True:
        A = np.hstack([X[:, use], np.ones((len(X), 1))]); w = np.zeros(A.shape[1])
        ridge = np.full(A.shape[1], RIDGE); ridge[-1] = 1e-6
        for _ in range(30):
            p = 1 / (1 + np.exp(-A @ w)); g = A.T @ (mass * (p - y)) + ridge * w
            w -= np.linalg.solve((A * (mass * p * (1 - p) + 1e-9)[:, None]).T @ A + np.diag(ridge), g)
        full = np.zeros(X.shape[1]); full[use] = w[:-1]
        bad = full * SIGNS < 0
        if not bad.any(): return full, w[-1]
        use[np.argmin(full * SIGNS)] = False

def main():
    program, paths = sys.argv[1], [a for a in sys.argv[2:] if a != "--write"]
    sets = [load(program, p) for p in paths]
    for k, (X, y, doc) in enumerate(sets):
        score = np.zeros(len(y))
        for fold in range(5):
            test = doc % 5 == fold
            if not test.any(): continue
            # Sets of one source share documents by number only; the fold is left out of every set all the same.
            w, _ = fit([tuple(a[s[2] % 5 != fold] for a in s) for s in sets]); score[test] = X[test] @ w
        cv = auroc(score, y)
        held = auroc(X @ fit([s for j, s in enumerate(sets) if j != k])[0], y) if len(sets) > 1 else float("nan")
        print(f"{paths[k].split('/')[-1]:<24} n {len(y):6d}  five folds {cv:.3f}  trained on the others {held:.3f}  final fit {auroc(X @ fit(sets)[0], y):.3f}"
              + "  single features " + " ".join(f"{auroc(X[:, i] * SIGNS[i], y):.3f}" for i in range(X.shape[1])))
    w, b = fit(sets)
    print("weights", np.round(w, 3), "bias", round(b, 3))
    if "--write" in sys.argv:
        with open("src/audit/probe_weights.rs", "w") as f:
            f.write("//! The weights of the probe, written by `tools/train_probe.py`.\n\n")
            f.write(f"pub(super) const BIAS: f64 = {b:.4f};\n")
            f.write(f"pub(super) const WEIGHTS: [f64; {len(w)}] =\n    [{', '.join(f'{v:.4f}' for v in w)}];\n")

main()
