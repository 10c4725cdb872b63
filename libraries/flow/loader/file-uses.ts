import type { LoadedFlow } from './loaded-flow.ts';

type FileUseOfNode = 'text' | 'provider';

/** The uses of the file nodes of a flow and of its subflows. */
export function fileUses(flow: LoadedFlow): ReadonlySet<FileUseOfNode> {
  const uses = new Set<FileUseOfNode>();
  // Many nodes may run one subflow, and it many others: each is visited once.
  const visited = new Set<string>();
  function visit({ sha256, nodes }: LoadedFlow): void {
    if (visited.has(sha256)) return;
    visited.add(sha256);
    for (const { source, subflow } of nodes.values()) {
      if (source.kind === 'file') uses.add(source.config.use);
      if (subflow !== undefined) visit(subflow);
    }
  }
  visit(flow);
  return uses;
}
