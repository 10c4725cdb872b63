import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { withoutPrivileges } from '../../e2e/support/without-privileges.ts';
import { ServiceApiError } from '../http/service-error.ts';
import type { FileResult } from './submit-files.ts';
import { createFolderWatch } from './watch-folder.ts';

type StoredInTest = { readonly doc_id: string; readonly metadata: Record<string, unknown> };

/** With these times, files that a test has just written count as old, and absent files count as deleted. */
const atOnce = { youngMs: 0, goneMs: 0, firstRetryMs: 60_000, longestRetryMs: 3_600_000, listMs: 300_000 };

function openWatch(folder: string, stored: readonly StoredInTest[] = [], times = atOnce) {
  const log: string[] = [];
  const keys: string[] = [];
  const state = {
    isAway: false,
    /** Called before the service accepts a batch, while a file is read, and before a document is deleted. */
    onSubmit: (_docIds: readonly string[]): void => undefined,
    onRead: (_path: string): void => undefined,
    onDelete: (_docId: string): void => undefined,
    job: { status: 'DONE', error: null } as { status: 'DONE' | 'FAILED' | 'RUNNING'; error: string | null },
  };
  const submitted = new Set(stored.map(({ doc_id }) => doc_id));
  const answer = <T>(value: T): Promise<T> =>
    state.isAway ? Promise.reject(new Error('the service is away')) : Promise.resolve(value);
  const round = createFolderWatch([folder], {
    client: {
      submit: (documents) => {
        state.onSubmit(documents.map(({ doc_id }) => doc_id));
        keys.push(...documents.map(({ idempotency_key }) => idempotency_key));
        if (!state.isAway) for (const { doc_id } of documents) submitted.add(doc_id);
        if (!state.isAway) log.push(...documents.map(({ doc_id }) => `submit ${doc_id}`));
        return answer({
          jobs: documents.map(({ doc_id }) => ({ doc_id, job_id: doc_id, status: 'PENDING' as const })),
        });
      },
      getJob: () => answer(state.job as never),
      listDocuments: () => answer(stored.filter(({ doc_id }) => submitted.has(doc_id)) as never),
      deleteDocument: async (_id, docId) => {
        state.onDelete(docId);
        const absent = { code: 'not_found', message: 'There is no such object.', traceId: 't' };
        if (!submitted.has(docId)) return Promise.reject(new ServiceApiError(404, absent));
        submitted.delete(docId);
        if (!state.isAway) log.push(`delete ${docId}`);
        return answer({ doc_id: docId, job_id: docId, status: 'PENDING' as const });
      },
    },
    reader: {
      read: async (path) => {
        state.onRead(path);
        return path.endsWith('broken.md')
          ? { kind: 'fault', fault: 'encoding' }
          : { kind: 'text', document: { sections: [{ text: 'a' }] }, contentHash: `sha256:${path}` };
      },
    },
    collectionId: 'c',
    settings: { collection: 'c', tenant: 'default', groups: ['staff'], principals: [], source: 'wiki' },
    timeoutMs: 1,
    times,
    onChange: (results: readonly FileResult[]) => log.push(`changed ${results.length}`),
    onLeftOut: ({ docId, reason }) => log.push(`left out ${docId}: ${reason}`),
    onFailure: (sentence) => log.push(sentence),
  });
  const next = async (): Promise<readonly string[]> => {
    log.length = 0;
    await round();
    return [...log];
  };
  return { next, state, submitted, keys };
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
  // The same failure is reported only once.
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

test('a file that changes while it is read, submitted or awaited is submitted again', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'a.md');
  writeFileSync(path, 'a');
  const { next, state } = openWatch(folder.path);
  let changes = 0;
  const change = (): void => {
    changes += 1;
    if (changes === 1) writeFileSync(path, 'longer text');
  };
  state.onRead = change;
  expect(await next()).toEqual(['submit a.md', 'changed 1']);
  expect(await next()).toEqual(['submit a.md', 'changed 1']);
  changes = 0;
  state.onRead = () => undefined;
  writeFileSync(path, 'x');
  state.onSubmit = change;
  expect(await next()).toEqual(['submit a.md', 'changed 1']);
  state.onSubmit = () => undefined;
  expect(await next()).toEqual(['submit a.md', 'changed 1']);
  expect(await next()).toEqual([]);
});

test('a file that was read just after its change is read again, because its time may hide a second change', async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, 'a.md'), 'a');
  const { next, keys } = openWatch(folder.path, [], { ...atOnce, youngMs: 60_000 });
  expect(await next()).toEqual(['submit a.md', 'changed 1']);
  // The same content has the same key, so that the service answers with a duplicate, and the watch reports nothing.
  expect(await next()).toEqual(['submit a.md']);
  expect(new Set(keys).size).toBe(1);
});

test('a file that an editor removes and creates again is not deleted', async () => {
  using folder = temporaryFolder();
  for (const name of ['a.md', 'b.md', 'c.md']) writeFileSync(join(folder.path, name), name);
  const { next } = openWatch(folder.path, [], { ...atOnce, goneMs: 100 });
  await next();
  renameSync(join(folder.path, 'a.md'), join(folder.path, 'a.md~'));
  rmSync(join(folder.path, 'c.md'));
  const created = pause(20).then(() => writeFileSync(join(folder.path, 'a.md'), 'new text'));
  expect(await next()).toEqual(['delete c.md', 'changed 0']);
  await created;
  expect(await next()).toEqual(['submit a.md', 'changed 1']);
});

test('a renamed file is submitted under its new name, even if another file had this name before', async () => {
  using folder = temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  for (const name of ['a.md', 'b.md']) writeFileSync(at(name), name);
  const { next, submitted } = openWatch(folder.path);
  await next();
  renameSync(at('a.md'), at('c.md'));
  expect(await next()).toEqual(['delete a.md', 'submit c.md', 'changed 1']);
  renameSync(at('c.md'), at('b.md'));
  expect(await next()).toEqual(['delete c.md', 'submit b.md', 'changed 1']);
  expect([...submitted]).toEqual(['b.md']);
});

test('a file that is deleted and created again is submitted again, even while the deletion is under way', async () => {
  using folder = temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  for (const name of ['a.md', 'b.md']) writeFileSync(at(name), name);
  const { next, state, submitted } = openWatch(folder.path);
  await next();
  rmSync(at('a.md'));
  state.onDelete = () => writeFileSync(at('a.md'), 'a.md');
  expect(await next()).toEqual(['delete a.md', 'changed 0']);
  expect(await next()).toEqual(['submit a.md', 'changed 1']);
  expect([...submitted].toSorted()).toEqual(['a.md', 'b.md']);
});

test('a file whose job failed or that could not be read is tried again under another key, and reported once', async () => {
  using folder = temporaryFolder();
  for (const name of ['a.md', 'broken.md']) writeFileSync(join(folder.path, name), name);
  const { next, state, keys } = openWatch(folder.path, [], { ...atOnce, firstRetryMs: 0, longestRetryMs: 0 });
  state.job = { status: 'FAILED', error: 'away' };
  expect(await next()).toEqual(['submit a.md', 'changed 2']);
  expect(await next()).toEqual(['submit a.md']);
  state.job = { status: 'DONE', error: null };
  expect(await next()).toEqual(['submit a.md', 'changed 1']);
  expect(await next()).toEqual([]);
  expect(new Set(keys).size).toBe(3);
});

test('a job that has not ended is awaited again under the same key', async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, 'a.md'), 'a');
  const { next, state, keys } = openWatch(folder.path);
  state.job = { status: 'RUNNING', error: null };
  expect(await next()).toEqual(['submit a.md', 'changed 1']);
  expect(await next()).toEqual(['submit a.md']);
  state.job = { status: 'DONE', error: null };
  expect(await next()).toEqual(['submit a.md', 'changed 1']);
  expect(await next()).toEqual([]);
  expect(new Set(keys).size).toBe(1);
});

test('a document whose submit was accepted without an answer is deleted with its file', async () => {
  using folder = temporaryFolder();
  for (const name of ['a.md', 'b.md']) writeFileSync(join(folder.path, name), name);
  const { next, state, submitted } = openWatch(folder.path);
  state.onSubmit = (docIds) => {
    for (const docId of docIds) submitted.add(docId);
    throw new Error('the connection was lost');
  };
  expect((await next()).length).toBe(1);
  rmSync(join(folder.path, 'a.md'));
  state.onSubmit = () => undefined;
  expect(await next()).toEqual(['delete a.md', 'submit b.md', 'changed 1']);
});

test('a deletion that is refused delays no other deletion and no submit, and is tried again', async () => {
  using folder = temporaryFolder();
  for (const name of ['a.md', 'b.md', 'c.md']) writeFileSync(join(folder.path, name), name);
  const { next, state } = openWatch(folder.path);
  await next();
  for (const name of ['a.md', 'b.md']) rmSync(join(folder.path, name));
  writeFileSync(join(folder.path, 'd.md'), 'd');
  state.onDelete = (docId) => {
    if (docId === 'a.md') throw new ServiceApiError(409, { code: 'conflict', message: 'Later.', traceId: 't' });
  };
  expect(await next()).toEqual(['delete b.md', 'submit d.md', 'changed 1', 'Later.']);
  state.onDelete = () => undefined;
  expect(await next()).toEqual(['delete a.md', 'changed 0']);
});

test('a document without a file that appears later, such as that of an open job, is deleted at the next list', async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, 'a.md'), 'a');
  const stored = [{ doc_id: 'late.md', metadata: { source: 'wiki' } }];
  const { next, submitted } = openWatch(folder.path, stored, { ...atOnce, listMs: 0 });
  submitted.delete('late.md');
  await next();
  submitted.add('late.md');
  expect(await next()).toEqual(['delete late.md', 'changed 0']);
});
