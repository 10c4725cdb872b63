import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Files below the folder that contain the text, including files of the platform's database. Files that are removed
 * meanwhile are left out.
 */
export function filesWith(folder: string, text: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => contains(path, text));
}

function contains(path: string, text: string): boolean {
  try {
    return readFileSync(path).includes(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
