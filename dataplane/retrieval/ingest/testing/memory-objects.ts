import type { ObjectEntry, ObjectStore } from '#objects/ports';

export type MemoryObjects = ObjectStore & {
  readonly keys: () => readonly string[];
  /** Sets the date of an object. */
  readonly date: (key: string, modifiedAt: Date) => void;
};

/** Objects in memory, for tests that make the store unavailable: `guard` is called before every operation. */
export function memoryObjects(guard: () => void = () => undefined): MemoryObjects {
  const objects = new Map<string, { bytes: Uint8Array; modifiedAt: Date }>();
  return {
    async put(key, bytes) {
      guard();
      objects.set(key, { bytes: Uint8Array.from(bytes), modifiedAt: new Date() });
    },
    async get(key) {
      guard();
      return objects.get(key)?.bytes;
    },
    async delete(key) {
      guard();
      objects.delete(key);
    },
    async *list(prefix): AsyncIterable<ObjectEntry> {
      guard();
      for (const key of [...objects.keys()].sort()) {
        const found = objects.get(key);
        if (!key.startsWith(prefix) || found === undefined) continue;
        yield { key, bytes: found.bytes.byteLength, modifiedAt: found.modifiedAt };
      }
    },
    uriOf: (key) => `file:///${key}`,
    keys: () => [...objects.keys()].sort(),
    date: (key, modifiedAt) => {
      const found = objects.get(key);
      if (found !== undefined) found.modifiedAt = modifiedAt;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}
