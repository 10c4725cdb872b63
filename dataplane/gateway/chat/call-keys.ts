import type { JsonValue } from '#kit/json/parse-strict';
import { isDisguised } from './fold-key.ts';

const callKeys: ReadonlySet<string> = new Set([
  ...['id', 'type', 'index', 'function', 'custom', 'name', 'arguments', 'input'],
]);

/** Whether tool calls have a key that only some clients read as a key of the API, such as `Arguments` in Go. */
export function hasDisguisedCallKey(calls: JsonValue | undefined): boolean {
  if (Array.isArray(calls)) return calls.some(hasDisguisedCallKey);
  if (typeof calls !== 'object' || calls === null) return false;
  if (Object.keys(calls).some((key) => isDisguised(key, callKeys))) return true;
  return hasDisguisedCallKey(calls['function']) || hasDisguisedCallKey(calls['custom']);
}
