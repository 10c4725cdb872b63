import type { GuardrailPolicy } from '#resources/guardrail-policy';

export const targetBytes = 690 * 1_024;

/** A policy of 690 KiB, with the stop list of a large organisation. */
export function largePolicy(name: string): GuardrailPolicy {
  const policy = (terms: string[]): GuardrailPolicy => ({
    apiVersion: 'portcullis.dev/v1alpha1',
    kind: 'GuardrailPolicy',
    metadata: { name },
    spec: {
      displayName: 'Large',
      description: '',
      lifecycle: 'Draft',
      definition: { request: section(terms), response: section(['forbidden']), providers: [] },
    },
  });
  const section = (terms: string[]): GuardrailPolicy['spec']['definition']['request'] => ({
    deadlineMs: 250,
    baseline: [
      {
        id: 'words',
        kind: 'stop_list',
        timeoutMs: 20,
        action: { type: 'deny' },
        stopList: { terms, match: 'token', caseSensitive: false },
      },
    ],
    additional: [],
  });
  const term = (index: number): string => `forbidden word ${String(index).padStart(8, '0')}`;
  const rest = targetBytes - JSON.stringify(policy(['x'])).length;
  const count = Math.floor(rest / JSON.stringify(`${term(0)},`).length);
  return policy(Array.from({ length: count }, (_, index) => term(index)));
}
