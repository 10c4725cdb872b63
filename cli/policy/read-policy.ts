import { v5 as uuidv5 } from 'uuid';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import { CliError } from '../errors/cli-error.ts';
import { createRevisionFiller } from '../manifests/omitted-revision.ts';
import { readResources } from '../manifests/read-resources.ts';
import { readSource, readSources, readSourcesByPath } from '../manifests/read-sources.ts';

/** A policy of a file and the id under which a bundle contains it. */
export type PolicyInFile = { readonly source: string; readonly policy: GuardrailPolicy; readonly id: string };

/** Namespace of ids that are derived from namespace and name (RFC 9562). */
const derivedIds = 'b1d1ff36-6a4f-4f0e-9b83-35c5e6d4f0a7';

/**
 * The policies in files, folders and standard input (`-`); each path must contain at least one.
 * @throws CliError not_found or usage that names file, document, line and field
 */
export async function readPolicies(paths: readonly string[]): Promise<readonly PolicyInFile[]> {
  return policiesOf(await readSourcesByPath(paths));
}

/** The only policy of a file or of standard input (`-`). @throws CliError */
export async function readPolicy(path: string): Promise<PolicyInFile> {
  const sources = path === '-' ? await readSources(path) : [readSource(path)];
  const [first, ...others] = policiesOf([{ path, sources }]);
  if (first !== undefined && others.length === 0) return first;
  throw new CliError('usage', `${nameOfPath(path)} contains ${others.length + 1} policies: give a file with one.`);
}

function policiesOf(byPath: Awaited<ReturnType<typeof readSourcesByPath>>): readonly PolicyInFile[] {
  const { complete } = createRevisionFiller();
  const manifests = readResources(
    byPath.flatMap(({ sources }) => sources),
    { complete },
  );
  const policies = manifests.filter(({ kind }) => kind.kind === kinds.guardrailPolicy.kind);
  const holding = new Set(policies.map(({ source }) => source));
  // If one path contains no policy, testing only the other paths could succeed although the intended policy was not
  // tested.
  const empty = byPath.find(({ sources }) => !sources.some(({ name }) => holding.has(name)));
  if (empty !== undefined) {
    throw new CliError('usage', `${nameOfPath(empty.path)} contains no GuardrailPolicy: give a file with one.`);
  }
  return policies.map(({ source, resource }) => {
    // The schema of the policy kind has already validated the spec.
    const policy = resource as GuardrailPolicy;
    return { source, policy, id: policyIdOf(policy) };
  });
}

/** A path as messages name it. */
export function nameOfPath(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** The id from the policy's label, else an id derived from namespace and name. */
export function policyIdOf({ metadata }: GuardrailPolicy): string {
  return metadata.labels?.[idLabel] ?? uuidv5(`${metadata.namespace ?? 'default'}/${metadata.name}`, derivedIds);
}
