import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { folderWithFiles, runInProcess } from './testing/run-cli.ts';

type Submitted = { readonly documents: readonly { readonly doc_id: string }[] };

/** A retrieval service that answers the given number of submits, and then closes each connection without an answer. */
async function losingService(answered = 0) {
  let left = answered;
  const server = createServer(async (request, response) => {
    left -= 1;
    if (left < 0) return void request.socket.destroy();
    const { documents } = (await json(request)) as Submitted;
    const jobs = documents.map(({ doc_id }) => ({
      ...{ doc_id, job_id: crypto.randomUUID() },
      ...(doc_id === 'replaced.md' ? { status: 'DEDUPLICATED', superseded: true } : { status: 'PENDING' }),
    }));
    response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify({ jobs }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    run: (...args: readonly string[]) =>
      runInProcess([...args, '--server', `http://127.0.0.1:${port}`, '--as', 'ann', '--request-timeout', '1']),
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const ids = ['01890a5d-ac96-774b-bcce-b302099a8057', '01890a5d-ac96-774b-bcce-b302099a8058'] as const;

test('documents share reports a change as unknown when the connection is lost, and the next one as not sent', async () => {
  using service = await losingService();
  const share = ['documents', 'share', 'a', 'b', '--collection', 'c', '--allow-person', 'bob'];
  const { code, stdout } = await service.run(...share);
  expect([code, stdout]).toEqual([
    4,
    'It is unknown whether document a is shared: the connection was lost. Repeat the command.\n' +
      'Document b is shared as before: it was not sent.\n',
  ]);
});

test('jobs replay reports a change as unknown when the connection is lost, and the next one as not sent', async () => {
  using service = await losingService();
  const { code, stdout } = await service.run('jobs', 'replay', ...ids);
  expect([code, stdout]).toEqual([
    4,
    `It is unknown whether job ${ids[0]} is repeated: the connection was lost. Repeat the command.\n` +
      `Job ${ids[1]} is not repeated: it was not sent.\n`,
  ]);
});

test('documents submit names the accepted documents of a batch when the connection is lost before those that are sent once more', async () => {
  using service = await losingService(1);
  using folder = folderWithFiles();
  for (const name of ['new.md', 'other.md', 'replaced.md']) folder.write(name, name);
  const submit = ['documents', 'submit', folder.path, '--collection', 'c', '--allow-person', 'ann'];
  const { code, stdout } = await service.run(...submit, '--no-wait', '-o', 'json');
  expect(code).toBe(4);
  expect(JSON.parse(stdout)).toEqual({
    items: ['new.md', 'other.md'].map((docId) => ({ docId, jobId: expect.any(String), state: 'waiting' })),
  });
});
