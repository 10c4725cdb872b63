import { expect, test } from 'vitest';
import { openEmbeddedIndex } from './adapters/embedded/embedded-index.ts';
import { entryOf, replaceGroup } from './testing/generated-entries.ts';
import { MemorySource } from './testing/memory-source.ts';

const everything = { labels: 'every', window: 10 } as const;

test('a group that was omitted and changes while changes are read is in the index that reflects its change', async () => {
  const source = new MemorySource({ pageSize: 3, groupsAtOnce: 1 });
  await using index = openEmbeddedIndex({ source, mostBytes: 2 ** 20 });
  const find = async (reflects: bigint) => {
    const legs = [{ kind: 'bm25', terms: ['книг'] }] as const;
    const [found] = await index.candidates({ partition: 'p', reflects, legs, ...everything });
    return found?.map(({ id }) => id).sort();
  };
  const write = (group: string, id: string) => source.commit('p', replaceGroup(group, [entryOf(id, { group })]));
  await find(write('d', 'd-1'));
  write('d', 'd-2');
  const reflects = write('e', 'e-1');
  source.beforeGroups = () => {
    source.beforeGroups = undefined;
    write('d', 'd-3');
  };
  expect(await find(reflects)).toEqual(['d-3', 'e-1']);
});

test('a reader catches up with a source that changes during each read', async () => {
  const source = new MemorySource({ pageSize: 3, groupsAtOnce: 3 });
  let id = 0;
  const write = () => {
    id += 1;
    return source.commit('p', replaceGroup('d', [entryOf(`d-${id}`, { group: 'd' })]));
  };
  const first = write();
  write();
  source.beforeGroups = write;
  expect(await source.changesAfter('p', first)).toMatchObject({ upTo: 3n, more: false });
  const rest = await source.changesAfter('p', 3n);
  expect(rest).toMatchObject({ upTo: 3n, more: false });
  expect(rest?.kind === 'changes' && (await Array.fromAsync(rest.changes))).toEqual([]);
});

test('a changed group of many entries is read in pages, and its retain after them names all of them', async () => {
  const source = new MemorySource({ pageSize: 3, groupsAtOnce: 1 });
  const first = source.commit('p', [{ kind: 'put', entry: entryOf('other') }]);
  const ids = ['d-1', 'd-2', 'd-3', 'd-4'];
  source.commit(
    'p',
    replaceGroup(
      'd',
      ids.map((id) => entryOf(id, { group: 'd' })),
    ),
  );
  const found = await source.changesAfter('p', first);
  const pages = found?.kind === 'changes' ? await Array.fromAsync(found.changes) : [];
  const named = pages.map((page) => page.map((one) => (one.kind === 'put' ? one.entry.id : one.ids)));
  expect(named).toEqual([['d-1', 'd-2', 'd-3'], ['d-4'], [ids]]);
});

test('a source that fails between two pages of a change is read again, and the index then reflects the whole change', async () => {
  const source = new MemorySource({ pageSize: 1, groupsAtOnce: 1 });
  await using index = openEmbeddedIndex({ source, mostBytes: 2 ** 20 });
  const find = async (reflects: bigint) => {
    const legs = [{ kind: 'bm25', terms: ['книг'] }] as const;
    const [found] = await index.candidates({ partition: 'p', reflects, legs, ...everything });
    return found?.map(({ id }) => id).sort();
  };
  const write = (...ids: readonly string[]) =>
    source.commit(
      'p',
      replaceGroup(
        'd',
        ids.map((id) => entryOf(id, { group: 'd' })),
      ),
    );
  await find(write('d-1', 'd-2'));
  const reflects = write('d-3', 'd-4');
  source.failAfterPages = 1;
  await expect(find(reflects)).rejects.toThrow();
  source.failAfterPages = undefined;
  expect(await find(reflects)).toEqual(['d-3', 'd-4']);
});
