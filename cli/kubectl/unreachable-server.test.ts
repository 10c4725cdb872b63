import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { unusedPort } from '#kit/testing/loopback';
import { checkout } from '../platform/data-directory.ts';
import { folderWithFiles, runInProcess } from '../testing/run-cli.ts';
import { runPlugin } from './program.ts';

const example = join(checkout, 'examples/guarded-chat');

function kubeconfigOf(server: string): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: 'a-token' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
}

const commands = [
  ['status'],
  ['why', 'guarded-echo'],
  ['logs'],
  ['get', 'modelbindings'],
  ['get', 'modelbindings', '--watch'],
  ['describe', 'modelbinding', 'guarded-echo'],
  ['apply', '-f', example],
  ['diff', '-f', example],
  ['diff', 'guarded-chat'],
  ['edit', 'policy', 'guarded-chat'],
  ['delete', 'modelbinding', 'guarded-echo', '--yes'],
  ['test', 'guarded-chat'],
  ['history', 'guarded-chat'],
  ['archive', 'guarded-chat'],
  ['unarchive', 'guarded-chat'],
  ['apply-revision', 'guarded-echo', '1'],
  ['rollback', 'guarded-echo'],
  ['reapply', '--all'],
  ['unbind', 'guarded-echo', '--yes'],
  ['backup'],
] as const;

test.each(commands.map((words) => [words.join(' ').replaceAll(checkout, '.'), words] as const))(
  'kubectl portcullis %s names the server of the kubeconfig that does not answer, without a system error code',
  async (_, words) => {
    using folder = folderWithFiles();
    const port = await unusedPort();
    const kubeconfig = folder.write('kubeconfig', kubeconfigOf(`https://127.0.0.1:${port}`));
    const end = await runInProcess([...words, '--kubeconfig', kubeconfig], { program: runPlugin });
    expect(end).toEqual({
      code: 4,
      stdout: '',
      stderr:
        `portcullis: The API server does not answer: no program accepts connections at 127.0.0.1:${port}. ` +
        'Start the cluster, or correct the server in the kubeconfig.\n',
    });
  },
);

test('kubectl portcullis rollback names a server of the kubeconfig whose name cannot be resolved', async () => {
  using folder = folderWithFiles();
  const kubeconfig = folder.write('kubeconfig', kubeconfigOf('https://no-such-host.invalid'));
  const end = await runInProcess(['rollback', 'guarded-echo', '--kubeconfig', kubeconfig], { program: runPlugin });
  expect(end).toMatchObject({ code: 4, stderr: expect.stringContaining('no-such-host.invalid cannot be resolved') });
});
