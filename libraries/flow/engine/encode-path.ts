import type { JsonValue } from '#kit/json/json-value';
import { FlowError } from './flow-error.ts';

type Values = { readonly [name: string]: JsonValue };

/**
 * A path with its `{name}` replaced by encoded values. A value cannot be empty, `.` or `..`, because a segment of that
 * form would address another path.
 * @throws FlowError type_mismatch
 */
export function encodePath(path: string, values: Values): string {
  return path.replaceAll(/\{([a-z][a-z0-9_]*)\}/g, (_, name: string) => {
    const text = scalarText(values[name], name);
    if (text === '' || text === '.' || text === '..') {
      throw new FlowError('type_mismatch', { message: `${name} must be a name in a path` });
    }
    return encodeURIComponent(text);
  });
}

/** @throws FlowError type_mismatch for a value that is not text, number or boolean */
export function queryTexts(values: Values): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, scalarText(value, 'query')]));
}

function scalarText(value: JsonValue | undefined, name: string): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string' && value.isWellFormed()) return value;
  throw new FlowError('type_mismatch', { message: `${name} must be a text, a number or a boolean` });
}
