import type { PublishManifest } from '../definition/manifest-schema.ts';
import { flowsWithin } from './flows-within.ts';
import type { LoadedFlow } from './loaded-flow.ts';

type Required = PublishManifest['requires'][number];

/** Everything outside of a flow that it names, and then its subflows, each once, in the order of the nodes. */
export function flowRequirements(flow: LoadedFlow): readonly Required[] {
  const found = new Map<string, Required>();
  const add = (kind: Required['kind'], name: string) => void found.set(`${kind} ${name}`, { kind, name });
  for (const { source } of flowsWithin(flow).flatMap(({ nodes }) => [...nodes.values()])) {
    if (source.kind === 'retrieval') add('collection', source.config.collection);
    if (source.kind === 'tool_http') add('connection', source.config.connection);
    if (source.kind === 'tool_mcp') add('mcp', source.config.server);
    if (source.kind === 'agent') add('agent', source.config.agentId);
    if (source.kind === 'guardrail') add('policy', source.config.policy);
    if (/^(memory|session)_/.test(source.kind)) add('memory', 'memory');
    if (source.kind !== 'prompt') continue;
    add('model', source.config.model);
    for (const tool of source.config.tools ?? []) {
      if ('mcp' in tool) add('mcp', tool.mcp.server);
      if ('http' in tool) add('connection', tool.http.connection);
      if ('agent' in tool) add('agent', tool.agent.agentId);
      if ('retrieval' in tool) add('collection', tool.retrieval.collection);
    }
  }
  return [...found.values()];
}
