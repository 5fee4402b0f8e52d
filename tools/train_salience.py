#!/usr/bin/env python3
"""Fit the weights of salience and write src/signal/learned.rs.

usage: train_salience.py CASES [--write]

CASES is a folder of case files (*.json: messages, firstKept, summary; facts with class, criticality, evidence, values
and status, or `needed`, the names that the session used again). `target/release/examples/salience_features` must be
built. Statements: which sentences state a fact that readers call important or critical? Names: which of the names that
the summary lacks were needed again? Both are logistic regressions with a ridge towards weights set by hand, the
classes balanced within each case. Every figure printed is of cases whose whole session was left out of the fit; other sessions of the same people stay in it.
Standard library only; the same input gives the same weights.
"""
import glob, json, math, os, re, subprocess, sys

PROGRAM = "target/release/examples/salience_features"
CUES = 22
# Set by hand, from what coding sessions lose: user, agent. The fit may move away from them where cases say so.
PRIOR = [(1.2, .3), (.65, .25), (.5, 0), (.3, .1), (.3, .3), (.2, .2), (.1, .25), (.2, .2), (.1, .35), (.15, .25), (-.15, .1),
         (.15, .4), (.7, .1), (.7, .2), (.5, .25), (.6, 0), (-.6, -.4), (-.3, -.7), (0, 0), (-1.5, -1.0), (.1, .1), (-.6, -.1),
         (-.5, -2.0), (2.0, 2.0), (-.3, -1.0), (-.9, -.9), (0, 0), (.25, .25), (.5, .5), (0, .3), (.45, .45), (-1.1, -1.1),
         (-1.25, -1.25), (0, 0), (.2, .1), (0, .1), (.2, 0), (.2, 0), (-.5, -.5)]
NAME_PRIOR = [-2.0, .5, .8, .3, 0, 0, .3, .5, 0, 0, 0, 0, 0, 0, .5, .5]
RIDGE, NAME_RIDGE = 12.0, 4.0

STOP = set("a an and are as at be but by for from had has have he her his i if in into is it its me my no not of on or our she so than that the their them then there they this to was we were what when which who will with you your do does did can could should would just also all any been being am us".split())
WORD = re.compile(r"[^\W_][\w.:/@-]*|[\u4e00-\u9fff]")
def words(text): return {w.lower().rstrip(".:-/") for w in WORD.findall(text)} - STOP
LEVEL = {"none": 0, "minor": 1, "important": 2, "critical": 3}

def need(fact):
    levels = [LEVEL[fact["criticality"]]] + ([LEVEL[fact["second"]["need"]]] if fact.get("second") else [])
    return min(levels) >= 2 and fact["class"] == "fact"

def session(case):
    """What is left out together: a session, with all compactions of it."""
    return str(case.get("origin", case["id"])).split("#")[0] if case["suite"] == "real" else case["id"].split("-")[0]

def load(folder):
    statements, names = [], []
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        case = json.load(open(path))
        if case["suite"] not in ("real", "later"): continue
        got = json.loads(subprocess.run([PROGRAM, path], capture_output=True, text=True, check=True).stdout)
        if case["suite"] == "real":
            rows = []
            facts = [(words(f["evidence"]), f) for f in case["facts"] if f.get("evidence")]
            for s in got["statements"]:
                own, label, mass = words(s["text"]), 0, 1.0
                body = case["messages"][s["message"]]["text"]
                for evidence, fact in facts:
                    share = len(own & evidence) / max(1, len(evidence))
                    if share >= (.6 if fact["evidence"] in body else .8) and len(evidence) > 2:
                        if need(fact): label = 1
                        elif not label: mass = 3.0  # known not to matter, so a surer negative than an unlabelled one
                x = [0.0] * (2 * len(PRIOR)); shift = 0 if s["role"] == "user" else len(PRIOR)
                for k, v in s["features"]: x[shift + k] = v
                rows.append((x, label, mass if not label else 1.0))
            statements.append((case["id"], session(case), rows))
        else:
            rows = []
            for n in got["names"]:
                if n["text"].split("/")[-1] in case["summary"]: continue
                label = int(any(w in n["text"] for w in case["needed"]))
                rows.append(([v for _, v in n["features"]], label, 1.0))
            names.append((case["id"], session(case), rows))
    return statements, names

def solve(a, b):
    n = len(b); a = [row[:] + [b[i]] for i, row in enumerate(a)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(a[r][i])); a[i], a[p] = a[p], a[i]
        for r in range(i + 1, n):
            f = a[r][i] / a[i][i]
            if f:
                for c in range(i, n + 1): a[r][c] -= f * a[i][c]
    x = [0.0] * n
    for i in reversed(range(n)): x[i] = (a[i][n] - sum(a[i][c] * x[c] for c in range(i + 1, n))) / a[i][i]
    return x

def fit(cases, prior, ridge, per_case=60.0):
    """Newton's method on the balanced likelihood with a ridge towards the prior."""
    rows = []
    for _, _, case in cases:
        pos = sum(m for _, l, m in case if l); neg = sum(m for _, l, m in case if not l)
        if not pos or not neg: continue
        for x, l, m in case: rows.append(([(k, v) for k, v in enumerate(x) if v], l, per_case / 2 * m / (pos if l else neg)))
    n = len(prior); w = list(prior)
    for _ in range(8):
        g = [ridge * (a - b) for a, b in zip(w, prior)]; h = [[ridge if i == j else 0.0 for j in range(n)] for i in range(n)]
        for x, l, m in rows:
            p = 1 / (1 + math.exp(-sum(w[k] * v for k, v in x))); e = m * (p - l); q = m * p * (1 - p)
            for k, v in x:
                g[k] += e * v
                for j, u in x: h[k][j] += q * v * u
        w = [a - d for a, d in zip(w, solve(h, g))]
    return w

def figures(case, w, top):
    order = sorted(case, key=lambda r: -sum(a * b for a, b in zip(w, r[0])))
    pos = sum(l for _, l, _ in case); rank = sum(i for i, r in enumerate(order) if r[1]); neg = len(case) - pos
    if not pos or not neg: return None
    return 1 - (rank - pos * (pos - 1) / 2) / (pos * neg), sum(l for _, l, _ in order[:top]) / pos

def report(title, cases, prior, ridge, top):
    table = []
    for left in sorted({p for _, p, _ in cases}):
        w = fit([c for c in cases if c[1] != left], prior, ridge)
        for name, p, case in cases:
            if p == left: table.append((name, figures(case, prior, top), figures(case, w, top)))
    table = [t for t in table if t[1]]
    mean = lambda k, j: sum(t[k][j] for t in table) / len(table)
    better = sum(t[2][1] > t[1][1] for t in table), sum(t[2][1] < t[1][1] for t in table)
    print(f"{title}: AUROC by hand {mean(1, 0):.3f}, fitted on other sessions {mean(2, 0):.3f}; "
          f"in the first {top} by hand {mean(1, 1):.3f}, fitted {mean(2, 1):.3f}; better in {better[0]} cases, worse in {better[1]}")
    if "--verbose" in sys.argv:
        for name, a, b in table: print(f"  {name:<14} AUROC {a[0]:.3f} -> {b[0]:.3f}   first {top} {a[1]:.3f} -> {b[1]:.3f}")

def main():
    folder = sys.argv[1]; statements, names = load(folder)
    prior = [u for u, _ in PRIOR] + [a for _, a in PRIOR]
    report("statements", statements, prior, RIDGE, 60)
    report("names", names, NAME_PRIOR, NAME_RIDGE, 60)
    w = fit(statements, prior, RIDGE); v = fit(names, NAME_PRIOR, NAME_RIDGE)
    if "--write" in sys.argv:
        with open("src/signal/learned.rs", "w") as f:
            f.write("//! The weights of salience, written by `tools/train_salience.py`.\n\n"
                    "/// Of the features of a statement, in the order of `prose::features`: in the words of a user, and of anyone else.\n"
                    f"pub const STATEMENT: [(f64, f64); {len(PRIOR)}] = [\n")
            for k in range(len(PRIOR)): f.write(f"    ({w[k]:.3f}, {w[k + len(PRIOR)]:.3f}),\n")
            f.write("];\n\n/// Of the features of a name, in the order of `inventory::features`.\n"
                    f"pub const NAME: [f64; {len(v)}] =\n    [{', '.join(f'{x:.3f}' for x in v)}];\n")
    else:
        print("names", [round(x, 2) for x in v])

main()
