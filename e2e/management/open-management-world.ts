import { join } from 'node:path';
import type { KubeClient } from '#kube/client/client';
import type { Attitude } from '../../operator/testing/fake-replica.ts';
import { startModelPlatform } from '../../operator/testing/model-platform.ts';
import { actions } from './actions.ts';
import { besidePlatform, type RunningManagement, startManagementReplicas } from './start-management.ts';

/** The management API as processes with a real operator and one simulated gateway replica. */
export type ManagementWorld = AsyncDisposable &
  ReturnType<typeof actions> & {
    readonly client: KubeClient;
    readonly api: RunningManagement;
    /** How the simulated gateway replica reacts to routes. */
    readonly gateway: { attitude: Attitude };
    readonly environmentDirectory: string;
    /** Origin of the server of the resources. */
    readonly apiUrl: string;
    /** The token with which gateways call runtimes. */
    readonly serviceTokenFile: string;
  };

export type WorldOptions = {
  readonly replicas?: number;
  readonly environment?: Readonly<Record<string, string>>;
};

/** A world over the operator's folder, with workloads that are ready immediately. */
export async function openManagementWorld(options: WorldOptions = {}): Promise<ManagementWorld> {
  await using parts = new AsyncDisposableStack();
  const model = parts.use(await startModelPlatform());
  const { platform } = model;
  const api = parts.use(
    await startManagementReplicas({ ...besidePlatform(platform.data, platform.operator.apiUrl), ...options }),
  );
  const owned = parts.move();
  return {
    client: platform.client,
    api,
    gateway: model,
    environmentDirectory: platform.data,
    apiUrl: platform.operator.apiUrl,
    serviceTokenFile: join(platform.data, 'tokens/runtime.token'),
    ...actions(api, platform.client),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
