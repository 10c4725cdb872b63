import type { LoadedFlow } from './loaded-flow.ts';

/** A flow and every flow that it and its subflows run, each once, however many nodes name it. */
export function flowsWithin(flow: LoadedFlow): readonly LoadedFlow[] {
  const found = new Map([[flow.sha256, flow]]);
  // The loop visits the flows that it adds, too.
  for (const { nodes } of found.values()) {
    for (const { subflow } of nodes.values()) if (subflow !== undefined) found.set(subflow.sha256, subflow);
  }
  return [...found.values()];
}
