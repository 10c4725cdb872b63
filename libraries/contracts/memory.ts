import { z } from 'zod';

/** Limits of the memory service; all are the service's own. */
export const memoryLimits = {
  /** Body of a request, bytes. */
  bodyBytes: 1_048_576,
  messagesOfAdd: 100,
  /** Maximum length of a message, UTF-16 units. */
  messageLength: 32_768,
  /** Maximum number of facts that are read from the messages of one add without a model. */
  factsOfAdd: 1_000,
  /** Maximum number of sentences of one add that state a change: each is compared with every memory of a topic. */
  changesOfAdd: 100,
  memoryLength: 8_192,
  scopeId: 255,
  key: 255,
  queryText: 8_192,
  category: 64,
  categories: 20,
  /** Maximum size of metadata as JSON, bytes. */
  metadataBytes: 16_384,
  topK: { min: 1, max: 100, default: 10 },
  tokenBudget: { min: 1, max: 200_000 },
  pageSize: { min: 1, max: 200, default: 50 },
  /** Number of rows on a page of an export, and the bytes of text after which a page gets no more rows. */
  exportPage: { min: 1, max: 1_000, default: 500 },
  exportPageBytes: 4_194_304,
  /**
   * Maximum number of bytes of the texts of one memory's history in one answer, and bytes that the other members of
   * each entry count.
   */
  historyBytes: 4_194_304,
  historyEntryBytes: 256,
  /** Limits of one user: events that have not ended, and session states that have not expired. */
  openEvents: 1_000,
  sessions: 1_000,
  /** The range of the quota for the memories of one user that are not deleted. */
  memories: { min: 1, max: 1_000_000, default: 100_000 },
  /** State of a session as JSON, bytes. */
  stateBytes: 262_144,
  /** Time to live of a session state, seconds; 90 days at most. */
  ttlSeconds: { min: 1, max: 7_776_000 },
} as const;

const limits = memoryLimits;
/** PostgreSQL stores no U+0000. */
const storable = z.string().regex(/^[^\u0000]*$/, { error: 'must not contain U+0000' });
const text = (max: number) => storable.min(1).max(max);
const scopeId = text(limits.scopeId);
/**
 * The time is compared in UTC, because the time zone can move a date into a year that PostgreSQL or ISO 8601 writes in
 * another form.
 */
const instant = z.iso.datetime({ offset: true }).refine(
  (value) => {
    const year = new Date(value).getUTCFullYear();
    return year >= 1 && year <= 9_999;
  },
  { error: 'must be a date of the years 1 to 9999 in UTC' },
);

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The escape of U+0000 in JSON; after an escaped backslash the same letters are ordinary text. */
const escapedNull = /(?<!\\)(?:\\\\)*\\u0000/;
const hasStorableNames = (value: unknown): boolean => !escapedNull.test(JSON.stringify(value));

/**
 * Zod and other programs lose a member with this name when they copy an object; the stored value must equal the sent
 * value.
 */
function refuseLostName(value: unknown): unknown {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    if (Object.hasOwn(next, '__proto__')) return undefined;
    open.push(...Object.values(next));
  }
  return value;
}

const object = (mostBytes: number) =>
  z
    .preprocess(refuseLostName, z.record(z.string(), z.unknown()))
    .refine((value) => jsonBytes(value) <= mostBytes, { error: `must have at most ${mostBytes} bytes as JSON` })
    .refine(hasStorableNames, { error: 'must not contain U+0000' });

const metadata = object(limits.metadataBytes);
const categories = z.array(text(limits.category)).max(limits.categories);

const messageSchema = z
  .strictObject({
    role: z.enum(['user', 'assistant', 'system', 'tool']),
    content: storable.max(limits.messageLength),
    created_at: instant
      .optional()
      .describe(
        'When the message was sent; words such as "yesterday" refer to it, and it replaces no fact that was stated later.',
      ),
  })
  .describe('A message of a dialogue.');
export type MemoryMessage = z.output<typeof messageSchema>;

/** Body of POST /v1/memories (memory:add:*). A body without a scope has its own error code. */
export const addMemoriesSchema = z
  .strictObject({
    messages: z.array(messageSchema).min(1).max(limits.messagesOfAdd),
    user_id: scopeId.optional().describe('The caller; another user is refused.'),
    agent_id: scopeId.optional(),
    run_id: scopeId.optional(),
    infer: z.boolean().default(true).describe('Whether facts are extracted; false stores each message as it is.'),
    metadata: metadata.optional(),
    categories: categories.optional(),
    expires_at: instant.optional().describe('From then on the memories are neither listed nor found.'),
  })
  .describe('Messages from which memories are made. At least one of agent_id and run_id is required.');
export type AddMemories = z.output<typeof addMemoriesSchema>;

export const acceptedEventSchema = z
  .strictObject({ event_id: z.uuid(), status: z.literal('PENDING') })
  .describe('The event of an accepted add.');

export const decisionKindSchema = z.enum(['ADD', 'UPDATE', 'DELETE', 'NONE']);

/** An event (memory:event:*). The state RUNNING is shown as PENDING. */
export const memoryEventSchema = z
  .strictObject({
    event_id: z.uuid(),
    status: z.enum(['PENDING', 'SUCCEEDED', 'FAILED']),
    memory_ids: z.array(z.uuid()).describe('The memories that came from the add; empty until it succeeded.'),
    decisions: z
      .array(
        z.strictObject({
          decision: decisionKindSchema,
          memory_id: z.uuid().nullable(),
          reason: z.string(),
          message: z.int().nullable().describe('The position of the message, from 0.'),
        }),
      )
      .describe('What was decided for each fact.'),
    error: z.string().nullable(),
    attempts: z.int(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .describe('The state of an add.');

const searchMode = z.enum(['hybrid', 'semantic', 'bm25']);

/** Body of POST /v1/memories/search (memory:search:*). */
export const searchMemoriesSchema = z
  .strictObject({
    query: text(limits.queryText),
    filters: z.unknown().optional().describe('A scope and conditions, joined by AND, OR and NOT.'),
    mode: searchMode.default('hybrid'),
    top_k: z.int().min(limits.topK.min).max(limits.topK.max).default(limits.topK.default),
    token_budget: z.int().min(limits.tokenBudget.min).max(limits.tokenBudget.max).optional(),
  })
  .describe('A search over the memories of the caller.');
export type SearchMemories = z.output<typeof searchMemoriesSchema>;

const foundMemorySchema = z
  .strictObject({
    id: z.uuid(),
    memory: z.string(),
    score: z.number(),
    score_details: z
      .strictObject({ semantic: z.number().nullable(), bm25: z.number() })
      .describe(
        'The scores of both rankings. A memory that is not among the best 50, or 4 times top_k, of a ranking has no score of it: semantic is null, bm25 is 0.',
      ),
    user_id: z.string(),
    agent_id: z.string().nullable(),
    run_id: z.string().nullable(),
    categories: z.array(z.string()),
    metadata: z.record(z.string(), z.unknown()),
    tokens: z.int(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .describe('A memory that a search found.');
export type FoundMemory = z.output<typeof foundMemorySchema>;

export const foundMemoriesSchema = z
  .strictObject({
    results: z.array(foundMemorySchema).describe('Best first.'),
    tokens_returned: z.int().describe('Tokens of the returned memories together (o200k_base).'),
  })
  .describe('The answer of a search.');

/** A memory as the service returns it (memory:record:fields). */
export const memoryRecordSchema = z
  .strictObject({
    id: z.uuid(),
    memory: z.string(),
    user_id: z.string(),
    agent_id: z.string().nullable(),
    run_id: z.string().nullable(),
    categories: z.array(z.string()),
    metadata: z.record(z.string(), z.unknown()),
    hash: z.string().describe('SHA-256 of the text, hexadecimal.'),
    role: z.string().describe('The role of the message from which the memory came.'),
    source: z
      .strictObject({
        event_id: z.uuid(),
        message: z.int(),
        start: z.int(),
        end: z.int(),
        said_at: z.iso.datetime(),
      })
      .nullable()
      .describe('Where the memory came from: message and UTF-16 offsets in it. Null after a change by a person.'),
    expires_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .describe('A memory of a user.');
export type MemoryRecord = z.output<typeof memoryRecordSchema>;

export const memoryListSchema = z
  .strictObject({
    count: z.int().describe('All matches, not only those of the page.'),
    results: z.array(memoryRecordSchema).describe('The newest first.'),
    next_page_token: z.string().nullable(),
  })
  .describe('A page of memories.');

/** Body of PUT /v1/memories/{memory_id}; the contract does not name the member of the text. */
export const updateMemorySchema = z
  .strictObject({
    text: text(limits.memoryLength).regex(/\S/, { error: 'must not be blank' }).optional(),
    metadata: metadata.optional().describe('Replaces all metadata.'),
    categories: categories.optional().describe('Replaces all categories.'),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    error: 'must have text, metadata or categories',
  })
  .meta({
    description: 'New values for the parts of a memory; parts that are absent are unchanged.',
    minProperties: 1,
  });
export type UpdateMemory = z.output<typeof updateMemorySchema>;

export const deletedMemorySchema = z
  .strictObject({ message: z.string(), id: z.uuid() })
  .describe('The answer to the deletion of a memory.');

export const deletedMemoriesSchema = z
  .strictObject({ deleted_count: z.int(), cancelled_events: z.int(), confirmation_id: z.uuid() })
  .describe('The answer to a deletion by filter, which cannot be undone.');

const historyEntrySchema = z.strictObject({
  id: z.uuid(),
  memory_id: z.uuid(),
  event: z.enum(['ADD', 'UPDATE', 'DELETE']),
  old_memory: z.string().nullable(),
  new_memory: z.string().nullable(),
  event_id: z.uuid().nullable().describe('The add that caused the change; null for a change by a person.'),
  created_at: z.iso.datetime(),
});
export const memoryHistorySchema = z.array(historyEntrySchema).describe('Every change of a memory, the oldest first.');

/** Body of POST /v1/sessions/{session_id}/state (memory:session:*). */
export const setSessionSchema = z
  .strictObject({
    state: object(limits.stateBytes),
    ttl_seconds: z.int().min(limits.ttlSeconds.min).max(limits.ttlSeconds.max),
  })
  .describe('The state of a session; it replaces the one before.');

export const sessionStateSchema = z
  .strictObject({
    session_id: z.string(),
    state: z.record(z.string(), z.unknown()),
    updated_at: z.iso.datetime(),
    ttl_remaining_seconds: z.int(),
  })
  .describe('The state of a session.');

const exportedEventSchema = memoryEventSchema
  .extend({
    agent_id: z.string().nullable(),
    run_id: z.string().nullable(),
    infer: z.boolean(),
    metadata: z.record(z.string(), z.unknown()),
    categories: z.array(z.string()),
    expires_at: z.iso.datetime().nullable(),
    messages: z.array(messageSchema).nullable().describe('Null after the end of the event, as they are removed then.'),
    idempotency_key: z.string().nullable(),
  })
  .describe('An event with everything that is stored of it.');

const deletionRecordSchema = z
  .strictObject({
    confirmation_id: z.uuid(),
    deleted_count: z.int(),
    cancelled_events: z.int(),
    deleted_at: z.iso.datetime(),
  })
  .describe('The record of a deletion by filter; it holds no text.');

export const exportedMemorySchema = z
  .strictObject({
    user_id: z.string(),
    exported_at: z.iso.datetime(),
    memories: z.array(memoryRecordSchema.extend({ deleted_at: z.iso.datetime().nullable() })),
    history: z.array(historyEntrySchema),
    events: z.array(exportedEventSchema),
    sessions: z.array(sessionStateSchema),
    deletions: z.array(deletionRecordSchema).describe('Deletions by filter, without what they deleted.'),
    next_page_token: z.string().nullable().describe('Null on the last page.'),
  })
  .describe('A page of everything that the service holds of a user, read at one moment.');

/** Body of POST /v1/erasures: the user is named again as a confirmation, because an erasure cannot be undone. */
export const eraseUserSchema = z
  .strictObject({ user_id: scopeId })
  .describe('Id of the user whose data is erased; must be the caller.');

export const erasureSchema = z
  .strictObject({
    confirmation_id: z.uuid(),
    memories: z.int(),
    history_entries: z.int(),
    events: z.int(),
    sessions: z.int(),
    erased_at: z.iso.datetime(),
  })
  .describe('The record of an erasure; it holds no text and no name.');

const componentState = z.enum(['ok', 'degraded']);
export const memoryHealthSchema = z
  .strictObject({
    status: componentState,
    components: z.strictObject({ postgres: componentState, queue: componentState }),
    details: z.record(z.string(), z.string()),
  })
  .describe('Whether the dependencies of the service answer.');

export const memoryErrorSchema = z
  .strictObject({ code: z.string(), message: z.string(), trace_id: z.string() })
  .describe('An error.');
