import type { Command } from 'commander';
import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { type Backup, readBackup } from '../../backup/backup-file.ts';
import { backupKinds } from '../../backup/backup-object.ts';
import { findRunningComponents, type RunningComponents } from '../../backup/find-running-components.ts';
import { planRestore, type RestorePlan } from '../../backup/plan-restore.ts';
import { restoreObjects } from '../../backup/restore-objects.ts';
import { CliError } from '../../errors/cli-error.ts';
import { readSources } from '../../manifests/read-sources.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../../options/resource-options.ts';
import { formatOf, isForPeople, type OutputOptions, withUnnamedOutput, writeValue } from '../../output/format.ts';
import { writeText } from '../../output/write.ts';
import type { ResourceSource } from '../../resources/resource-source.ts';

type RestoreOptions = ResourceCommandOptions & OutputOptions & { readonly allowRunning?: boolean };

/** Maximum number of problems in one message. */
const maxProblems = 10;

export function addRestore(program: Command, source: ResourceSource): void {
  const command = program
    .command('restore')
    .description('restore a backup into a namespace without resources of the platform, while its processes are stopped')
    .argument('<file>', 'the file that backup wrote, or - for standard input')
    .option('--allow-running', 'restore although an operator or a gateway is running or may be running');
  withUnnamedOutput(withResourceOptions(command, source)).action((file: string, options: RestoreOptions) =>
    restore(source, file, options),
  );
}

async function restore(source: ResourceSource, file: string, options: RestoreOptions): Promise<void> {
  const format = formatOf(options);
  const say = (sentence: string): void => {
    if (isForPeople(format)) writeText(sentence);
  };
  const backup = await readBackupFile(file);
  await using resources = await source.open(options);
  const { client } = resources;
  const runningComponents: RunningComponents =
    options.allowRunning === true ? () => Promise.resolve([]) : findRunningComponents(client, say);
  await refuseRunning(runningComponents, client.namespace);
  const plan = planRestore(backup.objects, await readExisting(client));
  refuseProblems(plan, client.namespace);
  say(`Restoring the backup of ${backup.namespace} from ${backup.takenAt} into ${client.namespace}`);
  const results = [];
  for (const kind of backupKinds) {
    await refuseRunning(runningComponents, client.namespace);
    const result = await restoreKind(client, kind, plan, say);
    results.push(result);
  }
  if (!isForPeople(format)) writeValue(format, { namespace: client.namespace, kinds: results });
  say('The backup is restored. Start the operator now, and the gateways when bindings wait for replicas.');
}

async function readBackupFile(file: string): Promise<Backup> {
  const [read, ...others] = await readSources(file);
  if (read === undefined || others.length > 0) throw new CliError('usage', `${file} is a folder: give one backup.`);
  return readBackup(read.name, read.bytes);
}

async function refuseRunning(runningComponents: RunningComponents, namespace: string): Promise<void> {
  const problems = await runningComponents();
  if (problems.length === 0) return;
  const listed = problems.slice(0, maxProblems).join('; ');
  throw new CliError(
    'busy',
    `The namespace ${namespace} has running components: ${listed}. Scale operator, management and gateways to zero and repeat the command, or add --allow-running.`,
  );
}

async function readExisting(client: KubeClient): Promise<readonly Stored<Resource>[]> {
  const found: Stored<Resource>[] = [];
  for (const kind of backupKinds) {
    for (const object of (await listAll(client, kind)).items) found.push(object);
  }
  return found;
}

function refuseProblems({ problems }: RestorePlan, namespace: string): void {
  if (problems.length === 0) return;
  const more = problems.length > maxProblems ? [`and ${problems.length - maxProblems} more`] : [];
  const listed = [...problems.slice(0, maxProblems), ...more].join('\n');
  throw new CliError('conflict', `The namespace ${namespace} is not empty, so nothing was written:\n${listed}`);
}

async function restoreKind(client: KubeClient, kind: Kind, plan: RestorePlan, say: (sentence: string) => void) {
  const of = (objects: readonly Resource[]): readonly Resource[] => objects.filter((one) => one.kind === kind.kind);
  const [create, present] = [of(plan.create), of(plan.present)];
  const { withRecords } = await restoreObjects(client, kind, [...create, ...present], say);
  const were = present.length === 0 ? '' : `, ${present.length} already existed`;
  say(`${kind.kind}: ${create.length} created${were}`);
  if (!withRecords) {
    say(`${kind.kind}: you are not allowed to write a status: the records of earlier applications are not restored`);
  }
  return { kind: kind.kind, created: create.length, present: present.length, withRecords };
}
