import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { folderWithFiles, runInProcess } from './testing/run-cli.ts';

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const models: RequestListener = ({ url, headers }, response) => {
  response.statusCode = url === '/v1/models' ? (headers.authorization === 'Bearer right' ? 200 : 401) : 404;
  response.end(JSON.stringify({ data: [{ id: 'small' }] }));
};

test('portcullis provider test names the cause of each fault of a provider and the remedy', async () => {
  using server = await serve(models);
  using folder = folderWithFiles();
  const entry = (name: string, endpoint: string, more = ''): string =>
    `  - { name: ${name}, kind: model, endpoint: "${endpoint}", enabled: true${more} }\n`;
  folder.write(
    'providers.yaml',
    'providers:\n' +
      entry('good', server.url, ', credential: right') +
      entry('wrong-key', server.url, ', credential: wrong') +
      entry('no-key', server.url, ', credential: absent') +
      entry('moved', `${server.url}/other`) +
      entry('tls', server.url.replace('http:', 'https:')) +
      entry('down', 'http://127.0.0.1:1/v1') +
      entry('unknown-host', 'http://no-such-host.invalid/v1'),
  );
  mkdirSync(`${folder.path}/secrets`);
  writeFileSync(`${folder.path}/secrets/right`, 'right\n');
  writeFileSync(`${folder.path}/secrets/wrong`, 'wrong\n');
  const run = (name: string, ...more: readonly string[]) =>
    runInProcess(['provider', 'test', name, ...more], { data: folder.path });

  expect(await run('good')).toMatchObject({
    code: 0,
    stdout: 'good: it answers with 1 models.\nSteps: credential ok, dns ok, tcp ok, tls -, http ok, model -.\n',
  });
  expect(await run('good', '--model', 'small')).toMatchObject({ code: 0 });
  const faults: readonly (readonly [readonly string[], string])[] = [
    [['good', '--model', 'large'], 'does not contain large: correct spec.model.upstreamModel'],
    [['wrong-key'], 'refuses the credential (status 401): replace the key in secrets/wrong'],
    [['no-key'], `the file ${folder.path}/secrets/absent of its credential is missing`],
    [['moved'], 'does not know this path (status 404): correct providers.yaml'],
    [['tls'], 'does not speak https: correct the scheme'],
    [['tls'], 'Steps: credential -, dns ok, tcp ok, tls FAILED, http -, model -.'],
    [['down'], 'no program accepts connections at 127.0.0.1:1: start the provider'],
    [['unknown-host'], 'the name no-such-host.invalid cannot be resolved'],
  ];
  for (const [[name = '', ...more], words] of faults) {
    expect(await run(name, ...more)).toMatchObject({ code: 8, stderr: expect.stringContaining(words) });
  }
  expect(await run('good', '--via', 'api')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('give --binding NAME in place of good, or test good from this machine'),
  });
  expect(await run('nothing')).toMatchObject({ code: 3, stderr: expect.stringContaining('It lists: good, wrong-key') });
});
