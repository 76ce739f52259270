// Which nodes can be folded into which. Either a node contains everything that only it needs, its subtree in the
// dominator tree of the reversed graph; folded nodes have no other reader, so that no cycle arises. Or all nodes that
// one line of user code built are folded into one.
"use strict";

// Containers form a forest: parent[i] is the container of i, or -1. Containers that are no nodes come after the nodes,
// with their labels in `groups`. A parent's number is always larger than its children's.
function containersByNeed(nodes) {
  const count = nodes.length, readers = nodes.map(() => []), parent = new Array(count).fill(-1), depth = new Array(count).fill(0);
  nodes.forEach((node, i) => node.i.forEach(([from]) => readers[from].push(i)));
  const common = (a, b) => {
    while (a !== b) {
      if (a < 0 || b < 0) return -1;
      if (depth[a] >= depth[b]) a = parent[a];
      else b = parent[b];
    }
    return a;
  };
  for (let i = count - 1; i >= 0; i--) {
    if (nodes[i].o || !readers[i].length) continue;  // an output is not contained in another node
    parent[i] = readers[i].reduce(common);
    if (parent[i] >= 0) depth[i] = depth[parent[i]] + 1;
  }
  return {parent, groups: []};
}

function containersByLine(nodes) {
  const lines = new Map();
  nodes.forEach((node, i) => {
    if (node.k !== "apply" || !node.w) return;
    if (!lines.has(node.w)) lines.set(node.w, []);
    lines.get(node.w).push(i);
  });
  const parent = nodes.map(() => -1), groups = [];
  for (const [line, members] of lines) {
    if (members.length < 2) continue;
    for (const member of members) parent[member] = nodes.length + groups.length;
    groups.push({l: line, k: "line", w: line, i: [], members: members.length});
  }
  // A constant joins its only reader.
  nodes.forEach((node, i) => node.i.forEach(([from]) => {
    if (nodes[from].k === "constant") parent[from] = parent[i];
  }));
  return {parent, groups};
}

// The sums of the values of the nodes in each container, including the container itself if it is a node. Containers
// come after their contents.
function containerSums(values, parent, total) {
  const sums = new Array(total).fill(0);
  values.forEach((value, i) => {
    sums[i] += value;
    if (parent[i] >= 0) sums[parent[i]] += sums[i];
  });
  return sums;
}

// For each node, the folded container that represents it, or itself.
function standIns(parent, total, folded) {
  const inside = new Array(total).fill(-1);
  for (let i = total - 1; i >= 0; i--) {
    const up = i < parent.length ? parent[i] : -1;
    inside[i] = up >= 0 && inside[up] >= 0 ? inside[up] : folded.has(i) ? i : -1;
  }
  return inside.map((container, i) => container >= 0 ? container : i);
}

// The initial folds, such that at most about `most` nodes are visible: the largest containers are opened first.
function firstFolds(count, parent, total, size, most) {
  const children = Array.from({length: total}, () => []), folded = new Set();
  let shown = 0;
  const add = i => {
    shown++;
    if (size[i] > 1) folded.add(i);
  };
  for (let i = 0; i < total; i++) {
    if (i < count && parent[i] >= 0) children[parent[i]].push(i);
    else if (i < count || size[i] > 0) add(i);
  }
  if (count <= most) return new Set();
  while (folded.size) {
    let largest = -1;
    for (const container of folded) if (largest < 0 || size[container] > size[largest]) largest = container;
    if (shown + children[largest].length > most) break;
    folded.delete(largest);
    children[largest].forEach(add);
    if (largest >= count) shown--;
  }
  return folded;
}
