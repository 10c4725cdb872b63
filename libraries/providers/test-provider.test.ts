import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { ApprovedProvider } from '#contracts/providers';
import { testProvider } from './test-provider.ts';

async function serve(answer: (response: ServerResponse) => void) {
  const server = createServer((_incoming, response) => answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const providerOf = (kind: ApprovedProvider['kind'], endpoint: string): ApprovedProvider => {
  const common = { name: 'p', endpoint, enabled: true };
  if (kind === 'classifier') return { ...common, kind, model: 'judge', credential: 'key' };
  return kind === 'model' ? { ...common, kind } : { ...common, kind, credential: 'key' };
};

async function tested(kind: ApprovedProvider['kind'], body: string) {
  using server = await serve((response) => response.end(body));
  const { cause, message, steps } = await testProvider(providerOf(kind, server.endpoint), { timeoutMs: 10_000 });
  return { cause, message, http: steps.find(({ step }) => step === 'http')?.state };
}

const completion = JSON.stringify({ choices: [{ message: { content: 'yes' } }] });

test('a detector or classifier that answers 200 in another form does not pass the test', async () => {
  for (const body of ['<html>Welcome</html>', '', '{}', '{"decision":"perhaps"}', '[]', 'null']) {
    for (const kind of ['detector', 'classifier'] as const) {
      expect(await tested(kind, body), `${kind} ${body}`).toMatchObject({ cause: 'invalid_answer', http: 'failed' });
    }
  }
  expect((await tested('detector', completion)).message).toContain('is not a decision of the contract');
  expect(await tested('detector', '{"decision":"allow"}')).toEqual({ message: 'it answers.', http: 'ok' });
  expect(await tested('classifier', completion)).toEqual({ message: 'it answers.', http: 'ok' });
});

test('an answer over the limit of its kind is not valid, and an answer of exactly the limit is valid', async () => {
  const list = (bytes: number) => padded('{"data":[]}', bytes);
  expect((await tested('model', list(4_194_304))).cause).toBeUndefined();
  expect((await tested('model', list(4_194_305))).cause).toBe('invalid_answer');
  expect((await tested('classifier', padded(completion, 65_536))).cause).toBeUndefined();
  expect((await tested('classifier', padded(completion, 65_537))).cause).toBe('invalid_answer');
});

test('a provider that never ends its answer does not fill the memory: the transfer ends at the limit', async () => {
  let sent = 0;
  using server = await serve((response) => {
    const chunk = Buffer.alloc(65_536, ' ');
    const write = (): void => {
      for (let more = true; more && !response.destroyed; sent += chunk.length) more = response.write(chunk);
    };
    response.on('drain', write).on('error', () => undefined);
    write();
  });
  const found = await testProvider(providerOf('model', server.endpoint), { timeoutMs: 60_000 });
  expect(found.cause).toBe('invalid_answer');
  expect(sent).toBeLessThan(64 * 1_048_576);
});

test('an answer that breaks off is a connection fault', async () => {
  using server = await serve((response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"data":');
    setTimeout(() => response.destroy(), 50);
  });
  const found = await testProvider(providerOf('model', server.endpoint), { timeoutMs: 10_000 });
  expect(found.cause).toBe('network');
});

function padded(json: string, bytes: number): string {
  return `${json}${' '.repeat(bytes - json.length)}`;
}
