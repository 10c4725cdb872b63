import type { Place } from '#kube/apply/place-in-yaml';
import { type Manifest, type ManifestProblem, manifestKey, readManifests } from '#kube/apply/read-manifests';
import { typedCommand } from '../command-line/typed-command.ts';
import { CliError } from '../errors/cli-error.ts';
import { problemSentence } from './problem-sentence.ts';
import type { ManifestSource } from './read-sources.ts';

export type ReadManifest = Manifest & { readonly source: string };

/** Maximum number of problems in one message. */
const maxProblems = 20;

type ReadResourcesOptions = {
  /** The namespace that all resources must have; any if absent. */
  readonly namespace?: string;
  /** Completes a document before the document is validated. */
  readonly complete?: (document: unknown) => unknown;
};

/**
 * All resources of all texts, or none if one of the texts has a problem.
 * @throws CliError usage with every problem: text, document, line and field
 */
export function readResources(
  sources: readonly ManifestSource[],
  options: ReadResourcesOptions = {},
): readonly ReadManifest[] {
  const { namespace, complete } = options;
  const problems: string[] = [];
  const resources: ReadManifest[] = [];
  for (const { name, bytes } of sources) {
    const read = readManifests(bytes, { repeat: 'found', ...(complete === undefined ? {} : { complete }) });
    problems.push(...read.problems.map((problem) => `${problemSentence(name, problem)}${valuesHint(problem)}`));
    resources.push(...read.resources.map((manifest) => ({ ...manifest, source: name })));
  }
  const foreign = namespace === undefined ? [] : foreignNamespaces(resources, namespace);
  refuse([...problems, ...foreign, ...repeated(resources)]);
  if (resources.length === 0) {
    const names = sources.map(({ name }) => name).join(', ');
    throw new CliError(
      'usage',
      `${names}: there is no resource: give a file or a pipe with at least one document, for example a GuardrailPolicy or a ModelBinding.`,
    );
  }
  return resources;
}

/** @throws CliError usage with every document that names another namespace */
export function refuseOtherNamespaces(resources: readonly ReadManifest[], namespace: string): void {
  refuse(foreignNamespaces(resources, namespace));
}

function foreignNamespaces(resources: readonly ReadManifest[], namespace: string): readonly string[] {
  return resources.flatMap(({ source, document, placeOf, resource: { metadata } }) =>
    metadata.namespace === undefined || metadata.namespace === namespace
      ? []
      : [
          `${placed(source, document, placeOf(['metadata', 'namespace']))}: metadata.namespace is ${JSON.stringify(metadata.namespace)}, but the command writes to the namespace ${JSON.stringify(namespace)}: remove metadata.namespace from the file; on a cluster you can add --namespace ${metadata.namespace} instead`,
        ],
  );
}

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const shown = problems.slice(0, maxProblems);
  const rest = problems.length > maxProblems ? [`and ${problems.length - maxProblems} more problems`] : [];
  throw new CliError('usage', [...shown, ...rest].join('\n'));
}

/** Two texts must not define the same resource. */
function repeated(resources: readonly ReadManifest[]): readonly string[] {
  const first = new Map<string, string>();
  return resources.flatMap(({ source, document, placeOf, kind, resource }) => {
    const key = manifestKey(kind, resource.metadata.name);
    const other = first.get(key);
    if (other === undefined) first.set(key, source);
    if (other === undefined || other === source) return [];
    return [
      `${placed(source, document, placeOf(['metadata', 'name']))}: metadata.name is also the name of a ${kind.kind} in ${other}: give one of the two another name, or remove one`,
    ];
  });
}

/** The command that lists the values of an absent field, as a sentence with a leading space; else empty. */
function valuesHint({ field, message }: ManifestProblem): string {
  const isAbsent = field === 'spec.model.provider' && message.startsWith('is required');
  return isAbsent ? `. ${typedCommand('provider list')} lists the names.` : '';
}

function placed(source: string, document: number, { line, column }: Place): string {
  return `${source}: document ${document}${line === undefined ? '' : `, line ${line}, column ${column}`}`;
}
