// A Gaussian process through the points that are drawn: its three parameters are fitted after each.
import { load as loadFit } from "./gp_fit.js";
import { load as loadPredict } from "./gp_predict.js";
import { minimise } from "./lbfgs.js";
import { Stage, button, element, microseconds } from "./stage.js";

const grid = Float64Array.from({ length: 201 }, (_, k) => k / 200);

export async function start(place) {
  const [fit, predict] = await Promise.all([loadFit(), loadPredict()]);
  let xs = [0.08, 0.2, 0.31, 0.45, 0.62, 0.7, 0.86], ys = [-0.4, 0.7, 1.1, 0.3, -0.9, -0.7, 0.5];
  let mean = grid.map(() => 0), sd = grid.map(() => 1);
  const stage = new Stage(place, [0, 1, -2.2, 2.2], 320, "Points, and a curve with its uncertainty", (on, colour) => {
    const edge = (factor) => mean.map((each, i) => each + factor * sd[i]);
    on.band(grid, edge(-2), edge(2), colour.main, 0.12);
    on.band(grid, edge(-1), edge(1), colour.main, 0.18);
    on.line(grid, mean, colour.main);
    xs.forEach((x, i) => on.dot(x, ys[i], 5, colour.text));
  });
  const row = element("p", place, "", { className: "controls" });
  button(row, "Clear", () => {
    [xs, ys] = [[], []];
    update();
  });
  const note = element("output", row);

  function update() {
    if (xs.length < 2) {
      mean = grid.map(() => 0);
      sd = grid.map(() => 1);
      note.textContent = "Draw two points at least.";
      return stage.update();
    }
    const call = fit.prepare([0, 0, 0], xs, ys);
    const evaluate = (theta) => {
      call.inputs[0].set(theta);
      try {
        call.run();
      } catch {
        return [Infinity, theta.map(() => NaN)]; // the covariance is not positive definite
      }
      return [call.outputs[0][0], Array.from(call.outputs[1])];
    };
    const { x, value, iterations } = minimise(evaluate, [-1.2, 0, -2.3]);
    [mean, sd] = predict(x, xs, ys, grid);
    place.dataset.value = value;
    const [length, scale, noise] = x.map((each) => Math.exp(each).toPrecision(2));
    note.textContent =
      `length ${length}, scale ${scale}, noise ${noise}; ${iterations} steps of L-BFGS, ` +
      `${microseconds(() => call.run()).toFixed(1)} µs for a value with its gradient`;
    stage.update();
  }

  stage.canvas.style.cursor = "crosshair";
  stage.canvas.addEventListener("pointerdown", (event) => {
    const [x, y] = stage.at(event);
    const near = xs.findIndex((each, i) => Math.hypot(stage.x(each - x), (ys[i] - y) * 70) < 10);
    if (near >= 0) {
      xs.splice(near, 1);
      ys.splice(near, 1);
    } else if (xs.length < 60) {
      xs.push(x);
      ys.push(y);
    }
    update();
  });
  update();
}
