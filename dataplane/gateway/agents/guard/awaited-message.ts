import type { JsonValue } from '#kit/json/json-value';
import type { CallMode } from '../calls/parse-call.ts';

type Members = Record<string, JsonValue>;

/**
 * Members of the configuration of a message with which a client of A2A requests an answer before its run has ended: the
 * member of A2A 1.0, which the JSON of protocol buffers spells in two ways, and the member of earlier versions.
 */
const detaching: readonly string[] = ['returnImmediately', 'return_immediately', 'blocking'];
/** The member of the parameters of MCP with which a client makes its call of a tool a task. */
const taskMembers: readonly string[] = ['task'];

/**
 * A call without the members that let the process of an image continue after its answer, because the gateway counts a
 * run until its answer. Clients cannot read a task of MCP through the gateway.
 * @returns the same message if it has none of these members
 */
export function awaitedMessage(message: Members, mode: CallMode): Members {
  const holder = mode === 'MCP' ? 'params' : 'configuration';
  const names = mode === 'MCP' ? taskMembers : detaching;
  const held = message[holder];
  if (typeof held !== 'object' || held === null || Array.isArray(held)) return message;
  if (!names.some((name) => Object.hasOwn(held, name))) return message;
  const kept = Object.entries(held).filter(([name]) => !names.includes(name));
  return { ...message, [holder]: Object.fromEntries(kept) };
}
