import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomic } from '#kit/files/write-atomic';
import { sameJson } from '#kube/apply/same-json';
import { KubeError } from '#kube/client/kube-error';
import type { ServedPolicy } from '../../../environment/served-policies.ts';
import { makeServedTarget } from '../../make-served-target.ts';
import { type ServedPin, type ServedPolicies, servedPinSchema } from '../../ports.ts';

type ServedFilesOptions = {
  /** The folder of `NAME.json`, the targets for services. */
  readonly directory: string;
  /** The folder of `NAME.json`, the pins that the next operator reads. */
  readonly pinsDirectory: string;
  readonly entries: readonly ServedPolicy[];
  /** Returns the addresses of the processes of a workload; empty if no process was ever ready. */
  readonly addressesOf: (workload: string) => readonly string[];
};

/**
 * Served policies of one machine: each has a target file with the addresses of the processes. A pin is stored before
 * its target, and `point` completes a target that is missing or has other addresses.
 * @throws FileWriteError from `point`
 */
export async function openServedFiles(options: ServedFilesOptions): Promise<ServedPolicies> {
  const { directory, pinsDirectory, entries, addressesOf } = options;
  const pins = await readPins(pinsDirectory);
  let listener: (name: string) => void = () => undefined;
  let changes = 0;

  function changed(name: string): void {
    changes += 1;
    setImmediate(() => listener(name));
  }

  async function publish(name: string, pin: ServedPin): Promise<void> {
    const target = makeServedTarget(pin, addressesOf(pin.workload));
    if (target === undefined) return;
    const path = join(directory, fileOf(name));
    const text = `${JSON.stringify(target, undefined, 2)}\n`;
    if ((await readText(path)) !== text) await writeAtomic(path, text);
  }

  return {
    entries,
    pins: () => pins,
    readPins: async () => new Map(pins),
    async point(name, pin, seen) {
      const held = pins.get(name);
      const isThere = sameJson(held, pin);
      if (held !== undefined && !isThere && !sameJson(held, seen)) {
        throw new KubeError('conflict', 'the target of the served policy was changed by another pass');
      }
      if (!isThere) {
        await writeAtomic(join(pinsDirectory, fileOf(name)), JSON.stringify(pin));
        pins.set(name, pin);
      }
      await publish(name, pin);
      if (!isThere) changed(name);
      return !isThere;
    },
    async withdraw(name) {
      for (const folder of [directory, pinsDirectory]) await rm(join(folder, fileOf(name)), { force: true });
      if (pins.delete(name)) changed(name);
    },
    onChange(next) {
      listener = next;
    },
    changes: () => changes,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function fileOf(name: string): string {
  return `${name}.json`;
}

/** A file without a valid pin is skipped: the entry is applied again. */
async function readPins(directory: string): Promise<Map<string, ServedPin>> {
  const pins = new Map<string, ServedPin>();
  for (const file of await readdir(directory)) {
    if (!file.endsWith('.json')) continue;
    const pin = readPin((await readText(join(directory, file))) ?? '');
    if (pin !== undefined) pins.set(file.slice(0, -'.json'.length), pin);
  }
  return pins;
}

function readPin(text: string): ServedPin | undefined {
  try {
    const read = servedPinSchema.safeParse(JSON.parse(text));
    return read.success ? read.data : undefined;
  } catch {
    return undefined;
  }
}

/** The content of a file; undefined if the file cannot be read, so that it is written again. */
async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}
