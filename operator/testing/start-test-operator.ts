import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTokenFile } from '#kit/http/token-file';
import { createLogger } from '#kit/log/logger';
import { until } from '#kit/testing/until';
import { type Clock, systemClock } from '#kit/time/clock';
import { createClient, type KubeClient } from '#kube/client/client';
import { patchUnguarded } from '#kube/testing/patch-unguarded';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { type Kind, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { weakenedBy } from '#resources/protection';
import type { StandaloneConfig } from '../composition/operator-config.ts';
import { createOperator, type Operator, type OperatorOverrides } from '../operator.ts';
import type { FakeReplica } from './fake-replica.ts';
import { bindingObject, policyObject } from './objects.ts';

/** An operator with its own data directory, and a client of it. */
export type TestOperator = AsyncDisposable & {
  readonly data: string;
  readonly client: KubeClient;
  readonly operator: Operator;
  /** Ends this operator and starts another operator with the same data directory. */
  restart(change?: Partial<StandaloneConfig>, overrides?: OperatorOverrides): Promise<void>;
  /** Ends the operator; the data directory stays until disposal. */
  stop(): Promise<void>;
};

export const testProviders = `
providers:
  - { name: echo, kind: model, endpoint: "http://127.0.0.1:9/v1", enabled: true }
  - { name: off, kind: model, endpoint: "http://127.0.0.1:9/v1", enabled: false }
`;

const quiet = { write: () => undefined };

export async function startTestOperator(
  options: {
    readonly config?: Partial<StandaloneConfig>;
    readonly providers?: string;
    readonly limits?: string;
    /** Content of served-policies.yaml. */
    readonly served?: string;
    readonly overrides?: OperatorOverrides;
  } = {},
): Promise<TestOperator> {
  const data = await mkdtemp(join(tmpdir(), 'portcullis-operator-'));
  await writeFile(join(data, 'providers.yaml'), options.providers ?? testProviders);
  if (options.limits !== undefined) await writeFile(join(data, 'limits.yaml'), options.limits);
  if (options.served !== undefined) await writeFile(join(data, 'served-policies.yaml'), options.served);
  const logger = createLogger({ service: 'operator', level: 'warn', destination: quiet });
  const config: StandaloneConfig = {
    mode: 'standalone',
    dataDirectory: data,
    apiListen: { host: '127.0.0.1', port: 0 },
    listen: { host: '127.0.0.1', port: 0 },
    namespace: 'default',
    progressDeadlineMs: 600_000,
    maxStreamMs: 900_000,
    build: 'test-1',
    retrieval: undefined,
    agents: undefined,
    traces: undefined,
    authority: undefined,
    ...options.config,
  };
  let operator = await createOperator(config, { logger, ...options.overrides });
  let client = clientOf(operator, data);
  let isRunning = true;

  async function stop(): Promise<void> {
    if (!isRunning) return;
    isRunning = false;
    await client[Symbol.asyncDispose]();
    await operator[Symbol.asyncDispose]();
  }

  return {
    data,
    get client() {
      return client;
    },
    get operator() {
      return operator;
    },
    stop,
    async restart(change = {}, overrides = {}) {
      await stop();
      operator = await createOperator({ ...config, ...change }, { logger, ...overrides });
      client = clientOf(operator, data);
      isRunning = true;
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(data, { recursive: true, force: true });
    },
  };
}

function clientOf(operator: Operator, data: string): KubeClient & AsyncDisposable {
  const tokenFile = openTokenFile(join(data, 'tokens', 'api.token'));
  return createClient({ url: operator.apiUrl, tokenFile, namespace: 'default' });
}

/** Waits until an object meets a condition, and returns it. */
export async function waitFor<R extends Resource>(
  platform: TestOperator,
  kind: Kind,
  name: string,
  what: string,
  says: (object: Stored<R>) => boolean,
): Promise<Stored<R>> {
  let last: Stored<R> | undefined;
  try {
    return await until(what, async () => {
      last = await platform.client.get<R>(kind, name);
      return last !== undefined && says(last) ? last : undefined;
    });
  } catch (error) {
    throw new Error(`${String(error)}\n${JSON.stringify(last?.status ?? last?.spec, undefined, 2)}`, { cause: error });
  }
}

export function waitForCondition(
  platform: TestOperator,
  name: string,
  type: string,
  status: 'True' | 'False' | 'Unknown',
  reason?: string,
): Promise<Stored<ModelBinding>> {
  return waitFor<ModelBinding>(
    platform,
    kinds.modelBinding,
    name,
    `${name}: ${type} is ${status} ${reason ?? ''}`,
    (object) => {
      const condition = object.status?.conditions?.find((one) => one.type === type);
      const isCurrent = condition?.observedGeneration === object.metadata.generation;
      return isCurrent && condition.status === status && (reason === undefined || condition.reason === reason);
    },
  );
}

export function waitForRoute(
  platform: TestOperator,
  name: string,
  what: string,
  says: (route: Stored<GatewayRoute>) => boolean,
): Promise<Stored<GatewayRoute>> {
  return waitFor<GatewayRoute>(platform, kinds.gatewayRoute, name, what, says);
}

/** Changes the spec of a binding, as a user edit does. */
export async function editBinding(
  platform: TestOperator,
  name: string,
  change: Partial<ModelBinding['spec']>,
): Promise<Stored<ModelBinding>> {
  const binding = await platform.client.get<ModelBinding>(kinds.modelBinding, name);
  const spec = { ...binding?.spec, ...change } as ModelBinding['spec'];
  const operations = [{ op: 'replace', path: '/spec', value: spec }] as const;
  const isWeakened = binding !== undefined && weakenedBy(binding, spec).length > 0;
  return isWeakened || change.guardrail?.mode === 'None'
    ? patchUnguarded(platform.client, name, operations)
    : platform.client.patch<ModelBinding>(kinds.modelBinding, name, operations);
}

/** Changes the spec of a policy, as a user edit does, and waits for its revision. */
export async function editPolicy(
  platform: TestOperator,
  name: string,
  change: Partial<GuardrailPolicy['spec']>,
): Promise<number> {
  const policy = await platform.client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
  const { metadata } = await platform.client.patch<GuardrailPolicy>(kinds.guardrailPolicy, name, [
    { op: 'replace', path: '/spec', value: { ...policy?.spec, ...change } },
  ]);
  const recorded = await waitFor<GuardrailPolicy>(
    platform,
    kinds.guardrailPolicy,
    name,
    'the edit is recorded',
    ({ status }) => status?.observedGeneration === metadata.generation,
  );
  return recorded.status?.latestRevision?.number ?? 0;
}

/** Creates a policy and waits for its first revision. */
export async function createTestPolicy(
  platform: TestOperator,
  name: string,
  change: Partial<GuardrailPolicy['spec']> = {},
): Promise<void> {
  await platform.client.create(kinds.guardrailPolicy, policyObject(name, change));
  await waitFor<GuardrailPolicy>(
    platform,
    kinds.guardrailPolicy,
    name,
    'its revision is recorded',
    ({ status }) => status?.latestRevision?.number === 1,
  );
}

/**
 * The clock of this machine, which a test can advance. A deadline then passes only when the test advances the clock,
 * not because the machine is slow. Timers are not affected, so that the test must also change something that is
 * reconciled.
 */
export function createSkippingClock(): Clock & { skip(ms: number): void } {
  let skippedMs = 0;
  return {
    now: () => systemClock.now() + skippedMs,
    date: () => new Date(systemClock.date().getTime() + skippedMs),
    skip(ms) {
      skippedMs += ms;
    },
  };
}

/** Changes only an annotation of a binding, which starts a reconciliation. */
export async function touchBinding(platform: TestOperator, name: string): Promise<void> {
  await platform.client.patch(kinds.modelBinding, name, [
    { op: 'add', path: '/metadata/annotations', value: { note: 'touched' } },
  ]);
}

/** A policy `guard` and a binding `chat`, applied and confirmed by one replica. */
export async function applyFirst(
  platform: TestOperator,
  replicas: readonly FakeReplica[],
): Promise<Stored<GatewayRoute>> {
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  const route = await waitForRoute(platform, 'chat', 'the route is written', () => true);
  for (const replica of replicas) await replica.report('take');
  await waitForCondition(platform, 'chat', 'Applied', 'True');
  return route;
}
