import { expect, test } from 'vitest';
import type { CliError } from '../errors/cli-error.ts';
import { ServiceApiError, ServiceUnreachableError } from '../http/service-error.ts';
import { deleteAndWait, deletedDocumentLines, refuseUndeleted } from './delete-and-wait.ts';

type Job = 'DONE' | 'FAILED' | 'RUNNING' | 'away';
type Answer = Job | 'absent' | 'lost';

const lost = new ServiceUnreachableError('retrieval', 'http://service', new Error('reset'));

/** A service with configured responses to the deletion of a document and to reads of its job. */
function serviceOf(answers: Readonly<Record<string, Answer>>) {
  const asked: string[] = [];
  const client = {
    submit: () => Promise.reject(new Error('not asked for')),
    deleteDocument: (_collection: string, docId: string) => {
      asked.push(docId);
      const answer = answers[docId];
      if (answer === 'lost') return Promise.reject(lost);
      const absent = { code: 'not_found', message: 'There is no such object.', traceId: 't' };
      if (answer === 'absent') return Promise.reject(new ServiceApiError(404, absent));
      return Promise.resolve({ doc_id: docId, job_id: docId, status: 'PENDING' as const });
    },
    getJob: (jobId: string) => {
      if (answers[jobId] === 'away') return Promise.reject(lost);
      return Promise.resolve({ status: answers[jobId], error: 'the store is full' } as never);
    },
  };
  return { client, asked };
}

async function deleted(answers: Readonly<Record<string, Answer>>) {
  const { client, asked } = serviceOf(answers);
  const deletions = await deleteAndWait(Object.keys(answers), { client, collectionId: 'c', timeoutMs: 1 });
  const refusal = (() => {
    try {
      refuseUndeleted(deletions);
    } catch (error) {
      return error as CliError;
    }
    return undefined;
  })();
  const end = refusal === undefined ? undefined : [refusal.exit, refusal.message];
  return { lines: deletedDocumentLines(deletions.results).split('\n'), end, asked };
}

test('the output of a deletion has one line for each document', async () => {
  const { lines, end } = await deleted({ a: 'DONE', b: 'DONE' });
  expect(lines).toEqual(['Document a deleted.', 'Document b deleted.']);
  expect(end).toBeUndefined();
});

test('when the connection is lost between deletions, earlier results are kept and the documents that were not sent are named', async () => {
  const { lines, end, asked } = await deleted({ a: 'DONE', b: 'lost', c: 'DONE' });
  expect(asked).toEqual(['a', 'b']);
  expect(lines).toEqual([
    'Document a is being deleted (job a).',
    'It is unknown whether document b is deleted: the connection was lost. Repeat the command.',
    'Document c was not deleted: it was not sent.',
  ]);
  expect(end).toEqual(['not_running', expect.stringContaining('http://service does not answer')]);
});

test('when the connection is lost during the wait, the results that were read are kept', async () => {
  const { lines, end } = await deleted({ a: 'DONE', b: 'away', c: 'DONE' });
  expect(lines).toEqual([
    'Document a deleted.',
    'Document b is being deleted (job b).',
    'Document c is being deleted (job c).',
  ]);
  expect(end?.[0]).toBe('not_running');
});

test('a document whose deletion job is open is reported as being deleted, and not as an index that is not ready', async () => {
  const { lines, end } = await deleted({ a: 'DONE', b: 'RUNNING' });
  expect(lines).toEqual(['Document a deleted.', 'Document b is being deleted (job b).']);
  expect(end).toEqual([
    'timeout',
    '1 of 2 deletions have not ended yet: "portcullis jobs get ID" shows the progress of one.',
  ]);
});

test('a refused document or a failed job does not prevent the deletion of other documents', async () => {
  const { lines, end } = await deleted({ a: 'absent', b: 'FAILED', c: 'DONE' });
  expect(lines).toEqual([
    'Document a was not deleted: There is no such object.',
    'Document b was not deleted: the store is full.',
    'Document c deleted.',
  ]);
  expect(end).toEqual(['failed', '2 of 3 documents were not deleted.']);
});

test('the deletion of a single document that is refused exits with the code of the refusal', async () => {
  await expect(deleted({ a: 'absent' })).rejects.toMatchObject({ exit: 'not_found' });
});

test('control characters of an id do not reach the terminal', () => {
  expect(deletedDocumentLines([{ docId: 'a\n\u001b[2J', state: 'done' }])).toBe('Document a\\x0a\\x1b[2J deleted.');
});
