import type { ProviderList } from '#contracts/management';
import { classifierProfile, detectorContract } from '#contracts/policy';
import type { ApprovedProvider } from '#contracts/providers';

/** The approved external checks as the API shows them: without addresses and secrets, and without model providers. */
export function providerList(approved: readonly ApprovedProvider[]): ProviderList {
  return { items: approved.flatMap(externalCheck).toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
}

function externalCheck(entry: ApprovedProvider): ProviderList['items'] {
  const { name } = entry;
  switch (entry.kind) {
    case 'model':
      return [];
    case 'detector':
      return [{ name, kind: 'detector', contract: detectorContract, credentialRef: { name: entry.credential } }];
    case 'classifier':
      return [{ name, kind: 'classifier', profile: classifierProfile, credentialRef: { name: entry.credential } }];
  }
}
