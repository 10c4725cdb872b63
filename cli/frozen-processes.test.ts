import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { type Platform, startPlatform } from '../e2e/support/start-platform.ts';
import { descendantsOf, isProcessRunning } from './testing/process-tree.ts';
import { folderWithFiles, runCli } from './testing/run-cli.ts';

async function chats(platform: Platform): Promise<boolean> {
  const answer = await fetch(`${platform.status().addresses.gateway}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'guarded-echo', messages: [{ role: 'user', content: 'hello' }] }),
  }).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.status === 200;
}

function runtimeOf(platform: Platform): number {
  const rows = execFileSync('ps', ['-o', 'pid=,args=', '-p', descendantsOf(platform.pid).join(',')], {
    encoding: 'utf8',
  });
  const row = rows.split('\n').find((line) => line.includes('portcullis-runtime'));
  return Number(row?.trim().split(/\s+/)[0]);
}

test('a frozen gateway is shown as not answering by status and why, and is restarted at its address', async () => {
  await using platform = await startPlatform();
  const { addresses } = platform.status();
  const pid = platform.pidOf('gateway-1');
  process.kill(pid, 'SIGSTOP');
  await until('status knows it', () => platform.status().processes.some(({ answering }) => !answering));
  const [status, why] = await Promise.all([
    runCli(['status'], { data: platform.data }),
    runCli(['why', 'guarded-echo'], { data: platform.data }),
  ]);
  // The commands `status` and `why` can take longer than the restart of the gateway.
  if (!platform.output().includes('gateway-1 did not answer')) {
    expect(status.stdout).toMatch(/gateway-1 .* not answering/);
    expect(status.stdout).toMatch(/Ready: +no/);
    expect(why.stdout).toContain('Replica gateway-1: It is not answering: requests to it hang.');
  }
  await until('it serves again', () => platform.status().ready && platform.pidOf('gateway-1') !== pid);
  expect(platform.output()).toContain('gateway-1 did not answer for 10 s and was killed; restarting it in 0.25 s');
  await until('a chat is answered', () => chats(platform));
  expect(platform.status().addresses).toEqual(addresses);
  expect(isProcessRunning(pid)).toBe(false);
});

test('a frozen operator is named by every command that reads or writes resources, with the remedy', async () => {
  using folder = folderWithFiles();
  // The commands end long before the operator is restarted.
  await using platform = await startPlatform({ agents: true, environment: { PORTCULLIS_HUNG_AFTER_SECONDS: '60' } });
  expect(await runCli(['flow', 'init', join(folder.path, 'desk')])).toMatchObject({ code: 0 });
  const pid = platform.pidOf('operator');
  process.kill(pid, 'SIGSTOP');
  await until('status knows it', () => platform.status().processes.some(({ answering }) => !answering));
  const ends = await Promise.all(
    [
      ['get', 'mb'],
      ['rollback', 'guarded-echo'],
      ['apply', '-f', 'examples/guarded-chat'],
      ['provider', 'test', '--binding', 'guarded-echo'],
      ['flow', 'publish', join(folder.path, 'desk'), '--as', 'ann'],
      ['agent', 'send', 'assistant', '--as', 'ann', '-m', 'hello'],
      ['agent', 'chat', 'assistant', '--as', 'ann', '-m', 'hello'],
      ['agent', 'runs', 'assistant', '--as', 'ann'],
      ['agent', 'trace', 'assistant', '01890a5d-ac96-774b-bcce-b302099a8057', '--as', 'ann'],
    ].map((words) => runCli([...words, '--request-timeout', '1'], { data: platform.data })),
  );
  for (const [at, end] of ends.entries()) {
    expect([at, end.code, end.stdout]).toEqual([at, 4, '']);
    expect(end.stderr).toContain('Process operator: It is not answering: requests to it hang. ');
  }
});

test('a frozen runtime, and then a killed one, is restarted and its model answers again', async () => {
  await using platform = await startPlatform();
  for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
    const pid = runtimeOf(platform);
    process.kill(pid, signal);
    await until('the process has ended', () => !isProcessRunning(pid));
    await until('a chat is answered', () => chats(platform));
    expect(runtimeOf(platform)).not.toBe(pid);
  }
  const log = readFileSync(join(platform.data, 'logs/operator.log'), 'utf8');
  expect(log).toContain('did not answer for 10 s and was killed');
});

test('every process of the platform has the same address after a restart of the platform', async () => {
  using folder = folderWithFiles();
  const data = join(folder.path, 'data');
  const portsOf = (platform: Platform): unknown => {
    return { addresses: platform.status().addresses, ports: readFileSync(join(data, 'ports.json'), 'utf8') };
  };
  const first = await startPlatform({ data, management: true, gateways: 2 });
  const before = portsOf(first);
  expect(before).toMatchObject({ addresses: { management: expect.stringMatching(/:\d+$/) } });
  expect(new Set(first.status().addresses.gateways).size).toBe(2);
  await first.end('SIGTERM');
  await using again = await startPlatform({ data, management: true, gateways: 2 });
  expect(portsOf(again)).toEqual(before);
});
