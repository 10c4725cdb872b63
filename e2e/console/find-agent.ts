import type { Agent } from '#resources/agent';
import { kinds } from '#resources/kinds';
import type { Platform } from '../support/start-platform.ts';

/** The pages of the example agent: its own, and that of the flow of the served version. */
export async function findAgent(
  platform: Platform,
): Promise<{ readonly id: string; readonly path: string; readonly flowPath: string }> {
  const { status } = (await platform.client.get<Agent>(kinds.agent, 'assistant')) ?? {};
  const { agentId: id, served } = status ?? {};
  if (id === undefined || served === undefined) throw new Error('the example agent is not served');
  return { id, path: `/agents/${id}`, flowPath: `/agents/${id}/versions/${served.versionId}/flow` };
}
