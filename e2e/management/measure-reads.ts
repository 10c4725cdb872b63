import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import { openTokenFile } from '#kit/http/token-file';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { createClient, type KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { makeDataDirectory } from '../../operator/folder-api/testing/open-folder.ts';
import { newPolicyObject, newPolicySpec } from '../../operator/management/policies/make-policy.ts';
import { makeRevision, makeRevisionContent } from '../../operator/revisions/resources/revision.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { openApiServer } from '../kube/open-api-server.ts';
import { startProcess } from '../support/start-process.ts';
import { callUrl } from './call-api.ts';
import { grantManagement } from './grant-management.ts';
import { type ManagementProcessOptions, type RunningManagement, startManagementReplicas } from './start-management.ts';

const list = '/api/v1/guardrail-policies';
const lanes = 24;

export type ReadReport = {
  readonly policies: number;
  /** 95th percentiles, milliseconds. */
  readonly bareMs: number;
  readonly serverGetMs: number;
  readonly listMs: number;
  readonly readMs: number;
  /** The latency as a multiple of an empty response plus one GET. */
  readonly listTimes: number;
  readonly readTimes: number;
  readonly visited: number;
  readonly twice: number;
  readonly missed: number;
  readonly madeMeanwhile: number;
};

/** A resource server: a client that may write to it, and its address for the API. */
type ReadPlace = AsyncDisposable & { readonly client: KubeClient; readonly beside: ManagementProcessOptions };

/** The operator's folder, served by a process as in a standalone installation. */
export async function openMeasuredFolder(): Promise<ReadPlace> {
  await using parts = new AsyncDisposableStack();
  const data = parts.use(await makeDataDirectory());
  const server = parts.use(
    await startProcess({
      file: 'operator/folder-api/testing/serve-folder.ts',
      args: [data.resources, data.token],
      environment: {},
    }),
  );
  const { url } = server;
  const client = parts.use(createClient({ url, tokenFile: openTokenFile(data.token), namespace: 'default' }));
  const owned = parts.move();
  return {
    client,
    beside: { apiUrl: url, tokenFile: data.token, environmentDirectory: data.path, runDirectory: data.path },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A real API server on which the API has only its own rights. */
export async function openMeasuredCluster(): Promise<ReadPlace> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  const server = parts.use(await openApiServer());
  const client = await server.client();
  const tokenFile = join(folder, 'management.token');
  await grantManagement(server, client.namespace, tokenFile);
  const { url: apiUrl, caFile } = server.controlPlane;
  const owned = parts.move();
  return {
    client,
    beside: { apiUrl, tokenFile, caFile, namespace: client.namespace, environmentDirectory: folder },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * Measures lists and single reads over many policies alternately with an empty response and one GET of the resource.
 */
export async function measureReads(options: {
  readonly open: () => Promise<ReadPlace>;
  readonly policies: number;
  readonly rounds: number;
  readonly say: (progress: string) => void;
}): Promise<ReadReport> {
  await using place = await options.open();
  const { client } = place;
  const ids = await makePolicies(client, options.policies);
  options.say(`${ids.length} policies are made`);
  await using api = await startManagementReplicas(place.beside);
  await using bare = await startProcess({ file: 'e2e/management/serve-bare.ts', environment: {} });
  const times = { bare: [], serverGet: [], list: [], read: [] } as Record<string, number[]>;
  for (let round = 0; round < options.rounds; round++) {
    const id = ids[(round * 7_919) % ids.length] ?? '';
    await timed(times['bare'], () => callUrl(bare.url, { token: null }));
    await timed(times['serverGet'], () => client.get(kinds.guardrailPolicy, `p-${id}`));
    await timed(times['list'], () => api.call(list));
    await timed(times['read'], () => api.call(`${list}/${id}`));
  }
  const [bareMs, serverGetMs, listMs, readMs] = ['bare', 'serverGet', 'list', 'read'].map((name) =>
    percentile(times[name] ?? []),
  ) as [number, number, number, number];
  const walk = await walkWhileOthersAreMade(api, ids);
  const base = bareMs + serverGetMs;
  return {
    policies: ids.length,
    bareMs,
    serverGetMs,
    listMs,
    readMs,
    listTimes: listMs / base,
    readTimes: readMs / base,
    ...walk,
  };
}

async function makePolicies(client: KubeClient, count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => uuid());
  const queue = [...ids.entries()];
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        const [at, id] = next;
        const spec = newPolicySpec({ name: `policy-${at}`, description: '', definition: definitionOf('word') }, uuid());
        const object = newPolicyObject({ id, name: `p-${id}` }, spec);
        const { metadata } = await client.create<GuardrailPolicy>(kinds.guardrailPolicy, object);
        await client.create(kinds.policyRevision, makeRevision(id, 1, makeRevisionContent(metadata, spec)));
      }
    }),
  );
  return ids;
}

async function timed(times: number[] | undefined, act: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  await act();
  times?.push(performance.now() - start);
}

function percentile(times: readonly number[]): number {
  // The first requests warm up the processes.
  const sorted = times.slice(Math.floor(times.length / 5)).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
}

async function walkWhileOthersAreMade(api: RunningManagement, ids: readonly string[]) {
  const seen: string[] = [];
  let madeMeanwhile = 0;
  let path = `${list}?limit=50`;
  while (path !== '') {
    const { json } = await api.call(path);
    seen.push(...json.items.map((entry: { readonly id: string }) => entry.id));
    if (madeMeanwhile < 100) {
      await api.command('POST', list, { name: 'made-meanwhile', definition: definitionOf('word') });
      madeMeanwhile += 1;
    }
    path = json.nextCursor === null ? '' : `${list}?limit=50&cursor=${json.nextCursor}`;
  }
  const visited = new Set(seen);
  return {
    visited: visited.size,
    twice: seen.length - visited.size,
    missed: ids.filter((id) => !visited.has(id)).length,
    madeMeanwhile,
  };
}
