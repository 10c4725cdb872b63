import { flowLimits } from '#contracts/flow-limits';
import type { FlowSource } from '../definition/flow-schema.ts';
import type { PlacedProblem, SourcePath } from '../source/problem.ts';
import type { Graph, Way } from './graph.ts';

/** Nodes that run one after another: the flow itself, a branch of a parallel node, or the body of a loop. */
export type Region = {
  readonly owner: string | undefined;
  readonly starts: readonly string[];
  readonly depth: number;
  /** Whether the root `item` has a value. */
  readonly hasItem: boolean;
  /** Whether several walks may run at the same time, in this region or in an enclosing one. */
  readonly isConcurrent: boolean;
  /** The nodes in such an order that each node comes after all nodes from which an edge or a path leads to it. */
  readonly order: readonly string[];
};

type Opening = Omit<Region, 'order'> & { readonly at: SourcePath };

/**
 * The regions of a flow, and problems of cycles, of shared nodes, of nesting and of nodes that nothing reaches.
 * @param levels how deep regions may be nested; inside of a subflow less than the limit
 */
export function findRegions(flow: FlowSource, graph: Graph, levels: number) {
  const problems: PlacedProblem[] = [];
  const report = (code: PlacedProblem['code'], at: SourcePath, message: string) =>
    void problems.push({ code, at, message });
  const regions: Region[] = [];
  const regionOf = new Map<string, Region>();
  const taken = new Set<string>();

  const starts = Object.entries(flow.entrypoints).filter(([name, id]) => {
    const kind = graph.nodes.get(id)?.kind;
    if (kind === 'input') return true;
    report('target', ['entrypoints', name], kind === undefined ? 'names no node' : 'must name a node of kind input');
    return false;
  });
  const openings: Opening[] = [
    {
      owner: undefined,
      starts: [...new Set(starts.map(([, id]) => id))],
      depth: 1,
      hasItem: false,
      isConcurrent: false,
      at: ['entrypoints'],
    },
  ];
  for (const opening of openings) {
    const { at, ...rest } = opening;
    if (opening.depth > levels) {
      report('nesting', at, `is nested deeper than ${flowLimits.nesting} levels, with the flows around it`);
      continue;
    }
    const order = walk(opening.starts, at);
    const region: Region = { ...rest, order };
    regions.push(region);
    for (const id of order) {
      regionOf.set(id, region);
      openings.push(...openingsOf(id, region));
    }
  }
  for (const [id, at] of graph.places) {
    if (!taken.has(id) && problems.length === 0)
      report('unreachable', at, 'is reached by no path: add an edge, or remove the node');
  }
  for (const region of regions) checkEnds(region);
  return { regions, regionOf, problems };

  /** The nodes of one region in order; a node of another region, or an edge that leads back, is a problem. */
  function walk(from: readonly string[], at: SourcePath): readonly string[] {
    const open = new Set<string>();
    const own = new Set<string>();
    const order: string[] = [];
    function visit(id: string, place: SourcePath): undefined {
      if (open.has(id)) return report('cycle', place, 'leads back to a node before it: use a loop node');
      if (own.has(id)) return;
      if (taken.has(id))
        return report('region', place, 'leads to a node of another branch, body or flow: each node belongs to one');
      open.add(id);
      own.add(id);
      taken.add(id);
      for (const way of graph.next.get(id) ?? []) visit(way.to, way.at);
      open.delete(id);
      order.unshift(id);
    }
    for (const id of from) visit(id, at);
    return order;
  }

  function openingsOf(id: string, { depth, hasItem, isConcurrent }: Region): readonly Opening[] {
    const node = graph.nodes.get(id);
    const place = graph.places.get(id) ?? [];
    if (node?.kind === 'parallel') {
      return node.config.branches.flatMap((start, index) => {
        const at = [...place, 'config', 'branches', index];
        if (!isStart(start, at)) return [];
        return [{ owner: id, starts: [start], depth: depth + 1, hasItem, isConcurrent: true, at }];
      });
    }
    if (node?.kind !== 'loop') return [];
    const at = [...place, 'config', 'body'];
    if (!isStart(node.config.body, at)) return [];
    const beside = isConcurrent || node.config.concurrency > 1;
    const item = hasItem || node.inputs !== undefined;
    return [{ owner: id, starts: [node.config.body], depth: depth + 1, hasItem: item, isConcurrent: beside, at }];
  }

  function isStart(id: string, at: SourcePath): boolean {
    const kind = graph.nodes.get(id)?.kind;
    if (kind === undefined) report('target', at, 'names no node');
    else if (kind === 'input') report('target', at, 'must not be an input node');
    return kind !== undefined && kind !== 'input';
  }

  function checkEnds({ owner, order }: Region): void {
    for (const id of order) {
      const node = graph.nodes.get(id);
      const at = graph.places.get(id) ?? [];
      const onward = (graph.next.get(id) ?? []).filter((way: Way) => !way.isError);
      if (owner !== undefined && node?.kind === 'output') {
        report(
          'region',
          [...at, 'kind'],
          'must not be output inside of a branch or a body: its last node gives the result',
        );
      }
      if (
        owner === undefined &&
        onward.length === 0 &&
        node?.kind !== 'output' &&
        node?.kind !== 'fail' &&
        node?.kind !== 'condition'
      ) {
        report('edge', at, 'has no edge: every path of a flow ends in a node of kind output or fail');
      }
    }
  }
}
