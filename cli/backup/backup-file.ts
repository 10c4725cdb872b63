import { z } from 'zod';
import { fieldProblems, readShape } from '#contracts/read-shape';
import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import { apiVersion } from '#resources/kinds';
import type { Resource } from '#resources/metadata';
import { schemaOf } from '#resources/schemas';
import { CliError } from '../errors/cli-error.ts';
import { backupKinds } from './backup-object.ts';

const format = 1;
/** Maximum number of problems in one message. */
const maxProblems = 20;

export type Backup = {
  /** The namespace that was backed up. */
  readonly namespace: string;
  readonly takenAt: string;
  readonly objects: readonly Resource[];
};

const headerSchema = z.object({
  apiVersion: z.literal('v1'),
  kind: z.literal('List'),
  backup: z.object({
    format: z.literal(format),
    namespace: z.string(),
    takenAt: z.string(),
    objects: z.int().min(0),
  }),
});

/**
 * The backup as a `List` that kubectl can read, with one object on each line, so that a large backup is never in memory
 * as one string.
 */
export function writeBackup({ namespace, takenAt, objects }: Backup): Buffer {
  const header = { apiVersion: 'v1', kind: 'List', backup: { format, namespace, takenAt, objects: objects.length } };
  const lines = objects.map((object, at) => `${JSON.stringify(object)}${at === objects.length - 1 ? '' : ','}\n`);
  const opening = `${JSON.stringify(header).slice(0, -1)},"items":[\n`;
  return Buffer.concat([opening, ...lines, ']}\n'].map((line) => Buffer.from(line)));
}

/**
 * Reads a backup and validates every object.
 * @throws CliError usage that names file, line and field
 */
export function readBackup(path: string, bytes: Buffer): Backup {
  const lines = linesOf(bytes);
  const header = readHeader(path, lines[0] ?? '');
  if (lines.at(-1) !== ']}') {
    throw new CliError('usage', `${path}: the end of the backup is missing: the file was cut off. Use a complete one.`);
  }
  const problems: string[] = [];
  const objects: Resource[] = [];
  for (const [at, line] of lines.slice(1, -1).entries()) {
    const read = readObject(line);
    if (read.kind === 'object') objects.push(read.object);
    else problems.push(...read.problems.map((problem) => `${path}: line ${at + 2}: ${problem}`));
  }
  const { namespace, takenAt, objects: count } = header.backup;
  if (problems.length === 0 && objects.length !== count) {
    problems.push(`${path}: it contains ${objects.length} of ${count} objects: lines are missing.`);
  }
  if (problems.length > 0) throw new CliError('usage', problems.slice(0, maxProblems).join('\n'));
  return { namespace, takenAt, objects };
}

function readHeader(path: string, line: string): z.infer<typeof headerSchema> {
  const read = headerSchema.safeParse(jsonOrUndefined(`${line}]}`));
  if (read.success) return read.data;
  throw new CliError('usage', `${path} is not a backup of this version: give the file that the command backup wrote.`);
}

type ParsedObject =
  | { readonly kind: 'object'; readonly object: Resource }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

function readObject(line: string): ParsedObject {
  const value = jsonOrUndefined(line.replace(/,$/, '')) as Partial<Resource> | undefined;
  const kind = backupKinds.find((one) => one.kind === value?.kind && value.apiVersion === apiVersion);
  if (kind === undefined) return { kind: 'problems', problems: ['this is not an object of a backup'] };
  const read = readShape(schemaOf(kind), value);
  if (read.ok) return { kind: 'object', object: value as Resource };
  return {
    kind: 'problems',
    problems: fieldProblems(read.problems).map(({ field, message }) => `${field} ${message}`),
  };
}

function linesOf(bytes: Buffer): readonly string[] {
  const lines: string[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(10, from);
    const to = end === -1 ? bytes.length : end;
    lines.push(bytes.toString('utf8', from, to));
    from = to + 1;
  }
  return lines;
}
