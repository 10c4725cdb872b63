import { open, readFile } from 'node:fs/promises';

/** The longest reason that is shown. */
const maxReason = 600;
/** How much of the end of a log is looked at. */
const tailBytes = 4_096;

export type ProcessEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/**
 * Why a process ended: what it left as its termination message, else the last line that it wrote to standard error,
 * else how it ended. Both are written by the runtime, which puts no text of users there.
 */
export async function terminationReason(
  end: ProcessEnd,
  files: { readonly message: string; readonly log: string },
): Promise<string> {
  if (end.signal !== null) return `ended by ${end.signal}`;
  const message = oneLine(await readFile(files.message, 'utf8').catch(() => ''));
  if (message !== '') return message;
  const line = (await tailOf(files.log)).split('\n').findLast((candidate) => candidate.trim() !== '');
  return line === undefined ? `ended with code ${end.code}` : `ended with code ${end.code}: ${oneLine(line)}`;
}

async function tailOf(path: string): Promise<string> {
  try {
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(size, tailBytes));
    await file.read(buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8');
  } catch {
    return '';
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, maxReason);
}
