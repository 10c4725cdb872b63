import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AskedRequest } from '#api/operation';
import type { ManagementCaller } from './management-caller.ts';

/** Minimum length of the emergency credential, in characters. */
const shortestBreakGlass = 32;

type EmergencyUse = { readonly caller: ManagementCaller; readonly isAllowed: boolean };

export type BreakGlass = {
  /**
   * The emergency caller, and whether it may make this request; undefined for any other token.
   * @param request the raw headers, which identify the request: a request counts as one use, however often it is
   * checked
   */
  callerOf(token: string, asked: AskedRequest, request: readonly string[]): EmergencyUse | undefined;
};

const caller: ManagementCaller = {
  subject: 'break-glass',
  author: { kind: 'service', name: 'break-glass' },
  groups: [],
};

/**
 * The credential for the case that no administrator can sign in: the content of a file, read for every request, so that
 * removing the file disables it immediately. If the file is absent, unreadable or shorter than 32 characters, no
 * request is accepted.
 * @param operations the operations that the caller may request
 * @param onUsed called for every use
 */
export function createBreakGlass(
  file: string | undefined,
  operations: readonly string[],
  onUsed: (used: Pick<AskedRequest, 'operation' | 'traceId'> & { readonly isAllowed: boolean }) => void,
): BreakGlass {
  const noted = new WeakSet<readonly string[]>();
  return {
    callerOf(token, { operation, traceId }, request) {
      const expected = contentOf(file);
      if (expected === undefined || !timingSafeEqual(hashOf(token), hashOf(expected))) return undefined;
      const isAllowed = operations.includes(operation);
      if (!noted.has(request)) onUsed({ operation, isAllowed, traceId });
      noted.add(request);
      return { caller, isAllowed };
    },
  };
}

function contentOf(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text.length < shortestBreakGlass ? undefined : text;
  } catch {
    return undefined;
  }
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
