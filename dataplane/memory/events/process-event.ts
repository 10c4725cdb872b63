import { setImmediate as othersFirst } from 'node:timers/promises';
import { memoryLimits } from '#contracts/memory';
import { continueTrace } from '#kit/http/trace-context';
import type { Database } from '#sql/connect';
import { extractFacts, type SaidMessage, type UserFact } from '../extraction/extract-facts.ts';
import { samenessOf } from '../extraction/sameness.ts';
import { settleFacts } from '../extraction/settle-facts.ts';
import type { TextPorts } from '../facts/memory-text.ts';
import type { IndexRoom } from '../people/index-room.ts';
import type { MemoryQuota } from '../people/memory-quota.ts';
import type { ClaimedEvent } from './claim-event.ts';
import { commitEvent } from './commit-event.ts';
import { EventFault } from './event-fault.ts';
import { type ExtractionModel, extractByModel } from './extract-by-model.ts';
import { guardEvent } from './guard-event.ts';
import { readKnown } from './known-memories.ts';
import { prepareFacts } from './prepare-facts.ts';
import { saidTimes } from './said-times.ts';
import { isStorable } from './storable-message.ts';

/** Stages of an attempt, each reported when it is completed. Crash tests kill a worker after a stage. */
export const eventSteps = ['claimed', 'extracted', 'committed', 'released'] as const;
export type EventStep = (typeof eventSteps)[number];

export type EventPorts = TextPorts & {
  readonly database: Database;
  readonly newId: () => string;
  readonly room: () => IndexRoom;
  readonly quota: Pick<MemoryQuota, 'userMemories'>;
  /** The model that extracts facts; undefined if statements are read without a model. */
  readonly extraction: ExtractionModel | undefined;
  readonly onStep: (step: EventStep) => void;
};

/**
 * Creates memories from the messages of an event. Returns false if the claim ended before.
 * @throws IndexFullError, EventFault, StoredTextError, ModelsError, SqlUnavailableError
 */
export async function processEvent(ports: EventPorts, added: ClaimedEvent, signal: AbortSignal): Promise<boolean> {
  const event = await guardEvent(ports.guard, added, signal);
  const call = { signal, traceparent: continueTrace(event.traceId) };
  const times = saidTimes(event.messages, event.createdAt);
  const messages = event.messages.map(
    ({ role, content }, at): SaidMessage => ({ role, content, saidAt: event.createdAt, ...times[at] }),
  );
  const { extraction } = ports;
  if (event.infer && extraction !== undefined) return extractByModel(ports, extraction, event, messages, call);
  const facts = event.infer
    ? await withoutRemarks(ports.database, event, await statedFacts(messages))
    : givenFacts(messages);
  const prepared = await prepareFacts(ports, facts, messages, call);
  ports.onStep('extracted');
  const ended = await commitEvent(ports.database, event, prepared, {
    newId: ports.newId,
    room: ports.room(),
    quota: ports.quota,
  });
  return ended === 'succeeded';
}

/**
 * The facts of all messages, in the order in which they were said. Between two messages the process handles other
 * requests, because a long message takes some time.
 */
async function statedFacts(messages: readonly SaidMessage[]): Promise<readonly UserFact[]> {
  const facts: UserFact[] = [];
  let renewals = 0;
  const isRead = (fact: UserFact): boolean => {
    if (isRenewal(fact)) renewals += 1;
    return !isRenewal(fact) || renewals <= memoryLimits.changesOfAdd;
  };
  for (const [at, message] of messages.entries()) {
    facts.push(...extractFacts(message, at).filter(isRead));
    if (facts.filter((fact) => !isRenewal(fact)).length > memoryLimits.factsOfAdd) {
      throw new EventFault(`the messages state more than ${memoryLimits.factsOfAdd} facts: add them in parts`);
    }
    if (facts.filter((fact) => fact.changes !== undefined && !isRenewal(fact)).length > memoryLimits.changesOfAdd) {
      throw new EventFault(`the messages state more than ${memoryLimits.changesOfAdd} changes: add them in parts`);
    }
    await othersFirst();
  }
  return facts.toSorted((one, other) => one.source.saidAt.getTime() - other.source.saidAt.getTime());
}

/**
 * The facts without sentences that only name a new value of an unknown thing. An add of mere remarks therefore needs
 * neither a guardrail nor an embedding model. The decisions are made again while the lock of the person is held.
 */
async function withoutRemarks(
  { sql: database }: Database,
  event: ClaimedEvent,
  facts: readonly UserFact[],
): Promise<readonly UserFact[]> {
  if (!facts.some(isRenewal)) return facts;
  const topics = facts.map((fact) => ({ fact, stored: { topic: fact.statement?.topic ?? null } }));
  const { known, past } = await database.begin((sql) => readKnown(sql, event, topics, []));
  const decisions = settleFacts(facts, known, past);
  return facts.filter(
    (fact, at) => !isRenewal(fact) || decisions[at]?.reason !== 'changes nothing known' || isPlaced(at),
  );

  /** Whether a statement of the same sentence replaces a memory, as the sentence says. */
  function isPlaced(at: number): boolean {
    const sentence = facts[at]?.source;
    return decisions.some(({ kind, fact: { source, changes } }) => {
      if (kind === 'NONE' || changes !== undefined || sentence === undefined) return false;
      return source.message === sentence.message && source.start >= sentence.start && source.end <= sentence.end;
    });
  }
}

/**
 * A sentence that only names a new value changes something only if a memory fits it, and most such sentences have no
 * such memory. So an add with many of these sentences does not fail; the sentences beyond the limit are not compared.
 */
function isRenewal({ changes }: UserFact): boolean {
  return changes !== undefined && changes.topics.length + changes.ended.length === 0;
}

/**
 * The messages of users and assistants, unchanged (memory:add:infer). A message without a visible character is not
 * stored, and a message that is too long is refused.
 */
function givenFacts(messages: readonly SaidMessage[]): readonly UserFact[] {
  return messages.flatMap(({ role, content, saidAt }, message) => {
    const text = content;
    if (text.trim() === '' || !isStorable({ role }, false)) return [];
    if (text.length > memoryLimits.memoryLength) {
      throw new EventFault(
        `message ${message} is longer than ${memoryLimits.memoryLength} characters, the limit of a memory`,
      );
    }
    const source = { message, start: 0, end: text.length, saidAt };
    return [{ text, sameness: samenessOf(text), role, source, isGiven: true as const }];
  });
}
