import type { KubeClient } from '../client/client.ts';

/** A write was not sent, because this process is not the leader, or is no longer certain that it is. */
export class NotLeaderError extends Error {
  override readonly name = 'NotLeaderError';
  readonly code = 'not_leader';

  constructor() {
    super('the write was not sent: this process is not the leader');
  }
}

/** Protects writes outside of the API server. @throws NotLeaderError unless `writesAllowed` returns true */
export function assertWritesAllowed(writesAllowed: () => boolean): void {
  if (!writesAllowed()) throw new NotLeaderError();
}

/**
 * A client that fails each write with a NotLeaderError, before anything is sent, unless `writesAllowed` returns true at
 * that moment. Reads and watches are not fenced. A write that was sent in time and arrives late fails at its
 * precondition.
 */
export function fenced(client: KubeClient, writesAllowed: () => boolean): KubeClient {
  function guard<A extends readonly unknown[], T>(write: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
    return (...args) => (writesAllowed() ? write(...args) : Promise.reject(new NotLeaderError()));
  }
  return {
    namespace: client.namespace,
    get: (kind, name) => client.get(kind, name),
    list: (kind, options) => client.list(kind, options),
    watch: (kind, options) => client.watch(kind, options),
    create: guard(client.create) as KubeClient['create'],
    patch: guard(client.patch) as KubeClient['patch'],
    patchStatus: guard(client.patchStatus) as KubeClient['patchStatus'],
    delete: guard(client.delete),
  };
}
