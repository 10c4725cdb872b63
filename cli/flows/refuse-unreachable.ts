import { type flowRequirements, nodeRequirements } from '#flow/loader/flow-requirements';
import type { LoadedFlow, LoadedNode } from '#flow/loader/loaded-flow';
import { CliError } from '../errors/cli-error.ts';
import { formatOf, isForPeople, type OutputOptions, writeResult } from '../output/format.ts';

export type Required = ReturnType<typeof flowRequirements>[number];

/** Something other than a node that the run calls, such as the judge of a case. */
export type CalledBeside = { readonly caller: string; readonly needs: Required };

/** A node that names a dependency which the run cannot call. */
type UnreachableNode = { readonly node: string; readonly needs: Required; readonly remedy: string };

/**
 * Refuses a run before it starts if a node that is reachable from its entry points names a dependency that the run
 * cannot call, because earlier nodes could have effects. @param beside what is called in addition to the nodes @throws
 * CliError usage
 */
export function refuseUnreachable(
  flow: LoadedFlow,
  entrypoints: readonly string[],
  remedyFor: (needs: Required) => string | undefined,
  options: OutputOptions,
  beside: readonly CalledBeside[] = [],
): void {
  const nodes = nodesFrom(flow, entrypoints).flatMap(({ path, node }) =>
    nodeRequirements(node).map((needs): CalledBeside => ({ caller: path, needs })),
  );
  const unreachable = [...nodes, ...beside].flatMap(({ caller, needs }): readonly UnreachableNode[] => {
    const remedy = remedyFor(needs);
    return remedy === undefined ? [] : [{ node: caller, needs, remedy }];
  });
  if (unreachable.length === 0) return;
  const format = formatOf(options);
  if (!isForPeople(format)) writeResult(format, { error: 'unreachable', unreachable }, () => '');
  const named = unreachable.map(({ node, needs: { kind, name } }) => `${node} needs ${thingOf(kind, name)}`);
  const remedies = [...new Set(unreachable.map(({ remedy }) => remedy))];
  throw new CliError(
    'usage',
    `The run was not started, because it cannot call everything that its nodes name: ${named.join(', ')}. ${remedies.join(' ')} ` +
      'With --allow-unreachable it starts, and such a node ends as unavailable.',
  );
}

function thingOf(kind: Required['kind'], name: string): string {
  if (kind === 'memory') return 'the memory';
  return kind === 'mcp' ? `the MCP server ${name}` : `the ${kind} ${name}`;
}

type PlacedNode = { readonly path: string; readonly node: LoadedNode['source'] };

/**
 * Every node that runs from these entry points can reach, including nodes of subflows; a subflow that many nodes run is
 * visited once.
 */
function nodesFrom(flow: LoadedFlow, entrypoints: readonly string[]): readonly PlacedNode[] {
  const found = new Map<string, PlacedNode>();
  function visit(within: LoadedFlow, prefix: string, id: string | undefined): void {
    const node = id === undefined ? undefined : within.nodes.get(id);
    const key = `${within.sha256} ${id}`;
    if (id === undefined || node === undefined || found.has(key)) return;
    const { source, subflow } = node;
    const path = `${prefix}${id}`;
    found.set(key, { path, node: source });
    if (subflow !== undefined && source.kind === 'subflow') {
      visit(subflow, `${path}/`, subflow.source.entrypoints[source.config.entrypoint]);
    }
    for (const next of [node.next, node.onError, ...node.cases.values(), ...startsIn(node)])
      visit(within, prefix, next);
  }
  for (const name of entrypoints) visit(flow, '', flow.source.entrypoints[name]);
  return [...found.values()];
}

/** The first nodes of the branches or of the body of a node. */
function startsIn({ source }: LoadedNode): readonly string[] {
  if (source.kind === 'parallel') return source.config.branches;
  return source.kind === 'loop' ? [source.config.body] : [];
}
