import { join } from 'node:path';
import type { Bundle } from '#contracts/bundle';
import { providerOf, rulesInOrder } from '#contracts/policy';
import { openTokenFile, TokenFileError } from '#kit/http/token-file';

/**
 * The first credential that is needed by a rule of the bundle and cannot be read now.
 * @param secretsDirectory folder of credentials, one file each
 * @returns a sentence that names provider and credential; undefined if none is missing
 */
export function missingCredential({ policies, providers }: Bundle, secretsDirectory: string): string | undefined {
  const rules = policies.flatMap(({ request, response }) => [...rulesInOrder(request), ...rulesInOrder(response)]);
  const asked = new Set(rules.map(providerOf));
  for (const { name, credential } of providers) {
    if (!asked.has(name)) continue;
    try {
      openTokenFile(join(secretsDirectory, credential));
    } catch (error) {
      if (!(error instanceof TokenFileError)) throw error;
      return `the provider ${name} is not called until its credential ${credential} can be read (${error.code})`;
    }
  }
  return undefined;
}
