import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answers, startScriptedHttp } from '#kit/testing/scripted-http';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { callHttpService } from './call-http-service.ts';
import { ConnectionError } from './connection-error.ts';
import { openConnections } from './open-connections.ts';

test('the host of a connection is resolved at each call, and one refused address among its addresses refuses the call', async () => {
  using folder = temporaryFolder();
  await using service = await startScriptedHttp(answers({}));
  const { port } = new URL(service.url);
  const named = { name: 'crm', kind: 'http', url: `http://crm.example:${port}`, agents: ['a'] };
  const file = join(folder.path, 'connections.yaml');
  await writeFile(file, JSON.stringify({ connections: [{ ...named, allowedNetworks: ['127.0.0.1/32'] }] }));
  let addresses = ['127.0.0.1'];
  await using connections = await openConnections({
    file,
    credentialFile: (name) => join(folder.path, name),
    logger: { info: () => undefined, error: () => undefined },
    resolve: async () => addresses,
  });
  const open = connections.find('crm') ?? expect.fail('the connection is not open');
  const call = async (): Promise<unknown> => {
    if (open.connection.kind !== 'http') return expect.fail('the connection is not one of HTTP');
    const link = {
      dispatcher: open.dispatcher,
      credential: {},
      maxAnswerBytes: 100,
      signal: new AbortController().signal,
    };
    return await callHttpService(open.connection, { method: 'GET', path: '/', query: {} }, link).catch(
      (error: unknown) => (error instanceof ConnectionError ? error.code : error),
    );
  };
  expect(await call()).toEqual({ status: 200, body: {} });
  for (const refused of ['169.254.169.254', '8.8.8.8', '127.0.0.2', '::1']) {
    addresses = ['127.0.0.1', refused];
    expect(await call()).toBe('address_refused');
  }
  expect(service.seen).toHaveLength(1);
  addresses = ['127.0.0.1'];
  expect(await call()).toEqual({ status: 200, body: {} });
});
