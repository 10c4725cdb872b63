import type { JsonValue } from '#kit/json/json-value';
import { JsonError, parseStrict } from '#kit/json/parse-strict';
import type { RoutedVersion } from '#resources/agent-route';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import type { AgentOperation } from '../calls/parse-call.ts';
import { asksForPush, awaitedMessage } from './awaited-message.ts';
import { respellingOf } from './one-spelling.ts';
import { isPlainId } from './plain-id.ts';
import { type Hold, mostMessageValues, mostUnjudgedValues, treeBytes } from './tree-bytes.ts';
import type { StageGuard } from './version-guard.ts';

/** Operations of an image that the gateway can judge. Push notifications and further cards would bypass the gateway. */
const offered: ReadonlySet<string> = new Set([
  'mcp',
  'message:send',
  'message:stream',
  'tasks:list',
  'tasks:get',
  'tasks:cancel',
  'tasks:subscribe',
]);
/** Messages of MCP that a client may send to an image. */
const methods: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'notifications/initialized',
  'notifications/cancelled',
]);

/** Members of MCP that decide what an image does, which it must not read from another spelling. */
const isOtherMember = respellingOf(['jsonrpc', 'id', 'method', 'params']);
const isOtherName = respellingOf(['name']);

/** Operations that A2A has an exact error for. */
const exactRefusals: ReadonlyMap<string, 'push_notification_not_supported' | 'extended_card_not_configured'> = new Map([
  ['tasks:push', 'push_notification_not_supported'],
  ['card:extended', 'extended_card_not_configured'],
]);

type Members = Record<string, JsonValue>;

/** A call of an image whose texts have passed the input policy. */
export type JudgedCall = {
  readonly body: Buffer | undefined;
  /** The message of MCP that the answer must belong to. */
  readonly asked: { readonly id: JsonValue | undefined; readonly method: string } | undefined;
};

/** The policy and the memory with which a body is judged. */
type BodyGuard = {
  readonly guard: StageGuard;
  /** Reserves memory for the values of the body, until it was judged. */
  readonly hold: Hold;
};

/**
 * Admits the body of a call of an image: only messages that the gateway knows reach its process, with every text as the
 * input policy returns it, and without a member that requests an answer before the run has ended.
 * @param judging undefined if the input is declared unguarded
 * @throws AgentRefusal operation_not_supported, push_notification_not_supported, extended_card_not_configured,
 * invalid_request, request_too_large for too many values, overloaded, content_type_not_supported, guardrail_denied,
 * guardrail_error
 */
export async function judgeCall(
  { sdk }: Pick<RoutedVersion, 'sdk'>,
  { name, mode }: Pick<AgentOperation, 'name' | 'mode'>,
  body: Buffer | undefined,
  judging: BodyGuard | undefined,
): Promise<JudgedCall> {
  if (!offered.has(name)) throw new AgentRefusal(exactRefusals.get(name) ?? 'operation_not_supported');
  if (body === undefined || body.length === 0) return { body, asked: undefined };
  const sent = objectOf(body, judging === undefined ? mostUnjudgedValues : mostMessageValues);
  if (sent === 'too_many_values') throw new AgentRefusal('request_too_large');
  if (sent === undefined) throw new AgentRefusal('invalid_request');
  const message = awaitedMessage(sent, mode);
  const asked = mode === 'MCP' ? askedOf(message, sdk?.tool) : undefined;
  if (mode === 'A2A' && asksForPush(message)) throw new AgentRefusal('push_notification_not_supported');
  if (judging === undefined) return { body: message === sent ? body : wireBytes(message), asked };
  const { guard, hold } = judging;
  if (!(await hold(treeBytes(message)))) throw new AgentRefusal('overloaded');
  if (mode === 'MCP') {
    const { jsonrpc, id, method, params } = message;
    // The answer repeats the id, so that an answer with a masked id would belong to no call.
    if (id !== undefined && !isPlainId(String(id))) await guard.judge({ id }, 'id');
    const judged = isWireObject(params) ? await judgeParams(guard, method, params) : undefined;
    return { body: wireBytes({ jsonrpc, id, method, params: judged }), asked };
  }
  await guard.judge({ message }, 'message');
  return { body: wireBytes(message), asked };
}

/** The parameters as the policy returns them. In a call of a tool, the name is that of the tool of the route. */
async function judgeParams(guard: StageGuard, method: JsonValue | undefined, params: Members): Promise<Members> {
  const { name: _tool, ...rest } = params;
  const judged = method === 'tools/call' ? rest : params;
  await guard.judge({ message: judged }, 'message');
  return { ...params, ...judged };
}

/** @throws AgentRefusal for a message that is no request or notification of a client, or that calls another tool */
function askedOf(message: Members, tool: string | undefined): JudgedCall['asked'] {
  const { jsonrpc, id, method, params } = message;
  const isRespelled =
    Object.keys(message).some(isOtherMember) || (isWireObject(params) && Object.keys(params).some(isOtherName));
  if (isRespelled) throw new AgentRefusal('invalid_request');
  const isId = id === undefined || typeof id === 'number' || (typeof id === 'string' && id.length <= 256);
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !isId) throw new AgentRefusal('invalid_request');
  if (!methods.has(method)) throw new AgentRefusal('operation_not_supported', {}, { id, rpcCode: -32601 });
  if (method === 'tools/call' && (!isWireObject(params) || params['name'] !== tool)) {
    throw new AgentRefusal('operation_not_supported', {}, { id, rpcCode: -32602 });
  }
  return { id, method };
}

/** The object that bytes hold, read strictly; undefined for anything else. */
export function objectOf(bytes: Uint8Array, maxValues: number): Members | 'too_many_values' | undefined {
  try {
    const value = parseStrict(bytes, { maxValues });
    return isWireObject(value) ? value : undefined;
  } catch (error) {
    return error instanceof JsonError && error.fault === 'values' ? 'too_many_values' : undefined;
  }
}

export function isWireObject(value: JsonValue | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Members that are undefined are left out. */
export function wireBytes(value: Readonly<Record<string, JsonValue | undefined>>): Buffer {
  return Buffer.from(JSON.stringify(value));
}
