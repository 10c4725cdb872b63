import type { Database } from '#sql/connect';
import { endedWith } from '../extraction/ended-with.ts';
import type { FactSource, UserFact } from '../extraction/extract-facts.ts';
import { type FactDecision, type KnownMemory, settleFacts } from '../extraction/settle-facts.ts';
import { countLive } from '../facts/live-memories.ts';
import { withoutText } from '../facts/without-text.ts';
import { insertMemory, type PersonChange, removeMemory, replaceMemory, restateMemory } from '../facts/write-memory.ts';
import { type IndexRoom, withinIndexRoom } from '../people/index-room.ts';
import type { MemoryQuota } from '../people/memory-quota.ts';
import { beginChange } from '../people/person.ts';
import type { ClaimedEvent } from './claim-event.ts';
import { TooManyMemoriesError } from './event-fault.ts';
import type { StoredDecision } from './event-row.ts';
import { readKnown } from './known-memories.ts';
import type { PreparedFact } from './prepare-facts.ts';
import { notAfter } from './said-times.ts';

type Commit =
  /** The event took effect. */
  | 'succeeded'
  /** Another worker has claimed the event, or the event was cancelled or erased. */
  | 'claim_over';

/** The quota counts the memories of a person in all scopes. */
const everyScope = { agentId: null, runId: null } as const;

type CommitOptions = {
  readonly newId: () => string;
  readonly room: IndexRoom;
  readonly quota: Pick<MemoryQuota, 'userMemories'>;
  /** Memories that the decision refers to by their ids. */
  readonly referred?: readonly string[];
  /** Decides about the facts against the memories of the scope; `settleFacts` by default. */
  readonly decide?: typeof settleFacts;
};

/**
 * Decides and writes in one transaction that holds the lock of the person, so that no other add, change, deletion or
 * erasure of that person happens between the decision and the write (memory:event:becomes-succeeded).
 * @throws IndexFullError if the memories do not fit into the index, TooManyMemoriesError; neither changes anything
 */
export async function commitEvent(
  { sql: database }: Database,
  event: ClaimedEvent,
  prepared: readonly PreparedFact[],
  { newId, room, quota, referred = [], decide = settleFacts }: CommitOptions,
): Promise<Commit> {
  return database.begin(async (sql): Promise<Commit> => {
    const changeNo = await beginChange(sql, event.person);
    if (changeNo === undefined) return 'claim_over';
    const [held] = await sql`
      select 1 from memory.events
      where event_id = ${event.eventId} and attempt = ${event.attempt} and status = 'RUNNING' for update`;
    if (held === undefined) return 'claim_over';
    const { known, past } = await readKnown(sql, event, prepared, referred);
    const decisions = decide(
      prepared.map(({ fact }) => fact),
      known,
      past,
    );
    const more = countOf(decisions, 'ADD') - countOf(decisions, 'DELETE');
    if (more > 0 && (await countLive(sql, event.person, everyScope)) + more > quota.userMemories)
      throw new TooManyMemoriesError(quota.userMemories);
    const change = { sql, person: event.person, changeNo, eventId: event.eventId, newId };
    const stored = await withinIndexRoom(sql, event.person, room, () =>
      applyAll(change, event, { decisions, prepared, known }),
    );
    const changed = stored.filter(({ decision }) => decision === 'ADD' || decision === 'UPDATE');
    await sql`
      update memory.events set status = 'SUCCEEDED', ${withoutText(sql)}, error = null, updated_at = clock_timestamp(),
        memory_ids = ${sql.array([...new Set(changed.map(({ memory_id }) => memory_id as string))])}::uuid[],
        decisions = ${JSON.stringify(stored)}::text::jsonb
      where event_id = ${event.eventId}`;
    return 'succeeded';
  });
}

function countOf(decisions: readonly FactDecision[], wanted: FactDecision['kind']): number {
  return decisions.filter(({ kind }) => kind === wanted).length;
}

async function applyAll(
  change: PersonChange,
  event: ClaimedEvent,
  {
    decisions,
    prepared,
    known,
  }: {
    readonly decisions: readonly FactDecision[];
    readonly prepared: readonly PreparedFact[];
    readonly known: readonly KnownMemory[];
  },
): Promise<readonly StoredDecision[]> {
  const stored: StoredDecision[] = [];
  for (const [at, decision] of decisions.entries()) {
    // A change of an unknown memory leads to no decision.
    if (decision.reason === 'changes nothing known') continue;
    const shown = await apply(change, event, decision, prepared[at] as PreparedFact);
    if (decision.kind === 'NONE') await restate(change, event, decision, known);
    stored.push(shown);
    for (const memoryId of endedWith(decision, decisions, known)) {
      if (!(await removeMemory(change, memoryId))) continue;
      stored.push({ decision: 'DELETE', reason: 'replaced', message: shown.message, memory_id: memoryId });
    }
  }
  return stored;
}

/** A repetition is the newest statement of the person about its topic: an older statement no longer replaces it. */
async function restate(
  change: PersonChange,
  event: ClaimedEvent,
  { reason, memoryId, fact }: Extract<FactDecision, { kind: 'NONE' }>,
  known: readonly KnownMemory[],
): Promise<void> {
  const memory = reason === 'known' ? known.find((one) => one.memoryId === memoryId) : undefined;
  const statedAt = statedAtOf(event, fact);
  if (memory !== undefined && memory.statedAt < statedAt) await restateMemory(change, memory.memoryId, statedAt);
}

/** The time by which a statement is ordered among the statements of other adds. */
function statedAtOf({ createdAt }: ClaimedEvent, { source }: UserFact): Date {
  return notAfter(createdAt, source.saidAt);
}

async function apply(
  change: PersonChange,
  event: ClaimedEvent,
  decision: FactDecision,
  { fact, stored }: PreparedFact,
): Promise<StoredDecision> {
  const statedAt = statedAtOf(event, fact);
  const shown = { decision: decision.kind, reason: decision.reason, message: fact.source.message };
  switch (decision.kind) {
    case 'NONE':
      return { ...shown, memory_id: decision.memoryId };
    case 'DELETE':
      await removeMemory(change, decision.memoryId, statedAt);
      return { ...shown, memory_id: decision.memoryId };
    case 'UPDATE': {
      const source = sourceOf(event, fact.source);
      const { topic } = decision;
      const replacement = { ...stored, topic, source, statedAt, ...replacedByAdd(event) };
      const replaced = await replaceMemory(change, decision.memoryId, replacement);
      // The memory expired after the decision. The statement is then added as a new memory, so that it is not lost.
      if (replaced === undefined) return { ...shown, decision: 'ADD', reason: 'new', memory_id: await add() };
      return { ...shown, memory_id: decision.memoryId };
    }
    case 'ADD':
      return { ...shown, memory_id: await add() };
  }

  async function add(): Promise<string> {
    const memoryId = change.newId();
    const { agentId, runId, categories, metadata, expiresAt } = event;
    const scope = { agentId, runId, categories, metadata, expiresAt };
    const source = sourceOf(event, fact.source);
    const { role } = fact;
    await insertMemory(change, { ...stored, ...scope, memoryId, role, source, statedAt });
    return memoryId;
  }
}

/**
 * The changes of a statement that replaces a memory, in addition to its text: the expiry is that of the add, so that a
 * memory expires together with its statement; metadata and categories are kept if the add has none
 * (docs/design/memory.md, "From messages to memories").
 */
function replacedByAdd({ metadata, categories, expiresAt }: ClaimedEvent) {
  return {
    expiresAt,
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
    categories: categories.length === 0 ? undefined : categories,
  };
}

function sourceOf({ eventId }: ClaimedEvent, { message, start, end, saidAt }: FactSource): object {
  return { event_id: eventId, message, start, end, said_at: saidAt.toISOString() };
}
