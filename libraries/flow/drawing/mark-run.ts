import type { LoadedFlow } from '../loader/loaded-flow.ts';
import type { NodeMark, RunMarks } from './draw-flow.ts';

/** The trace of a node (`TracedNode` of the contracts). */
type TracedNode = {
  readonly path: string;
  readonly outcome?: string | undefined;
  readonly durationMs?: number | undefined;
};

/**
 * The marks of the nodes of a flow. For a node with several turns, the mark has the worst outcome and the sum of the
 * durations. Nodes of subflows are not drawn and have no marks.
 */
export function markRun(flow: LoadedFlow, nodes: readonly TracedNode[]): RunMarks {
  const byId = Map.groupBy(nodes, ({ path }) => nodeIdOf(flow, path));
  const marks = new Map<string, NodeMark>();
  for (const [id, turns] of byId) if (id !== undefined) marks.set(id, markOf(turns));
  return marks;
}

/** The id of the node in the drawn flow; undefined for a node of a subflow. */
function nodeIdOf(flow: LoadedFlow, path: string): string | undefined {
  const ids = path.split('/').map((part) => part.replace(/\[\d+\]$/, ''));
  const isInner = ids.slice(0, -1).some((id) => flow.nodes.get(id)?.source.kind === 'subflow');
  const id = ids.at(-1);
  return isInner || id === undefined || !flow.nodes.has(id) ? undefined : id;
}

function markOf(turns: readonly TracedNode[]): NodeMark {
  const failed = turns.find(({ outcome }) => outcome !== undefined && outcome !== 'ok');
  const sum = turns.reduce((all, { durationMs = 0 }) => all + durationMs, 0);
  const times = turns.length === 1 ? '' : `${turns.length} × `;
  const took = `${times}${Math.round(sum)} ms`;
  if (failed?.outcome !== undefined) return { tone: 'failed', text: `${failed.outcome}, ${took}` };
  return turns.some(({ outcome }) => outcome === undefined)
    ? { tone: 'running', text: `… ${took}` }
    : { tone: 'ok', text: `ok, ${took}` };
}
