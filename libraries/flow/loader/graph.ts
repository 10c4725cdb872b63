import type { FlowSource } from '../definition/flow-schema.ts';
import type { FlowNode } from '../definition/node-schemas.ts';
import type { PlacedProblem, SourcePath } from '../source/problem.ts';

/** An edge from one node to another. On an edge after an error, the first node has no output. */
export type Way = { readonly from: string; readonly to: string; readonly isError: boolean; readonly at: SourcePath };

/** Nodes and edges of a flow by their ids. */
export type Graph = {
  readonly nodes: ReadonlyMap<string, FlowNode>;
  readonly places: ReadonlyMap<string, SourcePath>;
  readonly next: ReadonlyMap<string, readonly Way[]>;
  /** The target of each case of a condition node. */
  readonly cases: ReadonlyMap<string, ReadonlyMap<string, string>>;
};

const ends = new Set<FlowNode['kind']>(['output', 'fail']);

/** The graph of a flow, and problems of ids, targets and edges. An edge with a problem is left out. */
export function readGraph(flow: FlowSource): { readonly graph: Graph; readonly problems: readonly PlacedProblem[] } {
  const problems: PlacedProblem[] = [];
  const report = (code: PlacedProblem['code'], at: SourcePath, message: string) =>
    void problems.push({ code, at, message });
  const nodes = new Map<string, FlowNode>();
  const places = new Map<string, SourcePath>();
  for (const [index, node] of flow.nodes.entries()) {
    const at = ['nodes', index];
    if (nodes.has(node.id)) report('duplicate', [...at, 'id'], 'is the id of an earlier node, too');
    else {
      nodes.set(node.id, node);
      places.set(node.id, at);
    }
  }
  const next = new Map<string, Way[]>([...nodes.keys()].map((id) => [id, []]));
  const cases = new Map<string, Map<string, string>>();
  const known = (id: string, at: SourcePath): boolean => {
    if (nodes.has(id)) return true;
    report('target', at, 'names no node');
    return false;
  };

  for (const [index, { from, to, when }] of flow.edges.entries()) {
    const at = ['edges', index];
    const [isFrom, isTo] = [known(from, [...at, 'from']), known(to, [...at, 'to'])];
    const source = nodes.get(from);
    if (!isFrom || !isTo || source === undefined) continue;
    const fault = edgeFault(source, nodes.get(to), when, next.get(from) ?? [], cases.get(from));
    if (fault !== undefined) {
      report('edge', fault.member === undefined ? at : [...at, fault.member], fault.message);
      continue;
    }
    if (when !== undefined) cases.set(from, (cases.get(from) ?? new Map()).set(when, to));
    next.get(from)?.push({ from, to, isError: false, at });
  }

  for (const [id, node] of nodes) {
    const at = places.get(id) ?? [];
    if (node.kind === 'condition') {
      const names = [...node.config.cases.map(({ name }) => name), node.config.default];
      for (const [index, { name }] of node.config.cases.entries()) {
        if (names.indexOf(name) !== index)
          report('duplicate', [...at, 'config', 'cases', index, 'name'], 'is the name of an earlier case, too');
        if (!cases.get(id)?.has(name))
          report('edge', [...at, 'config', 'cases', index, 'name'], 'has no edge: add one with this name as when');
      }
      if (!cases.get(id)?.has(node.config.default))
        report('edge', [...at, 'config', 'default'], 'has no edge: add one with this name as when');
    }
    if ('onError' in node && node.onError !== 'fail') {
      const target = node.onError.goto;
      const place = [...at, 'onError', 'goto'];
      if (!known(target, place)) continue;
      if (nodes.get(target)?.kind === 'input') report('edge', place, 'leads to an input node, where a run begins');
      else next.get(id)?.push({ from: id, to: target, isError: true, at: place });
    }
  }
  return { graph: { nodes, places, next, cases }, problems };
}

type EdgeFault = { readonly member?: 'from' | 'to' | 'when'; readonly message: string };

function edgeFault(
  source: FlowNode,
  target: FlowNode | undefined,
  when: string | undefined,
  earlier: readonly Way[],
  cases: ReadonlyMap<string, string> | undefined,
): EdgeFault | undefined {
  if (ends.has(source.kind))
    return { member: 'from', message: `leads out of a node of kind ${source.kind}, where a run ends` };
  if (target?.kind === 'input') return { member: 'to', message: 'leads to an input node, where a run begins' };
  if (source.kind !== 'condition') {
    if (when !== undefined) return { member: 'when', message: 'is for edges out of condition nodes only' };
    return earlier.length === 0
      ? undefined
      : { message: 'is a second edge out of one node: use a condition or a parallel node' };
  }
  if (when === undefined) return { message: 'needs when: the name of a case of its condition node' };
  const names = [...source.config.cases.map(({ name }) => name), source.config.default];
  if (!names.includes(when)) return { member: 'when', message: 'names no case of the condition node' };
  return cases?.has(when) ? { member: 'when', message: 'is a second edge of one case' } : undefined;
}
