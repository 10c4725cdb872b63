import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import { acceptingJudge } from '../../operator/testing/accepting-judge.ts';
import { type Attitude, startFakeReplica } from '../../operator/testing/fake-replica.ts';
import { createInstantWorkloads } from '../../operator/testing/instant-workloads.ts';
import { startTestOperator } from '../../operator/testing/start-test-operator.ts';
import { actions } from './actions.ts';
import { keepLooking } from './keep-looking.ts';
import { besidePlatform, type RunningManagement, startManagementReplicas } from './start-management.ts';

const build = 'test-1';

/** The management API as processes with a real operator, for measurements, which run without a test runner. */
export type BusyWorld = AsyncDisposable & {
  readonly client: KubeClient;
  readonly api: RunningManagement;
  readonly act: ReturnType<typeof actions>;
  /** Edits the description of a policy object without the API. */
  edit(objectName: string, description: string, by: 'patch' | 'apply'): Promise<void>;
};

type BusyOptions = {
  readonly replicas: number;
  /** Variables that are added to the environment of each replica. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly progressDeadlineMs?: number;
  /** Wraps the client of the operator. */
  readonly wrapClient?: (client: KubeClient) => KubeClient;
};

/** The world has one simulated gateway replica, and its workloads are ready immediately. */
export async function openBusyWorld({ replicas, environment = {}, wrapClient, ...config }: BusyOptions) {
  await using parts = new AsyncDisposableStack();
  const wrap = wrapClient === undefined ? {} : { wrapClient };
  const overrides = { workloads: createInstantWorkloads(build), judge: acceptingJudge, ...wrap };
  const platform = parts.use(await startTestOperator({ config: { build, ...config }, overrides }));
  const gateway: { attitude: Attitude } = { attitude: 'take' };
  const replica = await startFakeReplica(platform, 'gateway-1');
  parts.use(keepLooking(platform.client, replica, () => gateway.attitude));
  const api = parts.use(
    await startManagementReplicas({
      ...besidePlatform(platform.data, platform.operator.apiUrl),
      replicas,
      environment,
    }),
  );
  const owned = parts.move();
  return {
    client: platform.client,
    gateway,
    api,
    act: actions(api, platform.client),
    async edit(objectName: string, description: string) {
      await platform.client.patch(kinds.guardrailPolicy, objectName, [
        { op: 'replace', path: '/spec/description', value: description },
      ]);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
