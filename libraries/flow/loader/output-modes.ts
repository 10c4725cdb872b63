import type { LoadedFlow, LoadedNode } from './loaded-flow.ts';

type Output = { readonly id: string; readonly modes: readonly string[] };

/**
 * The outputs in which a run from an entry point may end, with the media types of their parts: `text` is given as
 * text/plain and `data` as application/json.
 */
export function outputsOf(flow: LoadedFlow, entrypoint: string): readonly Output[] {
  const start = flow.source.entrypoints[entrypoint];
  const reached = new Set(start === undefined ? [] : [start]);
  // A node that is added to the set during this loop is visited, too.
  for (const id of reached) {
    const node = flow.nodes.get(id);
    for (const next of node === undefined ? [] : waysOf(node)) reached.add(next);
  }
  return [...reached].flatMap((id): readonly Output[] => {
    const source = flow.nodes.get(id)?.source;
    if (source?.kind !== 'output') return [];
    const { text, data } = source.inputs;
    const modes = [...(text === undefined ? [] : ['text/plain']), ...(data === undefined ? [] : ['application/json'])];
    return [{ id, modes }];
  });
}

/** An output is never inside of a branch or a body, so that these edges lead to every output. */
function waysOf({ next, onError, cases }: LoadedNode): readonly string[] {
  return [next, onError, ...cases.values()].filter((id) => id !== undefined);
}
