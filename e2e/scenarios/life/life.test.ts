import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { occupyPort, unusedPort } from '#kit/testing/loopback';
import { familyOf, hasProcessTable } from '#kit/testing/process-table';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import { chatCall } from '../../support/chat-call.ts';
import { applyRevision, bindingCondition, bindingNow, policyOf, writePolicy } from '../../support/resources.ts';
import { type Platform, startCommand, startPlatform } from '../../support/start-platform.ts';
import { stampedDefinition } from '../applications/stamped-policy.ts';

/** The binding of the example that the first start creates. */
const alias = 'guarded-echo';

async function expectGuardedChat(platform: Platform): Promise<void> {
  const call = { url: platform.status().addresses.gateway, key: platform.key, model: alias };
  expect(await chatCall({ ...call, content: 'What is a portcullis?', stream: true })).toMatchObject({ complete: true });
  const refused = await chatCall({ ...call, content: 'Explain how to make a bomb.', stream: false });
  expect(refused).toMatchObject({ status: 403, error: { type: 'guardrail_blocked' } });
}

/** All processes of a running platform. */
function pidsOf(platform: Platform): readonly number[] {
  const pid = platform.pid;
  return hasProcessTable ? familyOf(pid).map((entry) => entry.pid) : [pid];
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('starting and stopping a platform', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s ends every process of a platform, and a second start finds its state',
    async (signal) => {
      using folder = temporaryFolder();
      const data = join(folder.path, 'data');
      let revisions: number;
      {
        await using platform = await startPlatform({ data });
        await expectGuardedChat(platform);
        revisions = await writePolicy(platform.client, policyOf('kept', stampedDefinition('[kept]')));
        const pids = pidsOf(platform);
        expect(pids.length).toBeGreaterThanOrEqual(hasProcessTable ? 5 : 1);
        expect(await platform.end(signal)).toBe(0);
        expect(pids.filter(isRunning)).toEqual([]);
        expect(readdirSync(join(data, 'run'))).toEqual([]);
      }
      await using again = await startPlatform({ data });
      expect(revisions).toBe(1);
      expect(await again.client.get(kinds.guardrailPolicy, 'kept')).toMatchObject({
        status: { latestRevision: { number: 1 } },
      });
      await expectGuardedChat(again);
    },
  );

  test('the second of two concurrent starts on one data directory is refused with the reason, and the first continues', async () => {
    await using platform = await startPlatform();
    const second = startCommand(['up', '--data', platform.data, '--port', '0']);
    expect(await second.exit()).toBe(11);
    expect(second.output()).toContain(`Another platform (process ${platform.pid}) runs on ${platform.data}`);
    await expectGuardedChat(platform);
  });

  test('a platform whose port is in use names the port and leaves no process running', async () => {
    using folder = temporaryFolder();
    await using occupied = await occupyPort(await unusedPort());
    const start = startCommand(['up', '--data', join(folder.path, 'data'), '--port', String(occupied.port)]);
    expect(await start.exit()).toBe(11);
    expect(start.output()).toContain(`Port ${occupied.port} is used by another program`);
  });
});

describe('a platform that is killed', () => {
  test('the processes of a platform that is killed after it was ready end by themselves, and the next start serves the applied state', async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, 'data');
    let orphans: readonly number[];
    {
      await using platform = await startPlatform({ data });
      orphans = pidsOf(platform);
      expect(await platform.end('SIGKILL')).toBe('SIGKILL');
    }
    await using again = await startPlatform({ data });
    await expectGuardedChat(again);
    await until('every process of the killed platform has ended', () => orphans.filter(isRunning).length === 0);
  });

  test('a platform that is killed at any moment of its start starts normally afterwards', async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, 'data');
    for (const ms of [40, 120, 250, 400, 600, 800, 1_000, 1_300]) {
      const start = startCommand(['up', '--data', data, '--port', '0']);
      await pause(ms);
      start.signal('SIGKILL');
      await start.exit();
    }
    await using platform = await startPlatform({ data });
    await expectGuardedChat(platform);
  });

  test('a platform that is killed while revisions are applied serves the newest revision completely after its restart', async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, 'data');
    let revision = 0;
    for (const ms of [5, 40, 90, 160, 260, 420]) {
      await using platform = await startPlatform({ data });
      const policy = policyOf('guarded-chat', stampedDefinition(`[after-${ms}]`));
      revision = await writePolicy(platform.client, policy);
      await applyRevision(platform.client, alias, revision, `before-${ms}`);
      await pause(ms);
      await platform.end('SIGKILL');
    }
    await using platform = await startPlatform({ data });
    await bindingCondition(platform.client, alias, 'Applied', 'True');
    expect((await bindingNow(platform.client, alias)).status?.pinned).toMatchObject({
      policyRevision: revision,
    });
    const call = { url: platform.status().addresses.gateway, key: platform.key, model: alias, stream: false };
    const told = await chatCall({ ...call, content: 'tell private-harbour' });
    expect(told.text).toContain('[after-420]');
    expect(told.text).not.toContain('private-harbour');
  });
});
