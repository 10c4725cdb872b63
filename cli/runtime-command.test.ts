import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { checkout } from './platform/data-directory.ts';
import { policyManifest } from './testing/policy-text.ts';
import { descendantsOf, isProcessRunning } from './testing/process-tree.ts';
import { type Folder, folderWithFiles, runCli } from './testing/run-cli.ts';

const profile = 'gateway-1.5.0-chat-webhook-v2';

async function buildBundle(folder: Folder): Promise<{ file: string; digest: string }> {
  const file = join(folder.path, 'bundle.json');
  const policy = folder.write('policy.yaml', policyManifest({}));
  const words = ['--policy', policy, '--profile', profile, '--out', file, '--policy-id', 'p'];
  return { file, digest: (await runCli(['bundle', 'build', ...words])).stdout.trim() };
}

async function startRuntime(bundle: string, token: string): Promise<{ child: ChildProcess; origin: string }> {
  const words = ['runtime', '--bundle', bundle, '--token-file', token, '--listen', '127.0.0.1:0'];
  const child = spawn(process.execPath, [join(checkout, 'cli/main.ts'), ...words], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (child.stdout === null) throw new Error('no output');
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, origin: JSON.parse(line).listening };
}

test('portcullis runtime runs a built bundle and forwards each signal once', async () => {
  using folder = folderWithFiles();
  const { file, digest } = await buildBundle(folder);
  const token = folder.write('token', 'service-token\n');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { child, origin } = await startRuntime(file, token);
    await until('the runtime is ready', async () => (await fetch(`${origin}/readyz`)).status === 200);
    const answer = await fetch(`${origin}/request`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer service-token',
        'x-ap-gr-policy-id': 'p',
        'x-ap-gr-policy-revision': '1',
        'x-ap-gr-bundle-digest': digest,
        'x-ap-gr-content-profile': profile,
        'x-ap-gr-response-mode': 'buffered',
      },
      body: JSON.stringify({ body: { messages: [{ role: 'user', content: 'a forbidden thing' }] } }),
    });
    expect(await answer.json()).toMatchObject({ action: { reason: 'policy_denied', status_code: 403 } });
    const runtimes = descendantsOf(child.pid ?? 0);
    expect(runtimes).toHaveLength(1);
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(runtimes.filter(isProcessRunning)).toEqual([]);
  }
});

test('the runtime process exits when the command that started it exits', async () => {
  using folder = folderWithFiles();
  const { file } = await buildBundle(folder);
  const { child } = await startRuntime(file, folder.write('token', 'service-token\n'));
  const runtimes = descendantsOf(child.pid ?? 0);
  child.kill('SIGKILL');
  await until('the runtime has ended', () => runtimes.every((pid) => !isProcessRunning(pid)));
});

test('portcullis runtime reports an invalid setting with the message of the process', async () => {
  using folder = folderWithFiles();
  const { file } = await buildBundle(folder);
  const words = ['runtime', '--bundle', file, '--token-file', '/no/such', '--listen', 'nowhere'];
  const end = await runCli(words);
  expect(end.code).toBe(2);
  expect(end.stderr).toContain('PORTCULLIS_LISTEN is "nowhere" but must be host:port');
  expect(end.stderr).toContain('PORTCULLIS_TOKEN_FILE');
});
