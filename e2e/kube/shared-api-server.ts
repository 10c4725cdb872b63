import { afterAll, beforeAll } from 'vitest';
import { openControlPlane, startControlPlane } from '../../hack/cluster/life/start-control-plane.ts';
import { holdLock } from '../../hack/cluster/machine/lock.ts';
import { readRecord } from '../../hack/cluster/record/record.ts';
import { sharedName } from './end-shared-api-server.ts';
import { type ApiServer, connectApiServer, missingApiServer } from './open-api-server.ts';

/**
 * An API server with controllers and audit log that all test files of one run of vitest share: it is started for the
 * first file that requests it, and the global teardown ends it. Each file works in namespaces of its own; disposing
 * ends its clients.
 */
export async function openSharedApiServer(): Promise<ApiServer> {
  // Test files run in child processes of vitest.
  const name = sharedName(process.ppid);
  using _lock = await holdLock(name);
  const record = readRecord(name);
  const controlPlane =
    record?.size === 'control-plane'
      ? openControlPlane(record)
      : await startControlPlane({ name, controllers: true, audit: true, ownerPid: process.ppid });
  return connectApiServer(controlPlane);
}

/** Provides an API server while the tests of a file or suite run: the shared one, unless `open` opens another. */
export function useApiServer(open: () => Promise<ApiServer> = openSharedApiServer): ApiServer {
  let opened: ApiServer | undefined;
  beforeAll(async () => {
    if (missingApiServer === undefined) opened = await open();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());
  const now = (): ApiServer => {
    if (opened === undefined) throw new TypeError('the API server runs only while tests run');
    return opened;
  };
  return {
    get controlPlane() {
      return now().controlPlane;
    },
    get access() {
      return now().access;
    },
    client: (options) => now().client(options),
    kubectl: (...args) => now().kubectl(...args),
    [Symbol.asyncDispose]: () => now()[Symbol.asyncDispose](),
  };
}
