import type { Command } from 'commander';
import { type ApplyResult, applyManifest } from '#kube/apply/apply-manifest';
import { kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { waitApplied } from '../bindings/wait-applied.ts';
import { createRevisionFiller } from '../manifests/omitted-revision.ts';
import { type ReadManifest, readResources, refuseOtherNamespaces } from '../manifests/read-resources.ts';
import { readSources } from '../manifests/read-sources.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { type WaitOption, withWait } from '../options/wait-option.ts';
import { formatOf, isForPeople, type OutputOptions, withOutput } from '../output/format.ts';
import { writeJson, writeText, writeYaml } from '../output/write.ts';
import type { ResourceSource } from '../resources/resource-source.ts';

type ApplyOptions = ResourceCommandOptions & OutputOptions & WaitOption & { readonly filename: string };

export function addApply(program: Command, source: ResourceSource): void {
  const command = program
    .command('apply')
    .description('create resources, or make them like the files; a binding without a revision gets the newest one')
    .requiredOption('-f, --filename <path>', 'a file, a folder, or - for standard input');
  withWait(withOutput(withResourceOptions(command, source))).action((options: ApplyOptions) => apply(source, options));
}

/** Everything is read and judged before the first write; policies go first, so that bindings find their revisions. */
async function apply(source: ResourceSource, options: ApplyOptions): Promise<void> {
  const format = formatOf(options);
  const say = (text: string): void => {
    if (isForPeople(format)) writeText(text);
  };
  const filler = createRevisionFiller();
  // What is wrong with the files is said without a server.
  const manifests = readResources(await readSources(options.filename), { complete: filler.complete });
  await using resources = await source.open(options);
  const { client } = resources;
  refuseOtherNamespaces(manifests, client.namespace);
  const results: ApplyResult[] = [];
  for (const { kind, resource } of policiesFirst(manifests)) {
    const wanted = { kind, resource: await filler.fill(resource, client) };
    const result = await applyManifest(client, wanted, { token: 'when_changed' });
    results.push(result);
    say(`${kind.kind} ${resource.metadata.name} ${result.action}`);
  }
  for (const { object } of results) {
    if (options.wait === undefined || !isBinding(object)) continue;
    await waitApplied(client, object, options.wait);
    say(`${object.kind} ${object.metadata.name} is applied`);
  }
  if (format === 'json') writeJson(results);
  if (format === 'yaml') writeYaml(results);
}

function policiesFirst(manifests: readonly ReadManifest[]): readonly ReadManifest[] {
  const isPolicy = ({ kind }: ReadManifest): boolean => kind.kind === kinds.guardrailPolicy.kind;
  return [...manifests.filter(isPolicy), ...manifests.filter((manifest) => !isPolicy(manifest))];
}

/** The server has judged the spec of its kind. */
function isBinding(object: Stored<Resource>): object is Stored<ModelBinding> {
  return object.kind === kinds.modelBinding.kind;
}
