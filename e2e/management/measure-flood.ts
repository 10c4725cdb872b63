import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { kinds } from '#resources/kinds';
import { definitionOf } from '../../operator/testing/objects.ts';
import type { FloodClient } from './flood-client.ts';
import { openBusyWorld } from './open-busy-world.ts';
import { issuer } from './start-management.ts';

export type SentRequest = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly token: string | null;
  readonly body?: string;
};

type FloodReport = {
  /** 95th percentile of the reads of other subjects before and during the flood, milliseconds. */
  readonly quietMs: number;
  readonly floodedMs: number;
  /** How often the flooding client received each status. */
  readonly flood: Readonly<Record<number, number>>;
  /** Number of requests of the other subjects that were not answered with 200. */
  readonly failed: number;
  readonly policies: number;
  readonly revisions: number;
  /** Bytes that the replica wrote to its log during the flood. */
  readonly logBytes: number;
};

type Report = { readonly times: readonly number[]; readonly statuses: Readonly<Record<number, number>> };

const list = '/api/v1/guardrail-policies';

/**
 * One subject sends creations, reads and requests without a token from 15 lanes at full speed, while two other subjects
 * read policies ten times a second each.
 */
export async function floodManagement(options: {
  readonly quietSeconds: number;
  readonly floodSeconds: number;
  readonly environment: Readonly<Record<string, string>>;
}): Promise<FloodReport> {
  await using parts = new AsyncDisposableStack();
  const world = parts.use(await openBusyWorld({ replicas: 1, environment: options.environment }));
  const { api, act } = world;
  const [replica] = api.replicas;
  if (replica === undefined) throw new Error('no replica was started');
  const { id } = await act.createPolicy('of-others');
  const start = (client: Omit<FloodClient, 'url'>): Worker => {
    const worker = new Worker(new URL('flood-client.ts', import.meta.url), {
      workerData: { ...client, url: replica.url },
    });
    parts.defer(async () => void (await worker.terminate()));
    return worker;
  };
  const others: Worker[] = [];
  for (const subject of ['other-1', 'other-2']) {
    const body = { role: 'administrator', holder: { issuer, subject } };
    const granted = await api.call('/api/v1/rights/grant', { method: 'POST', body });
    if (granted.status !== 200) throw new Error(`no right for ${subject}: ${granted.text}`);
    const token = await api.mint({ subject });
    const read = (path: string): SentRequest => ({ method: 'GET', path, token });
    others.push(start({ lanes: 2, pauseMs: 200, requests: [read(list), read(`${list}/${id}`)] }));
  }
  // The first requests warm up the process.
  await pause(Math.min(10_000, options.quietSeconds * 500));
  await takeAll(others);
  await pause(options.quietSeconds * 1_000);
  const quiet = await takeAll(others);

  const logged = replica.log().length;
  const token = await api.mint();
  const body = JSON.stringify({ name: 'flood', definition: definitionOf('flood') });
  const flooding = start({
    lanes: 15,
    pauseMs: 0,
    requests: [
      { method: 'POST', path: list, token, body },
      { method: 'GET', path: list, token },
      { method: 'GET', path: list, token: null },
    ],
  });
  await pause(options.floodSeconds * 1_000);
  const flooded = await takeAll(others);
  const flood = await takeAll([flooding]);
  const logBytes = replica.log().length - logged;
  await flooding.terminate();
  const [policies, revisions] = await Promise.all(
    [kinds.guardrailPolicy, kinds.policyRevision].map(async (kind) => (await world.client.list(kind)).items.length),
  );
  return {
    quietMs: percentile(quiet.times),
    floodedMs: percentile(flooded.times),
    flood: flood.statuses,
    failed: flooded.times.length - (flooded.statuses[200] ?? 0),
    policies: policies ?? Number.NaN,
    revisions: revisions ?? Number.NaN,
    logBytes,
  };
}

async function takeAll(workers: readonly Worker[]): Promise<Report> {
  const reports: Report[] = [];
  for (const worker of workers) {
    worker.postMessage('take');
    const [report] = await once(worker, 'message');
    reports.push(report as Report);
  }
  const statuses: Record<number, number> = {};
  for (const [status, count] of reports.flatMap((report) => Object.entries(report.statuses))) {
    statuses[Number(status)] = (statuses[Number(status)] ?? 0) + count;
  }
  return { times: reports.flatMap(({ times }) => times), statuses };
}

function percentile(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN;
}
