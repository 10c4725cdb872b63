import type { Database } from '#sql/connect';
import { mostClaims } from '../../dataplane/memory/events/claim-event.ts';
import { type CrashAdd, expectedMemories } from './crash-adds.ts';
import type { Accepted } from './send-adds.ts';

type EventRow = {
  readonly event_id: string;
  readonly key: string;
  readonly status: string;
  readonly error: string | null;
  readonly messages: unknown;
};
type MemoryRow = { readonly memory_id: string; readonly text: string };
type HistoryRow = { readonly memory_id: string; readonly event: string; readonly new_text: string | null };

/** The only reason for which an add of these tests may fail. */
const killedReason = `the worker ended ${mostClaims} times without a result`;

export type MemoryAudit = {
  readonly faults: readonly string[];
  /** Events that ended FAILED because their workers were killed. */
  readonly failed: number;
  /** The memories that every person must have, by user. */
  readonly expected: ReadonlyMap<string, readonly string[]>;
};

/**
 * Faults after every event has ended, one sentence each: adds without an event or with two events, events that did not
 * end, memories that are lost or stored twice, adds of a person that took effect out of order, incomplete histories.
 */
export async function auditMemories(
  { sql }: Database,
  adds: readonly CrashAdd[],
  accepted: Accepted,
): Promise<MemoryAudit> {
  const faults: string[] = [];
  let failed = 0;
  const expected = new Map<string, readonly string[]>();
  for (const [user, own] of Map.groupBy(adds, (add) => add.user)) {
    const ofPerson = sql`(select person from memory.people where user_key like ${`%"${user}"]`})`;
    const events = await sql<EventRow[]>`
      select event_id, idempotency_key as key, status, error, messages from memory.events where person = ${ofPerson}
      order by seq`;
    const memories = await sql<MemoryRow[]>`
      select memory_id, text from memory.memories where person = ${ofPerson} and deleted_at is null`;
    const history = await sql<HistoryRow[]>`
      select memory_id, event, new_text from memory.history where person = ${ofPerson} order by entry`;
    const succeeded = own.filter(({ key }) => events.find((event) => event.key === key)?.status === 'SUCCEEDED');
    failed += events.filter(({ status }) => status === 'FAILED').length;
    const { texts, residences } = expectedMemories(succeeded);
    expected.set(user, texts);
    const found = [
      ...eventFaults(own, events, accepted),
      ...textFaults(texts, memories),
      ...historyFaults(residences, memories, history),
    ];
    faults.push(...found.map((fault) => `${user}: ${fault}`));
  }
  return { faults, failed, expected };
}

function eventFaults(adds: readonly CrashAdd[], events: readonly EventRow[], accepted: Accepted): readonly string[] {
  const faults: string[] = [];
  if (events.map(({ key }) => key).join() !== adds.map(({ key }) => key).join()) {
    faults.push(`${events.length} events of ${adds.length} adds, or in another order`);
  }
  for (const { event_id, key, status, error, messages } of events) {
    const shown = accepted.get(key);
    if (shown?.size !== 1 || !shown.has(event_id)) faults.push(`the add ${key} was answered with another event`);
    if (status !== 'SUCCEEDED' && !(status === 'FAILED' && error === killedReason))
      faults.push(`the event ${key} is ${status}: ${error}`);
    if (messages !== null) faults.push(`the ended event ${key} has messages`);
  }
  return faults;
}

function textFaults(expected: readonly string[], memories: readonly MemoryRow[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { text } of memories) counts.set(text, (counts.get(text) ?? 0) + 1);
  const wanted = new Set(expected);
  return [
    ...expected.filter((text) => !counts.has(text)).map((text) => `lost: ${text}`),
    ...[...counts].filter(([, count]) => count > 1).map(([text, count]) => `${count} times: ${text}`),
    ...[...counts.keys()].filter((text) => !wanted.has(text)).map((text) => `not expected: ${text}`),
  ];
}

function historyFaults(
  residences: readonly string[],
  memories: readonly MemoryRow[],
  history: readonly HistoryRow[],
): readonly string[] {
  const faults: string[] = [];
  for (const { memory_id, text } of memories) {
    const own = history.filter((entry) => entry.memory_id === memory_id);
    if (own.filter(({ event }) => event === 'ADD').length !== 1) faults.push(`the history of "${text}" is not whole`);
    if (own.at(-1)?.new_text !== text) faults.push(`the history of "${text}" ends with another text`);
    const isResidence = text === residences.at(-1);
    const texts = own.map(({ new_text }) => new_text).join();
    if (isResidence && texts !== residences.join()) faults.push(`the residence took the texts ${texts}`);
  }
  return faults;
}
