import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { agentBundleDigest, agentBundleSchema } from '#contracts/agent-bundle';

import { until } from '#kit/testing/until';
import type { AgentVersion, AgentVersionSpec } from '#resources/agent-version';
import { kinds, operatorFinalizer } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { lowCodeOf } from '../agents/testing/low-code-of.ts';
import { createVersionChecks, type VersionChecks } from '../agents/version-checks.ts';
import { createInstantAgents } from '../testing/instant-agents.ts';
import { type Death, mortality } from '../testing/mortal-client.ts';
import { startTestOperator, type TestOperator, waitFor } from '../testing/start-test-operator.ts';

const sample = join(import.meta.dirname, '..', '..', 'crds', 'samples', 'valid', 'agent-version-small.yaml');
const { spec } = parse(readFileSync(sample, 'utf8')) as AgentVersion;
const lowCode = lowCodeOf(spec);

function version(name: string, change: Partial<AgentVersionSpec> = {}): AgentVersion {
  return {
    apiVersion: 'portcullis.dev/v1alpha1',
    kind: 'AgentVersion',
    metadata: { name },
    spec: { ...spec, ...change },
  };
}

function reasonOf(object: AgentVersion, type: string): string | undefined {
  return object.status?.conditions?.find((one) => one.type === type)?.reason;
}

function messageOf(object: AgentVersion, type: string): string | undefined {
  return object.status?.conditions?.find((one) => one.type === type)?.message;
}

function settled(platform: TestOperator, name: string, reason: string): Promise<Stored<AgentVersion>> {
  return waitFor<AgentVersion>(platform, kinds.agentVersion, name, reason, (one) => reasonOf(one, 'Ready') === reason);
}

describe('a version of an agent', () => {
  test('an AgentVersion whose tests pass runs with a bundle of its flow and manifest, and its card is verified', async () => {
    const agents = createInstantAgents();
    await using platform = await startTestOperator({ overrides: { agents } });
    const created = await platform.client.create<AgentVersion>(kinds.agentVersion, version('one'));
    const { metadata, status } = await settled(platform, 'one', 'Ready');
    expect(metadata.finalizers).toEqual([operatorFinalizer]);
    expect(status?.conditions?.map(({ type, status: value }) => [type, value])).toEqual([
      ['Ready', 'True'],
      ['Accepted', 'True'],
      ['Tested', 'True'],
      ['CardVerified', 'True'],
      ['ProviderReachable', 'True'],
    ]);
    const request = agents.running.get(status?.workload ?? '');
    const bundle = agentBundleSchema.parse(request?.bundle);
    expect(bundle).toMatchObject({ ...lowCode, versionId: created.metadata.uid, digest: status?.digest });
    expect(agentBundleDigest(bundle)).toBe(bundle.digest);
    expect(bundle.publicUrl).toBe(`https://agents.example/agents/${status?.agentId}/versions/${created.metadata.uid}`);
  });

  test('an AgentVersion that is deleted and created again is another version of the same agent', async () => {
    const agents = createInstantAgents();
    await using platform = await startTestOperator({ overrides: { agents } });
    const seen: Stored<AgentVersion>[] = [];
    for (let round = 0; round < 2; round++) {
      const { metadata } = await platform.client.create<AgentVersion>(kinds.agentVersion, version('one'));
      seen.push(await settled(platform, 'one', 'Ready'));
      await platform.client.delete(kinds.agentVersion, 'one', { uid: metadata.uid });
      await until('it is gone', async () => (await platform.client.get(kinds.agentVersion, 'one')) === undefined);
      expect(agents.running.size).toBe(0);
    }
    const [first, second] = seen.map(({ status }) => status);
    expect(second?.agentId).toBe(first?.agentId);
    for (const member of ['versionId', 'digest', 'workload'] as const)
      expect(second?.[member]).not.toBe(first?.[member]);
  });

  test.each([
    [
      'flow',
      { flow: lowCode.flow.replace('kind: output', 'kind: outputt') },
      'FlowInvalid',
      /^flow\.yaml:\d+:\d+: .*nodes/,
    ],
    [
      'manifest',
      { manifest: lowCode.manifest.replace('entrypoint: main', 'entrypoint: other') },
      'ManifestInvalid',
      /^manifest\.yaml:\d+:\d+: flow\.entrypoint/,
    ],
    ['tests', { tests: lowCode.tests.replace('input:', 'inputt:') }, 'TestsInvalid', /^tests\.yaml:\d+:\d+: /],
  ])(
    'an AgentVersion with a problem in its %s is refused with the line, and no process starts',
    async (_part, change, reason, place) => {
      const agents = createInstantAgents();
      await using platform = await startTestOperator({ overrides: { agents } });
      await platform.client.create(kinds.agentVersion, version('bad', { lowCode: { ...lowCode, ...change } }));
      const refused = await settled(platform, 'bad', 'NotAccepted');
      expect(reasonOf(refused, 'Accepted')).toBe(reason);
      expect(messageOf(refused, 'Accepted')).toMatch(place);
      expect(reasonOf(refused, 'Tested')).toBe('NotAccepted');
      expect(agents.running.size).toBe(0);
      expect(refused.metadata.finalizers ?? []).toEqual([]);
    },
  );

  test('an AgentVersion with a failed test does not run, and its condition names the test without any of its content', async () => {
    const agents = createInstantAgents();
    await using platform = await startTestOperator({ overrides: { agents } });
    const tests = lowCode.tests.replace('expect: { text: hello }', 'expect: { text: secret words }');
    await platform.client.create(kinds.agentVersion, version('red', { lowCode: { ...lowCode, tests } }));
    const red = await settled(platform, 'red', 'NotTested');
    expect(messageOf(red, 'Tested')).toBe('1 of 1 tests failed: repeats.');
    expect(agents.running.size).toBe(0);
  });

  test.each<[string, Partial<AgentVersionSpec>, string]>([
    [
      'guardrail',
      { guardrails: { input: { mode: 'Policy', policyRef: { name: 'chat', revision: 1 } }, output: { mode: 'None' } } },
      'guardrails.input differs from the manifest.',
    ],
    [
      'requirement',
      { requires: [{ kind: 'Model', name: 'chat' }] },
      'requires names the model chat, which is not in the manifest.',
    ],
    ['limit', { limits: { concurrency: 9 } }, 'limits.concurrency exceeds the limit of the manifest, 8.'],
  ])('a %s that contradicts the manifest is refused', async (_what, change, sentence) => {
    await using platform = await startTestOperator({ overrides: { agents: createInstantAgents() } });
    await platform.client.create(kinds.agentVersion, version('other', change));
    const other = await settled(platform, 'other', 'NotAccepted');
    expect([reasonOf(other, 'Accepted'), messageOf(other, 'Accepted')]).toEqual(['ManifestDiffers', sentence]);
  });

  test('limits of an AgentVersion that are lower than those of its manifest apply', async () => {
    const agents = createInstantAgents();
    await using platform = await startTestOperator({ overrides: { agents } });
    await platform.client.create(kinds.agentVersion, version('low', { limits: { concurrency: 8, timeoutMs: 5_000 } }));
    const { status } = await settled(platform, 'low', 'Ready');
    const limits = { concurrency: 8, timeoutMs: 5_000, requestBytes: 1_048_576 };
    expect(agents.running.get(status?.workload ?? '')?.bundle.limits).toEqual(limits);
  });

  test('versions whose checks exceed their timeout are not checked again by a change, and after a restart one at a time', async () => {
    const real = createVersionChecks({ timeoutMs: 1 });
    /** Checks that had a place and have ended. */
    let made = 0;
    let running = 0;
    let most = 0;
    const versionChecks: VersionChecks = {
      async check(job, signal) {
        running += 1;
        most = Math.max(most, running);
        const outcome = await real.check(job, signal).finally(() => {
          running -= 1;
        });
        if (outcome !== undefined) made += 1;
        return outcome;
      },
    };
    const names = ['one', 'two', 'three', 'four'];
    await using platform = await startTestOperator({ overrides: { versionChecks } });
    for (const name of names) await platform.client.create(kinds.agentVersion, version(name));
    for (const name of names) {
      const isLate = (one: AgentVersion) => reasonOf(one, 'Accepted') === 'ChecksTimedOut';
      await waitFor<AgentVersion>(platform, kinds.agentVersion, name, 'its checks are late', isLate);
    }
    // The statuses of all of them were written, and each write is a change of a version.
    expect(made).toBe(names.length);
    most = 0;
    await platform.restart({}, { versionChecks });
    await until('all are checked again', () => made === 2 * names.length);
    expect(most).toBe(1);
  });

  test('an operator without settings for agents checks and tests an AgentVersion, and a condition reports that it does not run', async () => {
    await using platform = await startTestOperator();
    await platform.client.create(kinds.agentVersion, version('idle'));
    const idle = await settled(platform, 'idle', 'AgentsNotConfigured');
    expect([reasonOf(idle, 'Tested'), reasonOf(idle, 'CardVerified')]).toEqual(['TestsPassed', 'NotRunning']);
    expect(idle.metadata.finalizers ?? []).toEqual([]);
  });

  test('an AgentVersion with an unconfirmed capability or a different card is not Ready', async () => {
    const agents = createInstantAgents();
    await using platform = await startTestOperator({ overrides: { agents } });
    await platform.client.create(kinds.agentVersion, version('one'));
    const workload = (await settled(platform, 'one', 'Ready')).status?.workload ?? '';
    const code = 'advertised_capability_unavailable';
    const problems = [{ code, capability: 'a2a.streaming', message: 'a2a.streaming is not confirmed' } as const];
    agents.report(workload, { ready: false, problems });
    const short = await settled(platform, 'one', 'CapabilityUnavailable');
    expect(messageOf(short, 'Ready')).toBe(`${code}: a2a.streaming is not confirmed.`);
    agents.report(workload, {}, 'differs');
    expect((await settled(platform, 'one', 'CardNotVerified')).status?.cardDigest).toBeUndefined();
    agents.report(workload, {});
    expect((await settled(platform, 'one', 'Ready')).status?.cardDigest).toBe('c'.repeat(64));
  });

  test('the deletion of an AgentVersion waits for its runs, and its process ends after the last one', async () => {
    const agents = createInstantAgents();
    await using platform = await startTestOperator({ overrides: { agents } });
    const { metadata } = await platform.client.create<AgentVersion>(kinds.agentVersion, version('busy'));
    const workload = (await settled(platform, 'busy', 'Ready')).status?.workload ?? '';
    agents.report(workload, { runs: 2 });
    await platform.client.delete(kinds.agentVersion, 'busy', { uid: metadata.uid });
    expect(messageOf(await settled(platform, 'busy', 'Draining'), 'Ready')).toBe('The deletion waits for 2 runs.');
    expect(agents.has(workload)).toBe(true);
    agents.report(workload, { runs: 0 });
    await until('it is gone', async () => (await platform.client.get(kinds.agentVersion, 'busy')) === undefined);
    expect(agents.has(workload)).toBe(false);
  });
});

describe('an operator that is killed at a write', () => {
  const moments = ['before', 'after'] as const;
  const deaths = [1, 2, 3, 4].flatMap((write) => moments.map((moment): Death => ({ write, moment })));

  test.each(deaths)(
    'when the operator is killed $moment write $write, its successor starts the AgentVersion and deletes it on request',
    async (death) => {
      const killed = mortality(death);
      await using platform = await startTestOperator({
        overrides: { agents: createInstantAgents(), wrapClient: killed.wrapClient },
      });
      const { metadata } = await platform.client.create<AgentVersion>(kinds.agentVersion, version('one'));
      await until('it is killed or done', async () => {
        const now = await platform.client.get<AgentVersion>(kinds.agentVersion, 'one');
        return killed.isDead() || (now !== undefined && reasonOf(now, 'Ready') === 'Ready');
      });
      const agents = createInstantAgents();
      await platform.restart({}, { agents });
      await settled(platform, 'one', 'Ready');
      await until('it runs', () => agents.running.size === 1);
      await platform.client.delete(kinds.agentVersion, 'one', { uid: metadata.uid });
      await until('it is gone', async () => (await platform.client.get(kinds.agentVersion, 'one')) === undefined);
      expect(agents.running.size).toBe(0);
    },
  );

  test('after a kill of the operator during the deletion of an AgentVersion the next operator completes it', async () => {
    for (const moment of moments) {
      await using platform = await startTestOperator({ overrides: { agents: createInstantAgents() } });
      const { metadata } = await platform.client.create<AgentVersion>(kinds.agentVersion, version('one'));
      await settled(platform, 'one', 'Ready');
      const killed = mortality({ write: 1, moment });
      await platform.restart({}, { agents: createInstantAgents(), wrapClient: killed.wrapClient });
      await platform.client.delete(kinds.agentVersion, 'one', { uid: metadata.uid });
      await until('it is killed', () => killed.isDead());
      await platform.restart({}, { agents: createInstantAgents() });
      await until('it is gone', async () => (await platform.client.get(kinds.agentVersion, 'one')) === undefined);
    }
  });
});
