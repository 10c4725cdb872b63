import { digestOf } from '#contracts/canonical';
import { flowLimits } from '#contracts/flow-limits';
import { type FlowSource, flowSchema } from '../definition/flow-schema.ts';
import { createNotes } from '../expressions/compile-notes.ts';
import type { PlacedProblem, SourceProblem } from '../source/problem.ts';
import { readStrictYaml } from '../source/read-strict-yaml.ts';
import { checkTypes } from './check-types.ts';
import { schemaAt } from './compile-node.ts';
import { compileNodes } from './compile-nodes.ts';
import { readGraph } from './graph.ts';
import type { LoadedFlow, LoadedNode } from './loaded-flow.ts';
import { findRegions } from './regions.ts';

export type FlowLoad =
  | { readonly ok: true; readonly flow: LoadedFlow }
  | { readonly ok: false; readonly problems: readonly SourceProblem[] };

type LoadOptions = {
  /** Returns the source of a subflow for the digest of its canonical form; undefined if there is no such subflow. */
  readonly subflows?: (sha256: string) => string | undefined;
};

/** Reads, checks and compiles a flow. Every problem has its line, its path and, inside of a node, the id of the node. */
export function loadFlow(text: string, options: LoadOptions = {}): FlowLoad {
  return load(text, { ...options, loaded: new Map() }, flowLimits.nesting);
}

/**
 * The loaded subflows, by digest and levels: many nodes may name the same subflow, and each subflow may name many
 * others.
 */
type Loading = LoadOptions & { readonly loaded: Map<string, FlowLoad> };

/** @param levels how deep the regions of the flow and of its subflows may be nested */
function load(text: string, options: Loading, levels: number): FlowLoad {
  const read = readStrictYaml(text, flowSchema);
  if (!read.ok) return read;
  const { value: source, written, locate } = read.source;
  const notes = createNotes();
  const topChecks = topLevel(source, notes);
  const { graph, problems: edges } = readGraph(source);
  const { regions, regionOf, problems: shape } = findRegions(source, graph, levels);
  const depthOf = (id: string): number => regionOf.get(id)?.depth ?? 1;
  const subflows = loadSubflows(source, options, (id) => levels - depthOf(id));
  const compiled = compileNodes(source);
  // An omitted edge would make its nodes look unreachable.
  const found = [...notes.problems, ...(edges.length > 0 ? edges : shape), ...subflows.problems, ...compiled.problems];
  // The names that an expression may use are known only for a graph without problems.
  const types =
    found.length > 0 ? [] : checkTypes({ source, graph, regions, regionOf, compiled, subflows: subflows.flows });
  const problems = [...found, ...types].map(locate);
  const { checkInput, checkResult, checkState } = topChecks;
  if (problems.length > 0 || checkInput === undefined || checkResult === undefined) {
    return {
      ok: false,
      problems: problems.toSorted((one, other) => one.line - other.line || one.column - other.column),
    };
  }
  const nodes = source.nodes.map((node): readonly [string, LoadedNode] => {
    const ways = graph.next.get(node.id) ?? [];
    const next = node.kind === 'condition' ? undefined : ways.find((way) => !way.isError)?.to;
    const onError = ways.find((way) => way.isError)?.to;
    const subflow = subflows.flows.get(node.id);
    const own = compiled.nodes.get(node.id);
    if (own === undefined) throw new Error('a node of a flow without problems was not compiled');
    return [
      node.id,
      {
        source: node,
        ...own.node,
        cases: graph.cases.get(node.id) ?? new Map(),
        ...(next === undefined ? {} : { next }),
        ...(onError === undefined ? {} : { onError }),
        ...(subflow === undefined ? {} : { subflow }),
      },
    ];
  });
  const state = checkState === undefined ? {} : { checkState };
  return {
    ok: true,
    flow: { source, sha256: digestOf(written), nodes: new Map(nodes), checkInput, checkResult, ...state },
  };
}

/** Schemas at the top of a flow must describe objects, because A2A and MCP transfer only objects as structured data. */
function topLevel(source: FlowSource, notes: ReturnType<typeof createNotes>) {
  for (const name of ['input', 'output'] as const) {
    if (source[name].schema['type'] === 'object') continue;
    notes.problems.push({ code: 'schema', at: [name, 'schema', 'type'], message: 'must be object' });
  }
  const checkInput = schemaAt(source.input.schema, ['input', 'schema'], notes);
  const checkResult = schemaAt(source.output.schema, ['output', 'schema'], notes);
  const checkState = schemaAt(source.state?.schema, ['state', 'schema'], notes);
  if (source.state !== undefined && checkState !== undefined && checkState(source.state.initial).length > 0) {
    notes.problems.push({ code: 'state', at: ['state', 'initial'], message: 'does not match the schema of the state' });
  }
  return { checkInput, checkResult, checkState };
}

/**
 * The pinned flows of all subflow nodes, by the ids of the nodes.
 * @param levelsAt how deep the regions of the subflow of a node may be nested
 */
function loadSubflows(source: FlowSource, options: Loading, levelsAt: (id: string) => number) {
  const problems: PlacedProblem[] = [];
  const flows = new Map<string, LoadedFlow>();
  for (const [index, node] of source.nodes.entries()) {
    if (node.kind !== 'subflow') continue;
    const at = ['nodes', index, 'config'];
    const { flowId, sha256, entrypoint } = node.config;
    const report = (member: string, message: string) =>
      void problems.push({ code: 'subflow', at: [...at, member], message });
    const text = options.subflows?.(sha256);
    if (text === undefined) {
      report('sha256', 'names no flow that was given with this one');
      continue;
    }
    const levels = levelsAt(node.id);
    if (levels < 1) {
      problems.push({ code: 'nesting', at, message: `is nested deeper than ${flowLimits.nesting} levels` });
      continue;
    }
    const key = `${sha256} ${levels}`;
    const inner = options.loaded.get(key) ?? load(text, options, levels);
    options.loaded.set(key, inner);
    if (!inner.ok) report('sha256', `names a flow that has problems${firstOf(inner.problems)}`);
    else if (inner.flow.sha256 !== sha256) report('sha256', 'is not the digest of that flow');
    else if (inner.flow.source.metadata.flowId !== flowId)
      report('flowId', 'is not the id of the flow with this digest');
    else if (!Object.hasOwn(inner.flow.source.entrypoints, entrypoint))
      report('entrypoint', 'is not an entry point of the subflow');
    else flows.set(node.id, inner.flow);
  }
  return { problems, flows };
}

function firstOf([first]: readonly SourceProblem[]): string {
  if (first === undefined) return '';
  const { line, path, message } = first;
  return `: line ${line}, ${path === '' ? 'the file' : path} ${message}`;
}

/** The digest of a source that has the shape of a flow; undefined for any other text. */
export function flowDigest(text: string): string | undefined {
  const read = readStrictYaml(text, flowSchema);
  return read.ok ? digestOf(read.source.written) : undefined;
}
