import type { SourceProblem } from '../source/problem.ts';
import { flowsWithin } from './flows-within.ts';
import { type FlowLoad, flowDigest, loadFlow } from './load-flow.ts';
import type { LoadedFlow } from './loaded-flow.ts';

/**
 * Loads the flow of a version with the subflows that the version contains. Each subflow must be the source of a flow
 * that the main flow, or another subflow, pins by its digest: a version contains no flow that cannot run.
 */
export function loadVersionFlow(flow: string, subflows: readonly string[] = []): FlowLoad {
  const problems: SourceProblem[] = [];
  const report = (index: number, message: string): void =>
    void problems.push({ code: 'subflow', line: 1, column: 1, path: `subflows[${index}]`, message });
  const places = new Map<string, number>();
  for (const [index, text] of subflows.entries()) {
    const digest = flowDigest(text);
    if (digest === undefined) report(index, 'is not a flow');
    else if (places.has(digest)) report(index, 'is an earlier one again');
    else places.set(digest, index);
  }
  const textOf = (digest: string): string | undefined => subflows[places.get(digest) ?? -1];
  const load = loadFlow(flow, { subflows: textOf });
  if (!load.ok) return { ok: false, problems: [...load.problems, ...problems] };
  const used = usedSubflows(load.flow);
  for (const [digest, index] of places) if (!used.has(digest)) report(index, 'is not used by the flow');
  return problems.length === 0 ? load : { ok: false, problems };
}

/** The digests of all flows that a flow and its subflows run. */
export function usedSubflows(flow: LoadedFlow): ReadonlySet<string> {
  const [, ...subflows] = flowsWithin(flow);
  return new Set(subflows.map(({ sha256 }) => sha256));
}
