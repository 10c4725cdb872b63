import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { writeAtomic } from '#kit/files/write-atomic';
import type { Backup } from '../../backup/backup-file.ts';
import { writeBackup } from '../../backup/backup-file.ts';
import { backupKinds } from '../../backup/backup-object.ts';
import { takeBackup } from '../../backup/take-backup.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../../options/resource-options.ts';
import { writeText } from '../../output/write.ts';
import type { ResourceSource } from '../../resources/resource-source.ts';

type BackupOptions = ResourceCommandOptions & { readonly output?: string };

export function addBackup(program: Command, source: ResourceSource): void {
  const command = program
    .command('backup')
    .description('back up policies, revisions, bindings and Collections to a file')
    .option('-o, --output <file>', 'the file, readable by its owner only (default: standard output)', readFile);
  withResourceOptions(command, source).action((options: BackupOptions) => backUp(source, options));
}

/** In other commands `-o` selects a format, which would be read as the name of the file here. */
function readFile(text: string): string {
  if (!/^(json|yaml|wide|name|jsonpath=.*)$/s.test(text)) return text;
  throw new InvalidArgumentError(
    `It is the file of a backup, which is always JSON: give a path, such as portcullis.backup or ./${text}.`,
  );
}

async function backUp(source: ResourceSource, options: BackupOptions): Promise<void> {
  await using resources = await source.open(options);
  const backup = await takeBackup(resources.client, new Date());
  const bytes = writeBackup(backup);
  const { output } = options;
  if (output === undefined || output === '-') {
    await writeOut(bytes);
    process.stderr.write(`${summaryOf(backup)}\n`);
    return;
  }
  await writeAtomic(resolve(output), bytes, { mode: 0o600 });
  writeText(`${summaryOf(backup)}, in ${output}`);
}

function writeOut(bytes: Buffer): Promise<void> {
  return new Promise((done) => process.stdout.write(bytes, () => done()));
}

function summaryOf({ namespace, objects }: Backup): string {
  const counts = backupKinds.map(({ kind, plural }) => {
    const count = objects.filter((object) => object.kind === kind).length;
    return `${count} ${plural}`;
  });
  return `Backed up the namespace ${namespace}: ${counts.join(', ')}`;
}
