import { setTimeout as pause } from 'node:timers/promises';
import { crashTenant } from '../retrieval-crashes/crash-settings.ts';
import type { OutageWorld } from './outage-world.ts';

type Answer = { readonly status: number; readonly json: Readonly<Record<string, unknown>> };

const headers = {
  'x-tenant-id': crashTenant,
  'x-user-id': 'ann',
  'x-groups': 'staff',
  'content-type': 'application/json',
};

/** Sends one request of the owner of all collections; undefined without an answer. */
export async function callService(
  world: Pick<OutageWorld, 'url'>,
  path: string,
  body?: object,
): Promise<Answer | undefined> {
  try {
    const sent = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${world.url}${path}`, { ...sent, signal: AbortSignal.timeout(20_000) });
    return { status: answer.status, json: (await answer.json()) as Answer['json'] };
  } catch {
    return undefined;
  }
}

/** Repeats a request, as a client does, until it is answered with 2xx. @throws Error for any other 4xx */
export async function callUntilDone(world: OutageWorld, path: string, body: object): Promise<Answer['json']> {
  for (;;) {
    const answer = await callService(world, path, body);
    if (answer !== undefined && answer.status < 300) return answer.json;
    if (answer !== undefined && answer.status < 500) throw new Error(`${path} was answered ${answer.status}`);
    await pause(50);
  }
}
