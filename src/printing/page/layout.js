// Layered drawing of a directed graph (Sugiyama, Tagawa and Toda 1981): every node gets a rank below those it depends
// on, long edges pass through waypoints, nodes of a rank are ordered so that few edges cross, and positions follow those
// of the neighbours as far as the order allows. An edge that would close a cycle is treated as reversed.
"use strict";

// sizes: [{width, height}], edges: [[from, to], ...]. Returns {centres: [{x, y}] of the nodes' centres, routes: [{x, y},
// ...] of each edge, far: whether it is straight, width, height}. The number of waypoints is limited: the longest edges
// are then straight, behind everything, and are ignored for the order.
function layout(sizes, edges) {
  const gapX = 18, gapY = 42, count = sizes.length;
  const forward = withoutCycles(count, edges);
  const rank = ranks(count, forward);
  const longest = longestBent(forward, rank, 2000 + 2 * count);
  // Items are the nodes, then the waypoints. All long edges of a node share one chain of waypoints.
  const width = sizes.map(size => size.width), rankOf = rank.slice(), segments = new Map(), routes = [];
  const chain = Array.from({length: count}, () => []);
  const connect = (a, b) => {
    const key = a * 2 ** 26 + b;
    if (!segments.has(key)) segments.set(key, [a, b]);
  };
  for (const [from, to] of forward) {
    const route = [from];
    if (rank[to] - rank[from] > longest) {
      routes.push([from, to]);
      continue;
    }
    for (let r = rank[from] + 1; r < rank[to]; r++) {
      const at = r - rank[from] - 1;
      if (chain[from].length <= at) {
        chain[from].push(rankOf.length);
        rankOf.push(r);
        width.push(2);
      }
      connect(route[route.length - 1], chain[from][at]);
      route.push(chain[from][at]);
    }
    connect(route[route.length - 1], to);
    route.push(to);
    routes.push(route);
  }
  const above = rankOf.map(() => []), below = rankOf.map(() => []);
  for (const [a, b] of segments.values()) {
    below[a].push(b);
    above[b].push(a);
  }
  const layers = Array.from({length: rankOf.reduce((most, r) => Math.max(most, r + 1), 0)}, () => []);
  for (const item of firstOrder(rankOf, above)) layers[rankOf[item]].push(item);
  order(layers, above, below);
  const x = abscissas(layers, above, below, width, count, gapX);
  // Rows as high as their highest node.
  const y = [], heights = layers.map(layer => layer.reduce((most, item) => Math.max(most, item < count ? sizes[item].height : 0), 0));
  let top = 0;
  for (const height of heights) {
    y.push(top + height / 2);
    top += height + gapY;
  }
  const left = x.reduce((least, at, i) => Math.min(least, at - width[i] / 2), 0);
  const right = x.reduce((most, at, i) => Math.max(most, at + width[i] / 2), 0);
  const centre = item => ({x: x[item] - left, y: y[rankOf[item]]});
  return {
    centres: sizes.map((_, i) => centre(i)),
    routes: routes.map((route, i) => {
      const points = route.map(item => centre(item));
      return edges[i][0] === route[0] ? points : points.reverse();
    }),
    far: forward.map(([from, to]) => rank[to] - rank[from] > longest),
    width: right - left,
    height: Math.max(0, top - gapY),
  };
}

// The edges, with those that close a cycle reversed. Depth first, on an explicit stack.
function withoutCycles(count, edges) {
  const leaving = Array.from({length: count}, () => []);
  edges.forEach(([from], i) => leaving[from].push(i));
  const state = new Uint8Array(count), next = new Uint32Array(count), out = edges.slice();
  for (let root = 0; root < count; root++) {
    if (state[root]) continue;
    const open = [root];
    state[root] = 1;
    while (open.length) {
      const at = open[open.length - 1];
      if (next[at] === leaving[at].length) {
        state[at] = 2;
        open.pop();
        continue;
      }
      const edge = leaving[at][next[at]++], to = edges[edge][1];
      if (state[to] === 1) out[edge] = [to, at];
      else if (!state[to]) {
        state[to] = 1;
        open.push(to);
      }
    }
  }
  return out;
}

// The length of the longest path from a node without inputs; such a node itself is put just above its first reader.
function ranks(count, edges) {
  const leaving = Array.from({length: count}, () => []), waiting = new Uint32Array(count), rank = new Array(count).fill(0);
  for (const [from, to] of edges) {
    leaving[from].push(to);
    waiting[to]++;
  }
  const sources = [], ready = [];
  for (let i = 0; i < count; i++) if (!waiting[i]) sources.push(i), ready.push(i);
  while (ready.length) {
    const at = ready.pop();
    for (const to of leaving[at]) {
      rank[to] = Math.max(rank[to], rank[at] + 1);
      if (!--waiting[to]) ready.push(to);
    }
  }
  for (const source of sources)
    if (leaving[source].length) rank[source] = leaving[source].reduce((least, to) => Math.min(least, rank[to]), Infinity) - 1;
  return rank;
}

// The largest edge length up to which edges can have waypoints, if there may be at most `most` of them.
function longestBent(edges, rank, most) {
  let length = edges.reduce((longest, [from, to]) => Math.max(longest, rank[to] - rank[from]), 1);
  for (; length > 1; length = Math.floor(length / 2)) {
    const chain = new Map();
    for (const [from, to] of edges) {
      const span = rank[to] - rank[from];
      if (span <= length) chain.set(from, Math.max(chain.get(from) || 0, span - 1));
    }
    let total = 0;
    for (const waypoints of chain.values()) total += waypoints;
    if (total <= most) break;
  }
  return length;
}

// Items depth first from the bottom, so that connected items are initially adjacent.
function firstOrder(rankOf, above) {
  const out = [], seen = new Uint8Array(rankOf.length);
  const roots = rankOf.map((_, i) => i).sort((a, b) => rankOf[b] - rankOf[a]);
  for (const root of roots) {
    if (seen[root]) continue;
    seen[root] = 1;
    const open = [root];
    while (open.length) {
      const at = open.pop();
      out.push(at);
      for (let k = above[at].length; k-- > 0;)
        if (!seen[above[at][k]]) seen[above[at][k]] = 1, open.push(above[at][k]);
    }
  }
  return out;
}

// Sorts each layer by the mean position of its items' neighbours, alternately downwards and upwards; the best order is
// kept.
function order(layers, above, below) {
  const at = [];
  const number = layer => layer.forEach((item, i) => at[item] = i);
  layers.forEach(number);
  let best = layers.map(layer => layer.slice()), fewest = crossings(layers, below, at);
  for (let round = 0; round < 16 && fewest > 0; round++) {
    const down = round % 2 === 0, neighbours = down ? above : below;
    const key = [];
    for (let k = 0; k < layers.length; k++) {
      const layer = layers[down ? k : layers.length - 1 - k];
      for (const item of layer) {
        const near = neighbours[item];
        key[item] = near.length ? near.reduce((sum, other) => sum + at[other], 0) / near.length : at[item];
      }
      layer.sort((a, b) => key[a] - key[b]);
      number(layer);
    }
    const now = crossings(layers, below, at);
    if (now < fewest) {
      fewest = now;
      best = layers.map(layer => layer.slice());
    }
  }
  best.forEach((layer, i) => layers[i] = layer);
}

// Pairs of edges that cross, counted with a binary indexed tree (Barth, Mutzel and Juenger 2004).
function crossings(layers, below, at) {
  let total = 0;
  for (let r = 0; r + 1 < layers.length; r++) {
    const size = layers[r + 1].length, tree = new Uint32Array(size + 1);
    let seen = 0;
    for (const item of layers[r]) {
      const ends = below[item].map(other => at[other]);
      for (const end of ends) {
        let passed = 0;
        for (let i = end + 1; i > 0; i -= i & -i) passed += tree[i];
        total += seen - passed;
      }
      for (const end of ends) for (let i = end + 1; i <= size; i += i & -i) tree[i]++;
      seen += ends.length;
    }
  }
  return total;
}

// Horizontal positions: in each layer those closest to the items' preferred positions, in order and without overlap. This is
// isotonic regression of the preferences minus the space needed to the left, solved by pooling adjacent violators.
function abscissas(layers, above, below, width, count, gap) {
  const x = new Array(width.length).fill(0);
  const settle = (layer, wish) => {
    const room = [], blocks = [];
    layer.forEach((item, i) => {
      room.push(i ? room[i - 1] + (width[layer[i - 1]] + width[item]) / 2 + gap : 0);
      const weight = item < count ? 1 : 4;  // bends of long edges catch the eye
      blocks.push({sum: (wish(item) - room[i]) * weight, weight, size: 1});
      for (let k = blocks.length - 1; k > 0 && blocks[k - 1].sum / blocks[k - 1].weight > blocks[k].sum / blocks[k].weight; k--) {
        const last = blocks.pop();
        blocks[k - 1].sum += last.sum;
        blocks[k - 1].weight += last.weight;
        blocks[k - 1].size += last.size;
      }
    });
    let i = 0;
    for (const block of blocks)
      for (let k = 0; k < block.size; k++, i++) x[layer[i]] = block.sum / block.weight + room[i];
  };
  for (const layer of layers) settle(layer, () => 0);
  const mean = (item, neighbours) => {
    let sum = 0, total = 0;
    for (const other of neighbours) {
      const weight = item >= count && other >= count ? 8 : 1;
      sum += x[other] * weight;
      total += weight;
    }
    return total ? sum / total : x[item];
  };
  for (let round = 0; round < 12; round++) {
    const down = round % 2 === 0;
    for (let k = 0; k < layers.length; k++) {
      const layer = layers[down ? k : layers.length - 1 - k];
      if (round >= 8) settle(layer, item => mean(item, above[item].concat(below[item])));
      else settle(layer, item => mean(item, (down ? above : below)[item]));
    }
  }
  return x;
}
