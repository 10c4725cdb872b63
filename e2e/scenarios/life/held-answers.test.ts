import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { startGuardedGateway } from '../../support/start-guarded-gateway.ts';

const mebibyte = 1_048_576;
/** Memory limit of a gateway in the chart, bytes. */
const chartLimit = 1_024 * mebibyte;

/** An answer with 19 MiB in the arguments of a call, which the contract does not judge. */
const answer = Buffer.from(
  JSON.stringify({
    id: 'c',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'fine',
          tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: 'x'.repeat(19 * mebibyte) } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
  }),
);

/** The peak memory of a process up to now, bytes. */
function peakOf(pid: number): number {
  const [, kibibytes = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1_024;
}

test('64 answers of 19 MiB at once pass or are refused as overloaded, within the memory limit of the chart', async () => {
  const server = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => {
      const headers = { 'content-type': 'application/json', 'content-length': answer.length };
      outgoing.writeHead(200, headers).end(answer);
    });
  }).listen(0, '127.0.0.1');
  await using stack = new AsyncDisposableStack();
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const world = stack.use(
    await startGuardedGateway({
      change: (route) => ({ ...route, upstream: { ...route.upstream, endpoint } }),
    }),
  );
  const body = JSON.stringify({ model: world.route.alias, messages: [{ role: 'user', content: 'hi' }] });
  /** Reads an answer without keeping it. */
  const ask = async (): Promise<{ readonly status: number | undefined; readonly bytes: number }> => {
    const headers = { authorization: `Bearer ${world.key}`, 'content-type': 'application/json' };
    const call = request(`${world.url}/v1/chat/completions`, { method: 'POST', headers });
    call.end(body);
    const [reply] = (await once(call, 'response')) as [IncomingMessage];
    let bytes = 0;
    for await (const chunk of reply) bytes += (chunk as Buffer).length;
    return { status: reply.statusCode, bytes };
  };
  await until('the gateway serves', async () => (await ask()).status === 200);
  const replies = await Promise.all(Array.from({ length: 64 }, ask));
  const passed = replies.filter(({ status }) => status === 200);
  expect(passed.length).toBeGreaterThanOrEqual(6);
  expect(passed.every(({ bytes }) => bytes >= 19 * mebibyte)).toBe(true);
  expect(replies.filter(({ status }) => status !== 200).every(({ status }) => status === 503)).toBe(true);
  expect(peakOf(world.gateway.pid)).toBeLessThan(chartLimit);
});
