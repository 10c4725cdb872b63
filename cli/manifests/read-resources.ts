import { type Manifest, manifestKey, readManifests } from '#kube/read-manifests';
import { CliError } from '../cli-error.ts';
import { problemSentence } from './problem-sentence.ts';
import type { Source } from './read-sources.ts';

export type ReadManifest = Manifest & { readonly source: string };

/** As many problems as one message lists; who has more repairs these first. */
const maxProblems = 20;

export type ReadResourcesOptions = {
  /** The namespace in which they are to be; any one when absent. */
  readonly namespace?: string;
  /** Fills in what a writer may leave out, before a document is judged. */
  readonly complete?: (document: unknown) => unknown;
};

/**
 * All resources of all texts; when one of them has a problem, none is returned.
 * @throws CliError usage with every problem: text, document, line and field
 */
export function readResources(sources: readonly Source[], options: ReadResourcesOptions = {}): readonly ReadManifest[] {
  const { namespace, complete } = options;
  const problems: string[] = [];
  const resources: ReadManifest[] = [];
  for (const { name, bytes } of sources) {
    const read = readManifests(bytes, complete === undefined ? {} : { complete });
    problems.push(...read.problems.map((problem) => problemSentence(name, problem)));
    resources.push(...read.resources.map((manifest) => ({ ...manifest, source: name })));
  }
  problems.push(...foreignNamespaces(resources, namespace), ...repeated(resources));
  if (problems.length > maxProblems) {
    problems.splice(maxProblems, Number.POSITIVE_INFINITY, `and ${problems.length - maxProblems} more problems`);
  }
  if (problems.length > 0) throw new CliError('usage', problems.join('\n'));
  if (resources.length === 0) {
    throw new CliError('usage', `${sources.map(({ name }) => name).join(', ')}: there is no document to apply.`);
  }
  return resources;
}

function foreignNamespaces(resources: readonly ReadManifest[], namespace: string | undefined): readonly string[] {
  return resources.flatMap(({ source, document, resource: { metadata } }) =>
    metadata.namespace === undefined || namespace === undefined || metadata.namespace === namespace
      ? []
      : [`${source}: document ${document}: metadata.namespace is not ${namespace}, the namespace of --namespace`],
  );
}

/** Two texts cannot both say what one resource is. */
function repeated(resources: readonly ReadManifest[]): readonly string[] {
  const first = new Map<string, string>();
  return resources.flatMap(({ source, document, kind, resource }) => {
    const key = manifestKey(kind, resource.metadata.name);
    const other = first.get(key);
    if (other === undefined) first.set(key, source);
    if (other === undefined || other === source) return [];
    return [`${source}: document ${document}: metadata.name is also the name of a ${kind.kind} in ${other}`];
  });
}
