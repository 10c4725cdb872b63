import { withTimeout } from '#kit/concurrency/abort';
import type { ClientOptions, KubeClient, ListOptions } from '#kube/client/client';
import { createClient } from '#kube/client/client';
import { KubeError } from '#kube/client/kube-error';
import type { KubeObject } from '#kube/client/kube-object';
import { retrying } from '#kube/client/retrying-client';
import type { Kind } from '#resources/kinds';

/**
 * A client with a timeout for each request, a whole list and the beginning of a watch included. A server that is not ready and sends Retry-After is
 * called again within that time.
 */
export function createBoundedClient(options: ClientOptions, seconds: number): KubeClient & AsyncDisposable {
  const requestTimeoutMs = seconds * 1_000;
  const client = createClient({ ...options, requestTimeoutMs });

  async function list<R extends KubeObject>(kind: Kind, list: ListOptions = {}) {
    using deadline = withTimeout(list.signal, requestTimeoutMs);
    try {
      return await client.list<R>(kind, { ...list, signal: deadline.signal });
    } catch (error) {
      if (!deadline.timedOut()) throw error;
      throw new KubeError(
        'network',
        `GET to the API server: no complete answer within ${seconds} s`,
        {},
        { cause: error },
      );
    }
  }
  const watch: KubeClient['watch'] = (kind, watched) =>
    client.watch(kind, { ...watched, connectTimeoutMs: requestTimeoutMs });
  return retrying({ ...client, list, watch }, requestTimeoutMs);
}
