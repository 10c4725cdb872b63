import { flowsWithin } from './flows-within.ts';
import type { LoadedFlow } from './loaded-flow.ts';

type FileUseOfNode = 'text' | 'provider';

/** The uses of the file nodes of a flow and of its subflows. */
export function fileUses(flow: LoadedFlow): ReadonlySet<FileUseOfNode> {
  const nodes = flowsWithin(flow).flatMap((one) => [...one.nodes.values()]);
  return new Set(nodes.flatMap(({ source }) => (source.kind === 'file' ? [source.config.use] : [])));
}
