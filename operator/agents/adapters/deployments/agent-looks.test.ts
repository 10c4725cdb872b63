import { expect, test } from 'vitest';
import { startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { lookAtPod } from './agent-looks.ts';

test('a read of a process that fails because of a fault in the operator counts as no answer, and the next read follows', async () => {
  await using process = await startScriptedHttp((response) => void response.writeHead(503).end());
  let reads = 0;
  let faults = 0;
  const at = {
    traffic: process.url,
    get admin() {
      reads += 1;
      if (reads <= 2) throw new TypeError('a fault');
      return process.url;
    },
  };
  using look = lookAtPod({ metadata: { uid: 'u' } } as never, at, {} as never, {
    onChange: () => undefined,
    onFault: () => {
      faults += 1;
    },
  });
  await until('the process is read', () => process.seen.length > 0);
  expect([faults, look.seen, look.hasLooked, look.answers]).toEqual([2, undefined, true, false]);
});
