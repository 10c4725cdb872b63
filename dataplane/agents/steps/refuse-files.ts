import type { JsonValue } from '#kit/json/json-value';
import type { CallPart } from '../calls/agent-call.ts';
import { AgentError } from '../calls/agent-error.ts';

/** Value of `apiVersion` in a file reference. */
const fileRefVersion = /^platform\.file-ref\//;

/**
 * Step three of a version without files: a file reference is refused, so that no part of it reaches a flow or a policy
 * (`agents:order:fileref-disabled`).
 * @throws AgentError file_refused
 */
export function refuseFiles(parts: readonly CallPart[]): void {
  if (parts.some((part) => part.kind === 'data' && hasFileRef(part.data))) throw new AgentError('file_refused');
}

function hasFileRef(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasFileRef);
  const version = Object.hasOwn(value, 'apiVersion') ? value['apiVersion'] : undefined;
  if (typeof version === 'string' && fileRefVersion.test(version)) return true;
  return Object.values(value).some(hasFileRef);
}
