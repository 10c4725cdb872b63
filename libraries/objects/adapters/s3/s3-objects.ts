import type { BucketItem } from 'minio';
import { checkKey, checkPrefix, isKey } from '../../check-key.ts';
import type { ObjectEntry, ObjectStore } from '../../ports.ts';
import { readObject } from './read-object.ts';
import { createS3Client, type S3Options } from './s3-client.ts';
import { unavailable } from './s3-fault.ts';

/** An existing bucket, and the prefix of all keys: '' or segments that each end with a slash. */
type S3Place = { readonly bucket: string; readonly prefix: string };

/** Objects in a bucket of S3. Opening the store sends no request. */
export async function openS3Objects(options: S3Options, { bucket, prefix }: S3Place): Promise<ObjectStore> {
  checkPrefix(prefix);
  const client = await createS3Client(options);
  const nameOf = (key: string): string => {
    checkKey(key);
    return `${prefix}${key}`;
  };
  return {
    async put(key, bytes) {
      const name = nameOf(key);
      // A view of the same memory: the package takes no other Uint8Array.
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      await available(async () => (await client.current()).putObject(bucket, name, buffer, buffer.length));
    },
    get: async (key, { maxBytes }) => readObject(client, { bucket, key: nameOf(key) }, { maxBytes }),
    async delete(key) {
      const name = nameOf(key);
      await available(async () => (await client.current()).removeObject(bucket, name));
    },
    async *list(below) {
      checkPrefix(below);
      try {
        const current = await client.current();
        for await (const item of current.listObjectsV2(bucket, `${prefix}${below}`, true)) {
          const entry = entryOf(item as BucketItem, prefix);
          if (entry !== undefined) yield entry;
        }
      } catch (error) {
        throw unavailable(error);
      }
    },
    uriOf: (key) => `s3://${bucket}/${nameOf(key)}`,
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
    },
  };
}

/** An object of another program may have a name that is not a valid key. */
function entryOf(item: BucketItem, prefix: string): ObjectEntry | undefined {
  const key = item.name?.slice(prefix.length);
  if (key === undefined || item.lastModified === undefined || !isKey(key)) return undefined;
  return { key, bytes: item.size, modifiedAt: item.lastModified };
}

async function available(run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw unavailable(error);
  }
}
