import { z } from 'zod';
import { failure } from '#api/operation';
import { errorMessage } from '#api/table-parts';
import { packRequestSchema, queryRequestSchema, retrievalLimits } from '#contracts/retrieval';
import { retrievalErrors } from '#contracts/retrieval-errors';
import { answerMessage, type McpServer, type McpTool, type ToolOutcome } from '#mcp/answer-message';
import { headerFault } from '#mcp/check-headers';
import { clientMessageSchema } from '#mcp/message';
import { errorOf } from './error-of.ts';
import { listCollections } from './list-collections.ts';
import { query } from './query.ts';
import { readRequest } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';
import { retrieveAndPack } from './retrieve-and-pack.ts';

/** Answers one message of an MCP client with the identity, rights and limits of every other operation. */
export async function answerMcp(request: RetrievalRequest): Promise<RetrievalResponse> {
  const fault = headerFault(request.incoming.headers);
  if (fault === 'foreign_origin') return failure('forbidden');
  if (fault !== undefined) {
    return failure('invalid_document', [{ path: 'MCP-Protocol-Version', message: 'is not a supported version' }]);
  }
  const read = readRequest(clientMessageSchema, request.body);
  if (read.kind === 'error') return read;
  const answer = await answerMessage(server, read.value, request);
  return { kind: 'success', status: answer === undefined ? 202 : 200, body: answer };
}

/** Number of collections of one answer, at most a page of the API: a model reads all of them. */
const listedCollections = 200;
const collectionsArguments = z.strictObject({ after: z.string().min(1).max(retrievalLimits.name).optional() });

const tools: readonly McpTool<RetrievalRequest>[] = [
  {
    name: 'list_collections',
    title: 'List collections',
    description:
      'The first 200 collections of documents that can be searched, in the order of their names. Call it first to learn ' +
      'their names. `after` is the name of the last one that is known, and the answer has those after it.',
    inputSchema: schemaOf(collectionsArguments),
    isReadOnly: true,
    run: async (request, args) => {
      const page = collectionsArguments.safeParse(args);
      if (!page.success) return { kind: 'refused', code: 'invalid_document', message: 'after must be a name' };
      const limit = listedCollections;
      const outcome = await run(request, (asked) => listCollections(asked, { ...page.data, limit }), undefined);
      return outcome.kind === 'result' ? { kind: 'result', value: { collections: outcome.value } } : outcome;
    },
  },
  {
    name: 'search_documents',
    title: 'Search documents',
    description: 'Citations of the documents of a collection that answer a question, best first.',
    inputSchema: schemaOf(queryRequestSchema),
    isReadOnly: true,
    run: async (request, args) => asObject(await run(request, query, args)),
  },
  {
    name: 'pack_documents',
    title: 'Pack documents',
    description: 'Joins the passages that fit a question into one text of at most a number of tokens, with citations.',
    inputSchema: schemaOf(packRequestSchema),
    isReadOnly: true,
    run: async (request, args) => asObject(await run(request, retrieveAndPack, args)),
  },
];

const server: McpServer<RetrievalRequest> = {
  name: 'portcullis-retrieval',
  title: 'Knowledge retrieval',
  version: '1.0.0',
  instructions: 'Searches the documents of the company with the rights of the user. Cite doc_id and source_url.',
  tools,
};

type Refused = Extract<ToolOutcome, { kind: 'refused' }>;
type Ran = { readonly kind: 'result'; readonly value: unknown } | Refused;

/**
 * Runs an operation of the API as a tool. An error that the model can correct is a tool error; an unavailable
 * dependency is a 503.
 */
async function run(
  request: RetrievalRequest,
  operation: (request: RetrievalRequest) => Promise<RetrievalResponse>,
  args: Readonly<Record<string, unknown>> | undefined,
): Promise<Ran> {
  try {
    const response = await operation({ ...request, body: { ...request.body, json: args } } as RetrievalRequest);
    if (response.kind === 'success') return { kind: 'result', value: response.body };
    return {
      kind: 'refused',
      code: response.code,
      message: errorMessage(retrievalErrors[response.code].meaning, response.details),
    };
  } catch (error) {
    const code = errorOf(error);
    if (code !== 'invalid_document') throw error;
    return { kind: 'refused', code, message: retrievalErrors[code].meaning };
  }
}

function asObject(ran: Ran): ToolOutcome {
  return ran.kind === 'refused' ? ran : { kind: 'result', value: ran.value as Readonly<Record<string, unknown>> };
}

function schemaOf(schema: z.ZodType): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(schema, { io: 'input' });
}
