import { readFile, stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { fileReferenceSchema } from '#contracts/file-reference';
import { flowLimits } from '#contracts/flow-limits';
import { CliError } from '../errors/cli-error.ts';
import { fileReason, isAbsent } from '../errors/file-fault.ts';

/** A file that a person passes to an agent or to a flow. Its media type is derived from its file extension. */
export type GivenFile = { readonly name: string; readonly mediaType: string; readonly bytes: Buffer };

const office = 'application/vnd.openxmlformats-officedocument';
/** The media types that agents read, by the ends of names. */
const mediaTypes: Readonly<Record<string, string>> = {
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.docx': `${office}.wordprocessingml.document`,
  '.xlsx': `${office}.spreadsheetml.sheet`,
};

/** @throws CliError usage, not_found */
export async function readGivenFile(path: string): Promise<GivenFile> {
  const mediaType = mediaTypeOf(path);
  const name = nameOf(path);
  return { name, mediaType, bytes: await readBytes(path) };
}

function mediaTypeOf(path: string): string {
  const end = extname(path).toLowerCase();
  const found = Object.hasOwn(mediaTypes, end) ? mediaTypes[end] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(mediaTypes).join(', ');
  throw new CliError('usage', `${path} has no known media type: its name must end in one of ${known}.`);
}

function nameOf(path: string): string {
  const name = fileReferenceSchema.shape.name.safeParse(basename(path));
  if (name.success) return name.data;
  throw new CliError('usage', 'The name of the file has control characters or more than 255 characters: rename it.');
}

async function readBytes(path: string): Promise<Buffer> {
  const { max } = flowLimits.manifest.fileBytes;
  try {
    const { size } = await stat(path);
    if (size > max) throw new CliError('usage', `${path} has ${size} bytes, at most ${max} are read: make it smaller.`);
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    if (isAbsent(cause)) throw new CliError('not_found', `There is no file ${path}: check the path.`, { cause });
    throw new CliError('usage', `${path} cannot be read: ${fileReason(cause)}.`, { cause });
  }
}
