import { type ApiOperation, type ApiTable, type Parameter, success } from '#api/operation';
import { uuidParameter } from '#api/parameters';
import { readGates, tracedAnswer, tracedErrors, usualFaults, writeGates } from '#api/table-parts';
import { memoryLimits } from '#contracts/memory';
import { type MemoryErrorCode, memoryErrors } from '#contracts/memory-errors';
import { callerParameters } from '#identity/caller-parameters';
import { keyOfUser } from '#identity/key-of-user';
import type { TenantCaller } from '#identity/tenant-caller';
import { versionParameter } from '#mcp/check-headers';
import { addMemories } from './add-memories.ts';
import { answerGetSession } from './answer-get-session.ts';
import { answerMemoryMcp } from './answer-mcp.ts';
import { answerSearchMemories } from './answer-search-memories.ts';
import { answerSetSession } from './answer-set-session.ts';
import { deleteMemories } from './delete-memories.ts';
import { deleteMemory } from './delete-memory.ts';
import { eraseUser } from './erase-user.ts';
import { exportUser } from './export-user.ts';
import { getEvent } from './get-event.ts';
import { getHistory } from './get-history.ts';
import { getMemory } from './get-memory.ts';
import { listMemories } from './list-memories.ts';
import type { Memory } from './memory.ts';
import type { MemorySchema } from './memory-schemas.ts';
import { exportPages, memoryPages, scopeParameters } from './page-parameters.ts';
import { updateMemory } from './update-memory.ts';

export const memoryOperationNames = [
  'addMemories',
  'getEvent',
  'searchMemories',
  'listMemories',
  'getMemory',
  'updateMemory',
  'deleteMemory',
  'deleteMemories',
  'getHistory',
  'setSession',
  'getSession',
  'exportUser',
  'eraseUser',
  'answerMcp',
  'getHealth',
] as const;
export type MemoryOperation = (typeof memoryOperationNames)[number];

type Row = ApiOperation<Memory, TenantCaller, MemoryErrorCode, MemoryOperation> & { readonly body?: MemorySchema };

const memoryId = uuidParameter('memory_id', 'The id of the memory.');
const eventId = uuidParameter('event_id', 'The id of the event.');
const sessionId: Parameter<MemoryErrorCode> = {
  name: 'session_id',
  in: 'path',
  description: 'The id of the session, chosen by the client.',
  required: true,
  schema: { type: 'string', minLength: 1, maxLength: memoryLimits.scopeId },
  read: (text) => (text !== '' && text.length <= memoryLimits.scopeId && !text.includes('\0') ? text : undefined),
};

const idempotencyKey: Parameter<MemoryErrorCode> = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A repeated request with the same key and body returns the event of the first one.',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: memoryLimits.key, pattern: '^[!-~]+$' },
};

const answer = tracedAnswer<MemorySchema, 200 | 202>;
const everyRead: readonly MemoryErrorCode[] = ['forbidden', 'unavailable'];
const everyWrite: readonly MemoryErrorCode[] = [...everyRead, 'unsupported_media_type'];
const guarded: readonly MemoryErrorCode[] = ['policy_denied', 'unjudgeable_text'];

const operations: readonly Row[] = [
  {
    name: 'addMemories',
    method: 'POST',
    path: '/v1/memories',
    tag: 'Memories',
    summary: 'Add memories',
    description:
      'Accepts messages; facts are extracted from what the user said, in the order of the requests of that user. Read the ' +
      'event for the decision on each fact.',
    gates: writeGates,
    parameters: [idempotencyKey, ...callerParameters],
    body: 'AddMemoriesRequest',
    success: answer('AcceptedEvent', 202),
    errors: [...everyWrite, 'missing_scope', 'wrong_user_id', 'conflict', 'index_full', 'rate_limited'],
    obligations: ['memory:add:accepted', 'memory:add:asynchronous', 'memory:add:missing-scope', 'memory:add:infer'],
    run: addMemories,
  },
  {
    name: 'getEvent',
    method: 'GET',
    path: '/v1/events/{event_id}',
    tag: 'Memories',
    summary: 'Read an event',
    description: 'The state of an add, and what was decided for each fact. An event is kept for 30 days after its end.',
    gates: readGates,
    parameters: [eventId, ...callerParameters],
    success: answer('Event'),
    errors: [...everyRead, 'not_found'],
    obligations: ['memory:events:status', 'memory:events:unknown', 'memory:event:status-values'],
    run: getEvent,
  },
  {
    name: 'searchMemories',
    method: 'POST',
    path: '/v1/memories/search',
    tag: 'Memories',
    summary: 'Search memories',
    description:
      'The memories of the caller that belong to a question, best first, within top_k and token_budget. A deleted or ' +
      'expired memory is never returned, and a changed one at once.',
    gates: writeGates,
    parameters: callerParameters,
    body: 'SearchMemoriesRequest',
    success: answer('FoundMemories'),
    errors: [...everyWrite, 'policy_denied', 'wrong_user_id'],
    obligations: ['memory:search:ranked', 'memory:search:top-k', 'memory:search:token-budget'],
    run: answerSearchMemories,
  },
  {
    name: 'listMemories',
    method: 'GET',
    path: '/v1/memories',
    tag: 'Memories',
    summary: 'List memories',
    description: 'Memories of the caller, the newest first. At least one filter is required.',
    gates: readGates,
    parameters: [...scopeParameters, ...memoryPages, ...callerParameters],
    success: answer('MemoryList'),
    errors: [...everyRead, 'missing_filter', 'wrong_user_id'],
    obligations: ['memory:list:ok', 'memory:list:page-size', 'memory:list:no-filter'],
    run: listMemories,
  },
  {
    name: 'getMemory',
    method: 'GET',
    path: '/v1/memories/{memory_id}',
    tag: 'Memories',
    summary: 'Read a memory',
    description: 'One memory with its source: the message from which it came.',
    gates: readGates,
    parameters: [memoryId, ...callerParameters],
    success: answer('Memory'),
    errors: [...everyRead, 'not_found'],
    obligations: ['memory:get:ok'],
    run: getMemory,
  },
  {
    name: 'updateMemory',
    method: 'PUT',
    path: '/v1/memories/{memory_id}',
    tag: 'Memories',
    summary: 'Change a memory',
    description: 'Replaces those of text, metadata and categories that are sent. The next search returns the new text.',
    gates: writeGates,
    parameters: [memoryId, ...callerParameters],
    body: 'UpdateMemoryRequest',
    success: answer('Memory'),
    errors: [...everyWrite, ...guarded, 'not_found', 'index_full'],
    obligations: ['memory:update:ok', 'memory:update:visible-at-once'],
    run: updateMemory,
  },
  {
    name: 'deleteMemory',
    method: 'DELETE',
    path: '/v1/memories/{memory_id}',
    tag: 'Memories',
    summary: 'Delete a memory',
    description: 'No later search, list or read returns the memory; its history still answers.',
    gates: readGates,
    parameters: [memoryId, ...callerParameters],
    success: answer('DeletedMemory'),
    errors: [...everyRead, 'not_found'],
    obligations: ['memory:delete:message', 'memory:delete:soft', 'memory:delete:gone-from-search'],
    run: deleteMemory,
  },
  {
    name: 'deleteMemories',
    method: 'DELETE',
    path: '/v1/memories',
    tag: 'Memories',
    summary: 'Delete memories by filter',
    description:
      'Removes all memories of a scope with their history for good, and cancels adds of that scope that have not ended. At ' +
      'least one filter is required.',
    gates: readGates,
    parameters: [...scopeParameters, ...callerParameters],
    success: answer('DeletedMemories'),
    errors: [...everyRead, 'missing_filter', 'wrong_user_id'],
    obligations: ['memory:delete-by-filter:ok', 'memory:delete-by-filter:irreversible'],
    run: deleteMemories,
  },
  {
    name: 'getHistory',
    method: 'GET',
    path: '/v1/memories/{memory_id}/history',
    tag: 'Memories',
    summary: 'Read the history of a memory',
    description:
      'Every change of a memory, the oldest first, even after its deletion. A history of more than 4 MiB, which are the ' +
      'bytes of its texts and 256 of each entry, is answered with the error history_too_large; the export has it in pages.',
    gates: readGates,
    parameters: [memoryId, ...callerParameters],
    success: answer('MemoryHistory'),
    errors: [...everyRead, 'not_found', 'history_too_large'],
    obligations: ['memory:history:ok', 'memory:history:event-values'],
    run: getHistory,
  },
  {
    name: 'setSession',
    method: 'POST',
    path: '/v1/sessions/{session_id}/state',
    tag: 'Sessions',
    summary: 'Set the state of a session',
    description: 'Replaces the state. It is absent when its seconds have passed, by the clock of the database.',
    gates: writeGates,
    parameters: [sessionId, ...callerParameters],
    body: 'SetSessionRequest',
    success: answer('SessionState'),
    errors: [...everyWrite, ...guarded, 'not_found', 'rate_limited'],
    obligations: ['memory:session:set', 'memory:session:ttl'],
    run: answerSetSession,
  },
  {
    name: 'getSession',
    method: 'GET',
    path: '/v1/sessions/{session_id}/state',
    tag: 'Sessions',
    summary: 'Read the state of a session',
    description: 'The state, and the seconds after which it is absent.',
    gates: readGates,
    parameters: [sessionId, ...callerParameters],
    success: answer('SessionState'),
    errors: [...everyRead, 'not_found'],
    obligations: ['memory:session:get', 'memory:session:absent'],
    run: answerGetSession,
  },
  {
    name: 'exportUser',
    method: 'GET',
    path: '/v1/export',
    tag: 'Users',
    summary: 'Export a user',
    description:
      'Everything that the service holds of the caller, in pages: memories with deleted ones, history, events with the ' +
      'messages of open ones, states of sessions, and records of deletions by filter. Each page is read at one moment. ' +
      'Data that exist from the first to the last page are in exactly one page. A page has at most 4 MiB of text and one ' +
      'more row. The operation is the service’s own.',
    gates: readGates,
    parameters: [...exportPages, ...callerParameters],
    success: answer('ExportedUser'),
    errors: everyRead,
    obligations: [],
    run: exportUser,
  },
  {
    name: 'eraseUser',
    method: 'POST',
    path: '/v1/erasures',
    tag: 'Users',
    summary: 'Erase a user',
    description:
      'Removes everything that the service holds of the caller, events and history included. It cannot be undone. The ' +
      'operation is the service’s own.',
    gates: writeGates,
    parameters: callerParameters,
    body: 'EraseUserRequest',
    success: answer('Erasure'),
    errors: [...everyWrite, 'wrong_user_id'],
    obligations: [],
    run: eraseUser,
  },
  {
    name: 'answerMcp',
    method: 'POST',
    path: '/v1/mcp',
    tag: 'Memories',
    summary: 'Answer an MCP client',
    description:
      'One message of the Model Context Protocol 2025-11-25 (Streamable HTTP, without sessions and streams). The tools ' +
      'remember, get_event, search_memories and forget have the identity and limits of the other operations. Requests with ' +
      'an Origin header, as web pages send them, are refused. The operation is the service’s own.',
    gates: writeGates,
    parameters: [versionParameter, ...callerParameters],
    body: 'McpMessage',
    success: { ...answer('McpAnswer'), orAccepted: 'The message was a notification or an answer, and has no answer.' },
    errors: everyWrite,
    obligations: [],
    run: answerMemoryMcp,
  },
  {
    name: 'getHealth',
    method: 'GET',
    path: '/health',
    tag: 'Health',
    summary: 'Read the state of the dependencies',
    description: '200 in both states; details say what is in use.',
    gates: ['query'],
    public: true,
    parameters: [],
    success: answer('Health'),
    errors: [],
    obligations: [],
    run: async ({ service }) => success(await service.health()),
  },
];

export const memoryTable: ApiTable<Memory, TenantCaller, MemoryErrorCode, MemoryOperation> = {
  operations,
  errors: memoryErrors,
  everyError: ['invalid_request', 'unauthorized', 'authz_unavailable', 'method_not_allowed', 'too_large', 'internal'],
  faults: usualFaults('invalid_request'),
  ...tracedErrors,
  limits: {
    bodyBytes: memoryLimits.bodyBytes,
    bodyMs: 60_000,
    heldBodies: { bytes: 96 * 1_024 * 1_024, overloaded: 'unavailable', keyOf: keyOfUser },
    idempotencyKey: { min: 1, max: memoryLimits.key },
  },
};
