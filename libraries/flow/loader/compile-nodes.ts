import type { FlowSource } from '../definition/flow-schema.ts';
import type { PlacedProblem, SourcePath } from '../source/problem.ts';
import { type CompiledNode, compileNode } from './compile-node.ts';

/** Every node by its id; if two nodes have the same id, the first one. */
export type CompiledNodes = {
  readonly nodes: ReadonlyMap<string, CompiledNode & { readonly at: SourcePath }>;
  readonly problems: readonly PlacedProblem[];
};

/** Compiles the nodes of a flow, with the rules of a node that need no other node. */
export function compileNodes(source: FlowSource): CompiledNodes {
  const nodes = new Map<string, CompiledNode & { readonly at: SourcePath }>();
  const problems: PlacedProblem[] = [];
  for (const [index, node] of source.nodes.entries()) {
    const at = ['nodes', index];
    const compiled = compileNode(node, at);
    problems.push(...compiled.notes.problems, ...compiled.ending.problems, ...loopProblems(source, index));
    if (!nodes.has(node.id)) nodes.set(node.id, { ...compiled, at });
  }
  return { nodes, problems };
}

function loopProblems(source: FlowSource, index: number): readonly PlacedProblem[] {
  const node = source.nodes[index];
  if (node?.kind !== 'loop') return [];
  const at = ['nodes', index];
  const { while: condition, concurrency, state } = node.config;
  const problems: PlacedProblem[] = [];
  if ((node.inputs === undefined) === (condition === undefined)) {
    problems.push({ code: 'shape', at, message: 'must have either inputs.items or config.while' });
  }
  if (condition !== undefined && concurrency > 1) {
    problems.push({
      code: 'state',
      at: [...at, 'config', 'concurrency'],
      message: 'must be 1 with while: each turn depends on the one before',
    });
  }
  if (state === undefined) return problems;
  if (source.state === undefined) {
    problems.push({
      code: 'state',
      at: [...at, 'config', 'state'],
      message: 'needs the state of the flow: declare it at the top',
    });
  }
  if (concurrency > 1) {
    problems.push({
      code: 'state',
      at: [...at, 'config', 'state'],
      message: 'needs concurrency 1: concurrent turns would overwrite the state',
    });
  }
  return problems;
}
