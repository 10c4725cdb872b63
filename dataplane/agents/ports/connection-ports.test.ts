import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { PortError } from '#flow/engine/flow-error';
import type { PortCall } from '#flow/engine/ports';
import { openTrace } from '#kit/http/trace-context';
import { listenOnLoopback } from '#kit/testing/loopback';
import { createConnectionPorts } from './connection-ports.ts';

const trace = openTrace(undefined, false);
const call: PortCall = {
  ...{ signal: new AbortController().signal, runId: 'run', traceId: trace.traceId, trace },
  ...{ caller: 'ask.order', path: 'ask', attempt: 1, context: {} },
};
const order = { connection: 'shop', method: 'POST', path: '/orders', query: {} } as const;

/** The ports of a gateway that refuses every call with this code; undefined ends the connection without an answer. */
async function open(status: number, code: string | undefined) {
  const server = createServer((_, outgoing) => {
    if (code === undefined) return void outgoing.destroy();
    outgoing.writeHead(status, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify({ error: { code, message: 'No.', traceId: trace.traceId } }));
  });
  const url = await listenOnLoopback(server);
  onTestFinished(() => void server.close());
  return new URL(url);
}

async function errorOf(asked: Promise<unknown>): Promise<readonly [code: string, hadNoEffect: boolean]> {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PortError))
    throw new Error('the call did not fail with an error of its port', { cause: error });
  return [error.code, error.hadNoEffect];
}

test.each([
  [429, 'too_many_calls', 'rate_limited', true],
  [429, 'rate_limited', 'rate_limited', true],
  [503, 'credential_unavailable', 'unavailable', true],
  [503, 'identity_unavailable', 'unavailable', true],
  [503, 'connection_unavailable', 'unavailable', false],
  [503, 'shutting_down', 'unavailable', false],
  [504, 'deadline_exceeded', 'unavailable', false],
  [502, 'answer_invalid', 'answer_invalid', false],
  [422, 'tool_failed', 'refused', false],
  [503, undefined, 'unavailable', false],
])(
  'a call of a connection with the answer %i %s ends with %s, and its service has executed nothing: %s',
  async (status, code, expected, hadNoEffect) => {
    const ports = createConnectionPorts({ url: await open(status, code), identity: () => async () => ({}) });
    expect(await errorOf(ports.http(order, call))).toEqual([expected, hadNoEffect]);
    expect(await errorOf(ports.mcp({ server: 'shop', tool: 'order', arguments: {} }, call))).toEqual([
      expected,
      hadNoEffect,
    ]);
  },
);

test('a call of a connection without a token, or without a connection to the gateway, had no effect', async () => {
  const url = await open(200, 'none');
  const refused = createConnectionPorts({
    url,
    identity: () => async () => {
      throw new PortError('unavailable');
    },
  });
  expect(await errorOf(refused.http(order, call))).toEqual(['unavailable', true]);
  const closed = new URL('http://127.0.0.1:9');
  const away = createConnectionPorts({ url: closed, identity: () => async () => ({}) });
  expect(await errorOf(away.http(order, call))).toEqual(['unavailable', true]);
});
