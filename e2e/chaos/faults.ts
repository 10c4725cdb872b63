import { setTimeout as pause } from 'node:timers/promises';
import type { Mishap } from './api-proxy.ts';
import type { LocalCluster, Part } from './local-cluster.ts';

/** A fault of limited duration; its promise resolves when it is over. */
type Fault = { readonly name: string; run(): Promise<void> };

/** Faults of single requests, injected continuously into one of this many requests. */
const noise: readonly (readonly [Mishap, number])[] = [
  ['busy', 200],
  ['error', 200],
  ['reset', 300],
  ['lost', 300],
  ['cut', 300],
];

export function makeNoise({ operators, gateways }: LocalCluster): void {
  for (const { proxy } of [...operators, ...gateways]) proxy.choose = (isWatch) => mishapOfNoise(isWatch);
}

export function stopNoise({ operators, gateways }: LocalCluster): void {
  for (const { proxy } of [...operators, ...gateways]) proxy.choose = () => 'none';
}

function mishapOfNoise(isWatch: boolean): Mishap {
  const found = noise.find(([mishap, one]) => Math.random() * one < 1 && (mishap !== 'lost' || !isWatch));
  return found?.[0] ?? 'none';
}

/** The faults of the chaos figure, and whether each one ends the leader. */
export function faultsOf(cluster: LocalCluster, lengthMs: number): readonly Fault[] {
  const { operators, gateways, server } = cluster;
  const all = [...operators, ...gateways];

  async function storm(share: number, ...mishaps: readonly Mishap[]): Promise<void> {
    for (const { proxy } of all) {
      proxy.choose = () => (Math.random() < share ? pick(mishaps) : 'none');
    }
    await pause(lengthMs);
    makeNoise(cluster);
  }

  async function part(one: Part | undefined, ms: number): Promise<void> {
    one?.proxy.part(true);
    await pause(ms);
    one?.proxy.part(false);
  }

  return [
    { name: '429', run: () => storm(0.6, 'busy') },
    { name: 'API server restart', run: () => server.controlPlane.restartApiServer() },
    { name: 'killed leader', run: async () => (await cluster.leader())?.process.kill() },
    { name: 'reset', run: () => storm(0.4, 'reset', 'cut') },
    {
      name: 'half-open',
      run: async () => {
        for (const { proxy } of all) proxy.silence();
      },
    },
    { name: '500', run: () => storm(0.6, 'error') },
    { name: 'etcd restart', run: () => server.controlPlane.restartEtcd() },
    { name: 'lost answers', run: () => storm(0.4, 'lost') },
    {
      name: '410',
      run: async () => {
        for (const { proxy } of all) {
          proxy.choose = (isWatch) => (isWatch ? 'gone' : 'none');
          proxy.part(true);
          proxy.part(false);
        }
        await pause(lengthMs);
        makeNoise(cluster);
      },
    },
    {
      name: 'frozen leader',
      run: async () => {
        const leader = await cluster.leader();
        leader?.process.signal('SIGSTOP');
        await pause(20_000);
        leader?.process.signal('SIGCONT');
      },
    },
    { name: 'parted leader', run: async () => part(await cluster.leader(), 20_000) },
    { name: 'parted gateway', run: () => part(gateways[Math.floor(Math.random() * 2)], lengthMs) },
  ];
}

function pick(mishaps: readonly Mishap[]): Mishap {
  return mishaps[Math.floor(Math.random() * mishaps.length)] ?? 'none';
}
