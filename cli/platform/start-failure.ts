import { readFileSync, rmSync } from 'node:fs';
import { z } from 'zod';
import type { DataDirectory } from '#contracts/data-directory';
import { writeAtomic } from '#kit/files/write-atomic';

const failureSchema = z.object({ at: z.string(), message: z.string() });

/** Why the last start of a platform failed; undefined after a start that succeeded. */
export function readStartFailure(data: DataDirectory): string | undefined {
  try {
    return failureSchema.parse(JSON.parse(readFileSync(data.startFailure, 'utf8'))).message;
  } catch {
    return undefined;
  }
}

/** `portcullis up` prints the failure even if it cannot be stored. */
export async function writeStartFailure(data: DataDirectory, message: string, at: Date): Promise<void> {
  await writeAtomic(data.startFailure, Buffer.from(`${JSON.stringify({ at, message })}\n`)).catch(() => undefined);
}

export function removeStartFailure(data: DataDirectory): void {
  try {
    rmSync(data.startFailure, { force: true });
  } catch {
    // A folder that is not writable is reported separately.
  }
}
