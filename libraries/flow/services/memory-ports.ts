import { createHash } from 'node:crypto';
import { acceptedEventSchema, foundMemoriesSchema, sessionStateSchema } from '#contracts/memory';
import type { JsonValue } from '#kit/json/json-value';
import { PortError } from '../engine/flow-error.ts';
import type { FlowPorts, PortCall } from '../engine/ports.ts';
import { type CallerService, readServiceAnswer } from './caller-service.ts';
import { exchangeWithService } from './exchange-with-service.ts';
import { traceHeaders } from './trace-headers.ts';

/** How long the state of a session is kept after its last write, seconds. */
const sessionSeconds = 86_400;

/**
 * The memories and session states of the memory service. A memory belongs to the caller of the run and to its agent, a
 * session state also to its session; these names come from the context of the run. A session without a stored state has
 * an empty state.
 */
export function createMemoryPorts({
  url,
  identity,
}: CallerService): Pick<FlowPorts, 'memorySearch' | 'memoryAdd' | 'sessionGet' | 'sessionPut'> {
  const exchange = async (call: PortCall, path: string, body?: object, headers: Record<string, string> = {}) =>
    exchangeWithService({
      url: new URL(path, url),
      headers: { ...traceHeaders(call), ...(await identity(call)), ...headers },
      ...(body === undefined ? {} : { body }),
      signal: call.signal,
    });
  return {
    async memorySearch({ query, topK }, call) {
      const filters = { AND: [{ user_id: fact(call, 'userId') }, { agent_id: fact(call, 'agentId') }] };
      const answer = await exchange(call, '/v1/memories/search', { query, filters, top_k: topK });
      return { items: readServiceAnswer(foundMemoriesSchema, answer).results.map(asRecord) };
    },
    async memoryAdd({ text, infer }, call) {
      const body = { messages: [{ role: 'user', content: text }], agent_id: fact(call, 'agentId'), infer };
      const answer = await exchange(call, '/v1/memories', body, { 'idempotency-key': addKey(call) });
      return { eventId: readServiceAnswer(acceptedEventSchema, answer).event_id };
    },
    async sessionGet(_, call) {
      try {
        const answer = readServiceAnswer(sessionStateSchema, await exchange(call, sessionPath(call)));
        return { state: asRecord(answer.state) };
      } catch (error) {
        if (error instanceof PortError && error.code === 'not_found') return { state: {} };
        throw error;
      }
    },
    async sessionPut({ state }, call) {
      await exchange(call, sessionPath(call), { state, ttl_seconds: sessionSeconds });
      return {};
    },
  };
}

/**
 * The idempotency key of an add, equal for all attempts of a node, so that an add whose answer was lost is not stored
 * twice.
 */
function addKey({ runId, path }: PortCall): string {
  return createHash('sha256').update(`${runId}\n${path}`).digest('hex');
}

/** Each agent has its own state in a session. For every session id, the digest is a valid id for the memory service. */
function sessionPath(call: PortCall): string {
  const owner = `${fact(call, 'agentId')}\n${fact(call, 'sessionId')}`;
  return `/v1/sessions/${createHash('sha256').update(owner).digest('hex')}/state`;
}

/** A fact of the context of a run. @throws PortError forbidden without it */
function fact({ context }: PortCall, name: 'userId' | 'agentId' | 'sessionId'): string {
  const value = context[name];
  if (typeof value !== 'string' || value === '') throw new PortError('forbidden');
  return value;
}

/** Values of an answer that was read as JSON. */
function asRecord(value: object): Record<string, JsonValue> {
  return value as Record<string, JsonValue>;
}
