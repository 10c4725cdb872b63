import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { KubeClient } from '#kube/client/client';
import { sampleAgent, sampleAgentVersion } from '#kube/testing/sample-agents';
import type { AgentVersion } from '#resources/agent-version';
import { agentIdOf } from '../../agents/agent-bundle.ts';
import { readManagedAgent } from './managed-agents.ts';

const image = parse(
  readFileSync(new URL('../../../crds/samples/valid/agent-version-image.yaml', import.meta.url), 'utf8'),
) as AgentVersion;
const system = { uid: 'u', generation: 1, resourceVersion: '1', creationTimestamp: '2026-01-31T09:00:00Z' };

/** Resources with one agent that wants this version. */
function resourcesWith(name: string, version: AgentVersion | undefined) {
  const agent = sampleAgent('desk', name);
  const items = [{ ...agent, metadata: { ...agent.metadata, ...system, namespace: 'default' } }];
  const found = version && { ...version, metadata: { ...version.metadata, ...system, namespace: 'default' } };
  return {
    namespace: 'default',
    list: async () => ({ items, resourceVersion: '1' }),
    get: async () => found,
  } as unknown as Pick<KubeClient, 'get' | 'list' | 'namespace'>;
}

test.each([
  ['runs a flow', sampleAgentVersion('desk-1'), true],
  ['runs an image', image, false],
  ['does not exist', undefined, false],
])('the management API shows whether a version has a flow: a version that %s', async (_title, version, hasFlow) => {
  const agent = await readManagedAgent(resourcesWith('desk-1', version), agentIdOf('default', 'desk'), 'portcullis');
  expect(agent?.versions).toMatchObject([{ name: 'desk-1', hasFlow }]);
});
