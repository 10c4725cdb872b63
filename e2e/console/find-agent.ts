import { until } from '#kit/testing/until';
import type { Agent } from '#resources/agent';
import { kinds } from '#resources/kinds';
import type { Platform } from '../support/start-platform.ts';

/**
 * The pages of the example agent, once it is served: the page of the agent, and that of the flow of its served version.
 */
export function findAgent(
  platform: Platform,
): Promise<{ readonly id: string; readonly path: string; readonly flowPath: string }> {
  return until('the example agent is served', async () => {
    const { status } = (await platform.client.get<Agent>(kinds.agent, 'assistant')) ?? {};
    const { agentId: id, served } = status ?? {};
    if (id === undefined || served === undefined) return undefined;
    return { id, path: `/agents/${id}`, flowPath: `/agents/${id}/versions/${served.versionId}/flow` };
  });
}
