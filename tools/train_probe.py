#!/usr/bin/env python3
"""Fit the weights of the probe and of the status of statements, and write src/audit/probe_weights.rs.

usage: train_probe.py CASES [--write]

CASES is a folder of case files (*.json with summary and labelled facts) and pyramid/*.jsonl (lines {"id", "summary",
"facts", "labels"}). `target/release/examples/probe_features` must be built. The probe learns from facts in a reader's
words, the status from the same facts in the words of the conversation. Each set weighs the same. Figures are AUROC:
five folds by document or project (whole ones are left out), and the final fit. Standard library only; the same input
gives the same weights.
"""
import glob, json, math, os, subprocess, sys, tempfile, zlib

PROGRAM = "target/release/examples/probe_features"
RIDGE, MASS = 3.0, 3000.0
# Evidence for a fact may only count for it, evidence against only against; 0: either.
SIGNS = [1, 1, 1, 1, 1, 1, 1, -1, 1, -1, 1, 0, -1, -1, 0]

def auroc(score, label):
    order = sorted(range(len(score)), key=lambda i: score[i]); rank, i = [0.0] * len(score), 0
    while i < len(order):
        j = i
        while j < len(order) and score[order[j]] == score[order[i]]: j += 1
        for k in order[i:j]: rank[k] = (i + j + 1) / 2
        i = j
    n = sum(label); m = len(label) - n
    return (sum(r for r, l in zip(rank, label) if l) - n * (n + 1) / 2) / (n * m)

def features(items):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        for item in items: f.write(json.dumps({k: item[k] for k in ("id", "summary", "facts")}) + "\n")
        f.flush(); out = subprocess.run([PROGRAM, f.name], capture_output=True, text=True, check=True).stdout
    rows = []
    for item, line in zip(items, out.splitlines()):
        for x, label in zip(json.loads(line)["features"], item["labels"]):
            if label is not None: rows.append((x, label, item["fold"]))
    return rows

def both(fact):
    return [fact["status"]] + ([fact["second"]["status"]] if fact.get("second") else [])

def label(fact):
    if all(s == "preserved" for s in both(fact)): return 1
    return 0 if all(s in ("dropped", "altered") for s in both(fact)) else None

def load(folder):
    sets = {}
    for path in sorted(glob.glob(os.path.join(folder, "pyramid", "*.jsonl"))):
        items = [json.loads(line) for line in open(path)]
        for item in items: item["fold"] = zlib.crc32(item["id"].split("-")[-1].encode()) % 5
        sets[os.path.basename(path)[:-6]] = features(items)
    cases = [json.load(open(path)) for path in sorted(glob.glob(os.path.join(folder, "*.json")))]
    for name, key in (("statements", "statement"), ("source words", "evidence")):
        items = []
        for case in (c for c in cases if c["suite"] == "real"):
            facts = [f for f in case["facts"] if f.get(key) and (key == "statement" or f["class"] == "fact")]
            items.append({"id": case["id"], "summary": case["summary"], "facts": [f[key] for f in facts],
                          "labels": [label(f) if f["class"] == "fact" else None for f in facts],
                          "fold": zlib.crc32(str(case.get("origin", case["id"])).encode()) % 5})
        if items: sets[name] = features(items)
    return sets

def solve(a, b):
    n = len(b); a = [row[:] + [b[i]] for i, row in enumerate(a)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(a[r][i])); a[i], a[p] = a[p], a[i]
        for r in range(i + 1, n):
            f = a[r][i] / a[i][i]
            for c in range(i, n + 1): a[r][c] -= f * a[i][c]
    x = [0.0] * n
    for i in reversed(range(n)): x[i] = (a[i][n] - sum(a[i][c] * x[c] for c in range(i + 1, n))) / a[i][i]
    return x

def fit(sets, prior=None, ridge=RIDGE):
    """Newton's method; the last weight is the bias. A weight of the wrong sign becomes 0, the worst one first."""
    size = len(SIGNS) + 1; prior = prior or [0.0] * size; use = [True] * size
    rows = [(x + [1.0], l, MASS / len(rows)) for rows in sets for x, l, _ in rows]
    while True:
        at = [i for i in range(size) if use[i]]; w = [prior[i] for i in at]
        small = [([x[i] for i in at], l, m) for x, l, m in rows]
        for _ in range(8):
            g = [(ridge if at[k] < size - 1 else 1e-3) * (w[k] - prior[at[k]]) for k in range(len(at))]
            h = [[(ridge if at[k] < size - 1 else 1e-3) if k == j else 0.0 for j in range(len(at))] for k in range(len(at))]
            for x, l, m in small:
                p = 1 / (1 + math.exp(-sum(a * b for a, b in zip(w, x)))); e = m * (p - l); q = m * p * (1 - p)
                for k, v in enumerate(x):
                    g[k] += e * v; qv = q * v; row = h[k]
                    for j in range(k + 1): row[j] += qv * x[j]
            for k in range(len(at)):
                for j in range(k): h[j][k] = h[k][j]
            w = [a - d for a, d in zip(w, solve(h, g))]
        full = [0.0] * size
        for i, v in zip(at, w): full[i] = v
        bad = [(full[i] * SIGNS[i], i) for i in range(size - 1) if full[i] * SIGNS[i] < 0]
        if not bad: return full
        use[min(bad)[1]] = False

def score(x, w): return sum(a * b for a, b in zip(x, w)) + w[-1]

def crossed(sets, name, train, prior=None, ridge=RIDGE):
    got, labels = [], []
    for fold in range(5):
        test = [r for r in sets[name] if r[2] == fold]
        if not test: continue
        w = fit([[r for r in sets[k] if r[2] != fold] for k in train], prior, ridge)
        got += [score(x, w) for x, _, _ in test]; labels += [l for _, l, _ in test]
    return auroc(got, labels)

def table(name, w):
    rounded = [f"{v:.4f}" for v in w]
    return (f"pub(super) const {name}_BIAS: f64 = {rounded[-1]};\npub(super) const {name}: [f64; {len(w) - 1}] =\n    ["
            + ", ".join(rounded[:-1]) + "];\n")

def main():
    sets = load(sys.argv[1]); facts = [k for k in sets if k != "source words"]
    probe = fit([sets[k] for k in facts])
    for name in facts:
        rows = sets[name]
        print(f"probe, {name:<13} n {len(rows):6d}  left out {crossed(sets, name, facts):.3f}  final fit "
              f"{auroc([score(x, probe) for x, _, _ in rows], [l for _, l, _ in rows]):.3f}")
    rows = sets["source words"]; own = ["statements", "source words"]
    status = fit([sets[k] for k in own], probe, 60.0)
    print(f"status, source words n {len(rows):6d}  left out {crossed(sets, 'source words', own, probe, 60.0):.3f}  by the probe's weights "
          f"{auroc([score(x, probe) for x, _, _ in rows], [l for _, l, _ in rows]):.3f}  final fit "
          f"{auroc([score(x, status) for x, _, _ in rows], [l for _, l, _ in rows]):.3f}")
    print("probe ", [round(v, 2) for v in probe]); print("status", [round(v, 2) for v in status])
    if "--write" in sys.argv:
        with open("src/audit/probe_weights.rs", "w") as f:
            f.write("//! The weights of the probe and of the status of statements, written by `tools/train_probe.py`.\n\n"
                    + table("PROBE", probe) + "\n" + table("STATUS", status))

main()
