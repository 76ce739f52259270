// An arm of six links whose hand follows the pointer: damped steps of least squares by the Jacobian of the hand.
import { load } from "./arm.js";
import { Stage, animate, element } from "./stage.js";

const lengths = [1, 0.9, 0.8, 0.7, 0.5, 0.4];

export async function start(place) {
  const arm = await load();
  const call = arm.prepare(lengths.map((_, k) => (k ? 0.25 : 0.4)), lengths);
  const [angles] = call.inputs;
  const [xs, ys, jacobian] = call.outputs;
  const links = lengths.length;
  let target = [2.2, 2.2];
  let moved = false;
  call.run();
  const stage = new Stage(place, [-3, 3, -1.2, 4.6], 330, "An arm that follows the pointer", (on, colour) => {
    const across = [0, ...xs], up = [0, ...ys], half = (2.9 * on.width) / on.height; // equal scales
    on.range = [-half, half, -1.2, 4.6];
    on.line([-half, half], [0, 0], colour.faint, 1);
    on.line(across, up, colour.main, 9);
    across.forEach((x, k) => on.dot(x, up[k], k ? 6 : 9, colour.text));
    on.dot(target[0], target[1], 9, colour.other, 0.6);
  });
  const note = element("output", element("p", place, "", { className: "controls" }));

  // angles += J' (J J' + d I)^-1 (target - hand)
  function step() {
    const row = (k) => jacobian.subarray(k * links, (k + 1) * links);
    const product = (a, b) => a.reduce((sum, each, i) => sum + each * b[i], 0);
    const [first, second] = [row(0), row(1)];
    const damping = 0.05;
    const a = product(first, first) + damping, b = product(first, second), c = product(second, second) + damping;
    let error = [target[0] - xs[links - 1], target[1] - ys[links - 1]];
    const far = Math.hypot(...error);
    if (far > 0.3) error = error.map((each) => (each * 0.3) / far);
    const scale = 1 / (a * c - b * b);
    const u = (c * error[0] - b * error[1]) * scale, v = (a * error[1] - b * error[0]) * scale;
    for (let i = 0; i < links; ++i) angles[i] += first[i] * u + second[i] * v;
    call.run();
    return far;
  }

  let time = 0;
  animate(place, () => {
    if (!moved) {
      time += 0.02;
      target = [2.4 * Math.cos(time), 2.2 + 1.2 * Math.sin(2.3 * time)];
    }
    const far = step();
    place.dataset.distance = far;
    note.textContent = `angles ${Array.from(angles, (each) => each.toFixed(2)).join(", ")}; the hand is ${far.toFixed(3)} away`;
    stage.update();
  });
  stage.canvas.style.touchAction = "none";
  stage.canvas.addEventListener("pointermove", (event) => {
    moved = true;
    target = stage.at(event);
  });
}
