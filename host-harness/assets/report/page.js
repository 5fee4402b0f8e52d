"use strict";
// The data is text from transcripts: it only ever becomes text nodes and attributes that cannot run.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const all = data.compactions;
  const KINDS = ["constraint", "decision", "task", "infrastructure", "error", "question", "state", "number"];
  const VERDICTS = ["faithful", "lossy", "failed", "unverifiable"];
  const PAGE = 150;
  const SVG = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);

  const build = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value != null) element.setAttribute(name, String(value));
    }
    for (const child of children.flat()) {
      if (child != null && child !== false) element.append(child.nodeType ? child : document.createTextNode(String(child)));
    }
    return element;
  };
  const h = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
  const s = (tag, attributes, ...children) => build(document.createElementNS(SVG, tag), attributes, children);

  const number = new Intl.NumberFormat("en");
  const short = (n) => (n >= 1e6 ? (n / 1e6).toFixed(1) + "M" : n >= 1e4 ? Math.round(n / 1e3) + "k" : number.format(n));
  const score = (c) => (c.score == null ? "–" : c.score.toFixed(1));
  const when = (ms) => (ms == null ? "" : new Date(ms).toISOString().slice(0, 16).replace("T", " "));
  const sum = (list, of) => list.reduce((total, item) => total + of(item), 0);
  const saved = (c) => Math.max(0, c.tokensBefore - c.tokensAfter);
  const mean = (list) => sum(list, (x) => x) / Math.max(1, list.length);

  // ---- Overview -------------------------------------------------------------------------------------------------
  const scored = all.filter((c) => c.score != null);
  function tiles() {
    const counts = VERDICTS.map((v) => [v, all.filter((c) => c.verdict === v).length]).filter(([, n]) => n);
    const rows = [
      [number.format(all.length), "compactions in " + number.format(data.sessions) + " sessions"],
      [scored.length ? mean(scored.map((c) => c.score)).toFixed(1) : "–", "mean score of 100"],
      [short(sum(all, saved)), "tokens saved (estimated)"],
      [number.format(sum(all, (c) => c.lostTotal)), "facts lost or altered"],
      [number.format(sum(all, (c) => c.critical)), "of them critical"],
      [counts.map(([, n]) => n).join(" · "), counts.map(([v]) => v).join(" · ")],
    ];
    byId("tiles").append(...rows.map(([big, small]) => h("li", {}, h("strong", {}, big), h("span", {}, small))));
    const span = all.map((c) => c.at).filter((at) => at != null);
    const dates = span.length ? ", " + when(Math.min(...span)).slice(0, 10) + " to " + when(Math.max(...span)).slice(0, 10) : "";
    byId("subtitle").textContent = number.format(data.files) + " files" + dates + (data.problems.length ? " · " + data.problems.length + " could not be read" : "");
  }

  const W = 420, H = 190, L = 34, B = 22, T = 8, R = 8;
  function frame(title, note, label, draw, legend) {
    const svg = s("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": title + ". " + label });
    draw(svg);
    const keys = (legend || []).map((k) => h("li", {}, h("i", { class: "bg-" + k }), k));
    byId("charts").append(h("figure", {}, h("figcaption", {}, title, h("small", {}, note)), svg, keys.length ? h("ul", { class: "legend" }, keys) : null));
  }
  function axes(svg, yTop, xLeft, xRight, yName) {
    svg.append(s("line", { class: "axis", x1: L, y1: H - B, x2: W - R, y2: H - B }), s("line", { class: "axis", x1: L, y1: T, x2: L, y2: H - B }));
    svg.append(s("text", { x: L - 5, y: T + 8, "text-anchor": "end" }, yTop), s("text", { x: L - 5, y: H - B, "text-anchor": "end" }, "0"));
    svg.append(s("text", { x: L, y: H - 7 }, xLeft), s("text", { x: W - R, y: H - 7, "text-anchor": "end" }, xRight));
    if (yName) svg.append(s("text", { x: L + 6, y: T + 8 }, yName));
  }
  const px = (share) => L + share * (W - L - R);
  const py = (share) => H - B - share * (H - B - T);
  const dot = (c, x, y) => {
    const circle = s("circle", { class: "dot fill-" + c.verdict, cx: x.toFixed(1), cy: y.toFixed(1), r: all.length > 300 ? 2.5 : 4 },
      s("title", {}, `${c.session} #${c.number}: score ${score(c)}`));
    circle.addEventListener("click", () => go("c" + c.index));
    return circle;
  };

  function distribution() {
    const bins = Array.from({ length: 10 }, () => Object.fromEntries(VERDICTS.map((v) => [v, 0])));
    for (const c of scored) bins[Math.min(9, Math.floor(c.score / 10))][c.verdict]++;
    const most = Math.max(1, ...bins.map((b) => sum(VERDICTS, (v) => b[v])));
    const label = bins.map((b, i) => `${i * 10} to ${i * 10 + 10}: ${sum(VERDICTS, (v) => b[v])}`).join(", ");
    frame("Scores", "how many compactions, by score", label, (svg) => {
      axes(svg, most, "0", "100", "");
      bins.forEach((bin, i) => {
        let base = 0;
        for (const v of VERDICTS) {
          if (!bin[v]) continue;
          const y = py((base + bin[v]) / most);
          svg.append(s("rect", { class: "fill-" + v, x: px(i / 10) + 2, width: (W - L - R) / 10 - 4, y, height: py(base / most) - y }, s("title", {}, `${bin[v]} ${v}`)));
          base += bin[v];
        }
      });
    }, VERDICTS.slice(0, 3));
  }
  function savedAgainstLost() {
    const mostX = Math.max(1, ...all.map(saved)), mostY = Math.max(1, ...all.map((c) => c.lostTotal));
    frame("Tokens saved against facts lost", "one dot for each compaction", `${all.length} compactions; up to ${short(mostX)} tokens saved and ${mostY} facts lost`, (svg) => {
      axes(svg, mostY, "0 tokens", short(mostX) + " tokens saved", "facts lost");
      for (const c of all) svg.append(dot(c, px(saved(c) / mostX), py(c.lostTotal / mostY)));
    }, VERDICTS);
  }
  function categories() {
    const totals = KINDS.map((kind) => {
      const rows = all.flatMap((c) => c.categories.filter((k) => k[0] === kind));
      return { kind, kept: sum(rows, (k) => k[2]), altered: sum(rows, (k) => k[3]), dropped: sum(rows, (k) => k[4]) };
    }).filter((t) => t.kept + t.altered + t.dropped);
    const label = totals.map((t) => `${t.kind}: ${t.dropped} dropped, ${t.altered} altered, ${t.kept} kept`).join("; ");
    frame("Losses by category", "share of signals that were kept, altered, dropped", label, (svg) => {
      totals.forEach((t, i) => {
        const y = T + i * 20, all = t.kept + t.altered + t.dropped;
        svg.append(s("text", { x: 92, y: y + 12, "text-anchor": "end" }, t.kind));
        let x = 98;
        for (const part of ["kept", "altered", "dropped"]) {
          const width = (t[part] / all) * (W - 98 - 52);
          if (width > 0) svg.append(s("rect", { class: "fill-" + part, x, y, width, height: 14 }, s("title", {}, `${t[part]} ${part}`)));
          x += width;
        }
        svg.append(s("text", { x: W, y: y + 12, "text-anchor": "end" }, Math.round((100 * (t.altered + t.dropped)) / all) + "% lost"));
      });
    }, ["kept", "altered", "dropped"]);
  }
  function trend() {
    const dated = scored.filter((c) => c.at != null).sort((a, b) => a.at - b.at);
    if (dated.length < 2) return;
    const first = dated[0].at, last = dated[dated.length - 1].at, reach = Math.max(1, Math.round(dated.length / 12));
    const x = (c) => px((c.at - first) / Math.max(1, last - first));
    const line = dated.map((c, i) => {
      const near = dated.slice(Math.max(0, i - reach), i + reach + 1).map((d) => d.score).sort((a, b) => a - b);
      return `${x(c).toFixed(1)},${py(near[near.length >> 1] / 100).toFixed(1)}`;
    });
    frame("Trend", "score over time, with a running median", `from ${when(first).slice(0, 10)} to ${when(last).slice(0, 10)}`, (svg) => {
      axes(svg, "100", when(first).slice(0, 10), when(last).slice(0, 10), "score");
      for (const c of dated) svg.append(dot(c, x(c), py(c.score / 100)));
      svg.append(s("polyline", { class: "trend", points: line.join(" ") }));
    });
  }
  function decay() {
    const sessions = new Map();
    for (const c of scored) if (c.active) (sessions.get(c.file + "\n" + c.session) || sessions.set(c.file + "\n" + c.session, []).get(c.file + "\n" + c.session)).push(c);
    const several = [...sessions.values()].filter((list) => list.length > 1).map((list) => list.sort((a, b) => a.number - b.number));
    if (!several.length) return;
    const longest = Math.min(30, Math.max(...several.map((list) => list.length)));
    const at = (i) => px(i / Math.max(1, longest - 1));
    const means = Array.from({ length: longest }, (_, i) => several.map((list) => list[i]).filter(Boolean).map((c) => c.score)).map((list) => (list.length ? mean(list) : null));
    frame("Decay", "score of the 1st, 2nd, … compaction of the same session, and their mean", means.map((m, i) => `${i + 1}: ${m == null ? "none" : m.toFixed(0)}`).join(", "), (svg) => {
      axes(svg, "100", "1st compaction", "no. " + longest, "score");
      for (const list of several.slice(0, 60)) svg.append(s("polyline", { class: "thread", points: list.slice(0, longest).map((c, i) => `${at(i).toFixed(1)},${py(c.score / 100).toFixed(1)}`).join(" ") }));
      svg.append(s("polyline", { class: "trend", points: means.map((m, i) => (m == null ? null : `${at(i).toFixed(1)},${py(m / 100).toFixed(1)}`)).filter(Boolean).join(" ") }));
    });
  }

  // ---- Table ----------------------------------------------------------------------------------------------------
  const COLUMNS = [
    ["Score", (c) => (c.score == null ? -1 : c.score), "num"], ["Verdict", (c) => c.verdict], ["Critical", (c) => c.critical, "num"], ["Lost", (c) => c.lostTotal, "num"],
    ["Session", (c) => c.session], ["No.", (c) => c.number, "num"], ["When", (c) => c.at || 0], ["Tokens before", (c) => c.tokensBefore, "num"], ["after", (c) => c.tokensAfter, "num"],
    ["Tool", (c) => c.format], ["File", (c) => c.file],
  ];
  const state = { column: 0, down: false, shown: PAGE, list: all };

  function heads() {
    document.querySelector("#table thead tr").append(...COLUMNS.map(([name, , kind], i) =>
      h("th", { scope: "col", class: kind }, h("button", { type: "button", onclick: () => { state.down = state.column === i ? !state.down : kind === "num" && i > 0; state.column = i; render(); } }, name))));
  }
  function filter() {
    const words = byId("f-text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const [verdict, format, agent] = ["f-verdict", "f-format", "f-agent"].map((id) => byId(id).value);
    const most = byId("f-score").value === "" ? null : Number(byId("f-score").value);
    state.list = all.filter((c) => (!verdict || c.verdict === verdict) && (!format || c.format === format) && (!agent || c.agent === agent)
      && (most == null || (c.score != null && c.score <= most)) && words.every((word) => c.text.includes(word)));
    state.shown = PAGE;
    render();
  }
  function render() {
    const [, key] = COLUMNS[state.column];
    const order = [...state.list].sort((a, b) => { const x = key(a), y = key(b); return (x < y ? -1 : x > y ? 1 : a.index - b.index) * (state.down ? -1 : 1); });
    document.querySelectorAll("#table th").forEach((th, i) => {
      if (i === state.column) th.setAttribute("aria-sort", state.down ? "descending" : "ascending"); else th.removeAttribute("aria-sort");
      const name = COLUMNS[i][0];
      th.firstChild.textContent = i === state.column ? name + (state.down ? " ▼" : " ▲") : name;
    });
    const rows = order.slice(0, state.shown).map(row);
    document.querySelector("#table tbody").replaceChildren(...rows);
    byId("count").textContent = state.list.length === all.length ? `${number.format(all.length)} compactions` : `${number.format(state.list.length)} of ${number.format(all.length)} compactions`;
    byId("more").hidden = state.shown >= order.length;
    byId("more").textContent = `Show all ${number.format(order.length)}`;
  }
  const row = (c) => h("tr", { class: open === c.index ? "open" : null, "data-index": c.index, onclick: () => go("c" + c.index) },
    h("td", { class: "num" }, score(c)), h("td", { class: "verdict v-" + c.verdict }, c.verdict), h("td", { class: "num" }, c.critical), h("td", { class: "num" }, c.lostTotal),
    h("td", {}, h("button", { class: "open", type: "button", "aria-label": `Open session ${c.session}, compaction ${c.number}, score ${score(c)}` }, c.session)),
    h("td", { class: "num" }, c.number), h("td", {}, when(c.at)), h("td", { class: "num" }, number.format(c.tokensBefore)), h("td", { class: "num" }, number.format(c.tokensAfter)),
    h("td", {}, c.format), h("td", {}, h("div", { class: "file", title: c.file }, c.file.split("/").slice(-2).join("/"))));

  // ---- Detail ---------------------------------------------------------------------------------------------------
  let open = null, opener = null;
  function detail(c) {
    const pair = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
    const numbers = h("dl", { class: "numbers" },
      h("div", {}, h("dt", {}, "score"), h("dd", {}, score(c), " ", h("span", { class: "verdict v-" + c.verdict }, c.verdict))),
      pair("messages", `${number.format(c.messagesBefore)}, ${number.format(c.messagesDropped)} replaced, ${number.format(c.messagesRetained)} kept`),
      pair("tokens", `~${number.format(c.tokensBefore)} → ~${number.format(c.tokensAfter)}`),
      c.tokensRecorded == null ? null : pair("recorded before", number.format(c.tokensRecorded)), c.at == null ? null : pair("when", when(c.at) + " UTC"),
      pair("agent", c.agent), pair("place", `${c.file}, line ${c.line}`));
    const source = h("div", { class: "source", "aria-live": "polite" });
    const buttons = c.lost.map((fact, i) => h("button", { type: "button", class: "fact " + fact.status, "aria-pressed": "false", onclick: () => pick(i), onkeydown: (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && buttons[i + step]) { event.preventDefault(); buttons[i + step].focus(); pick(i + step); }
    } }, h("small", {}, `${fact.status} · ${fact.kind} · weight ${fact.salience.toFixed(2)}`), fact.text));
    function pick(i) {
      buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === i)));
      source.replaceChildren(...shown(c, c.lost[i]));
      // On a phone there is one column: the source stands below its fact.
      if (matchMedia("(max-width: 720px)").matches) buttons[i].after(source);
    }
    const more = c.lostTotal - c.lost.length;
    const list = c.lost.length
      ? h("div", { class: "facts-sources" }, h("div", {}, h("h3", {}, "Lost, most important first"), h("ul", { class: "facts" }, buttons.map((button) => h("li", {}, button))),
          more > 0 ? h("p", { class: "dim" }, `… and ${number.format(more)} more of less weight; \`compact-review replay\` lists them`) : null), source)
      : h("p", {}, "No lost fact is listed. ", h("span", { class: "dim" }, c.reason));
    byId("detail-title").textContent = `${c.session} · compaction ${c.number}`;
    byId("detail-body").replaceChildren(numbers, h("p", { class: "dim" }, c.reason), list,
      c.invented.length ? h("div", {}, h("h3", {}, "In the summary, but in no message"), h("ul", {}, c.invented.map((x) => h("li", {}, h("strong", {}, x[0]), " ", h("span", { class: "dim" }, x[1]))))) : "",
      c.lost.length === 0 && c.summary ? h("div", {}, h("h3", {}, "The summary"), h("div", { class: "quote", tabindex: 0 }, c.summary)) : "",
      c.notes.length ? h("ul", { class: "notes" }, c.notes.map((note) => h("li", {}, note))) : "");
    if (c.lost.length) pick(0);
  }
  function shown(c, fact) {
    const from = c.sources[fact.source] || { id: "?", role: "?" };
    const head = [from.role, from.tool, when(from.at), "message " + from.id].filter(Boolean).join(" · ");
    const [before, words, after] = fact.excerpt;
    const parts = [h("h3", {}, "The message that held it"), h("p", { class: "dim" }, head)];
    parts.push(h("div", { class: "quote", tabindex: 0 }, before, words ? h("mark", {}, words) : null, after || (before || words ? "" : fact.text)));
    if (fact.says) parts.push(h("h3", {}, "What the summary says instead"), h("div", { class: "quote" }, h("mark", { class: "says" }, fact.says)));
    if (c.summary) {
      const needle = fact.says ? fact.says.replace(/…$/, "") : null;
      const at = needle ? c.summary.indexOf(needle) : -1;
      const text = at < 0 ? [c.summary] : [c.summary.slice(0, at), h("mark", { class: "says" }, needle), c.summary.slice(at + needle.length)];
      parts.push(h("h3", {}, fact.says ? "Where, in the summary" : "The summary, which does not have it"), h("div", { class: "quote", tabindex: 0 }, ...text));
    }
    return parts;
  }
  // The address names what is open, so that it can be sent and the back button works.
  function go(hash) {
    location.hash = hash;
    route();
  }
  function route() {
    const match = /^#c(\d+)$/.exec(location.hash);
    const c = match ? all[Number(match[1])] : null;
    if (c && open === c.index) return;
    document.querySelectorAll("#table tr.open").forEach((tr) => tr.classList.remove("open"));
    byId("detail").hidden = !c;
    if (!c) { open = null; if (opener && opener.isConnected) opener.focus(); opener = null; return; }
    opener = document.activeElement && document.activeElement !== document.body ? document.activeElement : opener;
    open = c.index;
    const tr = document.querySelector(`#table tr[data-index="${c.index}"]`);
    if (tr) tr.classList.add("open");
    detail(c);
    byId("detail").scrollIntoView();
    byId("detail-title").focus({ preventScroll: true });
  }

  // ---- Start ----------------------------------------------------------------------------------------------------
  all.forEach((c, index) => {
    c.index = index;
    c.text = [c.session, c.file, c.agent, c.format, c.verdict, ...c.lost.map((fact) => fact.text)].join("\n").toLowerCase();
  });
  const options = (id, values, every) => byId(id).append(h("option", { value: "" }, every), ...[...new Set(values)].sort().map((value) => h("option", { value }, value)));
  options("f-verdict", all.map((c) => c.verdict), "all");
  options("f-format", all.map((c) => c.format), "all");
  options("f-agent", all.map((c) => c.agent), "all");
  byId("filters").addEventListener("input", filter);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("reset", () => setTimeout(filter));
  byId("more").addEventListener("click", () => { state.shown = Infinity; render(); });
  byId("close").addEventListener("click", () => go(""));
  addEventListener("keydown", (event) => { if (event.key === "Escape" && open != null) go(""); });
  addEventListener("hashchange", route);
  heads(); render(); tiles(); distribution(); savedAgainstLost(); categories(); trend(); decay();
  if (data.problems.length) {
    document.querySelector("main").append(h("section", { "aria-label": "What could not be read" }, h("h2", {}, "What could not be read"),
      h("ul", { class: "notes" }, data.problems.map(([path, why]) => h("li", {}, path + ": " + why)))));
  }
  route();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
