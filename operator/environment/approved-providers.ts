import type { ApprovedProvider } from '#contracts/providers';

type ModelProvider = Extract<ApprovedProvider, { kind: 'model' }>;

/** The upstream with that name, if the environment approves it. */
export function findUpstream(approved: readonly ApprovedProvider[], name: string): ModelProvider | undefined {
  return approved.find((entry): entry is ModelProvider => entry.kind === 'model' && entry.name === name);
}
