import { type ApiOperation, type Parameter, success } from '#api/operation';
import { readLimit } from '#api/pages';
import { readBodyAs } from '#api/read-body';
import { memoryLimits } from '#contracts/memory';
import type { MemoryErrorCode } from '#contracts/memory-errors';
import type { TenantCaller } from '#identity/tenant-caller';
import { addMemories } from '../http/add-memories.ts';
import { answerSearchMemories } from '../http/answer-search-memories.ts';
import type { Memory, MemoryRequest, MemoryResponse } from '../http/memory.ts';
import { type MemoryOperation, memoryTable } from '../http/memory-table.ts';
import { compatibleAddSchema, compatibleSearchSchema, unnamedRun } from './compatible-bodies.ts';
import { listNumberedPage, readPageNumber } from './list-numbered-page.ts';

type Row = ApiOperation<Memory, TenantCaller, MemoryErrorCode, MemoryOperation>;

/** Operations of the memory service that are also served under their path with a trailing slash. */
const aliased: readonly MemoryOperation[] = [
  'getMemory',
  'updateMemory',
  'deleteMemory',
  'deleteMemories',
  'getHistory',
  'getEvent',
];

const aliases: readonly Row[] = memoryTable.operations
  .filter(({ name }) => aliased.includes(name))
  .map((operation) => ({ ...operation, path: `${operation.path}/` }) as const);

const pages: readonly Parameter<MemoryErrorCode>[] = [
  {
    name: 'page',
    in: 'query',
    description: 'The number of the page, from 1.',
    required: false,
    schema: { type: 'integer', minimum: 1 },
    read: (text) => (readPageNumber(text) === undefined ? undefined : text),
  },
  {
    name: 'page_size',
    in: 'query',
    description: 'Most records of the page.',
    required: false,
    schema: { type: 'integer', minimum: memoryLimits.pageSize.min, maximum: memoryLimits.pageSize.max },
    read: (text) => (readLimit(text, memoryLimits.pageSize) === undefined ? undefined : text),
  },
];

const writing = {
  method: 'POST',
  tag: 'Compatibility',
  gates: ['identity', 'query', 'path', 'body'],
  errors: ['forbidden', 'unavailable', 'unsupported_media_type'],
  obligations: [],
} as const;
const answer = { status: 200, description: 'The request succeeded.', schema: 'FoundMemories', headers: [] } as const;

/**
 * Routes that the client `mem0ai` calls in addition to those of the contract (docs/remember-people.md, The client of
 * mem0). They are not part of the OpenAPI document.
 */
const own: readonly Row[] = [
  {
    ...writing,
    name: 'addMemories',
    path: '/v3/memories/add/',
    summary: 'Add memories',
    description: 'As POST /v1/memories.',
    parameters: [],
    success: { ...answer, status: 202 },
    run: addCompatibly,
  },
  {
    ...writing,
    name: 'searchMemories',
    path: '/v3/memories/search/',
    summary: 'Search memories',
    description: 'As POST /v1/memories/search.',
    parameters: [],
    success: answer,
    run: searchCompatibly,
  },
  {
    ...writing,
    name: 'listMemories',
    path: '/v3/memories/',
    summary: 'List memories',
    description: 'As GET /v1/memories, with numbered pages.',
    parameters: pages,
    success: answer,
    run: listNumberedPage,
  },
  {
    ...writing,
    method: 'GET',
    name: 'getHealth',
    path: '/v1/ping/',
    summary: 'Answer a client that starts',
    description: 'Says only that the service answers.',
    gates: ['query'],
    public: true,
    parameters: [],
    success: answer,
    run: () => success({ status: 'ok' }),
  },
];

/** The operations of the service together with those of the compatible routes. */
export const compatibleTable: typeof memoryTable = {
  ...memoryTable,
  operations: [...memoryTable.operations, ...own, ...aliases],
};

function addCompatibly(request: MemoryRequest): Promise<MemoryResponse> | MemoryResponse {
  const read = readBodyAs(compatibleAddSchema, request.body, 'invalid_request');
  if (read.kind === 'error') return read;
  const value: Readonly<Record<string, unknown>> = read.value;
  const hasScope = value['agent_id'] !== undefined || value['run_id'] !== undefined;
  const isOfUser = value['user_id'] !== undefined;
  return addMemories(withBody(request, !hasScope && isOfUser ? { ...value, run_id: unnamedRun } : value));
}

function searchCompatibly(request: MemoryRequest): Promise<MemoryResponse> | MemoryResponse {
  const read = readBodyAs(compatibleSearchSchema, request.body, 'invalid_request');
  return read.kind === 'error' ? read : answerSearchMemories(withBody(request, read.value));
}

/** The request with another body and without an idempotency key. */
function withBody(request: MemoryRequest, json: object): MemoryRequest {
  const { service, caller, incoming, traceId, traceparent, query, path } = request;
  const body = { ...request.body, json: json as MemoryRequest['body']['json'] };
  return { service, caller, incoming, traceId, traceparent, query, path, body, idempotencyKey: '' };
}
