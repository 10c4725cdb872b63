import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { objectStoreSuite } from '../../testing/object-store-suite.ts';
import { createFolderObjects } from './folder-objects.ts';

const home = mkdtempSync(join(tmpdir(), 'portcullis-objects-'));
afterAll(() => rmSync(home, { recursive: true }));
const folder = (): string => mkdtempSync(join(home, 'store-'));
const small = { maxBytes: 1_000 } as const;
const bytes = Buffer.from('x');

objectStoreSuite(async () => createFolderObjects(folder()), 'file:');

describe('files of a folder', () => {
  test('an object is one file that only its owner reads, and no temporary file stays', async () => {
    const root = folder();
    await createFolderObjects(root).put('a/b', bytes);
    expect(readdirSync(join(root, 'a'), { withFileTypes: true }).map(({ name }) => name)).toEqual(['b']);
    expect(readFileSync(join(root, 'a/b'), 'utf8')).toBe('x');
  });

  test('the temporary file of a killed writer is not listed', async () => {
    const root = folder();
    const store = createFolderObjects(root);
    await store.put('a/b', bytes);
    writeFileSync(join(root, 'a', '.b.1234.tmp'), 'half');
    expect((await Array.fromAsync(store.list(''))).map(({ key }) => key)).toEqual(['a/b']);
  });

  test('a symbolic link out of the store is neither read nor listed', async () => {
    const root = folder();
    const outside = join(folder(), 'secret');
    writeFileSync(outside, 'secret');
    symlinkSync(outside, join(root, 'link'));
    const store = createFolderObjects(root);
    await expect(store.get('link', small)).rejects.toMatchObject({ code: 'objects_unavailable', fault: 'denied' });
    expect(await Array.fromAsync(store.list(''))).toEqual([]);
  });

  test('a key that is the folder of another one is refused and loses nothing', async () => {
    const store = createFolderObjects(folder());
    await store.put('a/b', bytes);
    await expect(store.put('a', bytes)).rejects.toMatchObject({ code: 'objects_unavailable' });
    await expect(store.put('a/b/c', bytes)).rejects.toMatchObject({ code: 'objects_unavailable' });
    expect(await store.get('a/b', small)).toHaveLength(1);
  });

  test('a store whose folder is missing is unavailable, and its objects are not absent', async () => {
    const store = createFolderObjects(join(home, 'missing'));
    const refused = { code: 'objects_unavailable', fault: 'unreachable' };
    await expect(store.put('a', bytes)).rejects.toMatchObject(refused);
    await expect(store.get('a', small)).rejects.toMatchObject(refused);
    await expect(store.delete('a')).rejects.toMatchObject(refused);
    await expect(Array.fromAsync(store.list(''))).rejects.toMatchObject(refused);
  });

  test('a full disk is reported as full, keeps earlier objects, and accepts new ones after a delete', async (context) => {
    const root = folder();
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', root], { stdio: 'ignore' });
    } catch {
      context.skip('needs the right to mount a file system');
    }
    try {
      const store = createFolderObjects(root);
      await store.put('a/small', Buffer.alloc(1_000));
      await store.put('a/large', Buffer.alloc(150_000));
      const refused = store.put('a/large', Buffer.alloc(151_000));
      await expect(refused).rejects.toMatchObject({ code: 'objects_unavailable', fault: 'full' });
      expect((await Array.fromAsync(store.list(''))).map(({ bytes: size }) => size)).toEqual([150_000, 1_000]);
      await store.delete('a/large');
      await store.put('a/large', Buffer.alloc(151_000));
    } finally {
      execFileSync('umount', [root]);
    }
  });

  test('a folder without permission is reported as denied', async (context) => {
    context.skip(process.getuid?.() === 0, 'root may write everywhere');
    const root = folder();
    mkdirSync(join(root, 'a'), { mode: 0o500 });
    const refused = createFolderObjects(root).put('a/b', bytes);
    await expect(refused).rejects.toMatchObject({ code: 'objects_unavailable', fault: 'denied' });
  });
});
