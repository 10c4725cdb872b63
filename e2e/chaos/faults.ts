import { setTimeout as pause } from 'node:timers/promises';
import type { Fault, ProxiedRequest } from '#kit/testing/faulty-proxy';
import { refused } from '#kube/testing/refusals';
import type { LocalCluster, Part } from './local-cluster.ts';

/** A fault of limited duration; the promise of `run` resolves when the fault is over. */
type Round = { readonly name: string; run(): Promise<void> };

const pass: Fault = { kind: 'pass' };
const busy = refused(429, { 'retry-after': '1' });
const error = refused(500);
const reset: Fault = { kind: 'reset' };
const lost: Fault = { kind: 'lost', ending: 'reset' };
const cut: Fault = { kind: 'cut', ending: 'reset' };

/** Faults of single requests: each is injected continuously into one of the given number of requests. */
const noise: readonly (readonly [Fault, number])[] = [
  [busy, 200],
  [error, 200],
  [reset, 300],
  [lost, 300],
  [cut, 300],
];

const isWatch = ({ path }: ProxiedRequest): boolean => /[?&]watch=true/.test(path);

export function makeNoise({ operators, gateways }: LocalCluster): void {
  for (const { proxy } of [...operators, ...gateways]) proxy.choose = noiseFor;
}

export function stopNoise({ operators, gateways }: LocalCluster): void {
  for (const { proxy } of [...operators, ...gateways]) proxy.choose = () => pass;
}

/** A watch has no end after which its answer could be lost. */
function noiseFor(request: ProxiedRequest): Fault {
  const found = noise.find(([fault, one]) => Math.random() * one < 1 && (fault !== lost || !isWatch(request)));
  return found?.[0] ?? pass;
}

/** The faults of the chaos figure, and whether each one ends the leader. */
export function faultsOf(cluster: LocalCluster, lengthMs: number): readonly Round[] {
  const { operators, gateways, server } = cluster;
  const all = [...operators, ...gateways];

  async function storm(share: number, ...faults: readonly Fault[]): Promise<void> {
    for (const { proxy } of all) {
      proxy.choose = () => (Math.random() < share ? pick(faults) : pass);
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
    { name: '429', run: () => storm(0.6, busy) },
    { name: 'API server restart', run: () => server.controlPlane.restartApiServer() },
    { name: 'killed leader', run: async () => (await cluster.leader())?.process.kill() },
    { name: 'reset', run: () => storm(0.4, reset, cut) },
    {
      name: 'half-open',
      run: async () => {
        for (const { proxy } of all) proxy.silence();
      },
    },
    { name: '500', run: () => storm(0.6, error) },
    { name: 'etcd restart', run: () => server.controlPlane.restartEtcd() },
    { name: 'lost answers', run: () => storm(0.4, lost) },
    {
      name: '410',
      run: async () => {
        for (const { proxy } of all) {
          proxy.choose = (request) => (isWatch(request) ? refused(410) : pass);
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

function pick(faults: readonly Fault[]): Fault {
  return faults[Math.floor(Math.random() * faults.length)] ?? pass;
}
