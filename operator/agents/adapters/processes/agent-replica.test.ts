import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSemaphore } from '#kit/concurrency/semaphore';
import { until } from '#kit/testing/until';
import type { AgentRequest } from '../../ports.ts';
import { startAgentReplica } from './agent-replica.ts';

test('an agent process starts when every policy of its version is served at the required revision', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-replica-'));
  const file = (name: string): string => join(folder, name);
  const bundle = { guardrails: { input: { name: 'texts', revision: 2 }, output: 'None' }, requires: [] };
  const started: number[] = [];
  let served: string | undefined;
  const replica = startAgentReplica({
    request: { name: 'w', resource: 'desk-1', bundle } as unknown as AgentRequest,
    file: file('absent.ts'),
    env: {},
    bundleFile: file('bundle.json'),
    messageFile: file('reason'),
    logFile: file('log'),
    starts: createSemaphore(1),
    onChange: () => undefined,
    onStart: (pid) => void started.push(pid),
    onEnd: () => undefined,
    onFault: () => undefined,
    servedRevision: () => served,
  });
  try {
    for (served of [undefined, '1']) {
      const problem = await until('it waits', () => replica.observed.problem);
      expect(problem).toEqual({
        reason: 'PolicyNotServed',
        message: 'revision 2 of the policy texts is not served: add it to the served policies',
      });
    }
    expect(started).toEqual([]);
    served = '2';
    await until('it starts', () => started.length > 0);
  } finally {
    await replica.stop();
    await rm(folder, { recursive: true });
  }
});
