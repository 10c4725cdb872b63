import type { Command } from 'commander';
import { kinds } from '#crds/kinds';
import type { Resource, Stored } from '#crds/metadata';
import type { ModelBinding } from '#crds/model-binding';
import { type Applied, applyManifest } from '#kube/apply-manifest';
import { createRevisionFiller } from '../manifests/omitted-revision.ts';
import { type ReadManifest, readResources } from '../manifests/read-resources.ts';
import { readSources } from '../manifests/read-sources.ts';
import { writeJson, writeText } from '../output/write.ts';
import { openResources } from '../platform/running-platform.ts';
import { waitApplied } from '../platform/wait-applied.ts';
import { type PlatformCommandOptions, withPlatformOptions } from './platform-options.ts';
import { type WaitOption, withWait } from './wait-option.ts';

type ApplyOptions = PlatformCommandOptions & WaitOption & { readonly filename: string };

export function addApply(program: Command): void {
  const command = program
    .command('apply')
    .description('create resources, or make them like the files; a binding without a revision gets the newest one')
    .requiredOption('-f, --filename <path>', 'a file, a folder, or - for standard input');
  withWait(withPlatformOptions(command)).action(apply);
}

/** Everything is read and judged before the first write; policies go first, so that bindings find their revisions. */
async function apply(options: ApplyOptions): Promise<void> {
  const filler = createRevisionFiller();
  const manifests = readResources(await readSources(options.filename), {
    namespace: options.namespace,
    complete: filler.complete,
  });
  await using client = openResources(options.data, options.namespace);
  const results: Applied[] = [];
  for (const { kind, resource } of policiesFirst(manifests)) {
    const wanted = { kind, resource: await filler.fill(resource, client) };
    const result = await applyManifest(client, wanted, { token: 'when_changed' });
    results.push(result);
    if (options.json !== true) writeText(`${kind.kind} ${resource.metadata.name} ${result.action}`);
  }
  for (const { object } of results) {
    if (options.wait === undefined || !isBinding(object)) continue;
    await waitApplied(client, object, options.wait);
    if (options.json !== true) writeText(`${object.kind} ${object.metadata.name} is applied`);
  }
  if (options.json === true) writeJson(results);
}

function policiesFirst(manifests: readonly ReadManifest[]): readonly ReadManifest[] {
  const isPolicy = ({ kind }: ReadManifest): boolean => kind.kind === kinds.guardrailPolicy.kind;
  return [...manifests.filter(isPolicy), ...manifests.filter((manifest) => !isPolicy(manifest))];
}

/** The server has judged the spec of its kind. */
function isBinding(object: Stored<Resource>): object is Stored<ModelBinding> {
  return object.kind === kinds.modelBinding.kind;
}
