import { open, readFile } from 'node:fs/promises';

/** Longest reason that is shown. */
const maxReason = 600;
/** Bytes that are read from the end of a log. */
const tailBytes = 4_096;

export type ProcessEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/**
 * Why a process ended: its termination message, else the last line of its standard error, else its exit code or signal.
 * The runtime writes both texts and puts no text of users into them.
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
