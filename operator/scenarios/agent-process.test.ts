import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { until } from '#kit/testing/until';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import { bareAgentSettings } from '../testing/bare-agent-settings.ts';
import { startTestOperator, waitFor } from '../testing/start-test-operator.ts';

const sample = join(import.meta.dirname, '..', '..', 'crds', 'samples', 'valid', 'agent-version-small.yaml');
const { apiVersion, kind, spec } = parse(readFileSync(sample, 'utf8')) as AgentVersion;
const agents = bareAgentSettings;

test('a version runs in a process, is ready with a verified card, survives a restart of the operator, and ends', async () => {
  await using platform = await startTestOperator({ config: { agents } });
  const ready = (digest?: string) =>
    waitFor<AgentVersion>(platform, kinds.agentVersion, 'hello', 'ready', ({ status }) => {
      const isReady = status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
      return isReady && (digest === undefined || status?.cardDigest === digest);
    });
  const { metadata } = await platform.client.create<AgentVersion>(kinds.agentVersion, {
    ...{ apiVersion, kind, spec },
    metadata: { name: 'hello' },
  });
  const first = await ready();
  expect(first.status?.cardDigest).toMatch(/^[0-9a-f]{64}$/);
  const { address, versionId } = first.status ?? {};
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const card = await (await fetch(`${address}/.well-known/agent-card.json`)).text();
  expect(card).toContain(versionId);
  expect(first.status?.conditions?.map(({ type, status }) => [type, status])).toEqual([
    ['Ready', 'True'],
    ['Accepted', 'True'],
    ['Tested', 'True'],
    ['CardVerified', 'True'],
    ['ProviderReachable', 'True'],
  ]);
  await platform.restart();
  const second = await ready(first.status?.cardDigest);
  expect(second.status?.workload).toBe(first.status?.workload);
  await platform.client.delete(kinds.agentVersion, 'hello', { uid: metadata.uid });
  await until('it is gone', async () => (await platform.client.get(kinds.agentVersion, 'hello')) === undefined);
});
