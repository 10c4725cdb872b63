import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '#contracts/canonical';
import { removeFile, writeAtomic } from '#kit/files/write-atomic';
import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import { isStoredObject } from '#kube/client/decode-object';
import { type Kind, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { StoredObject } from './stored-object.ts';

type StoreFault = 'unreadable_object' | 'unreadable_versions';

/** The folder cannot be used. The message names the file and repeats none of its content. */
class StoreError extends Error {
  readonly code: StoreFault;

  constructor(code: StoreFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}

/** Longest object name that fits into a file name. */
const longestPlainName = 150;
const versionsFile = 'versions.json';

/** The object store: one file per object, `<plural>/<name>.json`, replaced atomically. */
export type ObjectFiles = {
  /** All objects of the folder; removes leftovers of interrupted writes. */
  load(): { readonly objects: readonly StoredObject[]; readonly reservedThrough: number };
  write(object: StoredObject): Promise<void>;
  remove(object: StoredObject): Promise<void>;
  /** Records a reservation: after a restart no version up to this one is assigned. */
  reserve(through: number): Promise<void>;
};

/** Opens the folder and creates missing subfolders. */
export function openObjectFiles(directory: string): ObjectFiles {
  for (const kind of Object.values(kinds)) mkdirSync(join(directory, kind.plural), { recursive: true, mode: 0o700 });
  return {
    load() {
      clearLeftovers(directory);
      const objects = Object.values(kinds).flatMap((kind) => loadKind(directory, kind));
      return { objects, reservedThrough: loadVersions(directory) };
    },
    write: (object) => writeAtomic(pathOf(directory, object), object.bytes),
    remove: (object) => removeFile(pathOf(directory, object)),
    reserve: (through) =>
      writeAtomic(join(directory, versionsFile), `${JSON.stringify({ reservedThrough: through })}\n`),
  };
}

function pathOf(directory: string, object: Pick<StoredObject, 'kind' | 'name'>): string {
  return join(directory, object.kind.plural, fileNameOf(object.name));
}

function fileNameOf(name: string): string {
  if (name.length <= longestPlainName) return `${name}.json`;
  // Object names do not contain "~", so that file names are unique.
  return `${name.slice(0, 80)}~${sha256Hex(name)}.json`;
}

function clearLeftovers(directory: string): void {
  for (const folder of [directory, ...Object.values(kinds).map((kind) => join(directory, kind.plural))]) {
    for (const file of readdirSync(folder)) {
      if (file.startsWith('.') && file.endsWith('.tmp')) rmSync(join(folder, file));
    }
  }
}

function loadKind(directory: string, kind: Kind): readonly StoredObject[] {
  const folder = join(directory, kind.plural);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => loadObject(join(folder, file), file, kind));
}

function loadObject(path: string, file: string, kind: Kind): StoredObject {
  const bytes = readFileSync(path);
  const object = jsonOrUndefined(bytes);
  if (!isStoredObject<Resource>(object, kind) || fileNameOf(object.metadata.name) !== file || !hasVersion(object)) {
    throw new StoreError('unreadable_object', `${path} is not a stored ${kind.kind}: restore it or move it away`);
  }
  const { metadata } = object;
  return { kind, name: metadata.name, version: Number(metadata.resourceVersion), metadata, bytes };
}

function hasVersion(object: Stored<Resource>): boolean {
  return Number.isSafeInteger(Number(object.metadata.resourceVersion));
}

function loadVersions(directory: string): number {
  const path = join(directory, versionsFile);
  const bytes = readIfPresent(path);
  if (bytes === undefined) return 0;
  const reserved = (jsonOrUndefined(bytes) as { reservedThrough?: unknown } | undefined)?.reservedThrough;
  if (typeof reserved === 'number' && Number.isSafeInteger(reserved)) return reserved;
  throw new StoreError('unreadable_versions', `${path} does not contain the newest resource version: restore it`);
}

function readIfPresent(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
