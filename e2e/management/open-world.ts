import type { KubeClient } from '#kube/client';
import { type ModelPlatform, startModelPlatform } from '../../operator/testing/model-platform.ts';
import { actions } from './actions.ts';
import { besidePlatform, type RunningManagement, startManagement } from './start-management.ts';

/**
 * The management API as processes over a real operator whose workloads are ready at once and whose one replica looks at
 * the routes all the time.
 */
export type ManagementWorld = AsyncDisposable &
  ReturnType<typeof actions> & {
    readonly model: ModelPlatform;
    readonly client: KubeClient;
    readonly api: RunningManagement;
  };

export async function openWorld(
  options: { readonly replicas?: number; readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<ManagementWorld> {
  await using parts = new AsyncDisposableStack();
  const model = parts.use(await startModelPlatform());
  const { platform } = model;
  const api = parts.use(
    await startManagement({ ...besidePlatform(platform.data, platform.operator.apiUrl), ...options }),
  );
  const owned = parts.move();
  return {
    model,
    client: platform.client,
    api,
    ...actions(api, platform.client),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
