import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { folderWithFiles, runCli } from './testing/run-cli.ts';

test('documents submit names a file that needs more memory than the limit in one step, and submits the next one', async () => {
  using folder = folderWithFiles();
  folder.write('lines.html', `<pre>${'\n'.repeat(60_000_000)}a`);
  folder.write('next.md', 'next');
  const server = createServer(async (request, response) => {
    const { documents } = (await json(request)) as { readonly documents: readonly { readonly doc_id: string }[] };
    const jobs = documents.map(({ doc_id }) => ({ doc_id, job_id: crypto.randomUUID(), status: 'PENDING' }));
    response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify({ jobs }));
  }).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const address = server.address();
    const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const submit = ['documents', 'submit', folder.path, '--collection', 'c', '--allow-person', 'ann', '--no-wait'];
    const { code, stdout, stderr } = await runCli([...submit, '--server', origin, '--as', 'ann', '-o', 'json']);
    expect(JSON.parse(stdout)).toEqual({
      items: [
        { docId: 'lines.html', state: 'unreadable', reason: 'reading it exceeds the limit of memory or time' },
        { docId: 'next.md', state: 'waiting', jobId: expect.any(String) },
      ],
    });
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toEqual({ error: { code: 'failed', message: '1 of 2 documents failed.' } });
  } finally {
    server.close();
  }
});
