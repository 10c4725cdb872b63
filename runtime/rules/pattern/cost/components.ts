/**
 * Groups of nodes of a directed graph that can reach each other; a component is listed after the components that it can
 * reach.
 */
type Components = {
  readonly count: number;
  /** For each node, the number of its component. */
  readonly of: Int32Array;
  readonly members: readonly (readonly number[])[];
};

/** Strongly connected components (Tarjan), without recursion: `targets` lists, by node, the targets of its edges. */
export function componentsOf(targets: readonly (readonly number[])[]): Components {
  const of = new Int32Array(targets.length).fill(-1);
  const order = new Int32Array(targets.length).fill(-1);
  const lowest = new Int32Array(targets.length);
  const members: number[][] = [];
  const open: number[] = [];
  let counter = 0;
  const enter = (node: number) => {
    order[node] = counter;
    lowest[node] = counter;
    counter += 1;
    open.push(node);
    return { node, edge: 0 };
  };
  for (const root of targets.keys()) {
    if (order[root] !== -1) continue;
    const path = [enter(root)];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { node } = top;
      const target = targets[node]?.[top.edge];
      top.edge += 1;
      if (target === undefined) {
        path.pop();
        const above = path.at(-1);
        if (above !== undefined) lowest[above.node] = Math.min(lowest[above.node] ?? 0, lowest[node] ?? 0);
        if (lowest[node] === order[node]) members.push(close(node, open, of, members.length));
      } else if (order[target] === -1) {
        path.push(enter(target));
      } else if (of[target] === -1) {
        lowest[node] = Math.min(lowest[node] ?? 0, order[target] ?? 0);
      }
    }
  }
  return { count: members.length, of, members };
}

/** Removes a finished component from the stack of open nodes. */
function close(node: number, open: number[], of: Int32Array, component: number): number[] {
  const own: number[] = [];
  for (let member = open.pop(); member !== undefined; member = open.pop()) {
    of[member] = component;
    own.push(member);
    if (member === node) break;
  }
  return own;
}
