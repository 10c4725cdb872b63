import { failure } from '#api/operation';
import { overrideFreezeHeader } from '#contracts/freezes';
import { headerValues } from '#kit/http/raw-headers';
import type { ManagementError } from './management.ts';

/** Whether a command requests to take effect even in a freeze window. The header is not part of the contract. */
export function readOverride(
  rawHeaders: readonly string[],
): { readonly kind: 'override'; readonly overridesFreeze: boolean } | ManagementError {
  const values = headerValues(rawHeaders, overrideFreezeHeader);
  if (values.length === 0) return { kind: 'override', overridesFreeze: false };
  if (values.length === 1 && values[0] === 'true') return { kind: 'override', overridesFreeze: true };
  return failure('invalid_body', [
    { path: '', message: `the header ${overrideFreezeHeader} must be sent once, as true` },
  ]);
}
