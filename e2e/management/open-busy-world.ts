import type { GatewayRoute } from '#crds/gateway-route';
import { kinds } from '#crds/kinds';
import type { KubeClient } from '#kube/client';
import { acceptingJudge } from '../../operator/testing/accepting-judge.ts';
import { type FakeReplica, startFakeReplica } from '../../operator/testing/fake-replica.ts';
import { createInstantWorkloads } from '../../operator/testing/instant-workloads.ts';
import { startTestOperator, type TestOperator } from '../../operator/testing/start-test-operator.ts';
import { actions } from './actions.ts';
import { besidePlatform, type RunningManagement, startManagement } from './start-management.ts';

const build = 'test-1';
const lookMs = 40;

/** The management API as processes beside a real operator, for measurements, which run without a test runner. */
export type BusyWorld = AsyncDisposable & {
  readonly client: KubeClient;
  readonly api: RunningManagement;
  readonly act: ReturnType<typeof actions>;
  /** Edits the description of a policy object as somebody does who knows nothing of the API. */
  edit(objectName: string, description: string, by: 'patch' | 'apply'): Promise<void>;
};

export async function openBusyWorld(options: {
  readonly replicas: number;
  readonly environment?: Readonly<Record<string, string>>;
}): Promise<BusyWorld> {
  await using parts = new AsyncDisposableStack();
  const overrides = { workloads: createInstantWorkloads(build), judge: acceptingJudge };
  const platform = parts.use(await startTestOperator({ config: { build }, overrides }));
  const replica = await startFakeReplica(platform, 'gateway-1');
  parts.use(keepLooking(platform, replica));
  const api = parts.use(
    await startManagement({ ...besidePlatform(platform.data, platform.operator.apiUrl), ...options }),
  );
  const owned = parts.move();
  return {
    client: platform.client,
    api,
    act: actions(api, platform.client),
    async edit(objectName, description) {
      await platform.client.patch(kinds.guardrailPolicy, objectName, [
        { op: 'replace', path: '/spec/description', value: description },
      ]);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A replica that takes every route as soon as it sees it. */
function keepLooking(platform: TestOperator, replica: FakeReplica): AsyncDisposable {
  let stopped = false;
  let seen = '';
  async function run(): Promise<void> {
    while (!stopped) {
      const { items } = await platform.client.list<GatewayRoute>(kinds.gatewayRoute);
      const versions = items.map(({ metadata }) => metadata.resourceVersion).join();
      if (versions !== seen || seen === '') await replica.report('take');
      seen = versions;
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  }
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      await running.catch(() => undefined);
    },
  };
}
