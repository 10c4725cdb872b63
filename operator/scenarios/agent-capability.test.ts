import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse } from 'yaml';
import type { Agent } from '#resources/agent';
import type { AgentVersion } from '#resources/agent-version';
import { apiVersion, kinds } from '#resources/kinds';
import { verifies } from '../../e2e/support/verifies.ts';
import { bareAgentSettings } from '../testing/bare-agent-settings.ts';
import { startFakeReplica } from '../testing/fake-replica.ts';
import { createRightsInMemory } from '../testing/rights-in-memory.ts';
import { startTestOperator, waitFor } from '../testing/start-test-operator.ts';

const sample = join(import.meta.dirname, '..', '..', 'crds', 'samples', 'valid', 'agent-version-small.yaml');
const version = parse(readFileSync(sample, 'utf8')) as AgentVersion;
const agents = bareAgentSettings;

/** The sample with a mode that this release lacks. */
function withTasks(): AgentVersion['spec'] {
  const { lowCode } = version.spec;
  if (lowCode === undefined) throw new Error('the sample has no flow');
  const manifest = lowCode.manifest.replace('contract:', 'contract:\n  tasks: true');
  return { ...version.spec, lowCode: { ...lowCode, manifest } };
}

verifies(
  ['agents:card:unimplemented-registration'],
  'an agent whose version requests a mode that this release lacks gets no route, and its condition has the code',
  async () => {
    await using platform = await startTestOperator({
      config: { agents },
      overrides: { authority: createRightsInMemory() },
    });
    const replica = await startFakeReplica(platform, 'gateway-1');
    const { resourceVersion } = await platform.client.list(kinds.agentRoute);
    const nothing = { appliedThrough: resourceVersion, pending: [], rejected: [], inUse: [] };
    await replica.report('take', { agents: nothing });
    const create = (name: string, spec: AgentVersion['spec']) =>
      platform.client.create<AgentVersion>(kinds.agentVersion, { ...version, metadata: { name }, spec });
    await create('able', version.spec);
    await create('unable', withTasks());
    const owner = { issuer: 'https://people.example', subject: 'ada' };
    const access = { view: [{ kind: 'User', ...owner }], invoke: [] } satisfies Agent['spec']['access'];
    const agent = { owner, workspace: 'support', access };
    const created = await platform.client.create<Agent>(kinds.agent, {
      apiVersion,
      kind: kinds.agent.kind,
      metadata: { name: version.spec.agent },
      spec: { ...agent, version: 'unable' },
    });
    const code = 'advertised_capability_unavailable: ';
    const messageOf = ({ status }: Agent | AgentVersion) =>
      status?.conditions?.find(({ type, status: held }) => type === 'Ready' && held === 'False')?.message ?? '';
    const unready = await waitFor<AgentVersion>(platform, kinds.agentVersion, 'unable', 'it has the code', (one) =>
      messageOf(one).toLowerCase().includes(code),
    );
    expect(messageOf(unready)).toContain('a2a.tasks');
    await waitFor<Agent>(platform, kinds.agent, version.spec.agent, 'it has the code', (one) =>
      messageOf(one).includes(code),
    );
    expect(await platform.client.get(kinds.agentRoute, version.spec.agent)).toBeUndefined();
    await platform.client.patch(kinds.agent, created.metadata.name ?? '', [
      { op: 'replace', path: '/spec/version', value: 'able' },
    ]);
    await waitFor(platform, kinds.agentRoute, version.spec.agent, 'the version that can do all is routed', () => true);
  },
);
