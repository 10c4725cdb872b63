import { InvalidArgumentError } from 'commander';
import type { JsonValue } from '#kit/json/json-value';

/** Parses the JSON object of an option. */
export function readJsonObject(text: string): JsonValue {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonValue;
  } catch {
    // The problem is reported below.
  }
  throw new InvalidArgumentError(`It must be a JSON object, such as '{"question": "What is the capital?"}'.`);
}
