import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import { acceptingJudge } from '../../operator/testing/accepting-judge.ts';
import { startFakeReplica } from '../../operator/testing/fake-replica.ts';
import { createInstantWorkloads } from '../../operator/testing/instant-workloads.ts';
import { startTestOperator } from '../../operator/testing/start-test-operator.ts';
import { actions } from './actions.ts';
import { keepLooking } from './keep-looking.ts';
import { besidePlatform, type RunningManagement, startManagement } from './start-management.ts';

const build = 'test-1';

/** The management API as processes with a real operator, for measurements, which run without a test runner. */
export type BusyWorld = AsyncDisposable & {
  readonly client: KubeClient;
  readonly api: RunningManagement;
  readonly act: ReturnType<typeof actions>;
  /** Edits the description of a policy object without the API. */
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
  parts.use(keepLooking(platform.client, replica, () => 'take'));
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
