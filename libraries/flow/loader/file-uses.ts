import type { LoadedFlow } from './loaded-flow.ts';

type FileUseOfNode = 'text' | 'provider';

/** The uses of the file nodes of a flow and of its subflows. */
export function fileUses(flow: LoadedFlow): ReadonlySet<FileUseOfNode> {
  return new Set(usesOf(flow));
}

function usesOf(flow: LoadedFlow): readonly FileUseOfNode[] {
  return [...flow.nodes.values()].flatMap(({ source, subflow }) => [
    ...(source.kind === 'file' ? [source.config.use] : []),
    ...(subflow === undefined ? [] : usesOf(subflow)),
  ]);
}
