import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { until } from '#kit/testing/until';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { acceptingJudge } from './accepting-judge.ts';
import { type Attitude, type FakeReplica, startFakeReplica } from './fake-replica.ts';
import { createInstantWorkloads } from './instant-workloads.ts';
import { type Death, type Mortality, mortality } from './mortal-client.ts';
import { startTestOperator, type TestOperator } from './start-test-operator.ts';

/**
 * An operator whose workloads are ready immediately, with one replica that polls the routes. A test can kill the
 * operator between any two writes.
 */
export type ModelPlatform = AsyncDisposable & {
  readonly platform: TestOperator;
  attitude: Attitude;
  /** Number of writes of the current operator. */
  writes(): number;
  isDead(): boolean;
  /** Starts a new operator on the state that the killed operator left; a test can kill the new one in the same way. */
  revive(death?: Death): Promise<void>;
  /** Waits until the desired state is reached, or the operator was killed. */
  settledOrDead(): Promise<void>;
};

const build = 'test-1';

export async function startModelPlatform(death?: Death): Promise<ModelPlatform> {
  let life: Mortality = mortality(death);
  const overrides = () => ({
    workloads: createInstantWorkloads(build),
    judge: acceptingJudge,
    wrapClient: life.wrapClient,
  });
  const platform = await startTestOperator({ config: { build }, overrides: overrides() });
  const replica = await startFakeReplica(platform, 'gateway-1');
  let looking = look(platform, replica, () => model.attitude);
  const model: ModelPlatform = {
    platform,
    attitude: 'take',
    writes: () => life.writes(),
    isDead: () => life.isDead(),
    async revive(next) {
      await looking.stop();
      life = mortality(next);
      await platform.restart({}, overrides());
      looking = look(platform, replica, () => model.attitude);
    },
    settledOrDead: () => settle(platform, life.isDead),
    async [Symbol.asyncDispose]() {
      await looking.stop();
      await platform[Symbol.asyncDispose]();
    },
  };
  return model;
}

/** Makes the replica report whenever a route has changed, and checks the invariants at every moment. */
function look(platform: TestOperator, replica: FakeReplica, attitude: () => Attitude) {
  let stopped = false;
  let seen = '';
  let broken: unknown;
  async function run(): Promise<void> {
    while (!stopped) {
      const routes = await platform.client.list<GatewayRoute>(kinds.gatewayRoute);
      const versions = JSON.stringify([routes.items.map(({ metadata }) => metadata.resourceVersion), attitude()]);
      if (versions !== seen) {
        await expectSound(platform, routes.items).catch((error: unknown) => {
          broken ??= error;
        });
        await replica.report(attitude());
        seen = versions;
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  const running = run().catch(() => undefined);
  return {
    async stop() {
      stopped = true;
      await running;
      if (broken !== undefined) throw broken;
    },
  };
}

/** A route never names a missing workload, and an alias never has two routes. */
async function expectSound(platform: TestOperator, routes: readonly GatewayRoute[]): Promise<void> {
  const aliases = routes.map(({ spec }) => `${spec.gateway}/${spec.alias}`);
  expect(new Set(aliases).size).toBe(aliases.length);
  for (const { metadata, spec } of routes) {
    if (spec.workload === undefined) continue;
    const generation = await platform.client.get<RuntimeWorkload>(kinds.runtimeWorkload, spec.workload);
    const now = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, metadata.name);
    // A route that has changed meanwhile does not show its previous workload.
    if (now?.spec.workload === spec.workload)
      expect(generation, `the workload of route ${metadata.name}`).toBeDefined();
  }
}

type State = {
  readonly policies: readonly GuardrailPolicy[];
  readonly bindings: readonly ModelBinding[];
  readonly routes: readonly GatewayRoute[];
  readonly workloads: readonly RuntimeWorkload[];
  readonly revisions: readonly PolicyRevision[];
  readonly bundles: readonly string[];
};

async function read({ client, data }: TestOperator): Promise<State> {
  return {
    policies: (await client.list<GuardrailPolicy>(kinds.guardrailPolicy)).items,
    bindings: (await client.list<ModelBinding>(kinds.modelBinding)).items,
    routes: (await client.list<GatewayRoute>(kinds.gatewayRoute)).items,
    workloads: (await client.list<RuntimeWorkload>(kinds.runtimeWorkload)).items,
    revisions: (await client.list<PolicyRevision>(kinds.policyRevision)).items,
    bundles: await readdir(join(data, 'bundles')),
  };
}

async function settle(platform: TestOperator, isDead: () => boolean): Promise<void> {
  let state: State | undefined;
  try {
    await until('the platform settles', async () => {
      if (isDead()) return true;
      state = await read(platform);
      expectSettled(state);
      return true;
    });
  } catch (error) {
    throw new Error(`${String(error)}\n${JSON.stringify({ ...state, policies: [], revisions: [] }, undefined, 1)}`, {
      cause: error,
    });
  }
}

function expectSettled({ policies, bindings, routes, workloads, revisions, bundles }: State): void {
  for (const policy of policies) {
    expect(policy.status?.observedGeneration).toBe(policy.metadata.generation);
    expect(policy.metadata.deletionTimestamp).toBeUndefined();
  }
  for (const binding of bindings) expectBindingSettled(binding, routes);
  expect(routes.filter(({ metadata }) => !bindings.some((binding) => binding.metadata.name === metadata.name))).toEqual(
    [],
  );
  const needed = new Set(routes.flatMap(({ spec }) => spec.workload ?? []));
  expect(new Set(workloads.map(({ metadata }) => metadata.name))).toEqual(needed);
  expect(workloads.every(({ spec, status }) => spec.state === 'Active' && status?.state === 'Ready')).toBe(true);
  expect(new Set(bundles)).toEqual(new Set(workloads.map(({ spec }) => `${spec.digest}.json`)));
  for (const id of new Set(revisions.map(({ spec }) => spec.policyId))) expectContiguous(revisions, id);
}

function expectBindingSettled(binding: ModelBinding, routes: readonly GatewayRoute[]): void {
  const { metadata, spec, status } = binding;
  expect(metadata.deletionTimestamp).toBeUndefined();
  expect(status?.observedGeneration).toBe(metadata.generation);
  const applied = status?.conditions?.find(({ type }) => type === 'Applied');
  expect(['True', 'False']).toContain(applied?.status);
  const route = routes.find((one) => one.metadata.name === metadata.name);
  expect(status?.pinned?.generationId).toBe(route?.spec.generationId);
  if (applied?.status === 'False') return;
  expect(route?.spec.token).toBe(spec.apply ?? '');
  expect(route?.spec.state).toBe(spec.model.state);
  const wanted = spec.guardrail.mode === 'None' ? undefined : String(spec.guardrail.policyRef.revision);
  expect(route?.spec.guardrail.mode === 'Policy' ? route.spec.guardrail.policyRevision : undefined).toBe(wanted);
  expect(status?.applications?.[0]).toMatchObject({ outcome: 'Applied', generationId: route?.spec.generationId });
}

/** The revisions of a policy are numbered without a gap, and no two are of the same generation of the same object. */
function expectContiguous(revisions: readonly PolicyRevision[], policyId: string): void {
  const own = revisions
    .filter(({ spec }) => spec.policyId === policyId)
    .toSorted((a, b) => a.spec.number - b.spec.number);
  expect(own.map(({ spec }) => spec.number)).toEqual(own.map((_one, index) => index + 1));
  const recorded = own.map(({ spec }) => `${spec.policy.uid}/${spec.policy.generation}`);
  expect(new Set(recorded).size).toBe(recorded.length);
}
