import type { Command } from 'commander';
import { revisionDiff } from '#diagnosis/revision-diff';
import type { KubeClient } from '#kube/client/client';
import { changesOfOtherNames } from '../applying/changed-object.ts';
import { compareManifests } from '../applying/compare-manifests.ts';
import { CliError } from '../errors/cli-error.ts';
import { createRevisionFiller } from '../manifests/omitted-revision.ts';
import { readResources, refuseOtherNamespaces } from '../manifests/read-resources.ts';
import { readAllSources } from '../manifests/read-sources.ts';
import { type FileOption, withFiles } from '../options/file-option.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { writeWarning } from '../output/write.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { readRevision, readRevisions, withoutRevisionDefinition } from '../revisions/read-revisions.ts';
import { parseRevisionNumber } from '../revisions/revision-number.ts';

type DiffOptions = ResourceCommandOptions & OutputOptions & FileOption;

export function addDiff(program: Command, source: ResourceSource): void {
  const command = program
    .command('diff')
    .description('show what apply -f would change, or the difference between two revisions of a policy, as YAML')
    .argument('[policy]', 'name of the policy')
    .argument('[revision]', 'the first revision (default: the second newest)', parseRevisionNumber)
    .argument('[other]', 'the second revision (default: the newest)', parseRevisionNumber);
  withFiles(withOutput(withResourceOptions(command, source))).action(
    (policy: string | undefined, from: number | undefined, to: number | undefined, options: DiffOptions) => {
      const { filename } = options;
      if (policy !== undefined && filename === undefined) return showDiff(source, { policy, from, to }, options);
      if (policy === undefined && filename !== undefined) return diffFiles(source, filename, options);
      throw new CliError('usage', 'diff compares either files (-f) or revisions of one policy: give one of the two.');
    },
  );
}

/** @throws CliError different if an application of the files would change anything */
async function diffFiles(source: ResourceSource, paths: readonly string[], options: DiffOptions): Promise<void> {
  const filler = createRevisionFiller();
  const manifests = readResources(await readAllSources(paths), { complete: filler.complete });
  await using resources = await source.open(options);
  const { client } = resources;
  refuseOtherNamespaces(manifests, client.namespace);
  const known = await Promise.all(
    manifests.map(async ({ kind, resource }) => ({ kind, resource: await filler.fillKnown(resource, client) })),
  );
  (await changesOfOtherNames(resources, known)).forEach(writeWarning);
  const compared = await compareManifests(resources, known);
  const changed = compared.filter(({ isSame }) => !isSame);
  writeResult(formatOf(options), compared, () =>
    changed.length === 0 ? 'The platform matches the files.' : changed.map(({ diff }) => diff).join(''),
  );
  if (changed.length === 0) return;
  const names = changed.map(({ kind, name }) => `${kind} ${name}`).join(', ');
  throw new CliError('different', `Different from the files: ${names}. Nothing was changed.`);
}

type DiffArguments = { readonly policy: string; readonly from: number | undefined; readonly to: number | undefined };

async function showDiff(source: ResourceSource, asked: DiffArguments, options: DiffOptions): Promise<void> {
  await using resources = await source.open(options);
  const { client } = resources;
  const { policy } = asked;
  const { from, to } = await numbersOf(client, asked);
  const before = await readRevision(client, policy, from);
  const diff =
    (await resources.revisionDiff?.(before.spec.policyId, from, to)) ??
    revisionDiff(before, await readRevision(client, policy, to));
  const nothing = `Revision ${from} and revision ${to} of ${policy} are equal.`;
  writeResult(formatOf(options), { policy, from, to, isSame: diff === '', diff }, () => (diff === '' ? nothing : diff));
}

async function numbersOf(
  client: KubeClient,
  { policy, from, to }: DiffArguments,
): Promise<{ from: number; to: number }> {
  if (from !== undefined && to !== undefined) return { from, to };
  const [newest, second] = (await readRevisions(client, policy, withoutRevisionDefinition)).map(
    ({ spec }) => spec.number,
  );
  const before = from ?? second;
  if (newest !== undefined && before !== undefined) return { from: before, to: newest };
  throw new CliError('usage', `The policy ${policy} has one revision only: there is nothing to compare it with.`);
}
