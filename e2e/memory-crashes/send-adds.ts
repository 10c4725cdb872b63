import { setTimeout as pause } from 'node:timers/promises';
import { type CrashAdd, crashBody } from './crash-adds.ts';

type Answer = { readonly status: number; readonly json: Readonly<Record<string, unknown>> };

/** The accepted adds: the events that each key was answered with. */
export type Accepted = Map<string, Set<string>>;

/** Sends one request of a person; undefined if no answer arrived. */
export async function callMemory(
  url: string,
  {
    user,
    path,
    body,
    key,
  }: { readonly user: string; readonly path: string; readonly body?: object; readonly key?: string },
): Promise<Answer | undefined> {
  const headers = {
    'x-tenant-id': 'crash',
    'x-user-id': user,
    'content-type': 'application/json',
    ...(key === undefined ? {} : { 'idempotency-key': key }),
  };
  const sent = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
  try {
    const answer = await fetch(`${url}${path}`, { ...sent, signal: AbortSignal.timeout(20_000) });
    return { status: answer.status, json: (await answer.json()) as Answer['json'] };
  } catch {
    return undefined;
  }
}

/**
 * Retries an add with its idempotency key until the add is accepted, as a client does. @throws Error for an answer that
 * refuses the add
 */
export async function sendAdd(
  origin: () => string,
  add: CrashAdd,
  accepted: Accepted,
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const { user, key } = add;
    const answer = await callMemory(origin(), { user, key, path: '/v1/memories', body: crashBody(add) });
    if (answer?.status === 202) {
      accepted.set(key, (accepted.get(key) ?? new Set()).add(String(answer.json['event_id'])));
      return;
    }
    if (answer !== undefined && answer.status < 500) throw new Error(`the add was answered ${answer.status}`);
    await pause(30);
  }
}

/** Sends the adds of different persons concurrently, and the adds of one person in order. */
export async function sendAdds(
  origin: () => string,
  adds: readonly CrashAdd[],
  accepted: Accepted,
  /** Resolves when the add may be sent. */
  turn: (position: number) => Promise<void> = async () => undefined,
  signal?: AbortSignal,
): Promise<void> {
  const positions = new Map(adds.map((add, at) => [add, at]));
  const ofPersons = [...Map.groupBy(adds, ({ user }) => user).values()];
  await Promise.all(
    ofPersons.map(async (own) => {
      for (const add of own) {
        await turn(positions.get(add) ?? 0);
        await sendAdd(origin, add, accepted, signal);
        // A client that does not know whether its request arrived sends the request again.
        if (Math.random() < 0.1) await sendAdd(origin, add, accepted, signal);
      }
    }),
  );
}
