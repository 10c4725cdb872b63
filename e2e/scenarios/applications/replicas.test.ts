import { expect, test } from 'vitest';
import { childrenOf } from '#kit/testing/process-table';
import { until } from '#kit/testing/until';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { Condition } from '#resources/metadata';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { joinAsReplica } from '../../support/pretend-replica.ts';
import {
  applyRevision,
  bindingCondition,
  bindingNow,
  bindingOf,
  policyOf,
  writePolicy,
} from '../../support/resources.ts';
import { maskedTerm } from '../../support/sample-policy.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { type Platform, startPlatform } from '../../support/start-platform.ts';
import { verifies } from '../../support/verifies.ts';
import { isGuarded, stampedDefinition, stampsServed } from './stamped-policy.ts';

const alias = 'steady';

/** Two replicas that serve the first revision. */
async function startSteady(upstream: ScriptedUpstream, environment: Record<string, string> = {}): Promise<Platform> {
  const platform = await startPlatform({
    gateways: 2,
    providers: [{ name: 'scripted', kind: 'model', endpoint: `${upstream.url}/v1`, enabled: true }],
    environment,
  });
  const revision = await writePolicy(platform.client, policyOf(alias, stampedDefinition('[first]')));
  await platform.client.create(kinds.modelBinding, bindingOf(alias, alias, revision));
  await bindingCondition(platform.client, alias, 'Applied', 'True');
  return platform;
}

async function applyStamp({ client }: Platform, stamp: string): Promise<void> {
  const revision = await writePolicy(client, policyOf(alias, stampedDefinition(stamp)));
  await applyRevision(client, alias, revision, stamp);
}

/** Waits until the application is in progress with this reason; returns the condition. */
function appliedReason({ client }: Platform, reason: string): Promise<Condition> {
  return until(`the application is open with the reason ${reason}`, async () => {
    const condition = await bindingCondition(client, alias, 'Applied', 'Unknown');
    return condition.reason === reason ? condition : undefined;
  });
}

async function routeNow({ client }: Platform): Promise<GatewayRoute> {
  const { items } = await client.list<GatewayRoute>(kinds.gatewayRoute);
  const [route] = items;
  if (route === undefined || items.length > 1) throw new Error(`there are ${items.length} routes, not one`);
  return route;
}

test('after a replica rejects an application the earlier application is restored, and the condition states the reason', async () => {
  await using upstream = await startScriptedUpstream({ kind: 'answer', content: maskedTerm });
  await using platform = await startSteady(upstream);
  await using replica = await joinAsReplica(platform.client, platform.data, 'gateway-9');
  await applyStamp(platform, '[second]');
  await bindingCondition(platform.client, alias, 'Applied', 'True');
  const before = (await routeNow(platform)).spec;

  replica.answer('reject');
  await applyStamp(platform, '[third]');
  const condition = await bindingCondition(platform.client, alias, 'Applied', 'False');
  expect(condition.reason).toBe('ReplicaRejected');
  expect(condition.message).toContain('gateway-9');
  const [last] = (await bindingNow(platform.client, alias)).status?.applications ?? [];
  expect(last).toMatchObject({ operationId: '[third]', outcome: 'Failed', reason: 'replica_rejected' });

  const after = (await routeNow(platform)).spec;
  expect(after.guardrail).toEqual(before.guardrail);
  expect(after.generationId).not.toBe(before.generationId);
  expect(after.refused).toMatchObject({ token: '[third]', reason: 'replica_rejected' });
  await until('both replicas serve the earlier application', async () =>
    (await stampsServed(platform, alias)).every((stamp) => stamp === '[second]'),
  );
  expect(await isGuarded(platform, alias)).toBe(true);

  replica.answer('take');
  await applyStamp(platform, '[fourth]');
  await bindingCondition(platform.client, alias, 'Applied', 'True');
  expect(await stampsServed(platform, alias)).toEqual(['[fourth]', '[fourth]']);
});

verifies(
  ['guardrail:versioning:wait-for-replicas'],
  'an application that a replica neither confirms nor rejects is neither applied nor rolled back, and both workloads remain until the replica reports',
  async () => {
    await using upstream = await startScriptedUpstream({ kind: 'answer', content: maskedTerm });
    // The condition reports slow replicas only after five seconds; the remaining time allows for a slow runtime start.
    await using platform = await startSteady(upstream, {
      PORTCULLIS_PROGRESS_DEADLINE_SECONDS: '16',
      PORTCULLIS_HUNG_AFTER_SECONDS: '3600',
    });
    const frozen = platform.pidOf('gateway-2');
    process.kill(frozen, 'SIGSTOP');
    try {
      await applyStamp(platform, '[second]');
      await appliedReason(platform, 'WaitingForReplicas');
      const late = await appliedReason(platform, 'ProgressDeadlineExceeded');
      expect(late.message).toContain('gateway-2');
      const generations = await platform.client.list<RuntimeWorkload>(kinds.runtimeWorkload);
      expect(generations.items.map(({ spec }) => spec.state)).toEqual(['Active', 'Active']);
    } finally {
      process.kill(frozen, 'SIGCONT');
    }
    await bindingCondition(platform.client, alias, 'Applied', 'True');
    expect(await stampsServed(platform, alias)).toEqual(['[second]', '[second]']);
    await until('the earlier workload is deleted', async () => {
      const { items } = await platform.client.list<RuntimeWorkload>(kinds.runtimeWorkload);
      return items.length === 1;
    });
  },
);

test('while a runtime is stopped no text passes unchecked, and after its restart the same application serves again', async (context) => {
  if (process.platform !== 'linux') return context.skip('the processes of a platform are found through /proc');
  await using upstream = await startScriptedUpstream({ kind: 'answer', content: maskedTerm });
  await using platform = await startSteady(upstream);
  const [runtime] = childrenOf(platform.pidOf('operator'), 'portcullis-runtime');
  if (runtime === undefined) throw new Error('the operator runs no runtime');
  process.kill(runtime, 'SIGKILL');
  const seen: string[] = [];
  await until('the runtime runs again', async () => {
    const stamps = await stampsServed(platform, alias);
    seen.push(...stamps);
    return stamps.every((stamp) => stamp === '[first]') && seen.length > 2;
  });
  expect(seen.filter((stamp) => stamp.includes(maskedTerm))).toEqual([]);
  expect(new Set(seen.filter((stamp) => stamp !== '[first]' && !stamp.startsWith('status 503')))).toEqual(new Set());
  await bindingCondition(platform.client, alias, 'Ready', 'True');
  const again = childrenOf(platform.pidOf('operator'), 'portcullis-runtime');
  expect(again).toHaveLength(1);
  expect(again).not.toContain(runtime);
});
