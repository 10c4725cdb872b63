import type { KubeClient } from '#kube/client/client';
import { KubeError } from '#kube/client/kube-error';

const writes: ReadonlySet<string> = new Set(['create', 'patch', 'patchStatus', 'delete']);

/**
 * The moment at which a process is killed: at its `write`-th write, before the write is sent or after it was executed.
 */
export type Death = { readonly write: number; readonly moment: 'before' | 'after' };

export type Mortality = {
  readonly wrapClient: (client: KubeClient) => KubeClient;
  /** The number of writes up to now. */
  readonly writes: () => number;
  readonly isDead: () => boolean;
};

/**
 * A client of a process that is killed between two writes: from that moment on no call has an effect, and no call in
 * flight is answered. A real kill leaves the same state: the writes up to that moment.
 */
export function mortality(death: Death | undefined): Mortality {
  let count = 0;
  let dead = false;

  function gone(): never {
    throw new KubeError('network', 'the process was killed');
  }

  async function call(member: string, run: () => Promise<unknown>): Promise<unknown> {
    if (dead) gone();
    if (!writes.has(member)) return run();
    count += 1;
    if (count !== death?.write) return run();
    if (death.moment === 'before') dead = true;
    else {
      await run().finally(() => {
        dead = true;
      });
    }
    return gone();
  }

  return {
    writes: () => count,
    isDead: () => dead,
    wrapClient: (client) =>
      new Proxy(client, {
        get(target, member, receiver) {
          const value = Reflect.get(target, member, receiver);
          if (typeof value !== 'function' || member === 'watch') return value;
          return (...args: unknown[]) => call(String(member), () => Reflect.apply(value, target, args));
        },
      }),
  };
}
