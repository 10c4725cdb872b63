import { z } from 'zod';
import { type ClientMessage, protocolVersions, rpcErrors, type ServerAnswer } from './message.ts';

/**
 * The result of a call: a text for the model, and the same as a value. A refusal has no value, as clients validate
 * values.
 */
export type ToolOutcome =
  | { readonly kind: 'result'; readonly value: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      /** Further facts for programs, such as the trace id. */
      readonly details?: Readonly<Record<string, string>>;
    };

export type McpTool<Context> = {
  /** 1 to 64 of A-Z, a-z, 0-9, underscore and hyphen. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema 2020-12 of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** JSON Schema 2020-12 of the value of a result, an object; clients validate each value with it. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** Whether a call of the tool changes no data. */
  readonly isReadOnly: boolean;
  /** Further hints for users and models; they grant no right. */
  readonly annotations?: Readonly<Record<string, boolean | undefined>>;
  /** Validates the arguments itself. */
  readonly run: (context: Context, args: Readonly<Record<string, unknown>>) => Promise<ToolOutcome>;
};

export type McpServer<Context> = {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  /** Text for a model that chooses among the tools. */
  readonly instructions: string;
  readonly tools: readonly McpTool<Context>[];
  /**
   * Revisions of the protocol that the server supports, the preferred revision first; all known revisions when absent.
   */
  readonly protocolVersions?: readonly [string, ...string[]];
};

const initializeParams = z.looseObject({ protocolVersion: z.string() });
const listParams = z.looseObject({ cursor: z.string().optional() });
const callParams = z.looseObject({ name: z.string(), arguments: z.looseObject({}).default({}) });

/**
 * Answers one message of a client. This function has no sessions: a server with sessions manages them outside of it.
 * @returns undefined for a notification and for an answer, which are not answered
 */
export async function answerMessage<Context>(
  server: McpServer<Context>,
  message: ClientMessage,
  context: Context,
): Promise<ServerAnswer | undefined> {
  const { id, method } = message;
  if (id === undefined || method === undefined) return undefined;
  const answer = await resultOf(server, method, message.params ?? {}, context);
  return 'code' in answer
    ? { jsonrpc: '2.0', id, error: { code: answer.code, message: answer.message } }
    : { jsonrpc: '2.0', id, result: answer.result };
}

type RpcError = { readonly code: number; readonly message: string };
type RpcResult = { readonly result: Record<string, unknown> };

async function resultOf<Context>(
  server: McpServer<Context>,
  method: string,
  params: Readonly<Record<string, unknown>>,
  context: Context,
): Promise<RpcResult | RpcError> {
  switch (method) {
    case 'initialize':
      return initialize(server, params);
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return listTools(server, params);
    case 'tools/call':
      return callTool(server, params, context);
    default:
      return { code: rpcErrors.methodNotFound, message: 'Method not found' };
  }
}

function initialize<Context>(
  { name, title, version, instructions, protocolVersions: offered = protocolVersions }: McpServer<Context>,
  params: Readonly<Record<string, unknown>>,
): RpcResult | RpcError {
  const read = initializeParams.safeParse(params);
  if (!read.success) return invalidParams('protocolVersion is missing');
  const [newest] = offered;
  const protocolVersion = offered.find((one) => one === read.data.protocolVersion) ?? newest;
  const capabilities = { tools: { listChanged: false } };
  return { result: { protocolVersion, capabilities, serverInfo: { name, title, version }, instructions } };
}

function listTools<Context>(
  { tools }: McpServer<Context>,
  params: Readonly<Record<string, unknown>>,
): RpcResult | RpcError {
  const read = listParams.safeParse(params);
  // All tools are on one page, so that there is no cursor.
  if (!read.success || (read.data.cursor ?? '') !== '') return invalidParams('the cursor is not one of this server');
  return {
    result: {
      tools: tools.map(({ name, title, description, inputSchema, outputSchema, isReadOnly, annotations }) => ({
        name,
        title,
        description,
        inputSchema,
        ...(outputSchema === undefined ? {} : { outputSchema }),
        annotations: { readOnlyHint: isReadOnly, ...annotations },
      })),
    },
  };
}

async function callTool<Context>(
  { tools }: McpServer<Context>,
  params: Readonly<Record<string, unknown>>,
  context: Context,
): Promise<RpcResult | RpcError> {
  const read = callParams.safeParse(params);
  if (!read.success) return invalidParams('name must be a string and arguments an object');
  const tool = tools.find(({ name }) => name === read.data.name);
  if (tool === undefined) return invalidParams('Unknown tool');
  const outcome = await tool.run(context, read.data.arguments);
  if (outcome.kind === 'result') {
    const { value } = outcome;
    return { result: { content: [textOf(value)], structuredContent: value, isError: false } };
  }
  const { code, message, details } = outcome;
  return { result: { content: [textOf({ code, message, ...details })], isError: true } };
}

function textOf(value: unknown): { readonly type: 'text'; readonly text: string } {
  return { type: 'text', text: JSON.stringify(value) };
}

function invalidParams(message: string): RpcError {
  return { code: rpcErrors.invalidParams, message };
}
