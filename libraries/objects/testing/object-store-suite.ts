import { describe, expect, test } from 'vitest';
import { ObjectTooLargeError } from '../objects-error.ts';
import type { ObjectEntry, ObjectStore } from '../ports.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const small = { maxBytes: 1_000 } as const;

async function entries(store: ObjectStore, prefix: string): Promise<readonly ObjectEntry[]> {
  return Array.fromAsync(store.list(prefix));
}

async function keys(store: ObjectStore, prefix: string): Promise<readonly string[]> {
  return (await entries(store, prefix)).map(({ key }) => key);
}

/**
 * The obligations of every adapter of the port ObjectStore.
 * @param open opens an empty store for one test
 * @param scheme the scheme of the addresses of its keys
 */
export function objectStoreSuite(open: () => Promise<ObjectStore>, scheme: 'file:' | 's3:'): void {
  describe('objects of a store', () => {
    test('stored bytes are read unchanged, replaced completely, and absent after a delete', async () => {
      await using store = await open();
      const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      await store.put('a/b', all);
      expect(Buffer.from((await store.get('a/b', small)) ?? [])).toEqual(Buffer.from(all));
      await store.put('a/b', bytesOf('short'));
      expect(Buffer.from((await store.get('a/b', small)) ?? []).toString()).toBe('short');
      await store.delete('a/b');
      expect(await store.get('a/b', small)).toBeUndefined();
    });

    test('an empty object exists, and an absent object does not', async () => {
      await using store = await open();
      await store.put('empty', new Uint8Array());
      expect((await store.get('empty', small))?.byteLength).toBe(0);
      expect(await store.get('absent', small)).toBeUndefined();
      expect(await store.get('absent/below', small)).toBeUndefined();
      await store.delete('absent');
      await store.delete('absent/below');
    });

    test('an object is read up to maxBytes and refused above', async () => {
      await using store = await open();
      await store.put('a', bytesOf('12345'));
      expect(await store.get('a', { maxBytes: 5 })).toHaveLength(5);
      await expect(store.get('a', { maxBytes: 4 })).rejects.toBeInstanceOf(ObjectTooLargeError);
    });

    test('a view of a part of a buffer is stored as that part', async () => {
      await using store = await open();
      await store.put('a', bytesOf('before-inside-after').subarray(7, 13));
      expect(Buffer.from((await store.get('a', small)) ?? []).toString()).toBe('inside');
    });

    test('objects are listed below a folder, in the order of their keys, with their sizes and dates', async () => {
      await using store = await open();
      const all = ['a-b/1', 'a.b/1', 'a/1', 'a/10', 'a/2', 'a/b/1', 'a_b', 'ab/1', 'b'];
      for (const key of [...all].reverse()) await store.put(key, bytesOf(key));
      expect(await keys(store, '')).toEqual(all);
      expect(await keys(store, 'a/')).toEqual(['a/1', 'a/10', 'a/2', 'a/b/1']);
      expect(await keys(store, 'a/b/')).toEqual(['a/b/1']);
      expect(await keys(store, 'none/')).toEqual([]);
      const [entry] = await entries(store, 'a/b/');
      expect(entry?.bytes).toBe(5);
      expect(entry?.modifiedAt).toBeInstanceOf(Date);
      expect(entry?.modifiedAt.getTime()).not.toBeNaN();
    });

    test('more objects than one page of a listing are all listed', async () => {
      await using store = await open();
      const all = Array.from({ length: 1_100 }, (_, at) => `many/${String(at).padStart(5, '0')}`);
      for (let at = 0; at < all.length; at += 50) {
        await Promise.all(all.slice(at, at + 50).map((key) => store.put(key, bytesOf('x'))));
      }
      expect(await keys(store, 'many/')).toEqual(all);
    });

    test('concurrent writers of one key leave the bytes of one of them', async () => {
      await using store = await open();
      const texts = Array.from({ length: 10 }, (_, at) => String(at).repeat(900));
      await Promise.all(texts.map((text) => store.put('a', bytesOf(text))));
      expect(texts).toContain(Buffer.from((await store.get('a', small)) ?? []).toString());
    });

    test.each([
      ['', 'empty'],
      ['/', 'a slash'],
      ['/a', 'absolute'],
      ['a/', 'a folder'],
      ['a//b', 'an empty segment'],
      ['..', 'the parent'],
      ['../a', 'beside the store'],
      ['a/../../b', 'through a folder'],
      ['.', 'this folder'],
      ['a/./b', 'this folder inside'],
      ['.hidden', 'hidden'],
      ['a/.b.tmp', 'temporary'],
      ['a\\b', 'a backslash'],
      ['a b', 'a space'],
      ['a%2fb', 'an escape'],
      ['a\0b', 'a null'],
      ['a\nb', 'a line feed'],
      ['ключ', 'other letters'],
      ['a'.repeat(201), 'a long segment'],
      [Array.from({ length: 451 }, () => 'a').join('/'), 'a long key'],
    ])('the key %j is refused (%s)', async (key) => {
      await using store = await open();
      await expect(store.put(key, bytesOf('x'))).rejects.toBeInstanceOf(TypeError);
      await expect(store.get(key, small)).rejects.toBeInstanceOf(TypeError);
      await expect(store.delete(key)).rejects.toBeInstanceOf(TypeError);
      expect(() => store.uriOf(key)).toThrow(TypeError);
      expect(await keys(store, '')).toEqual([]);
    });

    test.each(['a', '/', '../', './', 'a//', '.hidden/'])('the prefix %j is refused', async (prefix) => {
      await using store = await open();
      await expect(keys(store, prefix)).rejects.toBeInstanceOf(TypeError);
    });

    test('the longest key and the longest segment are stored', async () => {
      await using store = await open();
      const segment = 'a'.repeat(200);
      const longest = [segment, segment, segment, segment, 'b'.repeat(96)].join('/');
      expect(longest).toHaveLength(900);
      await store.put(longest, bytesOf('x'));
      expect(await keys(store, `${segment}/`)).toEqual([longest]);
    });

    test('the address of a key has the scheme of the store and ends with the key', async () => {
      await using store = await open();
      expect(store.uriOf('a/b.json')).toMatch(new RegExp(`^${scheme}//.*/a/b\\.json$`));
    });
  });
}
