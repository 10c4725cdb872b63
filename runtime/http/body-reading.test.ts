import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { until } from '#kit/testing/until';
import { bundle, bundleOf, policy, section, stopList } from '../testing/build-bundle.ts';
import { holdRequest } from '../testing/held-request.ts';
import { startRuntime, type TestRuntime } from '../testing/start-runtime.ts';

const rules = [stopList('words', ['forbidden'])];
const limits = { ...defaultBundleLimits, maxConcurrency: 1, maxBodyBytes: 131_072 };
const body = '{"body":{"messages":[{"role":"user","content":"x"}]}}';

let runtime: TestRuntime;
beforeAll(async () => {
  runtime = await startRuntime(bundleOf(rules, [], { limits }));
});
afterAll(async () => runtime[Symbol.asyncDispose]());

/** Request line, valid headers and the given header lines, up to the empty line. */
function head(...lines: readonly string[]): string {
  const list = runtime.headers();
  const good = Array.from({ length: list.length / 2 }, (_, index) => `${list[2 * index]}: ${list[2 * index + 1]}`);
  return `${['POST /request HTTP/1.1', 'host: x', ...good, ...lines].join('\r\n')}\r\n\r\n`;
}

describe('a slow body', () => {
  test('a slow body uses no check slot, and at most four bodies for each slot are read at the same time', async () => {
    const slow = await Promise.all(
      [1, 2, 3, 4].map(() => holdRequest(runtime.url, head(`content-length: ${body.length}`))),
    );
    try {
      await until(
        'the places for bodies are taken',
        async () => (await runtime.check('request', ['x'])).json.code === 'overloaded',
      );
      slow[0]?.send(body);
      await until('the first is answered', () => slow[0]?.received().includes('policy_pass'));
      expect((await runtime.check('request', ['x'])).json.action).toEqual({ reason: 'policy_pass' });
      expect(await runtime.metric('portcullis_runtime_overloads_total', { part: 'bodies' })).toBeGreaterThan(0);
      expect(await runtime.metric('portcullis_runtime_overloads_total', { part: 'checks' })).toBe(0);
    } finally {
      for (const request of slow) request[Symbol.dispose]();
    }
  });

  test('a slow body ends with stage_timeout after a second, or after the deadline of the stage where that is shorter', async () => {
    const short = { ...section(rules), deadlineMs: 100, baseline: [{ ...rules[0]!, timeoutMs: 100 }] };
    await using hurried = await startRuntime(bundle([policy(short)], { limits }));
    const lines = hurried.headers();
    const good = Array.from({ length: lines.length / 2 }, (_, index) => `${lines[2 * index]}: ${lines[2 * index + 1]}`);
    const text = `${['POST /request HTTP/1.1', 'host: x', ...good, 'content-length: 60'].join('\r\n')}\r\n\r\n{"body"`;
    using within = await holdRequest(hurried.url, text);
    using patient = await holdRequest(runtime.url, `${head('content-length: 60')}{"body"`);
    await until('the deadline of the stage ends the read', () => within.received().includes('stage_timeout'));
    await until('a second ends the read', () => patient.received().includes('stage_timeout'));
    expect(patient.received()).toMatch(/^HTTP\/1\.1 503 /);
  });

  test('a slow body whose client disconnects frees its slot', async () => {
    for (let round = 0; round < 6; round += 1) {
      using gone = await holdRequest(runtime.url, `${head('content-length: 60')}{"body"`);
      gone.socket.destroy();
    }
    await until('a check is taken', async () => (await runtime.check('request', ['x'])).status === 200);
  });
});

describe('a caller that waits for 100-continue', () => {
  test('100 Continue is sent only after the gates before the body have passed', async () => {
    using waiting = await holdRequest(runtime.url, head(`content-length: ${body.length}`, 'expect: 100-continue'));
    await until('the server asks for the body', () => waiting.received() === 'HTTP/1.1 100 Continue\r\n\r\n');
    waiting.send(body);
    await until('it is answered', () => waiting.received().includes('policy_pass'));
  });

  test.each([
    ['a wrong token', (text: string) => text.replace('Bearer ', 'Bearer x'), 401],
    ['no policy', (text: string) => text.replace(/x-ap-gr-policy-id: .*\r\n/, ''), 403],
    ['another media type', (text: string) => text.replace('application/json', 'text/plain'), 415],
    ['too long a body', (text: string) => text.replace(/content-length: \d+/, 'content-length: 131073'), 413],
    ['another digest', (text: string) => text.replace(/x-ap-gr-bundle-digest: ./, 'x-ap-gr-bundle-digest: x'), 503],
  ])(
    'a request that expects 100-continue is refused for %s without it, and the connection is closed',
    async (_, spoil, status) => {
      using waiting = await holdRequest(
        runtime.url,
        spoil(head(`content-length: ${body.length}`, 'expect: 100-continue')),
      );
      await waiting.closed;
      expect(waiting.received()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*connection: close`, 'i'));
    },
  );
});

describe('a refused body', () => {
  test('a refused body of up to 64 KiB is drained, and the connection stays open', async () => {
    const filler = ' '.repeat(60_000);
    using kept = await holdRequest(
      runtime.url,
      head(`content-length: ${filler.length}`).replace('Bearer ', 'Bearer x') + filler,
    );
    await until('it is refused', () => kept.received().includes('unauthenticated'));
    kept.send(head(`content-length: ${body.length}`) + body);
    await until('the next request is answered', () => kept.received().includes('policy_pass'));
  });

  test('a refused body over 64 KiB closes the connection after the answer was sent', async () => {
    using refused = await holdRequest(runtime.url, head('content-length: 100000000'));
    const chunk = Buffer.alloc(65_536, ' ');
    for (let sent = 0; sent < 4; sent += 1) refused.send(chunk);
    await refused.closed;
    expect(refused.received()).toMatch(/^HTTP\/1\.1 413 /);
    expect(refused.received()).toContain('body_too_large');
  });

  test('a refused body that never ends is read for a limited time', async () => {
    using endless = await holdRequest(runtime.url, head('transfer-encoding: chunked'));
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    let ended = false;
    endless.closed.then(() => (ended = true)).catch(() => undefined);
    await until('the connection is ended', () => {
      if (!ended && endless.socket.writableLength < 1_000_000) endless.send(chunk);
      return ended;
    });
    expect(endless.received()).toContain('body_too_large');
  });
});

test('pipelined requests on one connection are answered in order', async () => {
  const denied = body.replace('"x"', '"forbidden"');
  const one = (text: string): string => head(`content-length: ${text.length}`) + text;
  using pipelined = await holdRequest(runtime.url, one(body) + one(denied) + one('{') + one(body));
  await until('all are answered', () => pipelined.received().split('HTTP/1.1 ').length === 5);
  const order = [...pipelined.received().matchAll(/policy_pass|policy_denied|invalid_json/g)].map(([word]) => word);
  expect(order).toEqual(['policy_pass', 'policy_denied', 'invalid_json', 'policy_pass']);
});
