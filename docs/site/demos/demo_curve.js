// A function of the tutorial, its graph, its loops and its code, and a plot of what the module computes.
import { load } from "./curve.js";
import { Stage, element, microseconds } from "./stage.js";

export async function start(place) {
  const [curve, texts] = await Promise.all([load(), fetch(new URL("curve.json", import.meta.url)).then((got) => got.json())]);
  const panes = element("div", place, "", { className: "panes" });
  for (const [title, text] of Object.entries(texts)) {
    const pane = element("figure", panes);
    element("figcaption", pane, title);
    element("pre", pane, text);
  }
  let shift = 0, width = 3, y, slope;
  const count = 801;
  const call = curve.prepare(new Float64Array(count));
  const stage = new Stage(place, [-3, 3, -2.2, 3.2], 260, "The function and its derivative", (on, colour) => {
    const xs = call.inputs[0];
    on.range = [xs[0], xs[count - 1], -2.2, 3.2];
    on.line([xs[0], xs[count - 1]], [0, 0], colour.faint, 1);
    on.line(xs, y, colour.main);
    on.line(xs, slope, colour.other);
    on.text(xs[0] + 0.02 * width, 2.8, "y and its derivative by x", colour.text);
  });
  const row = element("p", place, "", { className: "controls" });
  const label = element("label", row, "half the width of the window ");
  const slider = element("input", label, "", { type: "range", min: 0.2, max: 3, step: 0.05, value: 3 });
  const note = element("output", row);
  function update() {
    width = Number(slider.value);
    for (let k = 0; k < count; ++k) call.inputs[0][k] = shift + width * ((2 * k) / (count - 1) - 1);
    call.run();
    [y, slope] = call.outputs;
    place.dataset.slope = slope[(count - 1) / 2];
    note.textContent = `${count} points in ${microseconds(() => call.run()).toFixed(1)} µs`;
    stage.update();
  }
  slider.addEventListener("input", update);
  update();
}
