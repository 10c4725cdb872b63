import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import type { GatewayReport } from '#resources/gateway-report';
import { kinds } from '#resources/kinds';
import { sampleReport } from '../testing/sample-resources.ts';
import { json, startScriptedServer } from '../testing/scripted-server.ts';
import { createClient } from './client.ts';
import { KubeconfigError, loadKubeconfig } from './credentials.ts';

type Parts = { readonly user?: object | undefined; readonly cluster?: object };

async function writeKubeconfig(
  folder: string,
  { user = { token: 'secret' }, cluster = {} }: Parts = {},
): Promise<string> {
  const file = join(folder, 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'one', cluster: { server: 'http://127.0.0.1:1', ...cluster } },
      { name: 'two', cluster: { server: 'https://127.0.0.1:2/prefix', 'certificate-authority': 'ca.pem' } },
    ],
    users: [{ name: 'me', user }],
    contexts: [
      { name: 'first', context: { cluster: 'one', user: 'me', namespace: 'team' } },
      { name: 'second', context: { cluster: 'two', user: 'me' } },
      { name: 'nowhere', context: { cluster: 'three', user: 'me' } },
      { name: 'nobody', context: { cluster: 'one', user: 'you' } },
    ],
    'current-context': 'first',
  };
  await writeFile(file, stringify(config));
  return file;
}

async function open(parts?: Parts): Promise<{ readonly folder: string; readonly file: string }> {
  const temporary = temporaryFolder();
  onTestFinished(() => temporary[Symbol.dispose]());
  return { folder: temporary.path, file: await writeKubeconfig(temporary.path, parts) };
}

async function authorizationBy(file: string, context?: string): Promise<string | undefined> {
  const { credentials } = await loadKubeconfig({ file, context });
  return credentials.authorization();
}

describe('a kubeconfig', () => {
  test('a kubeconfig gives access to its current context, or to the context that is named', async () => {
    const { file, folder } = await open();
    expect(await loadKubeconfig({ file })).toMatchObject({ url: 'http://127.0.0.1:1', namespace: 'team' });
    const second = await loadKubeconfig({ file, context: 'second' });
    expect([second.url, second.namespace]).toEqual(['https://127.0.0.1:2/prefix', undefined]);
    const { caPem } = second;
    expect(caPem).toThrow(/ENOENT/);
    await writeFile(join(folder, 'ca.pem'), 'certificates');
    expect((caPem as () => string)()).toBe('certificates');
  });

  test.each([
    ['a token', { token: 'secret' }, 'Bearer secret'],
    ['a name and a password', { username: 'me', password: 'pass' }, 'Basic bWU6cGFzcw=='],
    ['the output of a plugin', execUser('secret'), 'Bearer secret'],
  ])('the authorization of a user comes from %s', async (_name, user, authorization) => {
    expect(await authorizationBy((await open({ user })).file)).toBe(authorization);
  });

  test('a user with a client certificate has no authorization header', async () => {
    const encoded = (text: string): string => Buffer.from(text).toString('base64');
    const user = { 'client-certificate-data': encoded('certificate'), 'client-key-data': encoded('key') };
    const access = await loadKubeconfig({ file: (await open({ user })).file });
    expect(await access.credentials.authorization()).toBeUndefined();
    expect((access.clientCertificate as () => unknown)()).toEqual({ cert: 'certificate', key: 'key' });
  });

  test.each([
    ['a context that does not exist', {}, 'absent'],
    ['a context without a cluster', {}, 'nowhere'],
    ['a context without a user', {}, 'nobody'],
    ['a user without credentials', { user: { extra: 1 } }, 'first'],
    ['a certificate without its key', { user: { 'client-certificate-data': 'YQ==' } }, 'first'],
    ['insecure-skip-tls-verify', { cluster: { 'insecure-skip-tls-verify': true } }, 'first'],
    ['a proxy', { cluster: { 'proxy-url': 'http://127.0.0.1:3' } }, 'first'],
    ['impersonation', { user: { token: 'secret', as: 'other' } }, 'first'],
    ['a plugin that fails', { user: execUser('secret', 'process.stderr.write("a secret"); process.exit(1)') }, 'first'],
    ['a plugin that does not exist', { user: { exec: { ...execUser('').exec, command: 'no-such-program' } } }, 'first'],
  ])('a kubeconfig with %s is refused', async (_name, parts, context) => {
    const { file } = await open(parts);
    const error = await loadKubeconfig({ file, context }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(KubeconfigError);
    expect(`${(error as Error).stack} ${JSON.stringify(error)}`).not.toContain('secret');
  });

  test.each([
    ['does not exist', undefined],
    ['is not YAML', 'a: [b'],
    ['is empty', ''],
    ['is not a mapping', '- 1'],
  ])('a kubeconfig that %s is refused', async (_name, text) => {
    const { folder } = await open();
    const file = join(folder, 'other');
    if (text !== undefined) await writeFile(file, text);
    await expect(loadKubeconfig({ file })).rejects.toBeInstanceOf(KubeconfigError);
  });

  test('a kubeconfig is read again after the server answered 401', async () => {
    await using server = await startScriptedServer();
    const { file, folder } = await open({ cluster: { server: server.url }, user: execUser('old') });
    const metadata = { uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: 'now' };
    const report = json(200, sampleReport('one', metadata));
    server.script({ lists: [report, json(401, {}), report] });
    const access = await loadKubeconfig({ file });
    await using client = createClient({ ...access, namespace: 'team' });
    const get = () => client.get<GatewayReport>(kinds.gatewayReport, 'one');
    await get();
    await writeKubeconfig(folder, { cluster: { server: server.url }, user: execUser('new') });
    // The client reads the files of credentials at most once a second.
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    await expect(get()).rejects.toMatchObject({ code: 'unauthenticated' });
    expect((await get())?.metadata.name).toBe('one');
    const tokens = server.seen.map(({ headers }) => headers.authorization);
    expect(tokens).toEqual(['Bearer old', 'Bearer old', 'Bearer new']);
  });
});

/** A user whose credential plugin is Node with a script that prints an ExecCredential. */
function execUser(token: string, script?: string) {
  const answer = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token } };
  const code = script ?? `process.stdout.write(${JSON.stringify(JSON.stringify(answer))})`;
  return {
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', code],
      interactiveMode: 'Never',
    },
  };
}
