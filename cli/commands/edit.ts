import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { applyManifests } from '../applying/apply-manifests.ts';
import { CliError } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import { type ReadManifest, readResources, refuseOtherNamespaces } from '../manifests/read-resources.ts';
import { type ConfirmOption, withConfirm } from '../options/confirm-option.ts';
import { type DryRunOption, withDryRun } from '../options/dry-run-option.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { type WaitOption, withWait } from '../options/wait-option.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { yamlOf } from '../output/write.ts';
import { readResource } from '../resources/read-resource.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { readSelection } from '../selection/select.ts';

type EditOptions = ResourceCommandOptions & OutputOptions & WaitOption & ConfirmOption & DryRunOption;

export function addEdit(program: Command, source: ResourceSource): void {
  const command = program
    .command('edit')
    .description('open one resource in an editor (KUBE_EDITOR, EDITOR) and apply the saved file')
    .argument('<kind>', 'policy, binding, collection, agent or version of an agent, or KIND/NAME')
    .argument('[name]', 'name of the resource');
  source
    .addWriteOptions(withDryRun(withConfirm(withWait(withOutput(withResourceOptions(command, source))))))
    .action((word: string, name: string | undefined, options: EditOptions) =>
      edit(source, name === undefined ? [word] : [word, name], options),
    );
}

/** The text of a failed edit is kept. A resource that was changed meanwhile is not overwritten. */
async function edit(source: ResourceSource, words: readonly string[], options: EditOptions): Promise<void> {
  const selection = readSelection(words);
  const [target, ...others] = selection.by === 'name' ? selection.targets : [];
  if (target === undefined || others.length > 0) {
    throw new CliError('usage', 'edit opens one resource: name it, as in "edit policy guarded-chat".');
  }
  const { kind, name } = target;
  if (kind.internal) throw new CliError('usage', `A ${kind.kind} is written by the platform only.`);
  await using resources = await source.open({ ...options, isDryRun: options.dryRun === 'server' });
  const before = await readResource(resources.client, kind, name);
  const text = textOf(before);
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-edit-'));
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, text, { mode: 0o600 });
  let isKept = false;
  try {
    runEditor(file);
    if (readFileSync(file, 'utf8') === text) return writeUnchanged(before, options);
    const manifest = readEdited(file, kind, before);
    refuseOtherNamespaces([manifest], resources.client.namespace);
    await applyManifests(resources, { manifests: [manifest], base: before }, options);
    isKept = options.dryRun !== undefined;
    if (isKept)
      process.stderr.write(`Your text is kept in ${file}: "${source.program} apply -f ${file}" applies it.\n`);
  } catch (error) {
    isKept = readFileSync(file, 'utf8') !== text;
    if (!isKept) throw error;
    const { exit, message } = describeError((await resources.explain(error)) ?? error);
    const next =
      exit === 'conflict'
        ? `"${source.program} diff -f ${file}" compares it with the platform.`
        : `correct it and run "${source.program} apply -f ${file}".`;
    throw new CliError(exit, `${message}\nYour text is kept in ${file}: ${next}`, { cause: error });
  } finally {
    if (!isKept) rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes an unchanged object in the same form as `applyManifests`. */
function writeUnchanged(object: Stored<Resource>, options: OutputOptions): void {
  writeResult(
    formatOf(options),
    [{ action: 'unchanged', object }],
    () => 'The text was not changed: nothing was written.',
  );
}

/** The resource without its status. UID and generation stay, so that a concurrent change is refused. */
function textOf({ apiVersion, kind, metadata, spec }: Stored<Resource>): string {
  const { name, namespace, uid, generation, labels, annotations } = metadata;
  const shown = {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      uid,
      generation,
    },
    spec,
  };
  const head = '# Save and close the editor to apply the changes. Without a change nothing is written.\n';
  return `${head}${yamlOf(shown)}`;
}

function readEdited(file: string, kind: Kind, before: Stored<Resource>): ReadManifest {
  const [manifest, ...others] = readResources([{ name: file, bytes: readFileSync(file) }]);
  const isSame = manifest?.kind.kind === kind.kind && manifest.resource.metadata.name === before.metadata.name;
  if (manifest !== undefined && isSame && others.length === 0) return manifest;
  throw new CliError(
    'usage',
    `${file}: it must hold the ${kind.kind} ${before.metadata.name} and nothing else: kind and name cannot be changed.`,
  );
}

/**
 * Opens a file in the editor of the user and waits until it is closed. The setting may hold options, as in `code
 * --wait`.
 * @throws CliError usage if there is no editor, or if the editor fails
 */
function runEditor(file: string): void {
  // An empty setting counts as absent, as in a shell.
  const editor = process.env['KUBE_EDITOR'] || process.env['EDITOR'] || 'vi';
  const [program = '', ...words] = editor.split(/\s+/).filter((word) => word !== '');
  if (program === '') throw new CliError('usage', 'No editor is set: set KUBE_EDITOR or EDITOR.');
  const { error, status, signal } = spawnSync(program, [...words, file], { stdio: 'inherit' });
  if (error !== undefined) {
    throw new CliError('usage', `The editor ${program} cannot be started: set KUBE_EDITOR or EDITOR.`, {
      cause: error,
    });
  }
  if (status === 0) return;
  const how = status === null ? `signal ${signal}` : `exit code ${status}`;
  throw new CliError('usage', `The editor ${program} ended with ${how}: nothing was changed.`);
}
