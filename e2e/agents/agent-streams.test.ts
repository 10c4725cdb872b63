import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres } from '#sql/testing/test-server';
import { agentBundle, textFlow } from '../../dataplane/agents/testing/agent-bundle.ts';
import { type AgentGateway, startAgentGateway } from '../agent-gateway/start-agent-gateway.ts';
import { alias } from '../support/start-guarded-gateway.ts';
import { readAgentStream } from './read-agent-stream.ts';
import type { Reader } from './read-streams.ts';

const readers: readonly Reader[] = [
  ...Array<Reader>(8).fill('quick'),
  ...Array<Reader>(4).fill('slow'),
  ...Array<Reader>(4).fill('vanishing'),
];
const person = 'ann';

describe.skipIf(missingPostgres !== undefined)('streams of a real agent through the gateway', () => {
  let world: AgentGateway;
  const bundle = agentBundle({
    flow: textFlow(alias),
    manifest: { executionModes: ['a2a_agent'], mcp: undefined },
    bundle: {
      requires: [{ kind: 'model', name: alias }],
      limits: { requestBytes: 16_384, timeoutMs: 120_000, concurrency: 16 },
    },
  });
  const { agentId, versionId } = bundle;
  beforeAll(async () => {
    // The gateway counts a run whose client left for some time longer.
    world = await startAgentGateway({ PORTCULLIS_AGENT_RUNS_PER_CALLER: '64' });
    const { process: _, ...version } = await world.startVersion(bundle);
    await world.serve({ name: 'streaming', agentId, served: versionId, versions: [version] });
    await world.allow(person, 'invoke', agentId);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const read = (reader: Reader) =>
    readAgentStream({
      url: `${world.url}/agents/${agentId}`,
      token: () => world.personToken(person),
      reader,
      everyMs: 500,
    });
  const count = async (metric: RegExp): Promise<number> => {
    const text = await (await fetch(`${world.platform.gateway.ready['admin']}/metrics`)).text();
    return Number(metric.exec(text)?.[1]);
  };

  test('each of 16 concurrent streams has one end although four clients read slowly, and the runs of four clients that left end, too', async () => {
    const text = 'word '.repeat(400);
    world.platform.upstream.play({ kind: 'answer', content: text, frameLength: 40, frameDelayMs: 100 });
    expect(await Promise.all(readers.map(read))).toEqual(readers.map(() => undefined));
    await until('the gateway has no run', async () => {
      return (await count(/^portcullis_gateway_agent_runs_in_flight\{[^}]*\} (\d+)$/m)) === 0;
    });
  });

  test('each of 16 concurrent streams whose checks come too late ends with the code of the failed call', async () => {
    world.platform.proxy.inject({ kind: 'delay', ms: 3_000 });
    try {
      const ends = await Promise.all(Array.from({ length: 16 }, () => read('quick')));
      expect(new Set(ends)).toEqual(new Set(['TASK_STATE_FAILED dependency_unavailable']));
    } finally {
      world.platform.proxy.inject({ kind: 'pass' });
    }
  });
});
