import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { ServiceApiError } from '../http/service-error.ts';
import type { DocumentInput, RetrievalClient } from '../retrieval/retrieval-client.ts';
import { createBatcher } from './batch-documents.ts';
import type { FileReading } from './extraction/read-answer.ts';
import { makeDocument, repeatedDocument } from './make-document.ts';
import { awaitJobs, type FileResult, retryFailed, submitFiles } from './submit-files.ts';

const settings = { collection: 'handbook', tenant: 'default', groups: ['staff'], principals: [] };
const text = (path: string): FileReading => ({
  kind: 'text',
  document: { sections: [{ text: path }] },
  contentHash: `sha256:${path}`,
});

function documentOf(docId: string, size = 1): DocumentInput {
  const file = { docId, contentHash: `sha256:${docId}`, changedMs: 1 };
  return makeDocument(file, { sections: [{ text: 'x'.repeat(size) }] }, settings);
}

test('a batch has at most the allowed number of documents and bytes', () => {
  const bytes = Buffer.byteLength(JSON.stringify(documentOf('a')));
  const twoEach = createBatcher({ documents: 2, bytes: 1_000_000 });
  expect(['a', 'b', 'c'].map((id) => twoEach.add(documentOf(id)).length)).toEqual([0, 0, 2]);
  expect(twoEach.rest().map(({ doc_id }) => doc_id)).toEqual(['c']);
  const exact = createBatcher({ documents: 9, bytes: bytes * 2 });
  expect(['a', 'b', 'c'].map((id) => exact.add(documentOf(id)).length)).toEqual([0, 0, 2]);
  const tight = createBatcher({ documents: 9, bytes: bytes * 2 - 1 });
  expect(['a', 'b'].map((id) => tight.add(documentOf(id)).length)).toEqual([0, 1]);
});

test('the key of a document changes only with its bytes, its readers, its metadata and the time of its last change', () => {
  const file = { docId: 'a.md', contentHash: 'sha256:a', changedMs: 5 };
  const content = { sections: [{ text: 'a' }] };
  const keyOf = (...[one, two, three]: Parameters<typeof makeDocument>) =>
    makeDocument(one, two, three).idempotency_key;
  const key = keyOf(file, content, settings);
  expect(keyOf(file, content, { ...settings, groups: ['staff'] })).toBe(key);
  const others = [
    keyOf({ ...file, contentHash: 'sha256:b' }, content, settings),
    keyOf({ ...file, changedMs: 6 }, content, settings),
    keyOf(file, content, { ...settings, groups: [] }),
    keyOf(file, content, { ...settings, source: 'wiki' }),
    keyOf(file, content, { ...settings, baseUrl: 'https://wiki.example/' }),
  ];
  expect(new Set([key, ...others]).size).toBe(6);
  const { metadata } = makeDocument({ ...file, docId: 'a b/c?.md' }, content, {
    ...settings,
    baseUrl: 'https://w.example/x/',
  });
  expect(metadata).toEqual({ url: 'https://w.example/x/a%20b/c%3F.md' });
});

test('a file that cannot be read has its own result, and the other files are submitted', async () => {
  using folder = temporaryFolder();
  const files = ['bad.pdf', 'gone.md', 'good.md'].map((docId) => ({ docId, path: join(folder.path, docId) }));
  for (const { docId, path } of files) if (docId !== 'gone.md') writeFileSync(path, docId);
  utimesSync(join(folder.path, 'good.md'), 1, 1);
  expect(statSync(join(folder.path, 'good.md')).mtimeMs).toBe(1_000);
  const sent: DocumentInput[] = [];
  const client: Pick<RetrievalClient, 'submit' | 'getJob'> = {
    submit: async (documents) => {
      sent.push(...documents);
      return { jobs: documents.map(({ doc_id }) => ({ doc_id, job_id: 'job', status: 'PENDING' as const })) };
    },
    getJob: () => Promise.reject(new Error('not asked for')),
  };
  const reader = {
    read: async (path: string): Promise<FileReading> =>
      path.endsWith('.pdf') ? { kind: 'fault', fault: 'malformed' } : text(path),
  };
  const seen: number[] = [];
  const onProgress = (now: readonly FileResult[]): void => void seen.push(now.length);
  const results = await submitFiles(files, { client, reader, settings, onProgress });
  expect(results).toEqual([
    { docId: 'bad.pdf', state: 'unreadable', reason: expect.stringContaining('damaged') },
    { docId: 'gone.md', state: 'unreadable', reason: 'it does not exist: check the path' },
    { docId: 'good.md', state: 'waiting', jobId: 'job' },
  ]);
  expect(sent.map(({ doc_id }) => doc_id)).toEqual(['good.md']);
  expect(seen).toEqual([1, 2, 3]);
});

test('a wait ends with the states of the jobs, and with open ones at its timeout', async () => {
  const states: Readonly<Record<string, { status: 'DONE' | 'FAILED' | 'RUNNING'; error: string | null }>> = {
    one: { status: 'DONE', error: null },
    two: { status: 'FAILED', error: 'denied' },
    three: { status: 'RUNNING', error: null },
  };
  const getJob = (id: string) => Promise.resolve(states[id] as never);
  const submit = () => Promise.reject(new Error('not asked for'));
  const submitted: readonly FileResult[] = [
    { docId: 'a', state: 'waiting', jobId: 'one' },
    { docId: 'b', state: 'unchanged', jobId: 'two' },
    { docId: 'c', state: 'waiting', jobId: 'three' },
    { docId: 'd', state: 'unchanged', jobId: 'one' },
    { docId: 'e', state: 'unreadable', reason: 'no' },
  ];
  const ended = await awaitJobs(submitted, { client: { getJob, submit }, onProgress: () => undefined }, 1);
  expect(ended.map(({ state }) => state)).toEqual(['done', 'failed', 'waiting', 'unchanged', 'unreadable']);
  expect(ended[1]?.reason).toBe('denied');
});

test('a file whose earlier job failed is submitted once more under another key, and no other file is submitted again', async () => {
  using folder = temporaryFolder();
  const names = ['denied.md', 'fresh.md', 'kept.md'];
  const files = names.map((docId) => ({ docId, path: join(folder.path, docId) }));
  for (const { path } of files) writeFileSync(path, path);
  const jobs = new Map<string, { doc: string; status: 'DONE' | 'FAILED' }>();
  const keyOf = ({ doc_id, idempotency_key }: DocumentInput): string => `${doc_id} ${idempotency_key}`;
  let ends: 'DONE' | 'FAILED' = 'FAILED';
  const client: Pick<RetrievalClient, 'submit' | 'getJob'> = {
    submit: async (documents) => ({
      jobs: documents.map((document) => {
        const job_id = keyOf(document);
        const isKnown = jobs.has(job_id);
        if (!isKnown) jobs.set(job_id, { doc: document.doc_id, status: document.doc_id === 'kept.md' ? 'DONE' : ends });
        const ofDocument = [...jobs].filter(([, { doc }]) => doc === document.doc_id);
        const isNewest = ofDocument.at(-1)?.[0] === job_id;
        const status = isKnown ? ('DEDUPLICATED' as const) : ('PENDING' as const);
        return { doc_id: document.doc_id, job_id, status, ...(isNewest ? {} : { superseded: true as const }) };
      }),
    }),
    getJob: async (id) => ({ status: jobs.get(id)?.status, error: 'the policy denies the text' }) as never,
  };
  const reader = { read: async (path: string) => text(path) };
  const tools = { client, reader, settings, onProgress: () => undefined };
  const run = async (named: readonly string[]) => {
    const chosen = files.filter(({ docId }) => named.includes(docId));
    const submitted = await submitFiles(chosen, tools);
    const ended = await awaitJobs(submitted, tools, 1_000);
    const results = await retryFailed(chosen, { submitted, ended }, tools, 1_000);
    return Object.fromEntries(results.map(({ docId, state }) => [docId, state]));
  };
  expect(await run(['denied.md', 'kept.md'])).toEqual({ 'denied.md': 'failed', 'kept.md': 'done' });
  expect(jobs.size).toBe(2);
  expect(await run(names)).toEqual({ 'denied.md': 'failed', 'fresh.md': 'failed', 'kept.md': 'unchanged' });
  expect([...jobs.values()].map(({ doc }) => doc).toSorted()).toEqual([
    'denied.md',
    'denied.md',
    'fresh.md',
    'kept.md',
  ]);
  ends = 'DONE';
  expect(await run(names)).toEqual({ 'denied.md': 'done', 'fresh.md': 'done', 'kept.md': 'unchanged' });
  const { size } = jobs;
  expect(await run(names)).toEqual({ 'denied.md': 'unchanged', 'fresh.md': 'unchanged', 'kept.md': 'unchanged' });
  expect(jobs.size).toBe(size);
});

test('a file whose document a later submit replaced is submitted under another key, and is unchanged when the command is repeated', async () => {
  using folder = temporaryFolder();
  const files = ['kept.md', 'plan.md'].map((docId) => ({ docId, path: join(folder.path, docId) }));
  for (const { path } of files) writeFileSync(path, path);
  const jobs: { readonly doc: string; readonly key: string; readonly groups: readonly string[] }[] = [];
  const submit: RetrievalClient['submit'] = async (documents) => ({
    jobs: documents.map(({ doc_id: doc, idempotency_key: key, acl }) => {
      const known = jobs.findIndex((job) => job.doc === doc && job.key === key);
      if (known === -1) jobs.push({ doc, key, groups: acl?.groups ?? [] });
      const at = known === -1 ? jobs.length - 1 : known;
      const isNewest = at === jobs.findLastIndex((job) => job.doc === doc);
      const entry = { doc_id: doc, job_id: `job-${at}`, status: known === -1 ? 'PENDING' : 'DEDUPLICATED' } as const;
      return isNewest ? entry : { ...entry, superseded: true };
    }),
  });
  const client = { submit, getJob: () => Promise.reject(new Error('not asked for')) };
  const reader = { read: async (path: string) => text(path) };
  const run = async (group: string, docIds: readonly string[]) => {
    const chosen = files.filter(({ docId }) => docIds.includes(docId));
    const tools = { client, reader, settings: { ...settings, groups: [group] }, onProgress: () => undefined };
    const results = await submitFiles(chosen, tools);
    return Object.fromEntries(results.map(({ docId, state }) => [docId, state]));
  };
  const both = ['kept.md', 'plan.md'];
  expect(await run('board', both)).toEqual({ 'kept.md': 'waiting', 'plan.md': 'waiting' });
  expect(await run('staff', ['plan.md'])).toEqual({ 'plan.md': 'waiting' });
  for (const round of [1, 2]) {
    expect(await run('board', both)).toEqual({ 'kept.md': 'unchanged', 'plan.md': 'waiting' });
    expect(await run('board', both)).toEqual({ 'kept.md': 'unchanged', 'plan.md': 'unchanged' });
    expect(await run('staff', ['plan.md'])).toEqual({ 'plan.md': 'waiting' });
    expect(jobs).toHaveLength(3 + 2 * round);
  }
  expect(jobs.map(({ groups }) => groups[0])).toEqual(['board', 'board', 'staff', 'board', 'staff', 'board', 'staff']);
});

test('the key of a repetition depends on the document and on the name of the repetition', () => {
  const document = documentOf('a');
  const keyOf = (name: string, of = document) => repeatedDocument(of, name).idempotency_key;
  expect(keyOf('one')).toBe(keyOf('one'));
  expect(repeatedDocument(document, 'one')).toEqual({ ...document, idempotency_key: keyOf('one') });
  const keys = [document.idempotency_key, keyOf('one'), keyOf('two'), keyOf('one', documentOf('b'))];
  expect(new Set(keys).size).toBe(4);
});

test('a poll reads at most fifty open jobs, and the next poll reads the others first', async () => {
  const asked: string[] = [];
  const open = new Set(Array.from({ length: 70 }, (_, at) => `job-${at}`));
  const submitted = [...open].map((jobId) => ({ docId: jobId, state: 'waiting', jobId }) as const);
  const getJob = (id: string) => {
    asked.push(id);
    return Promise.resolve({ status: asked.length > 50 ? 'DONE' : 'RUNNING', error: null } as never);
  };
  const submit = () => Promise.reject(new Error('not asked for'));
  const ended = await awaitJobs(submitted, { client: { getJob, submit }, onProgress: () => undefined }, 60_000);
  expect(asked.slice(0, 71)).toEqual([...open, 'job-0']);
  expect(ended.every(({ state }) => state === 'done')).toBe(true);
});

test('when the service refuses a batch, only the documents that it refuses fail', async () => {
  using folder = temporaryFolder();
  const files = Array.from({ length: 9 }, (_, at) => {
    const docId = `${at}.md`;
    writeFileSync(join(folder.path, docId), docId);
    return { docId, path: join(folder.path, docId) };
  });
  const accepted: string[] = [];
  const submit: RetrievalClient['submit'] = async (documents) => {
    const refusal = { code: 'invalid_document', message: 'documents[0].doc_id is refused.', traceId: 't' };
    if (documents.some(({ doc_id }) => doc_id === '6.md')) throw new ServiceApiError(400, refusal);
    accepted.push(...documents.map(({ doc_id }) => doc_id));
    return { jobs: documents.map(({ doc_id }) => ({ doc_id, job_id: doc_id, status: 'PENDING' as const })) };
  };
  const reader = { read: async (path: string) => text(path) };
  const client = { submit, getJob: () => Promise.reject(new Error('not asked for')) };
  const results = await submitFiles(files, { client, reader, settings, onProgress: () => undefined });
  expect(results.filter(({ state }) => state === 'failed')).toEqual([
    { docId: '6.md', state: 'failed', reason: 'documents[0].doc_id is refused.' },
  ]);
  expect(accepted.toSorted()).toEqual(files.map(({ docId }) => docId).filter((id) => id !== '6.md'));
  const away = () => Promise.reject(new ServiceApiError(503, { code: 'unavailable', message: 'away', traceId: 't' }));
  const broken = submitFiles(files, {
    client: { ...client, submit: away },
    reader,
    settings,
    onProgress: () => undefined,
  });
  await expect(broken).rejects.toThrow('away');
});
