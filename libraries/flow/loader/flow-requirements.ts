import type { PublishManifest } from '../definition/manifest-schema.ts';
import type { FlowNode, PromptTool } from '../definition/node-schemas.ts';
import { flowsWithin } from './flows-within.ts';
import type { LoadedFlow } from './loaded-flow.ts';

type Required = PublishManifest['requires'][number];

/** Everything outside of a flow that it names, and then its subflows, each once, in the order of the nodes. */
export function flowRequirements(flow: LoadedFlow): readonly Required[] {
  const nodes = flowsWithin(flow).flatMap((one) => [...one.nodes.values()]);
  const named = nodes.flatMap(({ source }) => nodeRequirements(source));
  return [...new Map(named.map((one) => [`${one.kind} ${one.name}`, one])).values()];
}

/** The names of all outside systems and other flows that a node uses. */
export function nodeRequirements(node: FlowNode): readonly Required[] {
  switch (node.kind) {
    case 'retrieval':
      return [{ kind: 'collection', name: node.config.collection }];
    case 'tool_http':
      return [{ kind: 'connection', name: node.config.connection }];
    case 'tool_mcp':
      return [{ kind: 'mcp', name: node.config.server }];
    case 'agent':
      return [{ kind: 'agent', name: node.config.agentId }];
    case 'guardrail':
      return [{ kind: 'policy', name: node.config.policy }];
    case 'memory_search':
    case 'memory_add':
    case 'session_get':
    case 'session_put':
      return [{ kind: 'memory', name: 'memory' }];
    case 'prompt':
      return [{ kind: 'model', name: node.config.model }, ...(node.config.tools ?? []).map(toolRequirement)];
    case 'input':
    case 'output':
    case 'template':
    case 'transform':
    case 'condition':
    case 'parallel':
    case 'loop':
    case 'file':
    case 'fail':
    case 'subflow':
      return [];
  }
}

function toolRequirement(tool: PromptTool): Required {
  if ('mcp' in tool) return { kind: 'mcp', name: tool.mcp.server };
  if ('http' in tool) return { kind: 'connection', name: tool.http.connection };
  if ('agent' in tool) return { kind: 'agent', name: tool.agent.agentId };
  return { kind: 'collection', name: tool.retrieval.collection };
}
