import { chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { withoutPrivileges } from '../../e2e/support/without-privileges.ts';
import { ServiceApiError } from '../http/service-error.ts';
import type { FileResult } from './submit-files.ts';
import { createFolderWatch } from './watch-folder.ts';

type StoredInTest = { readonly doc_id: string; readonly metadata: Record<string, unknown> };

function openWatch(folder: string, stored: readonly StoredInTest[] = []) {
  const log: string[] = [];
  const state = { isAway: false };
  const submitted = new Set(stored.map(({ doc_id }) => doc_id));
  const answer = <T>(value: T): Promise<T> =>
    state.isAway ? Promise.reject(new Error('the service is away')) : Promise.resolve(value);
  const round = createFolderWatch([folder], {
    client: {
      submit: (documents) => {
        if (!state.isAway) for (const { doc_id } of documents) submitted.add(doc_id);
        if (!state.isAway) log.push(...documents.map(({ doc_id }) => `submit ${doc_id}`));
        return answer({
          jobs: documents.map(({ doc_id }) => ({ doc_id, job_id: doc_id, status: 'PENDING' as const })),
        });
      },
      getJob: () => answer({ status: 'DONE', error: null } as never),
      listDocuments: () => answer(stored.filter(({ doc_id }) => submitted.has(doc_id)) as never),
      deleteDocument: (_id, docId) => {
        const absent = { code: 'not_found', message: 'There is no such object.', traceId: 't' };
        if (!submitted.has(docId)) return Promise.reject(new ServiceApiError(404, absent));
        submitted.delete(docId);
        if (!state.isAway) log.push(`delete ${docId}`);
        return answer({ doc_id: docId, job_id: docId, status: 'PENDING' as const });
      },
    },
    reader: {
      read: async (path) => ({
        bytes: Buffer.from(path),
        extraction: path.endsWith('broken.md')
          ? { kind: 'fault', fault: 'encoding' }
          : { kind: 'text', document: { sections: [{ text: 'a' }] } },
      }),
    },
    collectionId: 'c',
    settings: { collection: 'c', tenant: 'default', groups: ['staff'], principals: [], source: 'wiki' },
    timeoutMs: 1_000,
    onChange: (results: readonly FileResult[]) => log.push(`changed ${results.length}`),
    onLeftOut: ({ docId, reason }) => log.push(`left out ${docId}: ${reason}`),
    onFailure: (sentence) => log.push(sentence),
  });
  const next = async (): Promise<readonly string[]> => {
    log.length = 0;
    await round();
    return [...log];
  };
  return { next, state, submitted };
}

test('each round submits new and changed files and deletes documents whose file was removed', async () => {
  using folder = temporaryFolder();
  const write = (name: string, seconds: number): void => {
    writeFileSync(join(folder.path, name), name);
    utimesSync(join(folder.path, name), seconds, seconds);
  };
  write('a.md', 1);
  write('b.md', 1);
  const { next } = openWatch(folder.path);
  expect(await next()).toEqual(['submit a.md', 'submit b.md', 'changed 2']);
  expect(await next()).toEqual([]);
  write('a.md', 2);
  rmSync(join(folder.path, 'b.md'));
  write('c.md', 1);
  expect(await next()).toEqual(['delete b.md', 'submit a.md', 'submit c.md', 'changed 2']);
  expect(await next()).toEqual([]);
});

test('the first round deletes documents of the same source without a file, and no others', async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, 'a.md'), 'a');
  const stored = [
    { doc_id: 'a.md', metadata: { source: 'wiki' } },
    { doc_id: 'old.md', metadata: { source: 'wiki' } },
    { doc_id: 'foreign.md', metadata: { source: 'crm' } },
    { doc_id: 'plain.md', metadata: {} },
  ];
  const { next } = openWatch(folder.path, stored);
  expect(await next()).toEqual(['delete old.md', 'submit a.md', 'changed 1']);
});

test('an empty folder deletes nothing, because a folder that is not mounted is empty as well', async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, 'a.md'), 'a');
  const { next } = openWatch(folder.path, [{ doc_id: 'old.md', metadata: { source: 'crm' } }]);
  await next();
  rmSync(join(folder.path, 'a.md'));
  expect(await next()).toEqual(['There is no document in the folder: nothing is deleted.']);
  writeFileSync(join(folder.path, 'b.md'), 'b');
  expect(await next()).toEqual(['delete a.md', 'submit b.md', 'changed 1']);
});

test('a removed file that was never submitted, or whose document another client deleted, does not stop the watch', async () => {
  using folder = temporaryFolder();
  for (const name of ['a.md', 'broken.md', 'c.md']) writeFileSync(join(folder.path, name), name);
  const { next, submitted } = openWatch(folder.path);
  expect(await next()).toEqual(['submit a.md', 'submit c.md', 'changed 3']);
  rmSync(join(folder.path, 'broken.md'));
  expect(await next()).toEqual([]);
  submitted.delete('c.md');
  rmSync(join(folder.path, 'c.md'));
  writeFileSync(join(folder.path, 'd.md'), 'd');
  expect(await next()).toEqual(['submit d.md', 'changed 1']);
});

test('a failed round of a watched folder is reported and repeated', async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, 'a.md'), 'a');
  const { next, state } = openWatch(folder.path);
  state.isAway = true;
  expect(await next()).toEqual([expect.any(String)]);
  // The same failure is reported once.
  expect(await next()).toEqual([]);
  state.isAway = false;
  expect(await next()).toEqual(['submit a.md', 'changed 1']);
  expect(await next()).toEqual([]);
  state.isAway = true;
  writeFileSync(join(folder.path, 'b.md'), 'b');
  expect(await next()).toEqual([expect.any(String)]);
});

test('a folder that becomes unreadable is reported once, its documents are kept, and the watch continues', async () => {
  using folder = temporaryFolder();
  const closed = join(folder.path, 'closed');
  mkdirSync(closed);
  for (const name of ['a.md', 'b.md', 'closed/c.md', 'closed/d.md']) writeFileSync(join(folder.path, name), name);
  chmodSync(folder.path, 0o755);
  const { next, submitted } = openWatch(folder.path);
  await next();
  chmodSync(closed, 0);
  rmSync(join(folder.path, 'a.md'));
  writeFileSync(join(folder.path, 'e.md'), 'e');
  const denied = 'left out closed: permission is denied: check its owner and mode';
  {
    using _ = withoutPrivileges();
    expect(await next()).toEqual([denied, 'delete a.md', 'submit e.md', 'changed 1']);
    expect(await next()).toEqual([]);
  }
  expect([...submitted].toSorted()).toEqual(['b.md', 'closed/c.md', 'closed/d.md', 'e.md']);
  chmodSync(closed, 0o755);
  expect(await next()).toEqual([]);
  rmSync(join(closed, 'c.md'));
  expect(await next()).toEqual(['delete closed/c.md', 'changed 0']);
  chmodSync(closed, 0);
  using _ = withoutPrivileges();
  expect(await next()).toEqual([denied]);
});

test('a watch that starts while a folder cannot be read deletes none of its documents', async () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, 'closed'), { mode: 0 });
  writeFileSync(join(folder.path, 'a.md'), 'a');
  chmodSync(folder.path, 0o755);
  const stored = ['closed/c.md', 'old.md'].map((doc_id) => ({ doc_id, metadata: { source: 'wiki' } }));
  const { next } = openWatch(folder.path, stored);
  using _ = withoutPrivileges();
  expect(await next()).toEqual([
    expect.stringContaining('left out closed'),
    'delete old.md',
    'submit a.md',
    'changed 1',
  ]);
});

test('a file that becomes a symbolic link out of the folder is reported once, and its document is kept', async () => {
  using folder = temporaryFolder();
  for (const name of ['a.md', 'b.md']) writeFileSync(join(folder.path, name), name);
  const { next } = openWatch(folder.path);
  await next();
  rmSync(join(folder.path, 'a.md'));
  symlinkSync('/etc/hostname', join(folder.path, 'a.md'));
  expect(await next()).toEqual(['left out a.md: symbolic links out of the folder are not followed']);
  expect(await next()).toEqual([]);
});

test('no document is deleted while the whole folder is unreadable', async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, 'a.md'), 'a');
  const { next, submitted } = openWatch(folder.path);
  await next();
  chmodSync(folder.path, 0);
  {
    using _ = withoutPrivileges();
    expect((await next()).length).toBe(2);
    expect(await next()).toEqual([]);
  }
  expect([...submitted]).toEqual(['a.md']);
});
