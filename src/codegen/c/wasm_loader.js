export class FunctionError extends Error {
  constructor(code, message) {
    super(`${signature.name}: ${message}`);
    this.name = "FunctionError";
    this.code = code;
  }
}

// Functions of the C library that Math has under another name, or not at all.
const library = {
  fmod: (x, y) => x % y,
  tgamma(x) {
    if (x < 0.5) return Math.PI / (Math.sin(Math.PI * x) * library.tgamma(1 - x));
    let product = 1;
    for (; x < 12; ++x) product *= x;
    const s = 1 / (x * x);
    const series = (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s / 1680))) / x;
    return Math.exp((x - 0.5) * Math.log(x) - x + 0.9189385332046728 + series) / product;
  },
};

function importsOf(module) {
  const env = {};
  for (const { name } of WebAssembly.Module.imports(module))
    for (const spelled of [name, name.replace(/f$/, "")]) env[name] ??= library[spelled] ?? Math[spelled];
  return { env };
}

const count = (shape) => shape.reduce((product, length) => product * length, 1);
const rounded = (address, multiple) => Math.ceil(address / multiple) * multiple;
const withShape = (array, shape) => Object.defineProperty(array, "shape", { value: shape });
// How many numbers NAME_sizes writes, and how many arguments it has besides lengths and its own address.
const words = 1 + signature.outputs.reduce((sum, { ndim }) => sum + ndim, 0);
const leading = signature.inputs.length;
const isBig = (array) => array === BigInt64Array || array === BigUint64Array;

function fail(parameter, message) {
  throw new TypeError(`${signature.name}: ${parameter.name} ${message}`);
}

// What a caller passes, as its elements in order and its shape.
function elementsOf(value, parameter) {
  const { array, ndim, dtype } = parameter;
  if (ndim === 0) {
    if (!["number", "bigint", "boolean"].includes(typeof value)) fail(parameter, `must be a number, and is ${value}`);
    return { scalar: isBig(array) ? BigInt(value) : Number(value), shape: [] };
  }
  let shape = [], elements = value;
  if (ArrayBuffer.isView(value)) {
    shape = value.shape ?? [value.length];
  } else {
    for (let part = value; Array.isArray(part) || ArrayBuffer.isView(part); part = part[0]) shape.push(part.length);
    elements = Array.isArray(value) ? value.flatMap((part) => flattened(part)) : [];
  }
  if (shape.length !== ndim) fail(parameter, `must have ${ndim} dimension(s) of ${dtype}, and has ${shape.length}`);
  if (count(shape) !== elements.length) fail(parameter, `has rows of different lengths, or a shape of other elements`);
  if (isBig(array) && typeof elements[0] === "number") elements = Array.from(elements, BigInt);
  return { elements, shape };
}

function flattened(part) {
  if (Array.isArray(part)) return part.flatMap((inner) => flattened(inner));
  return ArrayBuffer.isView(part) ? Array.from(part) : [part];
}

// Memory for arguments of some shapes, for the results and for temporaries, in the memory of one instance.
class Prepared {
  #code;
  #shapes = [];
  #sizes = 0; // the address at which NAME_sizes writes
  #needs; // what it has written: bytes of temporaries, and the lengths of the results
  #arguments = []; // of the compiled function
  #numbers = []; // the positions of numbers among the inputs and among the arguments

  constructor(module) {
    this.#code = new WebAssembly.Instance(module, importsOf(module)).exports;
    this.inputs = [];
    this.outputs = [];
  }

  // Whether the memory is for arguments of these shapes.
  fits(given) {
    const same = (one, other) => one.length === other.length && one.every((length, k) => length === other[k]);
    return this.#shapes.length === given.length && given.every(({ shape }, i) => same(shape, this.#shapes[i]));
  }

  place(given) {
    const { inputs, outputs } = signature;
    let end = rounded(this.#code.__heap_base.value, 64);
    const take = (bytes) => {
      const address = end;
      end = rounded(end + bytes, 64);
      return address;
    };
    this.#shapes = given.map(({ shape }) => shape);
    this.#sizes = take(8 * words);
    this.#arguments = [];
    this.#numbers = [];
    const addresses = inputs.map(({ array, ndim }, i) => {
      if (ndim === 0) {
        this.#numbers.push([i, this.#arguments.length]);
        this.#arguments.push(given[i].scalar);
        return 0;
      }
      const address = take(count(given[i].shape) * array.BYTES_PER_ELEMENT);
      this.#arguments.push(address, ...given[i].shape.map(BigInt));
      return address;
    });
    this.#grow(end);
    this.#needs = this.#ask().slice();
    let at = 1;
    // Of a negative length nothing is stored: the function returns its code.
    const length = (word) => Math.max(0, Number(word));
    const shapes = outputs.map(({ ndim }) => Array.from(this.#needs.subarray(at, (at += ndim)), length));
    const results = outputs.map(({ array }, i) => take(count(shapes[i]) * array.BYTES_PER_ELEMENT));
    this.#arguments.push(...results, take(length(this.#needs[0])));
    this.#grow(end);
    const { buffer } = this.#code.memory;
    const view = ({ array }, address, shape) => withShape(new array(buffer, address, count(shape)), shape);
    this.inputs = inputs.map((input, i) => (input.ndim ? view(input, addresses[i], given[i].shape) : given[i].scalar));
    this.outputs = outputs.map((output, i) => view(output, results[i], shapes[i]));
  }

  #grow(end) {
    const missing = end - this.#code.memory.buffer.byteLength;
    if (missing > 0) this.#code.memory.grow(Math.ceil(missing / 65536));
  }

  #ask() {
    this.#code[`${signature.name}_sizes`](...this.#arguments.slice(0, leading + this.#lengths), this.#sizes);
    return new BigInt64Array(this.#code.memory.buffer, this.#sizes, words);
  }

  get #lengths() {
    return this.#shapes.reduce((sum, shape) => sum + shape.length, 0);
  }

  // Whether the memory is right for the present numbers among the inputs, which may determine lengths of results.
  accept() {
    if (this.#numbers.length === 0) return true;
    for (const [input, position] of this.#numbers) this.#arguments[position] = this.inputs[input];
    const needs = this.#ask();
    return this.#needs.every((word, k) => word === needs[k]);
  }

  run() {
    if (!this.accept()) throw new RangeError(`${signature.name}: results have other lengths than those prepared for`);
    const code = this.#code[signature.name](...this.#arguments);
    if (code !== 0) throw new FunctionError(code, signature.codes[code - 1] ?? "unknown error");
  }
}

function given(values) {
  const { inputs, name } = signature;
  if (values.length !== inputs.length)
    throw new TypeError(`${name}: expected ${inputs.length} arguments, got ${values.length}`);
  return values.map((value, i) => elementsOf(value, inputs[i]));
}

function fill(prepared, arguments_) {
  arguments_.forEach(({ scalar, elements }, i) => {
    if (elements) prepared.inputs[i].set(elements);
    else prepared.inputs[i] = scalar;
  });
}

function result({ array, dtype, ndim }, view) {
  if (ndim) return withShape(view.slice(), view.shape);
  return dtype === "bool" ? view[0] !== 0 : view[0];
}

async function moduleOf(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  const url = new URL(source, import.meta.url);
  if (url.protocol === "file:" && typeof process !== "undefined") {
    const { readFile } = await import("node:fs/promises");
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${signature.name}: ${url} can't be read: ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

// The function, called with numbers and arrays (typed, with a property `shape` where there are more dimensions than one,
// or nested): returns its result, or an array of its results.
export async function load(source = `${signature.name}.wasm`) {
  const module = await moduleOf(source);
  const own = new Prepared(module);
  const call = (...values) => {
    const arguments_ = given(values);
    if (!own.fits(arguments_)) own.place(arguments_);
    fill(own, arguments_);
    if (!own.accept()) {
      own.place(arguments_);
      fill(own, arguments_);
    }
    own.run();
    const results = signature.outputs.map((output, i) => result(output, own.outputs[i]));
    return results.length > 1 ? results : results[0];
  };
  call.prepare = (...values) => {
    const arguments_ = given(values);
    const prepared = new Prepared(module);
    prepared.place(arguments_);
    fill(prepared, arguments_);
    return prepared;
  };
  return call;
}
