import { describe, expect, onTestFinished, test } from 'vitest';
import { sha256Hex } from '#contracts/canonical';
import { until } from '#kit/testing/until';
import type { BundleStore } from '../ports.ts';

/** A store, and access to the stored objects for tests. */
export type BundlePlace = AsyncDisposable & {
  readonly store: BundleStore;
  /** Reads the stored bytes as processes read them; undefined if there are none. */
  read(digest: string): Promise<string | undefined>;
  /** Removes a bundle as a user would. */
  remove(digest: string): Promise<void>;
  /** Opens another bundle store over the same data, after the previous one was disposed. */
  succeed(): Promise<BundleStore>;
};

const bytes = (text: string): Buffer => Buffer.from(JSON.stringify({ text }));

/** The obligations of the port BundleStore, over a real adapter. */
export function describeBundleStore(title: string, openPlace: () => Promise<BundlePlace>): void {
  async function open(): Promise<BundlePlace> {
    const place = await openPlace();
    onTestFinished(() => place[Symbol.asyncDispose]());
    return place;
  }

  async function put(store: BundleStore, text: string): Promise<string> {
    const digest = sha256Hex(bytes(text));
    (await store.put(digest, bytes(text)))[Symbol.dispose]();
    return digest;
  }

  const known = (store: BundleStore, digest: string): Promise<boolean> =>
    until('the store contains the bundle', async () => (await store.has(digest)) || undefined);

  describe(`${title}: a bundle`, () => {
    test('a bundle is stored completely, and once', async () => {
      const { store, read } = await open();
      const digest = sha256Hex(bytes('one'));
      expect(await store.has(digest)).toBe(false);
      await put(store, 'one');
      await known(store, digest);
      await put(store, 'one');
      expect(await read(digest)).toBe(bytes('one').toString());
    });

    test('a bundle of 716,800 bytes is stored completely', async () => {
      const { store, read } = await open();
      const large = Buffer.alloc(716_800, 'я');
      const digest = sha256Hex(large);
      (await store.put(digest, large))[Symbol.dispose]();
      expect(sha256Hex(Buffer.from((await read(digest)) ?? ''))).toBe(digest);
    });

    test('the next operator finds a stored bundle', async () => {
      const { store, succeed } = await open();
      const digest = await put(store, 'one');
      const next = await succeed();
      expect(await next.has(digest)).toBe(true);
      expect(await next.has(sha256Hex(bytes('two')))).toBe(false);
    });

    test('the sweep removes a bundle that is not needed, and keeps a needed one', async () => {
      const { store, read } = await open();
      const needed = await put(store, 'needed');
      const other = await put(store, 'other');
      await Promise.all([known(store, needed), known(store, other)]);
      await store.sweep(async () => new Set([needed]));
      expect(await read(needed)).toBeDefined();
      expect(await read(other)).toBeUndefined();
    });

    test('the sweep removes a bundle that is not needed, whatever its age, because there is no later sweep', async () => {
      const { store, read } = await open();
      const digest = await put(store, 'new');
      await store.sweep(async () => new Set());
      expect(await read(digest)).toBeUndefined();
    });

    test('a bundle is not removed while it is held, nor if it was held during the sweep', async () => {
      const { store, read } = await open();
      const held = sha256Hex(bytes('held'));
      const passing = sha256Hex(bytes('passing'));
      using _holding = await store.put(held, bytes('held'));
      await put(store, 'passing');
      await Promise.all([known(store, held), known(store, passing)]);
      await store.sweep(async () => {
        await put(store, 'passing');
        return new Set();
      });
      expect(await read(held)).toBeDefined();
      expect(await read(passing)).toBeDefined();
    });

    test('the removal of a bundle is reported, and it can be stored again', async () => {
      const { store, read, remove } = await open();
      const digest = await put(store, 'one');
      await known(store, digest);
      const lost: string[] = [];
      store.onLost((one) => lost.push(one));
      await remove(digest);
      await until('the loss is reported', () => lost.includes(digest));
      expect(await store.has(digest)).toBe(false);
      await put(store, 'one');
      expect(await read(digest)).toBe(bytes('one').toString());
      await known(store, digest);
    });
  });
}
