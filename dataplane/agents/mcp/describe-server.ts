import type { McpServer, ToolOutcome } from '#mcp/answer-message';
import type { LoadedAgent } from '../bundle/load-agent.ts';

/** Runs the flow with the arguments of a call. */
type CallTool = (args: Readonly<Record<string, unknown>>) => Promise<ToolOutcome>;

/** The only tool of a version, built from its manifest (`agents:mcp:one-tool`, `agents:mcp:tool-name`). */
export function describeServer({ manifest, flow }: LoadedAgent): McpServer<CallTool> {
  const { agent, mcp, contract } = manifest;
  const { toolName = agent.name, title = agent.title, description = agent.description, annotations } = mcp ?? {};
  return {
    name: agent.name,
    title: agent.title,
    version: String(flow.source.metadata.version),
    instructions: agent.description,
    protocolVersions: ['2025-11-25'],
    tools: [
      {
        name: toolName,
        title,
        description,
        inputSchema: contract.inputSchema,
        outputSchema: contract.outputSchema,
        isReadOnly: annotations?.readOnlyHint ?? false,
        ...(annotations === undefined ? {} : { annotations }),
        run: (call, args) => call(args),
      },
    ],
  };
}
