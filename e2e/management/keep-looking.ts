import { setTimeout as pause } from 'node:timers/promises';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { Attitude, FakeReplica } from '../../operator/testing/fake-replica.ts';

const lookMs = 40;

/**
 * Writes reports as a replica after every change of the routes or of its configured response. Retries an unreachable
 * server.
 */
export function keepLooking(client: KubeClient, replica: FakeReplica, attitude: () => Attitude): AsyncDisposable {
  let stopped = false;
  let seen = '';
  async function look(): Promise<void> {
    const { items } = await client.list<GatewayRoute>(kinds.gatewayRoute);
    const now = JSON.stringify([items.map(({ metadata }) => metadata.resourceVersion), attitude()]);
    if (now !== seen) await replica.report(attitude());
    seen = now;
  }
  async function run(): Promise<void> {
    while (!stopped) {
      await look().catch((error: unknown) => {
        if (!isKubeError(error, 'network', 'unavailable', 'too_many_requests')) throw error;
      });
      await pause(lookMs);
    }
  }
  const running = run();
  running.catch(() => undefined);
  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      await running;
    },
  };
}
