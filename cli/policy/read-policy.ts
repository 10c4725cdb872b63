import { v5 as uuidv5 } from 'uuid';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import { CliError } from '../errors/cli-error.ts';
import { readResources } from '../manifests/read-resources.ts';
import { readSource } from '../manifests/read-sources.ts';

/** A policy of a file and the id under which a bundle carries it. */
export type PolicyInFile = { readonly source: string; readonly policy: GuardrailPolicy; readonly id: string };

/** Namespace of ids that are derived from namespace and name (RFC 9562). */
const derivedIds = 'b1d1ff36-6a4f-4f0e-9b83-35c5e6d4f0a7';

/**
 * The policies of a file.
 * @throws CliError not_found or usage that names file, document, line and field
 */
export function readPolicies(path: string): readonly PolicyInFile[] {
  const manifests = readResources([readSource(path)]);
  const policies = manifests.filter(({ kind }) => kind.kind === kinds.guardrailPolicy.kind);
  if (policies.length === 0) throw new CliError('usage', `${path} holds no GuardrailPolicy: give a file with one.`);
  return policies.map(({ resource }) => {
    // The schema of the policy kind has already validated the spec.
    const policy = resource as GuardrailPolicy;
    return { source: path, policy, id: policyIdOf(policy) };
  });
}

/** The only policy of a file. */
export function readPolicy(path: string): PolicyInFile {
  const [first, ...others] = readPolicies(path);
  if (first !== undefined && others.length === 0) return first;
  throw new CliError('usage', `${path} holds ${others.length + 1} policies: give a file with one.`);
}

/** The id from the policy's label, else an id derived from namespace and name. */
export function policyIdOf({ metadata }: GuardrailPolicy): string {
  return metadata.labels?.[idLabel] ?? uuidv5(`${metadata.namespace ?? 'default'}/${metadata.name}`, derivedIds);
}
