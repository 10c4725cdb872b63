import type { Command } from 'commander';
import { applyManifests } from '../applying/apply-manifests.ts';
import { refuseSharedKey } from '../management/refuse-shared-key.ts';
import { createRevisionFiller } from '../manifests/omitted-revision.ts';
import { readResources, refuseOtherNamespaces } from '../manifests/read-resources.ts';
import { readAllSources } from '../manifests/read-sources.ts';
import { type ConfirmOption, withConfirm } from '../options/confirm-option.ts';
import { type DryRunOption, withDryRun } from '../options/dry-run-option.ts';
import { type FileOption, withFiles } from '../options/file-option.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { type WaitOption, withWait } from '../options/wait-option.ts';
import { type OutputOptions, withOutput } from '../output/format.ts';
import type { ResourceSource } from '../resources/resource-source.ts';

type ApplyOptions = ResourceCommandOptions &
  OutputOptions &
  WaitOption &
  ConfirmOption &
  DryRunOption &
  Required<FileOption>;

const waited = 'wait until every ready gateway replica has applied it, and an agent is ready (default: 60 s)';

export function addApply(program: Command, source: ResourceSource): void {
  const command = program
    .command('apply')
    .description('create or update resources from files; a binding without a revision gets the newest one');
  withFiles(command, { isRequired: true });
  source
    .addWriteOptions(withDryRun(withConfirm(withWait(withOutput(withResourceOptions(command, source)), waited))))
    .action((options: ApplyOptions) => apply(source, options));
}

/** Every file is validated before a server is contacted. */
async function apply(source: ResourceSource, options: ApplyOptions): Promise<void> {
  const filler = createRevisionFiller();
  const manifests = readResources(await readAllSources(options.filename), { complete: filler.complete });
  refuseSharedKey(options, manifests.length);
  await using resources = await source.open({ ...options, isDryRun: options.dryRun === 'server' });
  refuseOtherNamespaces(manifests, resources.client.namespace);
  await applyManifests(resources, { manifests, filler }, options);
}
