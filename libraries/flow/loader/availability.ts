import type { Graph } from './graph.ts';
import type { Region } from './regions.ts';

/** Nodes whose output exists before a node: `always` on every path to it (they dominate it), `maybe` on some. */
export type Available = { readonly always: ReadonlySet<string>; readonly maybe: ReadonlySet<string> };

const nothing: Available = { always: new Set(), maybe: new Set() };

/** The available values before each node, and at the end of each region with an owner, by the id of the owner. */
export function findAvailable(graph: Graph, regions: readonly Region[]) {
  const before = new Map<string, Available>();
  const atEnd = new Map<string, Available>();
  // The region that contains an owner comes before the regions of that owner.
  for (const { owner, starts, order } of regions) {
    const outside = owner === undefined ? nothing : (before.get(owner) ?? nothing);
    const incoming = new Map<string, Available[]>(starts.map((id) => [id, [outside]]));
    const ends: Available[] = [];
    for (const id of order) {
      const own = join(incoming.get(id) ?? [outside]);
      before.set(id, own);
      const done = { always: new Set([...own.always, id]), maybe: new Set([...own.maybe, id]) };
      const ways = graph.next.get(id) ?? [];
      for (const { to, isError } of ways) {
        const list = incoming.get(to) ?? [];
        incoming.set(to, [...list, isError ? own : done]);
      }
      if (!ways.some((way) => !way.isError) && graph.nodes.get(id)?.kind !== 'fail') ends.push(done);
    }
    if (owner !== undefined) atEnd.set(owner, join(ends.length === 0 ? [outside] : ends));
  }
  return { before, atEnd };
}

function join(ways: readonly Available[]): Available {
  const [first = nothing, ...rest] = ways;
  const always = new Set([...first.always].filter((id) => rest.every((one) => one.always.has(id))));
  return { always, maybe: new Set(ways.flatMap((one) => [...one.maybe])) };
}
