import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { missingPostgres, onPostgres } from '../../libraries/sql/testing/test-database.ts';
import { startCommand, startPlatform } from '../support/start-platform.ts';

test.skipIf(missingPostgres !== undefined)(
  onPostgres('the first start with retrieval loads the example collection; a deleted one is not restored'),
  async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, 'data');
    const run = async (...args: readonly string[]) => {
      const child = startCommand([...args, '--data', data]);
      expect(await child.exit(), child.output()).toBe(0);
      return child.output();
    };
    const list = () => run('collection', 'list', '--as', 'ann');
    {
      await using plain = await startPlatform({ data, retrieval: true });
      expect(await list(), plain.output()).toContain('There is no collection');
    }
    {
      await using first = await startPlatform({ data, retrieval: true, handbook: true });
      expect(first.output()).toMatch(/handbook has 3 documents/);
      const documents = ['documents', 'list', '--collection', 'handbook', '--as'];
      expect(await run(...documents, 'bob')).toMatch(/^DOCUMENT.*\nholidays.md .*\ntravel.md /);
      expect(await run(...documents, 'eve')).toMatch(/^DOCUMENT.*\ntravel-of-the-board.md /);
      expect(await run(...documents, 'mallory')).toContain('There is no document');
      await run('collection', 'delete', 'handbook', '--yes', '--as', 'ann');
    }
    await using second = await startPlatform({ data, retrieval: true, handbook: true });
    expect(second.output()).not.toContain('loading the example collection');
    expect(await list()).toContain('There is no collection');
  },
);
