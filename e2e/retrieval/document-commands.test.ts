import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { archiveLimits } from '../../cli/documents/extraction/archive-size.ts';
import { makeDocx, makeEncryptedPdf, makePdf } from '../../cli/documents/testing/make-documents.ts';
import { runInProcess } from '../../cli/testing/run-cli.ts';
import { root } from '../../hack/check/run-tool.ts';
import { missingPostgres, onPostgres } from '../../libraries/sql/testing/test-database.ts';
import { type Platform, startPlatform } from '../support/start-platform.ts';

type Result = { readonly docId: string; readonly state: string };

/**
 * Opens a server that forwards requests to the service; `onSubmit` is called with the number of a submit, before and
 * after the submit is answered.
 */
async function openProxy(
  target: string,
  onSubmit: (number: number, when: 'before' | 'after') => boolean | Promise<boolean>,
) {
  let submits = 0;
  const pass = async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const isSubmit = incoming.url === '/v1/documents:submit';
    if (isSubmit) submits += 1;
    const number = submits;
    if (isSubmit && !(await onSubmit(number, 'before'))) return;
    const { method, headers } = incoming;
    const onward = request(new URL(incoming.url ?? '/', target), { method, headers }, async (received) => {
      if (isSubmit && !(await onSubmit(number, 'after'))) return;
      answer.writeHead(received.statusCode ?? 502, received.headers);
      received.pipe(answer);
    });
    incoming.pipe(onward);
  };
  const server = createServer(pass).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('the commands of documents'), () => {
  let platform: Platform;
  const caller = ['--as', 'ann', '--tenant', 'acme'];
  const run = (...args: readonly string[]) => runInProcess([...args, ...caller], { data: platform.data });
  const jsonOf = async <T>(...args: readonly string[]): Promise<T> =>
    JSON.parse((await run(...args, '-o', 'json')).stdout) as T;
  const create = async (name: string) => expect(await run('collection', 'create', name)).toMatchObject({ code: 0 });

  beforeAll(async () => {
    platform = await startPlatform({ retrieval: true });
  });
  afterAll(() => platform?.[Symbol.asyncDispose]());

  test('each file without readable text is reported on one line with the reason, and all other files are submitted', async () => {
    using folder = temporaryFolder();
    const write = (name: string, content: string | Uint8Array): void => writeFileSync(join(folder.path, name), content);
    mkdirSync(join(folder.path, 'sub'));
    for (const name of ['good.md', 'good.txt', 'sub/good.html', 'zz.md']) write(name, 'An otter.');
    write('good.pdf', makePdf(['A second otter.']));
    write('bomb.docx', makeDocx(['a'], [{ name: 'x', content: Buffer.alloc(archiveLimits.bytes + 1) }]));
    write('broken.txt', Buffer.from([0x61, 0xff, 0x62]));
    write('control\u001b[2K\n.md', 'text');
    write('cut.docx', makeDocx(['a']).subarray(0, 200));
    write('empty.md', '');
    write('empty.pdf', '');
    write('encrypted.pdf', makeEncryptedPdf(['a']));
    write('huge.pdf', makePdf(['a']));
    truncateSync(join(folder.path, 'huge.pdf'), 100_000_000);
    await create('mixed');
    const end = await run('documents', 'submit', folder.path, '--collection', 'mixed', '--allow-person', 'ann');
    expect(end).toMatchObject({ code: 1, stderr: 'portcullis: 8 of 13 documents failed.\n' });
    const lines = end.stdout.trimEnd().split('\n');
    expect(lines.slice(1).map((line) => line.trimEnd().split(/ {2,}/))).toEqual([
      ['control\\x1b[2K\\x0a.md', 'not read', 'its name has control characters: rename it'],
      ['bomb.docx', 'not read', 'it expands to more than the reader allows'],
      ['broken.txt', 'not read', 'its characters are not valid in its encoding'],
      ['cut.docx', 'not read', 'it is damaged or not of the format that its name says'],
      ['empty.md', 'not read', 'it is empty'],
      ['empty.pdf', 'not read', 'it is empty'],
      ['encrypted.pdf', 'not read', 'it is encrypted'],
      ['huge.pdf', 'not read', 'it is larger than 64 MiB'],
      ['5 searchable, 8 not read.'],
    ]);
    const { items } = await jsonOf<{ items: readonly { doc_id: string }[] }>(
      'documents',
      'list',
      '--collection',
      'mixed',
    );
    expect(items.map(({ doc_id }) => doc_id)).toEqual(['good.md', 'good.pdf', 'good.txt', 'sub/good.html', 'zz.md']);
  });

  test.each([
    ['before its second batch arrives', 'before', 50],
    ['after its second batch is accepted and before it hears of it', 'after', 100],
  ] as const)(
    'a submit that is killed %s can be repeated unchanged, and each document exists once',
    async (_, when, unchanged) => {
      const name = `resumed-${when}`;
      using folder = temporaryFolder();
      const names = Array.from({ length: 120 }, (_one, at) => `page-${String(at).padStart(3, '0')}.md`);
      for (const file of names) writeFileSync(join(folder.path, file), `The otter of ${file}.`);
      await create(name);
      const settings = ['--collection', name, '--allow-person', 'ann', '-o', 'json'];
      const { retrieval = '' } = platform.status().addresses;
      const killed = Promise.withResolvers<void>();
      using proxy = await openProxy(retrieval, (number, moment) => {
        if (number !== 2 || moment !== when) return true;
        killed.resolve();
        return false;
      });
      const args = [
        'cli/main.ts',
        'documents',
        'submit',
        folder.path,
        ...settings,
        ...caller,
        '--server',
        proxy.origin,
      ];
      const command = spawn(process.execPath, args, { cwd: root, stdio: 'ignore' });
      await killed.promise;
      command.kill('SIGKILL');
      await once(command, 'exit');
      const submit = async (...options: readonly string[]) => {
        const sent = ['documents', 'submit', folder.path, ...settings, ...options];
        const { items } = await jsonOf<{ items: readonly Result[] }>(...sent);
        return (state: string): number => items.filter((one) => one.state === state).length;
      };
      const resumed = await submit('--no-wait');
      expect([resumed('unchanged'), resumed('waiting')]).toEqual([unchanged, 120 - unchanged]);
      const awaited = await submit();
      expect(awaited('unchanged') + awaited('done')).toBe(120);
      const listed = await jsonOf<{ items: readonly { doc_id: string; chunk_count: number }[] }>(
        'documents',
        'list',
        '--collection',
        name,
      );
      expect(listed.items.map(({ doc_id, chunk_count }) => [doc_id, chunk_count])).toEqual(
        names.map((one) => [one, 1]),
      );
      const jobs = await jsonOf<{ items: readonly unknown[] }>('jobs', 'list', '--collection', name, '--limit', '1000');
      expect(jobs.items).toHaveLength(120);
    },
  );

  test('a submit whose second batch is refused names the accepted documents as JSON, too', async () => {
    using folder = temporaryFolder();
    for (let at = 0; at < 70; at += 1) writeFileSync(join(folder.path, `page-${at}.md`), 'An otter.');
    await create('partial');
    const { retrieval = '' } = platform.status().addresses;
    using proxy = await openProxy(retrieval, async (number, moment) => {
      if (number === 2 && moment === 'before') await run('collection', 'delete', 'partial', '--yes');
      return true;
    });
    const options = ['--collection', 'partial', '--allow-person', 'ann', '--no-wait', '-o', 'json'];
    const end = await run('documents', 'submit', folder.path, ...options, '--server', proxy.origin);
    expect(end.code).toBe(3);
    const { items } = JSON.parse(end.stdout) as { items: readonly Result[] };
    expect([items.length, new Set(items.map(({ state }) => state))]).toEqual([50, new Set(['waiting'])]);
  });

  test('jobs replay reports each job that is not repeated, and ends with an error', async () => {
    using folder = temporaryFolder();
    for (const name of ['a.md', 'b.md']) writeFileSync(join(folder.path, name), 'An otter.');
    await create('replayed');
    await run('documents', 'submit', folder.path, '--collection', 'replayed', '--allow-person', 'ann');
    const jobs = (await run('jobs', 'list', '--collection', 'replayed', '-o', 'name')).stdout.trim().split('\n');
    expect(jobs).toHaveLength(2);
    const end = await run('jobs', 'replay', ...jobs);
    expect(end.stdout.trimEnd().split('\n')).toEqual(
      jobs.map((id) => expect.stringMatching(new RegExp(`^Job ${id} is not repeated: .*not FAILED`))),
    );
    expect(end).toMatchObject({ code: 1, stderr: 'portcullis: 2 of 2 jobs were not repeated.\n' });
    const { items } = await jsonOf<{ items: readonly unknown[] }>('jobs', 'replay', ...jobs);
    expect(items).toEqual(jobs.map((job_id) => ({ job_id, reason: expect.any(String) })));
    expect(await run('jobs', 'replay', ...jobs, '-o', 'name')).toMatchObject({ code: 1, stdout: '' });
  });

  test('a file that is submitted again with its earlier readers can no longer be read by the later ones', async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'plan.md');
    writeFileSync(path, 'The otter moves out in May.');
    expect(await run('collection', 'create', 'plans', '--visibility', 'public')).toMatchObject({ code: 0 });
    const submit = (group: string, ...options: readonly string[]) =>
      run('documents', 'submit', path, '--collection', 'plans', '--allow-group', group, ...options);
    const readers = async () => {
      const ask = (group: string) => {
        const words = ['query', 'otter', '--collection', 'plans', '--mode', 'bm25', '-o', 'json'];
        const as = ['--as', 'bob', '--tenant', 'acme', '--groups', group];
        return runInProcess([...words, ...as], { data: platform.data });
      };
      const isFound = async (group: string) => (await ask(group)).stdout.includes('plan.md');
      return { board: await isFound('board'), staff: await isFound('staff') };
    };
    expect(await submit('board')).toMatchObject({ code: 0, stdout: '1 searchable.\n' });
    expect(await readers()).toEqual({ board: true, staff: false });
    expect(await submit('staff')).toMatchObject({ code: 0, stdout: '1 searchable.\n' });
    expect(await readers()).toEqual({ board: false, staff: true });
    expect(await submit('board')).toMatchObject({ code: 0, stdout: '1 searchable.\n' });
    expect(await readers()).toEqual({ board: true, staff: false });
    expect(await submit('board')).toMatchObject({ code: 0, stdout: '1 unchanged.\n' });
    expect(await submit('staff')).toMatchObject({ code: 0, stdout: '1 searchable.\n' });
    expect(await submit('board', '--no-wait')).toMatchObject({ code: 0, stdout: expect.stringContaining('waiting') });
    expect(await submit('board')).toMatchObject({ code: 0 });
    expect(await readers()).toEqual({ board: true, staff: false });
    expect(await run('documents', 'share', 'plan.md', '--collection', 'plans', '--allow-group', 'staff')).toMatchObject(
      {
        code: 0,
      },
    );
    expect(await submit('board')).toMatchObject({ code: 0, stdout: '1 unchanged.\n' });
    expect(await readers()).toEqual({ board: false, staff: true });
    expect(await run('collection', 'delete', 'plans', '--yes')).toMatchObject({ code: 0 });
  });

  test('collections, documents and jobs are written with -o name in the form that other commands accept', async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, 'a.md'), 'An otter.');
    const named = async (...words: readonly string[]) => (await run(...words, '-o', 'name')).stdout;
    expect(await named('collection', 'create', 'named')).toBe('named\n');
    expect((await named('collection', 'list')).split('\n')).toContain('named');
    const submit = ['documents', 'submit', folder.path, '--collection', 'named', '--allow-person', 'ann'];
    const refused = await run(...submit, '-o', 'name');
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('choose -o json') });
    expect(await named('documents', 'list', '--collection', 'named')).toBe('');
    expect(await run(...submit)).toMatchObject({ code: 0 });
    expect(await named('documents', 'list', '--collection', 'named')).toBe('a.md\n');
    const job = (await named('jobs', 'list', '--collection', 'named')).trim();
    expect(await named('jobs', 'get', job)).toBe(`${job}\n`);
    expect(await named('collection', 'delete', 'named', '--yes')).toBe('named\n');
  });

  test('documents are deleted with one line each, and an absent document does not prevent the deletion of others', async () => {
    using folder = temporaryFolder();
    for (const name of ['a.md', 'b.md', 'c.md']) writeFileSync(join(folder.path, name), 'An otter.');
    await create('shrinking');
    await run('documents', 'submit', folder.path, '--collection', 'shrinking', '--allow-person', 'ann');
    const asked = ['documents', 'delete', 'a.md', '--collection', 'shrinking', ...caller];
    const at = { data: platform.data, terminals: ['stdin', 'stderr'], input: 'n\n' } as const;
    expect(await runInProcess(asked, at)).toMatchObject({
      code: 13,
      stdout: '',
      stderr: expect.stringContaining('The document a.md of the collection shrinking would be deleted.'),
    });
    const end = await run('documents', 'delete', 'a.md', 'absent.md', 'c.md', '--collection', 'shrinking');
    expect(end.stdout.split('\n').slice(0, 3)).toEqual([
      'Document a.md deleted.',
      expect.stringMatching(/^Document absent\.md was not deleted: .+\.$/),
      'Document c.md deleted.',
    ]);
    expect(end).toMatchObject({ code: 1, stderr: 'portcullis: 1 of 3 documents were not deleted.\n' });
    const single = await run('documents', 'delete', 'absent.md', '--collection', 'shrinking');
    expect(single).toMatchObject({ code: 3, stdout: '' });
  });

  test('shell completion offers collections, documents and jobs of the service, and no word that a shell would expand', async () => {
    using folder = temporaryFolder();
    const evil = ['$(touch evil).md', '`id`.md', 'with blank.md', '-f.md', '~.md', ';id.md', '{a,b}.md'];
    for (const name of ['plain.md', 'план.md', ...evil]) writeFileSync(join(folder.path, name), 'An otter.');
    mkdirSync(join(folder.path, 'sub'));
    writeFileSync(join(folder.path, 'sub/page.md'), 'An otter.');
    await create('completed');
    await create('other');
    await run('documents', 'submit', folder.path, '--collection', 'completed', '--allow-person', 'ann');
    const offered = async (...words: readonly string[]): Promise<readonly string[]> => {
      const { stdout } = await runInProcess(['__complete', ...words], { data: platform.data });
      return stdout.trim().split('\n').slice(0, -1);
    };
    expect(await offered('collection', 'get', ...caller, 'comp')).toEqual(['completed']);
    expect(await offered('collection', 'create', ...caller, 'comp')).toEqual([]);
    expect(await offered('query', 'otter', ...caller, '--collection', 'oth')).toEqual(['other']);
    const inCompleted = ['--collection', 'completed', ...caller];
    expect(await offered('documents', 'delete', ...inCompleted, '')).toEqual(['plain.md', 'sub/page.md', 'план.md']);
    expect(await offered('documents', 'delete', 'plain.md', ...inCompleted, 'p')).toEqual([]);
    expect(await offered('documents', 'delete', '--collection', 'absent', ...caller, '')).toEqual([]);
    const { items } = await jsonOf<{ items: readonly { job_id: string }[] }>(
      'jobs',
      'list',
      '--collection',
      'completed',
    );
    expect(items).toHaveLength(3 + evil.length);
    const jobs = await offered('jobs', 'get', ...caller, '');
    expect(jobs).toEqual(expect.arrayContaining(items.map(({ job_id }) => job_id)));
    // No job has failed.
    expect(await offered('jobs', 'replay', ...caller, '')).toEqual([]);
    // Neither another person nor a request without a caller sees a collection.
    expect(await offered('collection', 'get', '--as', 'eve', '--tenant', 'acme', '')).toEqual([]);
    expect(await offered('collection', 'get', '')).toEqual([]);
    expect(await offered('collection', 'get', ...caller, '--server', 'http://127.0.0.1:1', '')).toEqual([]);
  });
});
