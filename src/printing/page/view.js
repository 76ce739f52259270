// The page: one pane per graph, with zoom, search and folding; a panel with the details of the chosen node; the
// program.
"use strict";

const svgNamespace = "http://www.w3.org/2000/svg";
const shownAtFirst = 150;

function svg(name, attributes = {}, text = "") {
  const element = document.createElementNS(svgNamespace, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text) element.textContent = text;
  return element;
}

function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const key in attributes)
    if (key.startsWith("on")) element[key] = attributes[key];
    else element.setAttribute(key, attributes[key]);
  element.append(...children);
  return element;
}

const ruler = document.createElement("canvas").getContext("2d");
let rulerFont = "";
function textWidth(text, font) {
  if (font !== rulerFont) ruler.font = rulerFont = font;  // setting the font takes longer than measuring
  return ruler.measureText(text).width;
}

const clipped = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;

function secondsText(seconds) {
  for (const [unit, size] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6]])
    if (seconds >= size) return `${Number((seconds / size).toPrecision(3))} ${unit}`;
  return `${Number((seconds * 1e9).toPrecision(3))} ns`;
}

class Pane {
  constructor(graph, page) {
    this.graph = graph;
    this.page = page;
    this.nodes = graph.nodes;
    this.total = this.nodes.reduce((sum, node) => sum + (node.s > 0 ? node.s : 0), 0);
    this.scene = svg("g");
    this.canvas = svg("svg", {tabindex: 0, role: "img", "aria-label": graph.name});
    this.canvas.append(this.scene);
    this.element = html("section", {class: "pane"}, html("h2", {}, graph.name, " ", html("small", {}, this.summary())), this.canvas);
    this.at = {x: 0, y: 0, scale: 1};
    this.chosen = -1;
    this.found = new Set();
    this.listen();
  }

  summary() {
    const applications = this.nodes.filter(node => node.k === "apply").length;
    return `${applications} node${applications === 1 ? "" : "s"}` + (this.total ? `, ${secondsText(this.total)} in all` : "");
  }

  // "need", "line" or "none"; see fold.js.
  foldBy(way) {
    const count = this.nodes.length;
    const {parent, groups} = way === "line" ? containersByLine(this.nodes)
      : way === "need" ? containersByNeed(this.nodes) : {parent: this.nodes.map(() => -1), groups: []};
    this.parent = parent;
    this.items = this.nodes.concat(groups);
    this.size = containerSums(this.nodes.map(() => 1), parent, this.items.length);
    this.spent = containerSums(this.nodes.map(node => node.s > 0 ? node.s : 0), parent, this.items.length);
    this.folded = way === "line" ? new Set(groups.map((_, i) => count + i))
      : firstFolds(count, parent, this.items.length, this.size, shownAtFirst);
    this.draw();
    this.begin();
  }

  foldAll(fold) {
    this.folded = new Set(fold ? this.items.map((_, i) => i).filter(i => this.size[i] > 1) : []);
    this.draw();
    this.begin();
  }

  // Folds or unfolds a container; its position on the screen is kept.
  toggle(item) {
    const before = this.centres.get(item);
    if (!this.folded.delete(item)) this.folded.add(item);
    this.draw();
    const members = this.items.map((_, i) => i).filter(i => this.parent[i] === item && this.centres.has(i));
    const after = this.centres.get(item) || this.centres.get(members[0]);
    if (before && after) {
      this.at.x += (before.x - after.x) * this.at.scale;
      this.at.y += (before.y - after.y) * this.at.scale;
      this.move();
    }
  }

  // Opens all containers that hide a node.
  reveal(node) {
    let changed = false;
    for (let up = this.parent[node]; up >= 0; up = up < this.parent.length ? this.parent[up] : -1)
      changed = this.folded.delete(up) || changed;
    if (changed) this.draw();
  }

  draw() {
    const standIn = standIns(this.parent, this.items.length, this.folded);
    const shown = [...new Set(this.nodes.map((_, i) => standIn[i]))], index = new Map(shown.map((item, i) => [item, i]));
    const boxes = shown.map(item => this.box(item));
    const edges = [], seen = new Set();
    this.nodes.forEach((node, i) => node.i.forEach(([from, label], k) => {
      const a = index.get(standIn[from]), b = index.get(standIn[i]);
      const whole = standIn[from] === from && standIn[i] === i;  // several edges between two nodes are distinct inputs
      const key = `${a} ${b}` + (whole ? ` ${k}` : "");
      if (a === b || seen.has(key)) return;
      seen.add(key);
      edges.push({ends: [a, b], label: whole ? label : "", port: whole ? (k + 1) / (node.i.length + 1) - 0.5 : 0});
    }));
    const drawing = layout(boxes, edges.map(edge => edge.ends));
    this.centres = new Map(shown.map((item, i) => [item, drawing.centres[i]]));
    this.width = drawing.width;
    this.height = drawing.height;
    this.elements = new Map();
    const lines = svg("g"), shapes = svg("g");
    this.lines = edges.map((edge, i) => {
      const line = svg("path", {class: drawing.far[i] ? "edge far" : "edge", d: route(drawing.routes[i], boxes[edge.ends[0]], boxes[edge.ends[1]], edge.port)});
      if (edge.label) line.append(svg("title", {}, edge.label));
      lines.append(line);
      return {line, from: shown[edge.ends[0]], to: shown[edge.ends[1]]};
    });
    shown.forEach((item, i) => shapes.append(this.shape(item, boxes[i], drawing.centres[i])));
    this.scene.replaceChildren(lines, shapes);
    this.mark();
    this.move();
  }

  texts(item) {
    const node = this.items[item];
    const texts = [[clipped((node.n ? node.n + " = " : "") + node.l, 48), "label"]];
    if (node.t) texts.push([clipped(node.t, 44), "type"]);
    if (node.o) texts.push([node.o, "output"]);
    if (this.seconds(item) > 0) texts.push([this.time(item), "time"]);
    return texts;
  }

  // The seconds of a node, or of everything folded into it.
  seconds(item) {
    const own = this.items[item].s;
    return this.folded.has(item) ? this.spent[item] : own > 0 ? own : 0;
  }

  time(item) { return `${secondsText(this.seconds(item))}, ${(100 * this.seconds(item) / this.total).toFixed(1)} %`; }

  badge(item) {
    if (this.size[item] < 2) return "";
    if (item >= this.nodes.length) return `+${this.size[item]}`;
    return this.folded.has(item) ? `+${this.size[item] - 1}` : "−";
  }

  box(item) {
    const texts = this.texts(item);
    const wide = texts.slice(1).reduce((most, [text]) => Math.max(most, textWidth(text, "10px sans-serif")), 0);
    return {width: Math.max(wide, textWidth(texts[0][0], "13px sans-serif")) + 20 + (this.badge(item) ? 14 : 0), height: 12 + 17 + 13 * (texts.length - 1)};
  }

  shape(item, box, centre) {
    const node = this.items[item], hidden = this.folded.has(item), badge = this.badge(item);
    const group = svg("g", {
      class: `node ${node.k}${hidden ? " folded" : ""}`, transform: `translate(${centre.x} ${centre.y})`, "data-item": item,
    });
    group.append(svg("title", {}, node.e || node.l));
    const frame = svg("rect", {x: -box.width / 2, y: -box.height / 2, width: box.width, height: box.height, rx: 5});
    if (this.seconds(item) > 0) frame.style.fill = `color-mix(in srgb, #f28a1c ${Math.sqrt(this.seconds(item) / this.total) * 100}%, #fdf6ee)`;
    group.append(frame);
    if (hidden) group.append(svg("rect", {class: "stack", x: -box.width / 2 + 4, y: box.height / 2, width: box.width - 8, height: 4}));
    const shift = badge ? -7 : 0;
    let y = -box.height / 2 + 19;
    for (const [text, kind] of this.texts(item)) {
      group.append(svg("text", {class: kind, x: shift, y}, text));
      y += 13.5;
    }
    if (badge) {
      const wide = textWidth(badge, "11px sans-serif") + 8;
      const button = svg("g", {class: "badge", "data-fold": item, transform: `translate(${box.width / 2 - 2} ${-box.height / 2 + 2})`});
      button.append(svg("title", {}, hidden ? "unfold" : "fold what only this needs"));
      button.append(svg("rect", {x: -wide / 2 - 4, y: -9, width: wide + 8, height: 18, rx: 9}), svg("text", {y: 4}, badge));
      group.append(button);
    }
    this.elements.set(item, group);
    return group;
  }

  // Sets the classes of found and chosen items.
  mark() {
    for (const [item, element] of this.elements) {
      element.classList.toggle("found", this.found.has(item));
      element.classList.toggle("chosen", item === this.chosen);
    }
    for (const {line, from, to} of this.lines) line.classList.toggle("chosen", from === this.chosen || to === this.chosen);
  }

  choose(item) {
    this.chosen = item;
    this.mark();
  }

  matches(words) {
    const says = node => [node.l, node.n, node.t, node.o, node.w, node.r, node.e].filter(Boolean).join(" ").toLowerCase();
    return this.nodes.map((_, i) => i).filter(i => words.every(word => says(this.nodes[i]).includes(word)));
  }

  // Centers an item in the pane.
  look(item) {
    const centre = this.centres.get(item), view = this.canvas.getBoundingClientRect();
    if (!centre) return;
    this.at.scale = Math.max(this.at.scale, 0.8);
    this.at.x = view.width / 2 - centre.x * this.at.scale;
    this.at.y = view.height / 2 - centre.y * this.at.scale;
    this.move();
  }

  fit() {
    const view = this.canvas.getBoundingClientRect();
    if (!view.width) return;
    const scale = Math.min(1.25, (view.width - 30) / Math.max(1, this.width), (view.height - 30) / Math.max(1, this.height));
    this.at = {scale, x: (view.width - this.width * scale) / 2, y: (view.height - this.height * scale) / 2};
    this.move();
  }

  // Shows everything if it is then readable; otherwise the first output.
  begin() {
    this.fit();
    if (this.at.scale > 0.3) return;
    const shown = [...this.centres.keys()];
    this.look(shown.find(item => this.items[item].o) ?? shown[shown.length - 1]);
  }

  zoom(factor, x, y) {
    const view = this.canvas.getBoundingClientRect();
    x = x === undefined ? view.width / 2 : x;
    y = y === undefined ? view.height / 2 : y;
    const scale = Math.min(8, Math.max(0.005, this.at.scale * factor)), by = scale / this.at.scale;
    this.at = {scale, x: x - (x - this.at.x) * by, y: y - (y - this.at.y) * by};
    this.move();
  }

  move() {
    this.scene.setAttribute("transform", `translate(${this.at.x} ${this.at.y}) scale(${this.at.scale})`);
  }

  listen() {
    const canvas = this.canvas;
    canvas.onwheel = event => {
      event.preventDefault();
      const view = canvas.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - view.left, event.clientY - view.top);
    };
    let drag = null;
    canvas.onpointerdown = event => { drag = {x: event.clientX, y: event.clientY, moved: false}; };
    canvas.onpointermove = event => {
      if (!drag || !event.buttons) return;
      const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
      if (!drag.moved && Math.hypot(dx, dy) < 4) return;
      if (!drag.moved) canvas.setPointerCapture(event.pointerId);
      this.at.x += dx;
      this.at.y += dy;
      drag = {x: event.clientX, y: event.clientY, moved: true};
      this.move();
    };
    canvas.onclick = event => {
      const dragged = drag && drag.moved;
      drag = null;
      if (dragged) return;
      const button = event.target.closest("[data-fold]"), node = event.target.closest("[data-item]");
      if (button) this.toggle(Number(button.dataset.fold));
      else this.page.choose(this, node ? Number(node.dataset.item) : -1);
    };
    canvas.ondblclick = event => {
      const node = event.target.closest("[data-item]");
      if (node && !event.target.closest("[data-fold]") && this.size[node.dataset.item] > 1) this.toggle(Number(node.dataset.item));
    };
    canvas.onkeydown = event => {
      const steps = {ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60]};
      if (steps[event.key]) {
        this.at.x += steps[event.key][0];
        this.at.y += steps[event.key][1];
        this.move();
      } else if (event.key === "+" || event.key === "=") this.zoom(1.25);
      else if (event.key === "-") this.zoom(0.8);
      else if (event.key === "0") this.fit();
      else return;
      event.preventDefault();
    };
  }
}

// One arrow head for all panes, any of which may be hidden.
function arrowHead() {
  const marker = svg("marker", {id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto"});
  marker.append(svg("path", {d: "M0 0.8 L7 4 L0 7.2 z"}));
  const out = svg("svg", {class: "shared-marks", width: 0, height: 0});
  out.append(marker);
  return out;
}

// A smooth line from the bottom of one box to the top of the other; `port` is the position on the top, from -0.5 to 0.5.
function route(points, from, to, port) {
  const ends = points.map(point => ({...point})), last = ends.length - 1;
  const down = points[last].y >= points[0].y ? 1 : -1;
  ends[0].y += down * from.height / 2;
  ends[last].y -= down * to.height / 2;
  ends[last].x += port * to.width * 0.8;
  let path = `M${ends[0].x} ${ends[0].y}`;
  for (let i = 1; i <= last; i++) {
    const a = ends[i - 1], b = ends[i], half = (b.y - a.y) / 2;
    path += `C${a.x} ${a.y + half} ${b.x} ${b.y - half} ${b.x} ${b.y}`;
  }
  return path;
}

class Page {
  constructor(data) {
    document.title = data.title;
    this.data = data;
    this.hits = [];
    this.hit = -1;
    this.panel = html("aside", {class: "panel"});
    this.count = html("output", {});
    this.search = html("input", {
      type: "search", placeholder: "search: name, op, type, line, rule", "aria-label": "search",
      oninput: () => this.find(), onkeydown: event => { if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1); },
    });
    this.area = html("div", {class: "panes"});
    document.body.append(arrowHead(), this.toolbar(), html("main", {}, this.area, this.panel));
    this.panes = data.graphs.map(graph => new Pane(graph, this));
    for (const pane of this.panes) this.area.append(pane.element);
    if (data.program) this.program = html("section", {class: "pane program"}, html("h2", {}, "program"), html("pre", {}, data.program));
    if (this.program) this.area.append(this.program);
    const parts = this.panes.map((pane, i) => [pane.element, data.graphs[i].name, i < 2]);
    if (this.program) parts.push([this.program, "program", false]);
    for (const [element, name, shown] of parts) this.switches.append(this.showButton(element, name, shown));
    this.foldSomehow();
    this.choose(this.panes[0], -1);
    window.onresize = () => this.fit();
  }

  toolbar() {
    const button = (label, title, onclick) => html("button", {type: "button", title, onclick}, label);
    const each = action => () => this.panes.forEach(action);
    this.switches = html("span", {class: "group"});
    const ways = this.ways = html("select", {"aria-label": "fold by", onchange: event => this.panes.forEach(pane => pane.foldBy(event.target.value))});
    for (const [value, text] of [["need", "fold what only one node needs"], ["line", "fold what one line made"], ["none", "fold nothing"]])
      ways.append(html("option", {value}, text));
    return html("header", {}, html("h1", {}, this.data.title), this.switches,
      html("span", {class: "group"}, this.search, this.count),
      html("span", {class: "group"}, ways, button("fold all", "fold whatever can be", each(pane => pane.foldAll(true))),
        button("unfold all", "show every node", each(pane => pane.foldAll(false)))),
      html("span", {class: "group"}, button("−", "smaller (key -)", each(pane => pane.zoom(0.8))),
        button("+", "larger (key +)", each(pane => pane.zoom(1.25))), button("fit", "all of it (key 0)", () => this.fit())),
      html("span", {class: "legend"}, ...[["apply", "operation"], ["input", "variable"], ["op", "its op"], ["type", "its type"]].map(
        ([kind, text]) => html("span", {class: kind}, text))));
  }

  showButton(element, name, shown) {
    const button = html("button", {type: "button"}, name);
    const show = on => {
      element.hidden = !on;
      button.setAttribute("aria-pressed", on);
    };
    button.onclick = () => {
      show(element.hidden);
      this.fit();
    };
    show(shown);
    return button;
  }

  fit() { this.panes.forEach(pane => pane.fit()); }

  // Folds by the first way that leaves few nodes visible, or else by the one that leaves the fewest.
  foldSomehow() {
    const seen = {};
    for (const way of ["need", "line"]) {
      this.panes.forEach(pane => pane.foldBy(way));
      seen[way] = Math.max(...this.panes.map(pane => pane.centres.size));
      this.ways.value = way;
      if (seen[way] <= 2 * shownAtFirst) return;
    }
    this.ways.value = seen.need < seen.line ? "need" : "line";
    this.panes.forEach(pane => pane.foldBy(this.ways.value));
  }

  choose(pane, item) {
    for (const each of this.panes) each.choose(each === pane ? item : -1);
    this.panel.replaceChildren(...(item < 0 ? this.overview() : this.details(pane, item)));
  }

  details(pane, item) {
    const node = pane.items[item], list = html("dl");
    const say = (term, text) => { if (text) list.append(html("dt", {}, term), html("dd", {}, text)); };
    say("name", node.n);
    say("type", node.t);
    say("expression", node.e);
    say("line", node.k === "line" ? "" : node.w);
    say("made by", node.r);
    say("result", node.o);
    if (pane.seconds(item) > 0) say("time", `${pane.time(item)} of all nodes`);
    const out = [html("h2", {}, node.l), list];
    const inside = pane.size[item] - (item < pane.nodes.length ? 1 : 0);
    if (pane.size[item] > 1)
      out.push(html("button", {type: "button", onclick: () => { pane.toggle(item); this.choose(pane, item); }},
        pane.folded.has(item) ? `unfold ${inside} nodes` : `fold ${inside} nodes`));
    const up = item < pane.parent.length ? pane.parent[item] : -1;
    if (up >= pane.nodes.length)
      out.push(html("button", {type: "button", onclick: () => { pane.toggle(up); this.choose(pane, up); }}, `fold all of ${pane.items[up].l}`));
    const links = (title, nodes) => {
      if (nodes.length) out.push(html("h3", {}, title), html("ul", {}, ...nodes.slice(0, 30).map(other => this.link(pane, other))));
    };
    links("reads", (node.i || []).map(([from]) => from));
    links("is read by", pane.nodes.map((_, i) => i).filter(i => pane.nodes[i].i.some(([from]) => from === item)));
    if (node.w)
      for (const other of this.panes) {
        if (other === pane) continue;
        const same = other.nodes.map((_, i) => i).filter(i => other.nodes[i].w === node.w);
        if (!same.length) continue;
        out.push(html("h3", {}, `of the same line, ${other.graph.name}`));
        out.push(html("ul", {}, ...same.slice(0, 30).map(i => this.link(other, i))));
      }
    return out;
  }

  overview() {
    const out = [html("p", {}, "Click a node to see all about it, its badge to fold or unfold. Drag to move, wheel to zoom.")];
    for (const pane of this.panes) {
      const timed = pane.nodes.map((_, i) => i).filter(i => pane.nodes[i].s > 0).sort((a, b) => pane.nodes[b].s - pane.nodes[a].s);
      if (timed.length)
        out.push(html("h3", {}, `slowest, ${pane.graph.name}`), html("ul", {}, ...timed.slice(0, 20).map(i => this.link(pane, i, secondsText(pane.nodes[i].s)))));
    }
    return out;
  }

  link(pane, item, note = "") {
    const node = pane.nodes[item];
    const button = html("button", {type: "button", class: "link", onclick: () => this.show(pane, item)}, clipped((node.n ? node.n + " = " : "") + node.l, 60));
    return html("li", {}, button, note && ` ${note}`);
  }

  show(pane, item) {
    pane.reveal(item);
    this.choose(pane, item);
    pane.look(item);
  }

  find() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.hits = [];
    for (const pane of this.panes) {
      const found = words.length ? pane.matches(words) : [];
      pane.found = new Set(found);
      pane.mark();
      if (!pane.element.hidden) this.hits.push(...found.map(item => [pane, item]));
    }
    this.hit = -1;
    this.count.value = !words.length ? "" : this.hits.length ? `${this.hits.length} found` : "none found";
    if (this.hits.length) this.next(1);
  }

  next(step) {
    if (!this.hits.length) return;
    this.hit = (this.hit + step + this.hits.length) % this.hits.length;
    this.count.value = `${this.hit + 1} of ${this.hits.length}`;
    this.show(...this.hits[this.hit]);
  }
}

window.page = new Page(JSON.parse(document.getElementById("data").textContent));
