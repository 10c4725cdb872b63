import { ModelsError } from '#models/models-error';
import type { Database } from '#sql/connect';
import type { SaidMessage, UserFact } from '../extraction/extract-facts.ts';
import { readQuotedFact } from '../extraction/quoted-fact.ts';
import { readStatement } from '../extraction/read-statement.ts';
import { samenessOf } from '../extraction/sameness.ts';
import type { KnownMemory, PastMemory } from '../extraction/settle-facts.ts';
import type { TextPorts } from '../facts/memory-text.ts';
import type { IndexRoom } from '../people/index-room.ts';
import type { MemoryQuota } from '../people/memory-quota.ts';
import type { ClaimedEvent } from './claim-event.ts';
import { commitEvent } from './commit-event.ts';
import { decideByModel, type ReadFact, type SeenMemory } from './decide-by-model.ts';
import { ChangedMemoryError } from './event-fault.ts';
import { answerForm, extractionPrompt, leastImportance, type ModelFact, readModelFacts } from './model-answer.ts';
import { prepareFacts } from './prepare-facts.ts';

/** The alias of the model at the gateway, and the search for the memories that are nearest to messages. */
export type ExtractionModel = {
  readonly alias: string;
  /**
   * A search for ids of memories of a scope, ordered so that the nearest memories of each message are first. The search
   * may be repeated.
   */
  readonly nearest: (
    event: ClaimedEvent,
    messages: readonly string[],
    call: EventCall,
  ) => Promise<() => Promise<readonly string[]>>;
};

type ExtractionPorts = TextPorts & {
  readonly database: Database;
  readonly newId: () => string;
  readonly room: () => IndexRoom;
  readonly quota: Pick<MemoryQuota, 'userMemories'>;
  readonly onStep: (step: 'extracted') => void;
};

/** Known memories in a prompt, and the bytes of their texts together as JSON: a check of a policy takes 32 KiB by default. */
const mostKnown = { memories: 40, bytes: 12_288 } as const;
/** Maximum number of decisions of one attempt: a decision is repeated if its memories were changed meanwhile. */
const mostDecisions = 3;

/** The calls of models for an event belong to its trace. */
type EventCall = { readonly signal: AbortSignal; readonly traceparent: string };

/**
 * Extracts facts by one call of the model through the gateway, whose guardrail judges the call. The answer is not
 * trusted: a fact becomes a memory only if the user states it word for word (`readQuotedFact`) and it is important.
 * @returns false if the claim ended before the extraction
 * @throws ModelsError `invalid` if the answer cannot be read, ChangedMemoryError, IndexFullError, EventFault,
 * SqlUnavailableError
 */
export async function extractByModel(
  ports: ExtractionPorts,
  extraction: ExtractionModel,
  event: ClaimedEvent,
  messages: readonly SaidMessage[],
  call: EventCall,
): Promise<boolean> {
  const said = messages.flatMap(({ role, content, saidAt }, message) =>
    role === 'user' && content.trim() !== '' ? [{ message, said_at: saidAt.toISOString(), text: content }] : [],
  );
  const texts = said.map(({ text }) => text);
  // The messages do not change between two decisions, so their queries are embedded once.
  const nearest = said.length === 0 ? undefined : await extraction.nearest(event, texts, call);
  for (let decision = 1; ; decision += 1) {
    const near = nearest === undefined ? [] : await knownOf(ports, event, await nearest());
    const { known, answers } =
      said.length === 0
        ? { known: [], answers: [] }
        : await askWithin(ports, extraction.alias, { said, known: near }, call);
    const read = answers.map((answer) => readFact(answer, messages));
    const prepared = await prepareFacts(
      ports,
      read.map(({ fact }) => fact),
      messages,
      call,
    );
    ports.onStep('extracted');
    const decide = (stored: readonly UserFact[], present: readonly KnownMemory[], past: readonly PastMemory[] = []) =>
      decideByModel(
        read.map((one, at) => ({ ...one, fact: stored[at] ?? one.fact })),
        known,
        { present, past },
      );
    try {
      const referred = known.map(({ memoryId }) => memoryId);
      const ended = await commitEvent(ports.database, event, prepared, {
        newId: ports.newId,
        room: ports.room(),
        quota: ports.quota,
        referred,
        decide,
      });
      return ended === 'succeeded';
    } catch (error) {
      if (!(error instanceof ChangedMemoryError) || decision === mostDecisions) throw error;
    }
  }
}

/** The nearest memories that fit into a prompt together, in the order of their ids. */
async function knownOf(
  { database: { sql } }: ExtractionPorts,
  { person }: ClaimedEvent,
  nearest: readonly string[],
): Promise<readonly SeenMemory[]> {
  const ids = nearest.slice(0, mostKnown.memories);
  if (ids.length === 0) return [];
  const rows = await sql<SeenMemory[]>`
    select memory_id as "memoryId", text, version
    from unnest(${sql.array([...ids])}::uuid[]) with ordinality as n (memory_id, rank)
    join memory.memories using (memory_id)
    where person = ${person} and deleted_at is null order by n.rank`;
  let left: number = mostKnown.bytes;
  const fitting = rows.filter(({ text }) => {
    const bytes = Buffer.byteLength(JSON.stringify(text));
    const fits = bytes <= left;
    if (fits) left -= bytes;
    return fits;
  });
  return fitting.toSorted((one, other) => (one.memoryId < other.memoryId ? -1 : 1));
}

type Asked = { readonly known: readonly SeenMemory[]; readonly answers: readonly ModelFact[] };

/**
 * The answer of the model, which is called once more without the known memories if the text is denied or refused with
 * them: a memory that a policy denies, or the length of all of them, must not end an add whose messages are accepted.
 */
async function askWithin(
  ports: ExtractionPorts,
  alias: string,
  { said, known }: { readonly said: readonly object[]; readonly known: readonly SeenMemory[] },
  call: EventCall,
): Promise<Asked> {
  try {
    return { known, answers: await ask(ports, alias, { said, known }, call) };
  } catch (error) {
    const isOfText = error instanceof ModelsError && (error.code === 'denied' || error.code === 'refused');
    if (!isOfText || known.length === 0) throw error;
    return { known: [], answers: await ask(ports, alias, { said, known: [] }, call) };
  }
}

async function ask(
  { models }: ExtractionPorts,
  alias: string,
  { said, known }: { readonly said: readonly object[]; readonly known: readonly SeenMemory[] },
  call: EventCall,
): Promise<readonly ModelFact[]> {
  const user = JSON.stringify({ messages: said, known: known.map(({ text }, memory) => ({ memory, text })) });
  const prompt = { system: extractionPrompt, user, answer: answerForm };
  return readModelFacts(await models.complete(alias, prompt, { ...call, timeoutMs: 60_000 }));
}

function readFact(answer: ModelFact, messages: readonly SaidMessage[]): ReadFact {
  const { quote, message, decision } = answer;
  const said = messages[message];
  const saidAt = said?.saidAt ?? new Date(0);
  const found =
    said?.role === 'user'
      ? readQuotedFact(said.content, said.localAt ?? saidAt, {
          text: answer.text,
          quote,
          isRequest: decision === 'DELETE',
        })
      : 'not said by the user';
  const isStored = typeof found !== 'string';
  // A text that is not stored is not embedded either.
  const text = isStored ? found.text : '-';
  const place = isStored ? { start: found.start, end: found.end } : { start: 0, end: 0 };
  const statement = readStatement(text);
  const source = { message, ...place, saidAt };
  const more = statement === undefined ? {} : { statement };
  const fact = { text, sameness: samenessOf(text), role: 'user', source, ...more };
  const isUnimportant = decision !== 'DELETE' && answer.importance < leastImportance;
  return { answer, fact, fault: isStored ? (isUnimportant ? 'not important' : undefined) : found };
}
