import type { ApprovedProvider } from '#contracts/providers';

type ModelProvider = Extract<ApprovedProvider, { kind: 'model' }>;

/** The upstream of that name, if the environment approves one. */
export function findUpstream(approved: readonly ApprovedProvider[], name: string): ModelProvider | undefined {
  return approved.find((entry): entry is ModelProvider => entry.kind === 'model' && entry.name === name);
}
