import type { TokenFile } from '#kit/http/token-file';
import type { CheckTarget } from '../client.ts';

export const testToken: TokenFile = { accepts: () => false, first: () => 'service-token' };

export function checkTargetOf(addresses: readonly string[], changes: Partial<CheckTarget> = {}): CheckTarget {
  return {
    addresses,
    policyId: 'p-1',
    policyRevision: '7',
    digest: 'ab'.repeat(32),
    contentProfile: 'gateway-1.5.0-chat-webhook-v2',
    maxBodyBytes: 4_096,
    maxMessages: 8,
    deadlineMs: 3_000,
    ...changes,
  };
}

/** A check message with the role `user`. */
export function said(content: string): { role: string; content: string } {
  return { role: 'user', content };
}
