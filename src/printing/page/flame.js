"use strict";
// Nested bars with widths proportional to time. A clicked bar is enlarged to the width of the page; the bars around it
// stay above it, to go back.
(() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    const row = 22, thinnest = 1 / 2000;

    function make(tag, parent, text = "", kind = "") {
        const element = document.createElement(tag);
        if (text) element.textContent = text;
        if (kind) element.className = kind;
        parent.append(element);
        return element;
    }

    function time(seconds) {
        for (const [unit, scale] of [["s", 1], ["ms", 1e3], ["µs", 1e6]])
            if (seconds * scale >= 1) return (seconds * scale).toPrecision(4) + " " + unit;
        return (seconds * 1e9).toPrecision(3) + " ns";
    }

    const header = make("header", document.body);
    make("h1", header, data.title);
    const search = make("input", header);
    search.type = "search";
    search.placeholder = "Search";
    search.setAttribute("aria-label", "Search");
    const found = make("output", header);
    const main = make("main", document.body);

    const matches = flame => search.value !== "" &&
        [flame.n, ...flame.f.map(fact => fact[1])].some(text => text.toLowerCase().includes(search.value.toLowerCase()));

    class Chart {
        constructor(root) {
            this.root = root;
            this.link(root, null);
            make("h2", main, root.n + " ").append(make("small", main, time(root.s)));
            this.box = make("div", main, "", "chart");
            this.facts = make("dl", main);
            this.choose(root);
        }

        link(flame, parent) {
            flame.parent = parent;
            for (const part of flame.p) this.link(part, flame);
        }

        choose(flame) {
            this.chosen = flame;
            this.draw();
            this.facts.replaceChildren();
            const facts = [["what", flame.n], ["time", time(flame.s) + this.shares(flame)], ...flame.f];
            for (const [title, text] of facts) {
                make("dt", this.facts, title);
                make("dd", this.facts, text);
            }
        }

        shares(flame) {
            const of = whole => whole.s > 0 ? (100 * flame.s / whole.s).toFixed(1) + " %" : "-";
            return flame === this.root ? "" : `, ${of(this.root)} of all, ${of(flame.parent)} of ${flame.parent.n}`;
        }

        draw() {
            this.box.replaceChildren();
            this.depth = 0;
            const around = [];
            for (let flame = this.chosen.parent; flame; flame = flame.parent) around.unshift(flame);
            around.forEach((flame, depth) => this.bar(flame, depth, 0, 1, "around"));
            this.arrange(this.chosen, around.length, 0, 1);
            this.box.style.height = `${(this.depth + 1) * row}px`;
        }

        arrange(flame, depth, left, width) {
            this.bar(flame, depth, left, width, flame === this.chosen ? "chosen" : "");
            // Times of parts may add up to a little more than the whole.
            const sum = flame.p.reduce((total, part) => total + part.s, 0), scale = width / Math.max(flame.s, sum, 1e-30);
            let at = left;
            for (const part of flame.p) {
                const wide = part.s * scale;
                if (wide >= thinnest) this.arrange(part, depth + 1, at, wide);
                at += wide;
            }
        }

        bar(flame, depth, left, width, mark) {
            const bar = make("button", this.box, flame.n, `bar ${flame.k} ${mark} ${matches(flame) ? "found" : ""}`);
            bar.style.cssText = `left: ${100 * left}%; width: ${100 * width}%; top: ${depth * row}px`;
            bar.title = `${flame.n}: ${time(flame.s)}`;
            bar.onclick = () => this.choose(flame);
            this.depth = Math.max(this.depth, depth);
        }

        // The seconds of all matches; parts of a match are included in it.
        sum(flame = this.root) {
            return matches(flame) ? flame.s : flame.p.reduce((total, part) => total + this.sum(part), 0);
        }
    }

    const charts = data.charts.map(chart => new Chart(chart));
    search.oninput = () => {
        charts.forEach(chart => chart.draw());
        found.textContent = search.value === "" ? "" :
            charts.map(chart => `${chart.root.n}: ${time(chart.sum())}`).join(", ");
    };
    if (data.text) make("pre", main, data.text);
})();
