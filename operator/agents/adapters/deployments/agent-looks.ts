import { isIPv6 } from 'node:net';
import { wait } from '#kit/time/wait';
import type { Pod } from '#kube/client/builtin-types';
import type { Stored } from '#resources/metadata';
import type { VersionBundle } from '../../agent-bundle.ts';
import type { AgentObservation } from '../../ports.ts';
import { readAgent } from '../../read-agent.ts';
import { agentPorts } from './resources/agent-pod.ts';

/** Intervals between reads of the state of a pod, milliseconds: they grow until the process is ready. */
const lookMs = { first: 100, longest: 2_000, ready: 5_000 } as const;

type Seen = Pick<AgentObservation, 'state' | 'card'>;

/** The state that the process of one pod reports. */
export type PodLook = Disposable & {
  readonly podUid: string;
  /** The last answer; undefined before the first one. */
  readonly seen: Seen | undefined;
  /** Whether at least one read has ended, with or without an answer. */
  readonly hasLooked: boolean;
  /** Whether the last read returned an answer. */
  readonly answers: boolean;
  /** Reads again immediately. */
  hasten(): void;
};

/** Origins of the process in a pod. */
export type ReachPod = (ip: string) => { readonly traffic: string; readonly admin: string };

/** Reaches the process at the address of its pod. */
export const reachPod: ReachPod = (ip) => {
  const host = isIPv6(ip) ? `[${ip}]` : ip;
  return { traffic: `http://${host}:${agentPorts.http}`, admin: `http://${host}:${agentPorts.admin}` };
};

type LookEvents = {
  readonly onChange: () => void;
  /** Called when a read failed because of a fault of this program; such a read counts as no answer. */
  readonly onFault: () => void;
};

/** Reads the state of a process periodically until disposal. */
export function lookAtPod(
  pod: Stored<Pod>,
  at: ReturnType<ReachPod>,
  bundle: VersionBundle,
  { onChange, onFault }: LookEvents,
): PodLook {
  const stopping = new AbortController();
  const { signal } = stopping;
  let seen: Seen | undefined;
  let hasLooked = false;
  let answers = false;
  let isHurried = false;
  let hurry = new AbortController();

  const noteFault = (): undefined => {
    onFault();
    return undefined;
  };

  async function run(): Promise<void> {
    let pause: number = lookMs.first;
    while (!signal.aborted) {
      isHurried = false;
      const before = seen ?? ({ state: undefined, card: 'unread' } as const);
      const next = await readAgent(at, bundle, before, signal).catch(noteFault);
      if (signal.aborted) return;
      // The last answer stays while the kubelet, which also probes the process, counts the pod as ready.
      seen = next ?? seen;
      answers = next !== undefined;
      hasLooked = true;
      onChange();
      pause = next?.state.ready === true ? lookMs.ready : Math.min(lookMs.longest, pause * 1.3);
      if (!isHurried) await wait(pause, AbortSignal.any([signal, hurry.signal]));
    }
  }

  void run();
  return {
    podUid: pod.metadata.uid,
    get seen() {
      return seen;
    },
    get hasLooked() {
      return hasLooked;
    },
    get answers() {
      return answers;
    },
    hasten() {
      isHurried = true;
      hurry.abort();
      hurry = new AbortController();
    },
    [Symbol.dispose]: () => stopping.abort(),
  };
}
