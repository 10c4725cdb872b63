import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { GatewayReplicas } from '../ports.ts';

type ReplicasPlace = AsyncDisposable & {
  readonly replicas: GatewayReplicas;
  start(replica: string): Promise<void>;
  end(replica: string): Promise<void>;
};

/** The obligations of the port GatewayReplicas, over a real adapter. */
export function describeGatewayReplicas(title: string, openPlace: () => Promise<ReplicasPlace>): void {
  async function open(): Promise<ReplicasPlace & { readonly told: readonly string[] }> {
    const place = await openPlace();
    onTestFinished(() => place[Symbol.asyncDispose]());
    const told: string[] = [];
    place.replicas.onChange((replica) => told.push(replica));
    return Object.assign(place, { told });
  }

  describe(`${title}: a gateway replica`, () => {
    test('an unknown gateway replica is not alive', async () => {
      const { replicas } = await open();
      expect(await replicas.isAlive('gateway-1')).toBe(false);
    });

    test('a gateway replica is alive from start to end, and its end is reported', async () => {
      const { replicas, start, end, told } = await open();
      await start('gateway-1');
      await until('it runs', () => replicas.isAlive('gateway-1'));
      expect(await replicas.isAlive('gateway-2')).toBe(false);
      const before = told.length;
      await end('gateway-1');
      await until('the end of the replica is reported', () => told.length > before);
      expect(await replicas.isAlive('gateway-1')).toBe(false);
    });

    test('the admin addresses of the running gateway replicas are listed by name', async () => {
      const { replicas, start, end } = await open();
      expect(await replicas.admins()).toEqual([]);
      await start('gateway-2');
      await start('gateway-1');
      const origin = 'http://127.0.0.1:9090';
      await until('both are listed', async () => (await replicas.admins()).length === 2);
      expect(await replicas.admins()).toEqual([
        { replica: 'gateway-1', origin },
        { replica: 'gateway-2', origin },
      ]);
      await end('gateway-1');
      await until('one is listed', async () => (await replicas.admins()).length === 1);
    });

    test('the start of a gateway replica is reported if it was not queried before', async () => {
      const { start, told } = await open();
      await start('gateway-1');
      await until('the start of the replica is reported', () => told.includes('gateway-1'));
    });

    test('a gateway replica stays alive when another one ends', async () => {
      const { replicas, start, end } = await open();
      await start('gateway-1');
      await start('gateway-2');
      await until(
        'both run',
        async () => (await replicas.isAlive('gateway-1')) && (await replicas.isAlive('gateway-2')),
      );
      await end('gateway-1');
      await until('one has ended', async () => !(await replicas.isAlive('gateway-1')));
      expect(await replicas.isAlive('gateway-2')).toBe(true);
    });
  });
}
