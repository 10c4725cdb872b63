import type { KubeClient } from '../client/client.ts';

/** A write that was not sent, because this process does not know that it leads. */
export class NotLeaderError extends Error {
  override readonly name = 'NotLeaderError';
  readonly code = 'not_leader';

  constructor() {
    super('this process does not lead: the write was not sent');
  }
}

/**
 * The same client, whose writes are refused with a NotLeaderError, before anything is sent, unless `writesAllowed`
 * says at that moment that they may go. Reads and watches pass. What was sent in time and arrives late is stopped by
 * the precondition of the write.
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
