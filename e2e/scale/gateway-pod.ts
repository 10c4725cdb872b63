import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Pod } from '#kube/client/builtin-types';
import type { Stored } from '#resources/metadata';
import { startProcess } from '../support/start-process.ts';
import type { ScaleWorld } from './open-scale-world.ts';

/** Starts a gateway process with the name of a pod on a simulated node; both end together. */
export async function startScaleGateway(world: ScaleWorld, name: string): Promise<AsyncDisposable> {
  const { uid } = (await makePod(world, name)).metadata;
  const gateway = await startProcess({
    file: 'dataplane/gateway/main.ts',
    environment: world.gatewayEnvironment(name, uid),
  });
  return {
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await world.client.delete(builtinKinds.pod, name, { uid });
    },
  };
}

/** A pod that a simulated node runs. */
export function makePod({ client }: ScaleWorld, name: string): Promise<Stored<Pod>> {
  const labels = {
    'app.kubernetes.io/component': 'gateway',
    'app.kubernetes.io/part-of': 'portcullis',
    'portcullis.dev/gateway': 'default',
  };
  const spec = { automountServiceAccountToken: false, containers: [{ name: 'gateway', image: 'x' }] };
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec };
  return until('the service account of the namespace exists', () => client.create<Pod>(builtinKinds.pod, pod));
}
