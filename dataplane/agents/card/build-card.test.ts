import { expect } from 'vitest';
import { verifies } from '../../../e2e/support/verifies.ts';
import { loadAgent } from '../bundle/load-agent.ts';
import { agentBundle } from '../testing/agent-bundle.ts';
import { buildCard } from './build-card.ts';

function agentOf(streaming: boolean) {
  const load = loadAgent(Buffer.from(JSON.stringify(agentBundle({ contract: { capabilities: { streaming } } }))));
  if (!load.ok) throw new Error('the bundle of the test is refused');
  return load.agent;
}

verifies(
  ['agents:card:flags'],
  'a capability flag of an agent card is true only for a mode that the manifest requests and a startup check confirmed',
  () => {
    const streams = (
      isAsked: boolean,
      ...confirmed: Parameters<typeof buildCard>[1] extends ReadonlySet<infer C> ? C[] : never
    ) => buildCard(agentOf(isAsked), new Set(confirmed))?.capabilities.streaming;
    expect(streams(true, 'a2a.message', 'a2a.streaming')).toBe(true);
    expect(streams(true, 'a2a.message')).toBe(false);
    expect(streams(false, 'a2a.message', 'a2a.streaming')).toBe(false);
    expect(streams(true, 'a2a.streaming', 'mcp.tool')).toBeUndefined();
  },
);
