// What the demos share: elements, and a canvas that follows its width and the colours of the page.
export function element(kind, parent, text = "", properties = {}) {
  const made = Object.assign(document.createElement(kind), { textContent: text }, properties);
  parent.append(made);
  return made;
}

export function button(parent, text, act) {
  const made = element("button", parent, text, { type: "button" });
  made.addEventListener("click", act);
  return made;
}

// The colours of the theme, light or dark.
function colours(place) {
  const style = getComputedStyle(place);
  const named = (name, other) => style.getPropertyValue(`--pst-color-${name}`).trim() || other;
  return {
    text: named("text-base", "#222"),
    faint: named("border", "#bbb"),
    main: named("primary", "#0a7d91"),
    other: named("secondary", "#8045e5"),
  };
}

export class Stage {
  // `draw(context, colours)` draws everything, in the units of `range`: [left, right, bottom, top].
  constructor(place, range, height, label, draw) {
    this.range = range;
    this.height = height;
    this.draw = draw;
    this.canvas = element("canvas", place, "", { ariaLabel: label });
    this.canvas.setAttribute("role", "img");
    this.context = this.canvas.getContext("2d");
    new ResizeObserver(() => this.update()).observe(this.canvas.parentElement);
    new MutationObserver(() => this.update()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  update() {
    const { canvas, context, height } = this;
    const ratio = window.devicePixelRatio || 1;
    this.width = canvas.parentElement.clientWidth;
    canvas.width = Math.round(this.width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, height);
    this.draw(this, colours(canvas));
  }

  x(value) {
    const [left, right] = this.range;
    return ((value - left) / (right - left)) * this.width;
  }

  y(value) {
    const [, , bottom, top] = this.range;
    return ((top - value) / (top - bottom)) * this.height;
  }

  // Where a pointer is, in the units of the range.
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const [left, right, bottom, top] = this.range;
    return [
      left + ((event.clientX - box.left) / box.width) * (right - left),
      top - ((event.clientY - box.top) / box.height) * (top - bottom),
    ];
  }

  line(xs, ys, colour, width = 2) {
    const { context } = this;
    context.beginPath();
    xs.forEach((x, i) => context.lineTo(this.x(x), this.y(ys[i])));
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.lineJoin = "round";
    context.stroke();
  }

  band(xs, low, high, colour, opacity) {
    const { context } = this;
    context.beginPath();
    xs.forEach((x, i) => context.lineTo(this.x(x), this.y(low[i])));
    for (let i = xs.length - 1; i >= 0; --i) context.lineTo(this.x(xs[i]), this.y(high[i]));
    context.globalAlpha = opacity;
    context.fillStyle = colour;
    context.fill();
    context.globalAlpha = 1;
  }

  dot(x, y, radius, colour, opacity = 1) {
    const { context } = this;
    context.beginPath();
    context.arc(this.x(x), this.y(y), radius, 0, 2 * Math.PI);
    context.globalAlpha = opacity;
    context.fillStyle = colour;
    context.fill();
    context.globalAlpha = 1;
  }

  text(x, y, text, colour) {
    this.context.fillStyle = colour;
    this.context.font = "13px system-ui, sans-serif";
    this.context.fillText(text, this.x(x), this.y(y));
  }
}

// Calls `act` for each frame while the place is seen.
export function animate(place, act) {
  let seen = false;
  const step = () => {
    if (!seen) return;
    act();
    requestAnimationFrame(step);
  };
  new IntersectionObserver(([entry]) => {
    const starts = entry.isIntersecting && !seen;
    seen = entry.isIntersecting;
    if (starts) requestAnimationFrame(step);
  }).observe(place);
}

// Microseconds that a call takes, of as many as fit into ten milliseconds.
export function microseconds(call) {
  const start = performance.now();
  let calls = 0;
  while (performance.now() - start < 10) {
    for (let k = 0; k < 10; ++k) call();
    calls += 10;
  }
  return ((performance.now() - start) * 1000) / calls;
}
