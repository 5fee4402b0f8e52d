#!/usr/bin/env python3
"""Fit the weights of salience and write src/signal/learned.rs.

usage: train_salience.py CASES [--write] [--verbose]

CASES is a folder of case files (*.json: messages, firstKept, summary; facts with class, criticality, evidence, values
and status, or `needed`, the names that the session used again). `target/release/examples/salience_features` must be
built.

Statements: which sentences would whoever goes on have to know? Cases with facts say it by the evidence of the facts that
two readers call important or critical; for the others tools/labels/statements.json has the sentences that a reader marked
before seeing a summary (message number and a hash of the sentence). Names: which of the names that the summary lacks were
needed again, and, with half the weight, which did the writer of the summary keep?

Both are logistic regressions with a ridge towards weights set by hand, the classes balanced within each case. Every
figure printed is of cases whose whole session was left out of the fit; other sessions of the same people stay in it.
Standard library only; the same input gives the same weights.
"""
import glob, hashlib, json, math, os, re, subprocess, sys

PROGRAM = "target/release/examples/salience_features"
LABELS = os.path.join(os.path.dirname(__file__), "labels", "statements.json")
# Set by hand, from what coding sessions lose: user, agent. The fit may move away from them where cases say so.
PRIOR = [(1.2, .3), (.65, .25), (.5, 0), (.3, .1), (.3, .3), (.2, .2), (.1, .25), (.2, .2), (.1, .35), (.15, .25), (-.15, .1),
         (.15, .4), (.7, .1), (.7, .2), (.5, .25), (.6, 0), (-.6, -.4), (-.3, -.7), (0, 0), (-1.5, -1.0), (.1, .1), (-.6, -.1),
         (0, 0), (0, 0),
         (-.5, -2.0), (2.0, 2.0), (-.3, -1.0), (-.9, -.9), (0, 0), (.25, .25), (.5, .5), (0, .3), (.45, .45), (-1.1, -1.1),
         (-1.25, -1.25), (0, 0), (.2, .1), (0, .1), (.2, 0), (.2, 0), (-.5, -.5), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0)]
NAME_PRIOR = [-2.0, .5, .8, .3, 0, 0, .3, .5, 0, 0, 0, 0, 0, 0, .5, .5]
# The weights by hand count by half, as they were set with a few of the cases in view.
TRUST = .5
RIDGE, NAME_RIDGE = 300.0, 4.0
# Cases whose labels two readers gave count as three.
TWO_READERS = 3.0
# The names that a summary kept count by half of those that were needed again.
KEPT = .5
# What all statements of one case, all its names weigh.
PER_CASE = 60.0
# Cases that are one session under two names.
SAME = {"pair20": "6113e919", "pair21": "b42aaf1f", "pair22": "0276a600"}

STOP = set("a an and are as at be but by for from had has have he her his i if in into is it its me my no not of on or our she so than that the their them then there they this to was we were what when which who will with you your do does did can could should would just also all any been being am us".split())
WORD = re.compile(r"[A-Za-z0-9_À-ɏ]+(?:[.:/@-][A-Za-z0-9_]+)*|[\u4e00-\u9fff]")
LEVEL = {"none": 0, "minor": 1, "important": 2, "critical": 3}

def words(text): return {w.lower() for w in WORD.findall(text)} - STOP

def need(fact):
    levels = [LEVEL[fact["criticality"]]] + ([LEVEL[fact["second"]["need"]]] if fact.get("second") else [])
    return min(levels) >= 2 and fact["class"] == "fact"

def session(case):
    """What is left out together: a session, with all compactions of it."""
    return SAME.get(case["id"], case["id"]).split("-")[0]

def by_evidence(case, statements):
    facts = [(words(f["evidence"]), f) for f in case["facts"] if f.get("evidence") and need(f)]
    for s in statements:
        own, body = words(s["text"]), case["messages"][s["message"]]["text"]
        states = lambda evidence, fact: len(evidence) > 2 and len(own & evidence) / len(evidence) >= (.6 if fact["evidence"] in body else .8)
        yield int(any(states(*one) for one in facts))

def by_labels(marked, statements):
    wanted = set(marked["critical"] + marked["important"])
    for s in statements: yield int(f"{s['message']}:{hashlib.sha1(s['text'].encode()).hexdigest()[:8]}" in wanted)

def load(folder):
    statements, names, labels = [], [], json.load(open(LABELS))
    unmatched = 0
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        case = json.load(open(path))
        if case["suite"] not in ("real", "later"): continue
        got = json.loads(subprocess.run([PROGRAM, path], capture_output=True, text=True, check=True).stdout)
        real = case["suite"] == "real"
        if real or case["id"] in labels:
            marks = list(by_evidence(case, got["statements"]) if real else by_labels(labels[case["id"]], got["statements"]))
            if not real: unmatched += len(labels[case["id"]]["critical"] + labels[case["id"]]["important"]) - sum(marks)
            rows = []
            for s, mark in zip(got["statements"], marks):
                shift = 0 if s["role"] == "user" else len(PRIOR)
                rows.append(([(shift + k, v) for k, v in s["features"]], mark, 1.0))
            statements.append((case["id"], session(case), rows, TWO_READERS if real else 1.0))
        rows = []
        for n in got["names"]:
            kept = n["text"].split("/")[-1] in case["summary"]
            needed = any(w in n["text"] for w in case.get("needed", []))
            rows.append(([(k, v) for k, v in n["features"] if v], int(kept or needed), kept))
        many = {sort: sum((row[1], row[2]) == sort for row in rows) for sort in ((1, True), (1, False), (0, False))}
        rows = [(x, y, (KEPT if kept else 1.0) / many[y, kept], kept) for x, y, kept in rows]
        names.append((case["id"], session(case), rows, 1.0))
    if unmatched: print(f"{unmatched} labelled sentences are no candidates any more")
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

def spread(cases, n):
    """The variance of each feature: the ridge is the same for all of them once they are brought to one scale."""
    sums, squares, count = [0.0] * n, [0.0] * n, 0
    for _, _, rows, _ in cases:
        for row in rows:
            count += 1
            for k, v in row[0]: sums[k] += v; squares[k] += v * v
    return [max(1e-4, q / count - (s / count) ** 2) for s, q in zip(sums, squares)]

def fit(cases, prior, ridge, scaled):
    """Newton's method on the balanced likelihood with a ridge towards the prior."""
    rows = []
    for _, _, case, weight in cases:
        pos = [0.0, 0.0]
        for row in case: pos[row[1]] += row[2]
        if not pos[0] or not pos[1]: continue
        for row in case: rows.append((row[0], row[1], PER_CASE * weight / 2 * row[2] / pos[row[1]]))
    n = len(prior); w = list(prior)
    pull = [ridge * v for v in spread(cases, n)] if scaled else [ridge] * n
    for _ in range(8):
        g = [r * (a - b) for r, a, b in zip(pull, w, prior)]; h = [[pull[i] if i == j else 0.0 for j in range(n)] for i in range(n)]
        for x, l, m in rows:
            p = 1 / (1 + math.exp(-sum(w[k] * v for k, v in x))); e = m * (p - l); q = m * p * (1 - p)
            for k, v in x:
                g[k] += e * v; line = h[k]; qv = q * v
                for j, u in x: line[j] += qv * u
        w = [a - d for a, d in zip(w, solve(h, g))]
    return w

def figures(case, w, top):
    """AUROC, and the share of the wanted among the first. Kept names are not asked for: no summary loses them."""
    case = [row for row in case if len(row) < 4 or not row[3]]
    order = sorted(case, key=lambda r: -sum(w[k] * v for k, v in r[0]))
    pos = sum(r[1] for r in order); rank = sum(i for i, r in enumerate(order) if r[1]); neg = len(case) - pos
    if not pos or not neg: return None
    return 1 - (rank - pos * (pos - 1) / 2) / (pos * neg), sum(r[1] for r in order[:top]) / pos

def report(title, cases, prior, hand, ridge, scaled, top):
    tables = {}
    for left in sorted({p for _, p, _, _ in cases}):
        w = fit([c for c in cases if c[1] != left], prior, ridge, scaled)
        for name, p, case, _ in cases:
            if p == left and figures(case, w, top):
                suite = "labelled by two readers" if name.startswith("pair") else "others"
                tables.setdefault(suite, []).append((name, figures(case, hand, top), figures(case, w, top)))
    for suite, table in sorted(tables.items()):
        mean = lambda k, j: sum(t[k][j] for t in table) / len(table)
        better = sum(t[2][1] > t[1][1] for t in table), sum(t[2][1] < t[1][1] for t in table)
        print(f"{title}, {suite} ({len(table)}): AUROC by hand {mean(1, 0):.3f}, fitted on other sessions {mean(2, 0):.3f}; "
              f"in the first {top} by hand {mean(1, 1):.3f}, fitted {mean(2, 1):.3f}; better in {better[0]} cases, worse in {better[1]}", flush=True)
        if "--verbose" in sys.argv:
            for name, a, b in table: print(f"  {name:<14} AUROC {a[0]:.3f} -> {b[0]:.3f}   first {top} {a[1]:.3f} -> {b[1]:.3f}")

def main():
    folder = sys.argv[1]; statements, names = load(folder)
    hand = [u for u, _ in PRIOR] + [a for _, a in PRIOR]; prior = [TRUST * v for v in hand]
    report("statements", statements, prior, hand, RIDGE, True, 60)
    report("names", names, NAME_PRIOR, NAME_PRIOR, NAME_RIDGE, False, 60)
    w = fit(statements, prior, RIDGE, True); v = fit(names, NAME_PRIOR, NAME_RIDGE, False)
    if "--write" in sys.argv:
        with open("src/signal/learned.rs", "w") as f:
            f.write("//! The weights of salience, written by `tools/train_salience.py`.\n\n"
                    "/// Of the features of a statement, in the order of `prose::features`: in the words of a user, and of anyone else.\n"
                    f"pub const STATEMENT: [(f64, f64); {len(PRIOR)}] = [\n")
            for k in range(len(PRIOR)): f.write(f"    ({w[k]:.3f}, {w[k + len(PRIOR)]:.3f}),\n")
            f.write("];\n\n/// Of the features of a name, in the order of `inventory::features`.\n"
                    f"pub const NAME: [f64; {len(v)}] = [\n    {', '.join(f'{x:.3f}' for x in v)},\n];\n")
        subprocess.run(["rustfmt", "--edition", "2024", "src/signal/learned.rs"], check=True)

main()
