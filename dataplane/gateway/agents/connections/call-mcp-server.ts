import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { McpConnectionCall } from '#contracts/connections';
import { flowLimits } from '#contracts/flow-limits';
import type { FlowConnection } from '#environment/connections-file';
import { SseReader } from '#kit/http/sse-reader';
import { JsonError, type JsonValue, parseStrict } from '#kit/json/parse-strict';
import { protocolVersions } from '#mcp/message';
import { ConnectionError } from './connection-error.ts';
import { exchangeBytes, readWhole, type ServiceAnswer, type ServiceLink } from './exchange-bytes.ts';

type McpConnection = Extract<FlowConnection, { readonly kind: 'mcp' }>;
type Request = { readonly id?: number; readonly method: string; readonly params: object };
/** The state that the requests of one session share. */
type Session = { readonly url: URL; readonly link: ServiceLink; headers: Readonly<Record<string, string>> };

/** Time for the end of a session, which no caller waits for, milliseconds. */
const endMs = 2_000;

const answerSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.int(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ code: z.int() }).optional(),
});
const initializedSchema = z.object({ protocolVersion: z.enum(protocolVersions) });
const resultSchema = z.object({
  content: z.array(z.object({ type: z.literal('text'), text: z.string() })).default([]),
  structuredContent: z.record(z.string(), z.json()).optional(),
  isError: z.boolean().default(false),
});

/**
 * Calls one tool of an MCP server over Streamable HTTP (MCP 2025-11-25). Each call has its own session, so that it sees
 * no state that a server keeps for another call. The result has the texts, joined by line ends, and the structured
 * content. Requests of the server are not answered.
 * @throws ConnectionError
 */
export async function callMcpServer(
  { url, tools }: Pick<McpConnection, 'url' | 'tools'>,
  call: McpConnectionCall,
  link: ServiceLink,
): Promise<{ readonly text: string; readonly data?: JsonValue }> {
  if (!tools.includes(call.tool)) throw new ConnectionError('call_forbidden');
  const session: Session = { url, link, headers: {} };
  try {
    const clientInfo = { name: 'portcullis', version: '1' };
    const params = { protocolVersion: protocolVersions[0], capabilities: {}, clientInfo };
    const { protocolVersion } = read(initializedSchema, await ask(session, { id: 1, method: 'initialize', params }));
    session.headers = { ...session.headers, 'mcp-protocol-version': protocolVersion };
    await tell(session, { method: 'notifications/initialized', params: {} });
    const named = { name: call.tool, arguments: call.arguments };
    const result = read(resultSchema, await ask(session, { id: 2, method: 'tools/call', params: named }));
    if (result.isError) throw new ConnectionError('tool_failed');
    const text = result.content.map((part) => part.text).join('\n');
    return { text, ...(result.structuredContent === undefined ? {} : { data: result.structuredContent as JsonValue }) };
  } finally {
    endSession(session);
  }
}

async function tell(session: Session, message: Request): Promise<void> {
  await post(session, message, async (answer) => refuseStatus(answer));
}

/** The result of a request. @throws ConnectionError */
async function ask(session: Session, message: Request): Promise<unknown> {
  const answer = await post(session, message, async (given, body) => {
    refuseStatus(given);
    const id = given.headers['mcp-session-id'];
    if (message.method === 'initialize' && typeof id === 'string') session.headers = { 'mcp-session-id': id };
    if (given.mediaType === 'text/event-stream') return await readEvents(session.link, body, message.id);
    if (given.mediaType !== 'application/json') throw new ConnectionError('answer_invalid');
    return answerIn(await readWhole(session.link, body), message.id);
  });
  if (answer?.error !== undefined) throw new ConnectionError('tool_failed');
  if (answer?.result === undefined) throw new ConnectionError('answer_invalid');
  return answer.result;
}

async function post<T>(
  { url, link, headers }: Session,
  message: Request,
  take: (answer: ServiceAnswer, body: Readable) => Promise<T>,
): Promise<T> {
  const sent = {
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  };
  return await exchangeBytes(link, sent, take);
}

/** A refused credential and a missing path are faults of the connection, which the caller cannot repair. */
function refuseStatus({ status }: ServiceAnswer): void {
  if (status >= 300) throw new ConnectionError('connection_unavailable');
}

/** The answer with this id in a stream, in which notifications may precede it. */
async function readEvents({ maxAnswerBytes }: ServiceLink, body: Readable, id: number | undefined) {
  const reader = new SseReader(maxAnswerBytes);
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new ConnectionError('answer_invalid');
    reader.push(chunk);
    for (let event = reader.next(); event !== undefined; event = reader.next()) {
      if (event.kind === 'too_large') throw new ConnectionError('answer_invalid');
      const answer = event.kind === 'data' ? answerIn(event.data, id) : undefined;
      if (answer !== undefined) return answer;
    }
  }
  return undefined;
}

function answerIn(bytes: Uint8Array, id: number | undefined): z.output<typeof answerSchema> | undefined {
  if (bytes.length === 0) return undefined;
  const message = answerSchema.safeParse(parsed(bytes));
  return message.success && message.data.id === id ? message.data : undefined;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseStrict(bytes, { maxDepth: flowLimits.outputDepth + 4 });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new ConnectionError('answer_invalid');
  }
}

function read<T>(schema: z.ZodType<T>, value: unknown): T {
  const found = schema.safeParse(value);
  if (!found.success) throw new ConnectionError('answer_invalid');
  return found.data;
}

/** A server ends idle sessions itself, so an error of this request has no effect. */
function endSession({ url, link, headers }: Session): void {
  if (headers['mcp-session-id'] === undefined) return;
  const ending = { ...link, signal: AbortSignal.timeout(endMs) };
  void exchangeBytes(ending, { method: 'DELETE', url, headers }, async () => undefined).catch(() => undefined);
}
