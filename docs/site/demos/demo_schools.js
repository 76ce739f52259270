// A Hamiltonian sampler on eight schools: four chains, a trajectory for each frame. Where effects are not multiples of their
// spread, chains do not get into the narrow part of the funnel.
import { load as loadPlain } from "./schools.js";
import { load as loadScaled } from "./schools_scaled.js";
import { Stage, animate, button, element } from "./stage.js";

const chains = 4, kept = 1500, size = 10, leaps = 12, stepSize = 0.35;

function normal() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}

class Sampler {
  constructor(density) {
    this.call = density.prepare(new Float64Array(size));
    this.states = Array.from({ length: chains }, () => Float64Array.from({ length: size }, normal));
    this.draws = [];
    this.proposed = this.accepted = this.gradients = 0;
  }

  value(q) {
    this.call.inputs[0].set(q);
    this.call.run();
    ++this.gradients;
    return this.call.outputs[0][0];
  }

  // One trajectory of a chain; returns its points.
  move(chain) {
    const start = this.states[chain], q = start.slice(), gradient = this.call.outputs[1];
    const p = Float64Array.from(q, normal), length = stepSize * (0.7 + 0.6 * Math.random());
    const kinetic = () => p.reduce((sum, each) => sum + (each * each) / 2, 0);
    const before = this.value(q) - kinetic();
    const points = [[5 * q[0], q[1], this.call.outputs[2][0]]];
    let after = -Infinity;
    for (let leap = 0; leap < leaps; ++leap) {
      for (let i = 0; i < size; ++i) p[i] += (length / 2) * gradient[i];
      for (let i = 0; i < size; ++i) q[i] += length * p[i];
      const value = this.value(q);
      for (let i = 0; i < size; ++i) p[i] += (length / 2) * gradient[i];
      points.push([5 * q[0], q[1], this.call.outputs[2][0]]);
      after = value - kinetic();
      if (!Number.isFinite(after)) break;
    }
    ++this.proposed;
    if (Math.log(Math.random()) < after - before) {
      ++this.accepted;
      this.states[chain] = q;
      this.draws.push(points.at(-1));
    } else {
      this.draws.push(points[0]);
    }
    if (this.draws.length > kept) this.draws.shift();
    return points;
  }
}

export async function start(place) {
  const [plain, scaled] = await Promise.all([loadPlain(), loadScaled()]);
  let sampler, paths = [];
  const stage = new Stage(place, [-25, 45, -4, 4], 340, "Draws of a school's effect and of the log spread", (on, colour) => {
    on.line([-25, 45], [0, 0], colour.faint, 1);
    on.line([0, 0], [-4, 4], colour.faint, 1);
    for (const [, tau, effect] of sampler.draws) on.dot(effect, tau, 2, colour.main, 0.35);
    paths.forEach((path, k) => {
      on.line(path.map((each) => each[2]), path.map((each) => each[1]), k % 2 ? colour.other : colour.text, 1.5);
      on.dot(path.at(-1)[2], path.at(-1)[1], 4, k % 2 ? colour.other : colour.text);
    });
    on.text(-24, 3.6, "log of the spread, over the effect of school A", colour.text);
  });
  const row = element("p", place, "", { className: "controls" });
  const choose = (density) => (sampler = new Sampler(density));
  const note = element("output", row);
  button(row, "effects as multiples of the spread", () => choose(scaled));
  button(row, "effects as they are", () => choose(plain));
  row.append(note);
  choose(scaled);
  animate(place, () => {
    const start = performance.now(), before = sampler.gradients;
    paths = sampler.states.map((_, chain) => sampler.move(chain));
    const spent = ((performance.now() - start) * 1000) / (sampler.gradients - before);
    place.dataset.draws = sampler.proposed;
    place.dataset.accepted = sampler.accepted / sampler.proposed;
    note.textContent =
      `${sampler.proposed} trajectories, ${((100 * sampler.accepted) / sampler.proposed).toFixed(0)} % ` +
      `accepted, ${spent.toFixed(1)} µs for a step`;
    stage.update();
  });
}
