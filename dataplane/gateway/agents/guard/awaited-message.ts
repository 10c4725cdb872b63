import type { JsonValue } from '#kit/json/json-value';
import type { CallMode } from '../calls/parse-call.ts';
import { spellingOf } from './one-spelling.ts';

type Members = Record<string, JsonValue>;

/**
 * Members of the configuration of a message with which a client of A2A requests an answer before its run has ended: that
 * of A2A 1.0 and that of earlier versions, in every spelling.
 */
const detaching = spellings('returnImmediately', 'blocking');
/** Those with which it requests that an image sends the events of a task to an address: of A2A 1.0 and of 0.3. */
const pushing = spellings('taskPushNotificationConfig', 'pushNotificationConfig');
/** The member of the parameters of MCP with which a client makes its call of a tool a task. */
const taskMembers = spellings('task');

/**
 * A call without the members that let the process of an image continue after its answer, because the gateway counts a
 * run until its answer. Clients cannot read a task of MCP through the gateway.
 * @returns the same message if it has none of these members
 */
export function awaitedMessage(message: Members, mode: CallMode): Members {
  const holder = mode === 'MCP' ? 'params' : 'configuration';
  const names = mode === 'MCP' ? taskMembers : detaching;
  if (!membersBelow(message, holder).some((name) => names.has(spellingOf(name)))) return message;
  const kept = Object.entries(message).map(([name, value]): [string, JsonValue] => [
    name,
    spellingOf(name) === holder && isObject(value) ? without(value, names) : value,
  ]);
  return Object.fromEntries(kept);
}

/** Whether a message of A2A requests push notifications. */
export function asksForPush(message: Members): boolean {
  return membersBelow(message, 'configuration').some((name) => pushing.has(spellingOf(name)));
}

/** The names of the members below one member, in whatever spelling it is sent. */
function membersBelow(message: Members, holder: string): readonly string[] {
  return Object.entries(message).flatMap(([name, value]) =>
    spellingOf(name) === holder && isObject(value) ? Object.keys(value) : [],
  );
}

function without(value: Members, names: ReadonlySet<string>): Members {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(spellingOf(name))));
}

function isObject(value: JsonValue): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function spellings(...names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map(spellingOf));
}
