import { listen } from '#kit/http/listen';
import type { TokenFile } from '#kit/http/token-file';
import type { Logger } from '#kit/log/logger';
import type { Metrics } from '#kit/metrics/metrics';
import { type Clock, systemClock } from '#kit/time/clock';
import { createClient } from '#kube/client/client';
import { startCollecting } from '../collect-dependents.ts';
import { createListSnapshots } from '../list-snapshots.ts';
import { openObjectFiles } from '../object-files.ts';
import { openResourceStore } from '../resource-store.ts';
import { watchFolder } from '../watched-folder.ts';
import { handleRequest } from './handle-request.ts';
import { measureRequests } from './request-metrics.ts';

type FolderApiOptions = {
  /** Folder of the store, which is created if it is missing. Only one process may open it at a time. */
  readonly directory: string;
  /** An address of the loopback interface. */
  readonly listen: { readonly host: string; readonly port: number };
  /** The bearer tokens that the API accepts. */
  readonly tokenFile: TokenFile;
  /** The only namespace that the API serves. */
  readonly namespace: string;
  /** Folder of YAML files to apply, which is created if it is missing; if absent, no folder is watched. */
  readonly watchedDirectory?: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock?: Clock;
};

export type FolderApi = AsyncDisposable & {
  readonly url: string;
};

/**
 * Serves the Kubernetes REST subset of the resources port from a folder: the API server of standalone mode.
 * Disposing ends the watches, answers requests in flight and waits for their writes.
 * @throws StoreError if the folder holds a file that is not a stored object
 * @throws ListenError if the address is not available
 */
export async function startFolderApi(options: FolderApiOptions): Promise<FolderApi> {
  const { logger, clock = systemClock } = options;
  const fault = (event: string) => (error: unknown) =>
    logger.error(event, { error: error instanceof Error ? error.name : 'unknown' });
  const store = openResourceStore(openObjectFiles(options.directory), fault('store_broken'));
  const stopping = new AbortController();
  const documents = new Map<string, () => object>();
  const handlerOptions = {
    store,
    snapshots: createListSnapshots(store, clock.now),
    namespace: options.namespace,
    tokenFile: options.tokenFile,
    clock,
    stopping: stopping.signal,
    documents,
    onFault: fault('request_failed'),
  };
  const measure = measureRequests(options.metrics);
  const listening = await listen({
    ...options.listen,
    handler(incoming, outgoing) {
      measure(incoming, outgoing);
      return handleRequest(incoming, outgoing, handlerOptions);
    },
    onHandlerError: fault('request_failed'),
    headersTimeoutMs: 10_000,
    keepAliveTimeoutMs: 60_000,
    maxHeaderBytes: 16_384,
  });
  const collecting = startCollecting(store, clock, fault('collect_failed'));
  const watched = startWatching(options, listening.url, clock);
  if (watched !== undefined) documents.set('/portcullis/v1/watched-folder', () => watched.report());
  return {
    url: listening.url,
    async [Symbol.asyncDispose]() {
      await watched?.[Symbol.asyncDispose]();
      stopping.abort();
      await collecting[Symbol.asyncDispose]();
      await listening.drain({ graceMs: 5_000 });
      await store.settle();
    },
  };
}

/** Applies the watched folder through the API, like any client. */
function startWatching(options: FolderApiOptions, url: string, clock: Clock) {
  const { watchedDirectory: directory, tokenFile, namespace, logger } = options;
  if (directory === undefined) return undefined;
  const client = createClient({ url, tokenFile, namespace });
  const folder = watchFolder({ directory, client, logger, clock });
  return {
    report: folder.report,
    async [Symbol.asyncDispose]() {
      await folder[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
    },
  };
}
