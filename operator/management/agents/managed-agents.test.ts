import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { KubeClient } from '#kube/client/client';
import { sampleAgent, sampleAgentVersion } from '#kube/testing/sample-agents';
import type { Agent } from '#resources/agent';
import type { AgentVersion } from '#resources/agent-version';
import { type Kind, kinds } from '#resources/kinds';
import { agentIdOf } from '../../agents/agent-bundle.ts';
import { listVersionsWithoutAgent, readManagedAgent, readManagedVersion } from './managed-agents.ts';

const image = parse(
  readFileSync(new URL('../../../crds/samples/valid/agent-version-image.yaml', import.meta.url), 'utf8'),
) as AgentVersion;
const system = { uid: 'u', generation: 1, resourceVersion: '1', creationTimestamp: '2026-01-31T09:00:00Z' };

type Version = { readonly version: AgentVersion; readonly uid?: string; readonly createdAt?: string };

/** Resources with the agent desk, which requests this version, and with these versions. */
function resourcesWith(name: string, ...versions: readonly Version[]) {
  const agent = sampleAgent('desk', name);
  const agents = [{ ...agent, metadata: { ...agent.metadata, ...system, namespace: 'default' } }];
  const items = versions.map(({ version, uid = 'u', createdAt = system.creationTimestamp }) => ({
    ...version,
    metadata: { ...version.metadata, ...system, uid, creationTimestamp: createdAt, namespace: 'default' },
  }));
  return {
    namespace: 'default',
    list: async (kind: Kind) => ({ items: kind === kinds.agent ? agents : items, resourceVersion: '1' }),
    get: async (_kind: Kind, wanted: string) => items.find(({ metadata }) => metadata.name === wanted),
  } as unknown as Pick<KubeClient, 'get' | 'list' | 'namespace'>;
}

const agentId = agentIdOf('default', 'desk');
const reading = { program: 'portcullis', isOwnOnly: false };
const versionOf = (agent: string, name: string): AgentVersion => {
  const version = sampleAgentVersion(name);
  return { ...version, spec: { ...version.spec, agent } };
};

test.each([
  ['runs a flow', sampleAgentVersion('desk-1'), true],
  ['runs an image', { ...image, metadata: { name: 'desk-1' } }, false],
  ['does not exist', undefined, false],
])('the management API shows whether a version has a flow: a version that %s', async (_title, version, hasFlow) => {
  const versions = version === undefined ? [] : [{ version: { ...version, spec: { ...version.spec, agent: 'desk' } } }];
  const agent = await readManagedAgent(resourcesWith('desk-1', ...versions), agentId, reading);
  expect(agent?.versions).toMatchObject([{ name: 'desk-1', hasFlow }]);
});

test('agent versions that the agent does not name are listed after the others, newest first, with their flows', async () => {
  const resources = resourcesWith(
    'desk-2',
    { version: versionOf('desk', 'desk-1'), uid: 'first', createdAt: '2026-01-01T00:00:00Z' },
    { version: versionOf('desk', 'desk-2'), uid: 'second', createdAt: '2026-01-02T00:00:00Z' },
    { version: versionOf('desk', 'desk-3'), uid: 'third', createdAt: '2026-01-03T00:00:00Z' },
    { version: versionOf('other', 'other-1'), uid: 'foreign' },
  );
  const agent = await readManagedAgent(resources, agentId, reading);
  expect(agent?.versions.map(({ name, roles }) => [name, roles])).toEqual([
    ['desk-2', ['wanted']],
    ['desk-3', []],
    ['desk-1', []],
  ]);
  expect((await readManagedVersion(resources, agentId, 'first'))?.metadata.name).toBe('desk-1');
  expect(await readManagedVersion(resources, agentId, 'foreign')).toBeUndefined();
});

test('a version that belongs to another agent is shown as absent, and its flow is not read', async () => {
  const resources = resourcesWith('payroll-3', { version: versionOf('payroll', 'payroll-3'), uid: 'foreign' });
  const agent = await readManagedAgent(resources, agentId, reading);
  expect(agent?.versions).toMatchObject([{ name: 'payroll-3', versionId: null, state: null, hasFlow: false }]);
  expect(await readManagedVersion(resources, agentId, 'foreign')).toBeUndefined();
});

test.each(['VersionOfOtherAgent', 'CanaryOfOtherAgent'])(
  'a caller that may read its own agents only does not see the other agent that the condition %s names',
  async (reason) => {
    const message = 'version: the AgentVersion desk-1 is a version of the agent payroll.';
    const ready = {
      type: 'Ready',
      status: 'False',
      reason,
      message,
      lastTransitionTime: system.creationTimestamp,
    } as const;
    const resources = resourcesWith('desk-1');
    const { items } = await resources.list<Agent>(kinds.agent);
    const status = { conditions: [{ ...ready, observedGeneration: 1 }], observedGeneration: 1 };
    const shown = {
      ...resources,
      list: async () => ({ items: items.map((one) => ({ ...one, status })), resourceVersion: '1' }),
    };
    const textOf = async (isOwnOnly: boolean) =>
      JSON.stringify(await readManagedAgent(shown as typeof resources, agentId, { program: 'portcullis', isOwnOnly }));
    expect(await textOf(false)).toContain('payroll');
    expect(await textOf(true)).not.toContain('payroll');
    expect(await textOf(true)).toContain(reason);
  },
);

test('versions whose Agent does not exist are listed by name, and no version of an Agent is', async () => {
  const resources = resourcesWith(
    'desk-1',
    { version: versionOf('lost', 'lost-2'), uid: 'third' },
    { version: versionOf('desk', 'desk-1'), uid: 'first' },
    { version: versionOf('alone', 'alone-1'), uid: 'second' },
  );
  expect(await listVersionsWithoutAgent(resources)).toEqual({
    items: [
      { name: 'alone-1', agent: 'alone', createdAt: '2026-01-31T09:00:00Z' },
      { name: 'lost-2', agent: 'lost', createdAt: '2026-01-31T09:00:00Z' },
    ],
  });
});
