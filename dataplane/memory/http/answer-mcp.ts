import { z } from 'zod';
import { failure } from '#api/operation';
import { readBodyAs } from '#api/read-body';
import { errorMessage } from '#api/table-parts';
import { memoryLimits, searchMemoriesSchema } from '#contracts/memory';
import { memoryErrors } from '#contracts/memory-errors';
import { answerMessage, type McpServer, type McpTool, type ToolOutcome } from '#mcp/answer-message';
import { headerFault } from '#mcp/check-headers';
import { clientMessageSchema } from '#mcp/message';
import { acceptMessages } from './add-memories.ts';
import { answerSearchMemories } from './answer-search-memories.ts';
import { deleteMemory } from './delete-memory.ts';
import { memoryErrorOf } from './error-of.ts';
import { getEvent } from './get-event.ts';
import type { MemoryError, MemoryRequest, MemoryResponse } from './memory.ts';

/** Answers one message of an MCP client with the identity and limits of every other operation. */
export async function answerMemoryMcp(request: MemoryRequest): Promise<MemoryResponse> {
  const fault = headerFault(request.incoming.headers);
  if (fault === 'foreign_origin') return failure('forbidden');
  if (fault !== undefined) {
    return failure('invalid_request', [{ path: 'MCP-Protocol-Version', message: 'is not a supported version' }]);
  }
  const read = readBodyAs(clientMessageSchema, request.body, 'invalid_request');
  if (read.kind === 'error') return read;
  const answer = await answerMessage(server, read.value, request);
  return { kind: 'success', status: answer === undefined ? 202 : 200, body: answer };
}

const rememberSchema = z.strictObject({
  fact: z
    .string()
    .min(1)
    .max(memoryLimits.memoryLength)
    .regex(/\S/, { error: 'must not be blank' })
    .describe('One sentence that is understandable alone.'),
  agent_id: z.string().min(1).max(memoryLimits.scopeId).describe('Name of the agent that remembers.'),
});
const eventSchema = z.strictObject({ event_id: z.uuid().describe('The event_id of an answer of remember.') });
const forgetSchema = z.strictObject({ memory_id: z.uuid().describe('The id of a memory that a search returned.') });

const tools: readonly McpTool<MemoryRequest>[] = [
  {
    name: 'remember',
    title: 'Remember a fact',
    description:
      'Accepts a fact about the user, to be kept as it is given. Use it for what the user said, not for what a search ' +
      'returned. The status PENDING means that the fact is not stored yet: get_event tells when it is, and why it is not.',
    inputSchema: z.toJSONSchema(rememberSchema, { io: 'input' }) as Readonly<Record<string, unknown>>,
    isReadOnly: false,
    async run(request, args) {
      const read = readBodyAs(rememberSchema, argumentsOf(request, args), 'invalid_request');
      if (read.kind === 'error') return refusedBy(read);
      const { fact, agent_id } = read.value;
      return run(request, addWithoutKey, { messages: [{ role: 'user', content: fact }], agent_id, infer: false });
    },
  },
  {
    name: 'get_event',
    title: 'Read how remembering ended',
    description:
      'The status of a fact that was given to remember: PENDING, SUCCEEDED with the ids of its memories and what was ' +
      'decided, or FAILED with the reason in error, and then nothing was stored.',
    inputSchema: z.toJSONSchema(eventSchema, { io: 'input' }) as Readonly<Record<string, unknown>>,
    isReadOnly: true,
    async run(request, args) {
      const read = readBodyAs(eventSchema, argumentsOf(request, args), 'invalid_request');
      if (read.kind === 'error') return refusedBy(read);
      const path = (): string => read.value.event_id;
      return run(request, getEvent, undefined, path);
    },
  },
  {
    name: 'search_memories',
    title: 'Search memories',
    description: 'Memories of the user that are relevant to a question, best first.',
    inputSchema: z.toJSONSchema(searchMemoriesSchema, { io: 'input' }) as Readonly<Record<string, unknown>>,
    isReadOnly: true,
    run: (request, args) => run(request, answerSearchMemories, args),
  },
  {
    name: 'forget',
    title: 'Forget a memory',
    description: 'Deletes one memory of the user, by the id that a search returned.',
    inputSchema: z.toJSONSchema(forgetSchema, { io: 'input' }) as Readonly<Record<string, unknown>>,
    isReadOnly: false,
    async run(request, args) {
      const read = readBodyAs(forgetSchema, argumentsOf(request, args), 'invalid_request');
      if (read.kind === 'error') return refusedBy(read);
      const path = (): string => read.value.memory_id;
      return run(request, deleteMemory, undefined, path);
    },
  },
];

const server: McpServer<MemoryRequest> = {
  name: 'portcullis-memory',
  title: 'Memory',
  version: '1.0.0',
  instructions: 'Remembers facts about the user. Only memories of the calling user are read, changed and deleted.',
  tools,
};

/**
 * Clients of the protocol send the same headers with every message (docs/decisions/0112), so that a key in a header names no
 * call. A fact that is remembered again is the same memory.
 */
function addWithoutKey(request: MemoryRequest): Promise<MemoryResponse> {
  return acceptMessages(request, undefined);
}

function argumentsOf({ body }: MemoryRequest, args: Readonly<Record<string, unknown>>): MemoryRequest['body'] {
  return { ...body, json: args as MemoryRequest['body']['json'] };
}

function refusedBy({ code, details }: MemoryError): ToolOutcome {
  return { kind: 'refused', code, message: errorMessage(memoryErrors[code].meaning, details) };
}

/**
 * Runs an operation of the API as a tool. An error that the model can correct is a tool error; an unavailable
 * dependency is a 503.
 */
async function run(
  request: MemoryRequest,
  operation: (request: MemoryRequest) => Promise<MemoryResponse>,
  args: Readonly<Record<string, unknown>> | undefined,
  path: MemoryRequest['path'] = () => '',
): Promise<ToolOutcome> {
  try {
    const response = await operation({
      service: request.service,
      caller: request.caller,
      incoming: request.incoming,
      traceId: request.traceId,
      traceparent: request.traceparent,
      path,
      query: {},
      body: { ...request.body, json: args },
    } as MemoryRequest);
    if (response.kind === 'success')
      return { kind: 'result', value: response.body as Readonly<Record<string, unknown>> };
    return refusedBy(response);
  } catch (error) {
    const code = memoryErrorOf(error);
    if (code === undefined || memoryErrors[code].status !== 400) throw error;
    return { kind: 'refused', code, message: memoryErrors[code].meaning };
  }
}
