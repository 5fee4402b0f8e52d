#!/usr/bin/env python3
"""Measure everything and write the tables of docs/performance.md.

usage: performance.py --date YYYY-MM-DD [--note TEXT]

Builds the benchmarks, runs them and the comparisons one after another, and replaces what stands between the two markers in
docs/performance.md; nothing else in it is touched. Eight minutes at most after the builds. A part that cannot run here (no
Node, no jq, no PyPI) is left out, and the document says so and why. TEXT stands below the tables.

Standard library only. ROUGE is measured by this same file in a virtual environment of its own.
"""
import argparse, collections, datetime, json, math, os, pathlib, platform, re, resource, shutil, statistics
import subprocess, sys, tempfile, time, venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/performance.md"
BEGIN, END = "<!-- performance:begin -->", "<!-- performance:end -->"
SIZES = ["8 KB", "80 KB", "800 KB", "8 MB"]
MAIN = "800 KB"
BENCHES = ["hooks", "alternatives", "tokens", "notes"]
COMPONENT = "both hooks, component"
# What is aimed at.
AIM_MS, LESSER_AIM_MS, AIM_RATIO, AIM_NODE_MS = 15, 25, 1.4, 50
# Time for each byte may grow so much from one size to the next and still be called linear: what runs differ by.
LINEAR = 1.25
# Seconds that one part may take before it is given up, and that all of the measuring may take.
PATIENCE, BUILD_PATIENCE, MEASURING = 180, 3600, 480
# Transcripts for the scan: megabytes, and kilobytes between two compactions (the first has none).
SCANNED = {"plain": (100, 1_000_000), "compacted": (50, 1_000)}
SCAN_ROUNDS = 3
# rougeL fills a table of words by words, in Python: at 800 KB it is given up after so many seconds, or bytes.
ROUGE_ROUNDS, ROUGE_L_SECONDS, ROUGE_L_BYTES = 5, 45, 8 << 30

# When the measuring has to end; before it begins nothing has to.
ends = math.inf


class Skipped(Exception):
    """A part that cannot be measured here, and why."""


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--date", required=True, type=lambda day: datetime.date.fromisoformat(day).isoformat())
    arguments.add_argument("--note", default="", help="a sentence below the tables, such as what else the machine did")
    arguments = arguments.parse_args()
    check_document()
    say("builds")
    run(["cargo", "bench", "--package", "host-harness", "--no-run"], patience=BUILD_PATIENCE)
    run(["cargo", "build", "--release", "--package", "host-harness", "--bins", "--examples"], patience=BUILD_PATIENCE)
    skipped = {}
    with tempfile.TemporaryDirectory() as folder:
        measured, about = measure_all(pathlib.Path(folder), skipped)
    tables = [f"{arguments.date}. {machine()}; {about}.\n{versions()}", *document(measured, skipped)]
    write("\n\n".join(tables + [arguments.note] * bool(arguments.note)))
    say(f"{DOCUMENT.relative_to(ROOT)} is written; skipped: {', '.join(skipped) or 'nothing'}; {about}")


def measure_all(folder, skipped):
    """Every part in turn; what was measured, and how busy the machine was meanwhile."""
    global ends
    plugin = part("the OpenClaw plugin's build", lambda: built_plugin(folder), skipped)
    scorer = part("the installation of rouge-score", lambda: scorer_installed(folder), skipped)
    before, started = os.getloadavg()[0], time.monotonic()
    ends = started + MEASURING
    measured = {bench: part(f"the bench {bench}", lambda: benched(bench, folder), skipped) for bench in BENCHES}
    events = part("conversations", lambda: conversations(folder), skipped)
    if events and plugin:
        measured["node"] = part("Node", lambda: in_node(events), skipped)
    if events and scorer:
        measured["rouge"] = part("ROUGE", lambda: rouge_measured(scorer, events), skipped)
    measured["scan"] = part("scan", lambda: scanned(folder), skipped)
    ends, minutes = math.inf, (time.monotonic() - started) / 60
    return measured, f"load {before:.1f} before and {os.getloadavg()[0]:.1f} after {minutes:.1f} minutes of measuring (1 is one busy core)"


# ---- running things ----

def say(text):
    print(f"performance: {text}", file=sys.stderr, flush=True)


def part(name, work, skipped):
    """What `work` gives; nothing, and a note, where it cannot run."""
    say(name)
    try:
        return work()
    except Exception as error:  # Whatever goes wrong in one part, the others are measured.
        why = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
        skipped[name] = why
        say(f"{name} is skipped: {why}")
        return None


def run(command, patience=PATIENCE, cwd=ROOT, environment=None):
    """Standard output; an error names the command and ends with the last line that it wrote."""
    patience = max(1, min(patience, round(ends - time.monotonic()) if ends < math.inf else patience))
    shown = " ".join(pathlib.Path(word).name if os.sep in str(word) else str(word) for word in command[:6])
    if shutil.which(str(command[0])) is None:
        raise Skipped(f"{command[0]} is not installed")
    try:
        done = subprocess.run([str(word) for word in command], cwd=cwd, env={**os.environ, **(environment or {})}, timeout=patience,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except subprocess.TimeoutExpired:
        raise Skipped(f"`{shown}` took longer than {patience} s") from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing was said").splitlines()[-1]
        raise Skipped(f"`{shown}` ended with {done.returncode}: {said}")
    return done.stdout


def timed(command, allowed=(0,)):
    """Wall time and processor time of a process, in seconds, and its peak memory in MB."""
    started = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall, process.returncode = time.perf_counter() - started, os.waitstatus_to_exitcode(status)
    if process.returncode not in allowed:
        raise Skipped(f"`{command[0]}` ended with {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def program(name):
    return target_folder() / "release" / name


def target_folder():
    return pathlib.Path(json.loads(run(["cargo", "metadata", "--format-version", "1", "--no-deps"]))["target_directory"])


# ---- what is measured ----

def benched(bench, folder):
    records = folder / f"{bench}.json"
    run(["cargo", "bench", "--package", "host-harness", "--bench", bench, "--", "table"], environment={"COMPACT_REVIEW_BENCH_JSON": str(records)})
    return json.loads(records.read_text())


def conversations(folder):
    return [pathlib.Path(line) for line in run([program("examples/write_conversation"), folder]).splitlines()]


def built_plugin(folder):
    plugin, component = ROOT / "openclaw-plugin", folder / "component.wasm"
    if not (plugin / "node_modules").is_dir():
        run(["npm", "install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"], cwd=plugin)
    run([program("compact-review"), "component", "--output", component])
    run(["node", "scripts/build.js", component], cwd=plugin)
    return True


def in_node(events):
    return json.loads(run(["node", "scripts/measure.js", *events], cwd=ROOT / "openclaw-plugin"))


def scanned(folder):
    generator, scan = program("examples/generate_transcripts"), [program("compact-review"), "scan", "--no-cache"]
    places = {name: folder / name for name in SCANNED}
    for name, (megabytes, between) in SCANNED.items():
        run([generator, "make", places[name], megabytes, between])
    files = {name: sorted(place.rglob("*.jsonl")) for name, place in places.items()}
    contestants = {}
    for name, place in places.items():
        contestants["scan --jobs 1", name] = [*scan, "--jobs", "1", place]
        contestants["scan, all cores", name] = [*scan, place]
        if shutil.which("jq"):
            contestants["jq -c .type", name] = ["jq", "-c", ".type", *files[name]]
    rounds, bare = collections.defaultdict(list), collections.defaultdict(list)
    for _ in range(SCAN_ROUNDS):
        for key, command in contestants.items():
            rounds[key].append(timed(command, allowed=(0, 1)))
        for name, place in places.items():
            for way, seconds in re.findall(r"^serde_json, (.+?): .* MB in ([\d.]+) s", run([generator, "bare", place]), re.M):
                bare[f"serde_json, {way}", name].append(float(seconds))
    middle = {key: [statistics.median(column) for column in zip(*list_)] for key, list_ in rounds.items()}
    middle.update({key: [statistics.median(list_), statistics.median(list_), 0] for key, list_ in bare.items()})
    sizes = {name: sum(file.stat().st_size for file in list_) / 1e6 for name, list_ in files.items()}
    return {"times": middle, "megabytes": sizes, "jq": shutil.which("jq") is not None}


# ---- ROUGE, in a virtual environment ----

def scorer_installed(folder):
    """The Python that has rouge-score."""
    environment = folder / "venv"
    venv.create(environment, with_pip=True)
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "rouge-score"], patience=BUILD_PATIENCE)
    return python


def rouge_measured(python, events):
    up_to_main = events[: SIZES.index(MAIN) + 1]
    return json.loads(run([python, __file__, "--rouge", program("compact-review"), *up_to_main], patience=2 * PATIENCE))


def rouge(audit, files):
    """Runs in the virtual environment; prints JSON."""
    from rouge_score import rouge_scorer
    result = []
    for file in files:
        events = json.loads(pathlib.Path(file).read_text())
        source = "\n".join(message["text"] for message in events["before"]["messages"])
        summary = events["after"]["summaryText"]
        scorers = {"rouge1": rouge_scorer.RougeScorer(["rouge1"])}
        size = pathlib.Path(file).stem.replace("-", " ")
        if size != MAIN:
            scorers["rouge1 + rougeL"] = rouge_scorer.RougeScorer(["rouge1", "rougeL"])
        times = collections.defaultdict(list)
        for _ in range(ROUGE_ROUNDS):
            times["compact-review audit, the whole command"].append(timed([audit, "audit", file, "--json"])[0])
            for name, scorer in scorers.items():
                started = time.perf_counter()
                scorer.score(source, summary)
                times[name].append(time.perf_counter() - started)
        row = {"size": size, "times": {name: statistics.median(list_) for name, list_ in times.items()}}
        if size == MAIN:
            row["given_up"] = rouge_l_once(source, summary, row["times"])
        result.append(row)
    print(json.dumps(result))


def rouge_l_once(source, summary, times):
    """rougeL on the long text in a process of its own, which may take neither all of the memory nor all of the time."""
    from rouge_score import rouge_scorer
    started, child = time.perf_counter(), os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (ROUGE_L_BYTES, ROUGE_L_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (ROUGE_L_SECONDS, ROUGE_L_SECONDS))
        try:
            rouge_scorer.RougeScorer(["rouge1", "rougeL"]).score(source, summary)
            os._exit(0)
        except MemoryError:
            os._exit(7)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        times["rouge1 + rougeL"] = time.perf_counter() - started
        return None
    return f"more than {ROUGE_L_BYTES >> 30} GB" if code == 7 else f"more than {ROUGE_L_SECONDS} s"


# ---- the tables ----

def document(measured, skipped):
    """Every table that there are figures for, after the aims."""
    tables = {"hooks": hooks_table, "alternatives": alternatives_table, "node": node_table, "rouge": rouge_table,
              "tokens": tokens_table, "notes": notes_table, "scan": scan_table}
    parts = [part("the table of aims", lambda: aims_table(measured), skipped)]
    parts += [part(f"the table of {name}", lambda: tables[name](measured[name]), skipped) for name in tables if measured.get(name)]
    parts = [text for text in parts if text is not None]
    if skipped:
        parts.append("Skipped: " + "; ".join(f"{name} ({why})" for name, why in skipped.items()) + ".")
    return parts


def machine():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.release()}"


def versions():
    lock = (ROOT / "Cargo.lock").read_text()
    locked = lambda name: (re.findall(rf'name = "{name}"\nversion = "([^"]+)"', lock) or ["?"])[-1]
    first = lambda command: (shutil.which(command[0]) and run(command).split("\n")[0].strip()) or f"no {command[0]}"
    crates = ", ".join(f"{name} {locked(name)}" for name in ["wasmtime", "regex", "bpe-openai", "tokenizers", "memchr", "serde_json"])
    return (f"{first(['rustc', '--version'])}; {crates}; Node {first(['node', '--version'])}, Python {platform.python_version()}, "
            f"{first(['jq', '--version'])}. Sources {first(['git', 'rev-parse', '--short', 'HEAD'])}.")


def processor():
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
        return found.group(1) if found else platform.machine()
    except OSError:
        return platform.processor() or platform.machine()


def table(title, head, rows):
    """The first column is text, the others are figures."""
    lines = [f"### {title}", "", "| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def ms(seconds):
    return figure(1e3 * seconds)


def figure(value):
    """Three digits that count."""
    if value == 0 or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{max(0, 2 - int(f'{value:e}'.split('e')[1]))}f}"


def by_name(times):
    """(name, part, size) -> record"""
    return {(time["name"], time["part"], time.get("size", "")): time for time in times}


def aims_table(measured):
    rows, verdict = [], lambda met, lesser=False: "met" if met else "the lesser aim is met" if lesser else "**missed**"
    if measured.get("hooks"):
        times = by_name(measured["hooks"]["times"])
        took = lambda name, size: times[name, "both", size]["median"]
        main_ms, ratio = 1e3 * took("component", MAIN), took("component", MAIN) / took("native", MAIN)
        rows.append([f"both hooks on {MAIN}, component", f"{AIM_MS} ms ({LESSER_AIM_MS} the lesser aim)", f"{figure(main_ms)} ms", verdict(main_ms <= AIM_MS, main_ms <= LESSER_AIM_MS)])
        rows.append([f"component / native, {MAIN}", f"at most {AIM_RATIO}", f"{ratio:.2f}", verdict(ratio <= AIM_RATIO)])
        each = [times["component", "both", size]["median"] / times["component", "both", size]["bytes"] for size in SIZES]
        growth = max(later / earlier for earlier, later in zip(each, each[1:]))
        rows.append(["growth, 8 KB to 8 MB", f"linear: time per byte never grows by more than {LINEAR - 1:.0%}", f"at most ×{growth:.2f} from one size to the next", verdict(growth <= LINEAR)])
    if measured.get("alternatives"):
        times = by_name(measured["alternatives"]["times"])
        for name in ["tokenizing, bpe-openai", "tokenizing, tokenizers"]:
            ratio = times[COMPONENT, "", MAIN]["median"] / times[name, "", MAIN]["median"]
            rows.append([f"both hooks on {MAIN} to {name.replace(',', ' once,')}", "below 1", f"{ratio:.2f}", verdict(ratio < 1)])
    if measured.get("node"):
        both = 1e3 * node_times(measured["node"])["both hooks, component", "both", MAIN]["median"]
        rows.append([f"both hooks on {MAIN} in Node", f"{AIM_NODE_MS} ms", f"{figure(both)} ms", verdict(both <= AIM_NODE_MS)])
    return table("Aims", ["what", "aim", "measured", ""], rows)


def hooks_table(measured):
    times, facts = by_name(measured["times"]), measured["facts"]
    rows = []
    for size in SIZES:
        cells = [size]
        for name in ["component", "native"]:
            both, before = times[name, "both", size], times[name, "before", size]
            cells += [ms(both["median"]), figure(1e9 * both["median"] / both["bytes"]), f"{before['median'] / both['median']:.0%}"]
        rows.append(cells + [f"{times['component', 'both', size]['median'] / times['native', 'both', size]['median']:.2f}"])
    runs = ", ".join(str(times["component", "both", size]["runs"]) for size in SIZES)
    peaks = ", ".join(f"{facts['peakMemoryMiB'][size]} MiB at {size}" for size in SIZES if size in facts["peakMemoryMiB"])
    instantiate = 1e6 * times["component", "", ""]["median"]
    head = ["size", "component, ms", "ns per byte", "before", "native, ms", "ns per byte", "before", "component / native"]
    return table("Both hooks", head, rows) + (
        f"\n\nMedians of {runs} runs, both ways in turn; *before* is the share of `before-compaction`. Instantiating takes {figure(instantiate)} µs; the component has "
        f"{facts['componentBytes']:,} bytes. Linear memory at its peak: {peaks}.")


def alternatives_table(measured):
    times = by_name(measured["times"])
    names = list(dict.fromkeys(time["name"] for time in measured["times"] if time["size"] == MAIN))
    cell = lambda name, size: ms(times[name, "", size]["median"]) if (name, "", size) in times else "–"
    rows = []
    for name in names:
        one = times[name, "", MAIN]
        rate = "–" if "last 10" in name else figure(one["bytes"] / 1e6 / one["median"])
        rows.append([name, *(cell(name, size) for size in SIZES), rate, figure(times[COMPONENT, "", MAIN]["median"] / one["median"])])
    runs = ", ".join(str(times[COMPONENT, "", size]["runs"]) for size in SIZES)
    facts = measured["facts"]
    return table("Beside alternatives and the floor", ["ms", *SIZES, f"MB/s at {MAIN}", "both hooks take × as long"], rows) + (
        f"\n\nMedians of {runs} runs in turn. At {MAIN} the guard reports {facts['guardMissing']} identifiers as missing, the regex pass {facts['regexMissing']:,}.")


def node_times(measured):
    return by_name([{**time, "size": file["size"], "bytes": file["bytes"]} for file in measured["files"] for time in file["times"]])


def node_table(measured):
    times, labels = node_times(measured), {"before": "`before-compaction`", "after": "`after-compaction`", "both": "both hooks", "": ""}
    rows = []
    for name, part in dict.fromkeys((name, part) for name, part, _ in times):
        label = labels[part] if part else name
        rows.append([label, *(ms(times[name, part, size]["median"]) for size in SIZES), figure(times[COMPONENT, "both", MAIN]["median"] / times[name, part, MAIN]["median"])])
    runs = ", ".join(str(times[COMPONENT, "both", size]["runs"]) for size in SIZES)
    return table(f"The component through jco, in Node {measured['node']}", ["ms", *SIZES, f"both hooks take × as long at {MAIN}"], rows) + (
        f"\n\nMedians of {runs} runs in turn, once warm. The notes stay in memory.")


def rouge_table(measured):
    names = list(dict.fromkeys(name for row in measured for name in row["times"]))
    sizes = [row["size"] for row in measured]
    times = {(name, row["size"]): seconds for row in measured for name, seconds in row["times"].items()}
    given_up = {row["size"]: row["given_up"] for row in measured if row.get("given_up")}
    cell = lambda name, size: ms(times[name, size]) if (name, size) in times else given_up.get(size, "–")
    return table("Beside ROUGE", ["ms", *sizes], [[name, *(cell(name, size) for size in sizes)] for name in names]) + (
        f"\n\nrouge-score from PyPI, summary against all messages, in Python; medians of {ROUGE_ROUNDS} runs in turn. The command reads the file, loads the component, "
        "fires both hooks and writes JSON.")


def tokens_table(measured):
    rows = []
    for topic, label in [("count", "counting with o200k"), ("estimate", "estimating")]:
        times = [time for time in measured["times"] if time["topic"] == topic]
        for time_ in times:
            rate = time_["bytes"] / 1e6 / time_["median"]
            rows.append([f"{label}: {time_['name']}", ms(time_["median"]), figure(rate), f"{time_['median'] / times[0]['median']:.2f}"])
    runs = measured["times"][0]["runs"]
    return table("Tokens of 1 MB", ["", "ms", "MB/s", "to the first of its kind"], rows) + f"\n\nMedians of {runs} runs in turn."


def notes_table(measured):
    times, facts = measured["times"], measured["facts"]
    rows = [[f"{time['name']}{': ' + time['part'] if time['part'] else ''}", ms(time["median"])] for time in times]
    return table(f"The write path, a compaction of {MAIN}", ["", "ms"], rows) + (
        f"\n\nMedians of {times[0]['runs']} runs in turn on this machine's disk. The hooks have {facts['writes']} texts written, {facts['synced']} of them synced; *files of the same lengths* "
        "writes and syncs as many bytes without locks, renames and what stood there before.")


def scan_table(measured):
    times, sizes = measured["times"], measured["megabytes"]
    rows = []
    for name in dict.fromkeys(name for name, _ in times):
        cells = [name]
        for place in SCANNED:
            wall, processor_time, memory = times[name, place]
            cells += [f"{wall:.2f}", f"{processor_time:.2f}", figure(sizes[place] / wall), f"{memory:.0f}" if memory else "–"]
        rows.append(cells)
    head = ["", f"{sizes['plain']:.0f} MB, no compaction: s", "processor s", "MB/s", "peak MB", f"{sizes['compacted']:.0f} MB, one a MB: s", "processor s", "MB/s", "peak MB"]
    note = "" if measured["jq"] else " jq is not installed here: it is left out."
    return table("`scan`", head, rows) + f"\n\nMedians of {SCAN_ROUNDS} rounds in turn, whole processes, without the scan's cache.{note}"


# ---- the document ----

def check_document():
    text = DOCUMENT.read_text() if DOCUMENT.is_file() else ""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        sys.exit(f"{DOCUMENT}: the lines {BEGIN} and {END} must stand in it once, in this order")
    return text


def write(tables):
    text = check_document()
    before, after = text[: text.index(BEGIN)], text[text.index(END):]
    unfinished = DOCUMENT.with_suffix(".unfinished")
    unfinished.write_text(f"{before}{BEGIN}\n{tables}\n{after}")
    unfinished.replace(DOCUMENT)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rouge"]:
        rouge(sys.argv[2], sys.argv[3:])
    else:
        main()
