import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { contentFrame, scriptedDoneFrame } from '../../../e2e/support/scripted-upstream.ts';
import { verifies } from '../../../e2e/support/verifies.ts';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { blockedError, says, startWorld, type World, words } from '../testing/start-world.ts';
import { contentOf, eventsOf } from '../testing/stream-script.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld({ streamIdleMs: 1_500 });
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.checks.inject({ kind: 'pass' });
  world.upstream.forget();
});

type Streamed = { readonly status: number; readonly text: string; readonly events: readonly string[] };

async function stream(model = 'model'): Promise<Streamed> {
  const answer = await world.chat({ model, ...says('hi'), stream: true });
  const text = await answer.text();
  return { status: answer.status, text, events: eventsOf(text) };
}

function playFrames(frames: readonly string[], end: 'end' | 'close' | 'silence' = 'end'): void {
  world.upstream.play({ kind: 'frames', frames, end });
}

/** The error in the last event of a stream. */
function errorOf({ events }: Streamed): { readonly type: string; readonly code: string } {
  const last = JSON.parse(events.at(-1) ?? '{}') as { error?: { type: string; code: string } };
  if (last.error === undefined) throw new Error('the stream did not end with an error');
  return { type: last.error.type, code: last.error.code };
}

async function taken(alias: string): Promise<boolean> {
  const list = await fetch(`${world.gateway.service.url}/v1/models`, {
    headers: { authorization: 'Bearer other-key' },
  });
  const { data } = (await list.json()) as { data: { id: string }[] };
  return data.some(({ id }) => id === alias);
}

const long = 'word '.repeat(500);

describe('a streamed answer', () => {
  verifies(
    ['gateway:stream:enabled-for-profile', 'gateway:stream:ordinary-chat-request', 'guardrail:usage:gateway-webhook'],
    'the stream of an ordinary request is judged in windows and arrives frame by frame unchanged',
    async () => {
      world.upstream.play({ kind: 'answer', content: long, frameLength: 7 });
      const before = world.checks.seen.length;
      const result = await stream();
      expect(result.status).toBe(200);
      expect(contentOf(result.events)).toBe(long);
      expect(result.events.at(-1)).toBe('[DONE]');
      const windows = world.checks.seen.slice(before).filter(({ path }) => path === '/response');
      expect(windows.length).toBe(3);
    },
  );

  /** Bytes of each window that was checked since the test reset this list. */
  function windowsSince(before: number): number[] {
    const windows = world.checks.seen.slice(before).filter(({ path }) => path === '/response');
    return windows.map(({ body }) => {
      const parsed = JSON.parse(body) as { body: { choices: { message: { content: string } }[] } };
      return Buffer.byteLength(parsed.body.choices[0]?.message.content ?? '');
    });
  }

  describe('while the provider has sent a part and is silent', () => {
    /** Bytes that the provider sent, the checked windows, and the bytes that the client received. */
    const cases: readonly (readonly [number, readonly number[], number])[] = [
      [1_024, [], 0],
      [1_025, [1_024], 769],
      [2_049, [1_024, 1_280], 1_793],
    ];
    for (const [sent, windows, received] of cases) {
      verifies(
        ['gateway:stream:window-1024', 'gateway:stream:overlap-256'],
        `after ${sent} bytes of a stream ${windows.length} windows are checked and ${received} bytes are sent`,
        async () => {
          const before = world.checks.seen.length;
          playFrames(
            Array.from({ length: sent }, () => contentFrame('x')),
            'silence',
          );
          const result = await stream();
          expect(errorOf(result)).toEqual({ type: 'upstream_error', code: 'upstream_timeout' });
          expect(windowsSince(before)).toEqual(windows);
          expect(contentOf(result.events.slice(0, -1))).toBe('x'.repeat(received));
        },
      );
    }
  });

  verifies(
    ['gateway:output:deny-stream', 'gateway:stream:http-200-then-blocked', 'gateway:stream:emitted-not-recalled'],
    'a denied stream has status 200, keeps the text that was sent and ends with guardrail_blocked',
    async () => {
      world.upstream.play({ kind: 'answer', content: `${long}${words.deniedOutput} more`, frameLength: 5 });
      const result = await stream();
      expect(result.status).toBe(200);
      expect(JSON.parse(result.events.at(-1) ?? '')).toEqual(blockedError);
      expect(result.text.endsWith(`data: ${JSON.stringify(blockedError)}\n\n`)).toBe(true);
      const content = contentOf(result.events.slice(0, -1));
      expect(content.length).toBeGreaterThan(1_500);
      expect(long.startsWith(content)).toBe(true);
      expect(result.text).not.toContain('[DONE]');
      expect(result.text).not.toMatch(/^event:/m);
    },
  );

  verifies(
    ['gateway:output:mask-stream', 'gateway:events:blocked-on-mask-match'],
    'a stream that a mask rule matches ends with guardrail_blocked, and the original is not sent',
    async () => {
      world.upstream.play({ kind: 'answer', content: `some ${words.maskedOutput} thing`, frameLength: 3 });
      const result = await stream();
      expect(result.events).toEqual([JSON.stringify(blockedError)]);
    },
  );

  verifies(
    ['gateway:events:error-on-check-failure', 'gateway:events:error-is-not-match'],
    'a stream whose check fails ends with guardrail_error and the code of the runtime',
    async () => {
      world.upstream.play({ kind: 'answer', content: `${words.deniedOutput}` });
      const body = JSON.stringify({ code: 'stage_timeout', message: 'm', traceId: 't' });
      world.checks.inject(({ path }) =>
        path === '/response'
          ? { kind: 'rewrite', rewrite: (answer) => ({ ...answer, status: 503, body }) }
          : { kind: 'pass' },
      );
      const result = await stream();
      expect(errorOf(result)).toEqual({ type: 'guardrail_error', code: 'stage_timeout' });
      expect(result.events).toHaveLength(1);
      world.checks.inject(({ path }) => ({ kind: path === '/response' ? 'reset' : 'pass' }));
      expect(errorOf(await stream())).toEqual({ type: 'guardrail_error', code: 'network' });
    },
  );

  verifies(['gateway:observe:never-blocks'], 'a stream that only an observe rule matches is unchanged', async () => {
    world.upstream.play({ kind: 'answer', content: `${words.observed} ${long}` });
    const result = await stream();
    expect(contentOf(result.events)).toBe(`${words.observed} ${long}`);
    expect(result.events.at(-1)).toBe('[DONE]');
  });

  test('a stream of an unguarded model passes without checks, and errors of its provider without their message', async () => {
    const before = world.checks.seen.length;
    world.upstream.play({ kind: 'answer', content: words.deniedOutput });
    expect(contentOf((await stream('open')).events)).toBe(words.deniedOutput);
    playFrames([contentFrame('a'), 'data: {"error":{"message":"provider words"}}\n\n']);
    const result = await stream('open');
    expect(contentOf(result.events.slice(0, 1))).toBe('a');
    expect(errorOf(result)).toEqual({ type: 'upstream_error', code: 'upstream_invalid' });
    expect(result.text).not.toContain('provider words');
    expect(world.checks.seen.length).toBe(before);
  });
});

describe('an upstream that fails in the middle', () => {
  test.each<[string, readonly string[], 'end' | 'close' | 'silence', string]>([
    ['breaks the connection', [contentFrame('a')], 'close', 'upstream_broken'],
    ['ends before [DONE]', [contentFrame('a')], 'end', 'upstream_broken'],
    ['falls silent', [contentFrame('a')], 'silence', 'upstream_timeout'],
    [
      'sends an error',
      [contentFrame('a'), 'data: {"error":{"message":"provider words"}}\n\n'],
      'end',
      'upstream_invalid',
    ],
    ['sends a frame that is not JSON', [contentFrame('a'), 'data: words\n\n'], 'end', 'upstream_invalid'],
  ])('a stream whose provider %s ends with upstream_error, and held text is not sent', async (_, frames, end, code) => {
    playFrames(frames, end);
    const result = await stream();
    expect(result.status).toBe(200);
    expect(result.events).toHaveLength(1);
    expect(errorOf(result)).toEqual({ type: 'upstream_error', code });
    expect(result.text).not.toContain('provider words');
  });

  test('a stream that never ends is stopped after the timeout of a request', async () => {
    await using short = await startWorld({ maxRequestMs: 3_000 });
    short.upstream.play({ kind: 'live', piece: () => 'a ', everyMs: 50, ends: () => false });
    const answer = await short.chat({ model: 'open', ...says('hi'), stream: true });
    const text = await answer.text();
    const result = { status: answer.status, text, events: eventsOf(text) };
    expect(errorOf(result)).toEqual({ type: 'upstream_error', code: 'upstream_timeout' });
  });

  test('a provider answer with another media type is an error before the stream begins', async () => {
    world.upstream.play({
      kind: 'raw',
      body: `${contentFrame('a')}${scriptedDoneFrame}`,
      contentType: 'application/json',
    });
    const answer = await world.chat({ ...says('hi'), stream: true });
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ error: { type: 'upstream_error', code: 'upstream_invalid' } });
  });
});

describe('the connection to a provider', () => {
  test('a stream whose body ends after its last event leaves its connection to the next stream', async () => {
    const sockets = new Set<unknown>();
    await using server = await startScriptedHttp((outgoing) => {
      sockets.add(outgoing.socket);
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing.write(contentFrame('fine') + scriptedDoneFrame);
      setTimeout(() => outgoing.end(), 50);
    });
    world.gateway.routes.put(
      storedRoute('late-end', routeSpec('late-end', server.url, routeGuard({ ...world.policy.pin }))),
    );
    await until('the route is taken', () => world.gateway.service.isReady() && taken('late-end'));
    for (const _ of [1, 2, 3]) {
      expect((await stream('late-end')).events.at(-1)).toBe('[DONE]');
      await pause(200);
    }
    expect(sockets.size).toBe(1);
    world.gateway.routes.remove('late-end');
  });
});

describe('back-pressure and cancellation', () => {
  /** A provider whose stream never ends and that counts the bytes it could write. */
  async function endlessProvider() {
    const state = { written: 0, closed: 0, asked: 0 };
    const filler = 'x '.repeat(2_000);
    const pour = (outgoing: ServerResponse): void => {
      while (!outgoing.destroyed && outgoing.write(contentFrame(filler))) state.written += filler.length;
      state.written += filler.length;
    };
    const server = await startScriptedHttp((outgoing) => {
      state.asked += 1;
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing
        .on('drain', () => pour(outgoing))
        .on('close', () => {
          state.closed += 1;
        });
      pour(outgoing);
    });
    return { state, server };
  }

  test('a client that does not read pauses the provider, and a client that disconnects ends its call', async () => {
    const provider = await endlessProvider();
    world.gateway.routes.put(
      storedRoute('endless', routeSpec('endless', provider.server.url, routeGuard({ ...world.policy.pin }))),
    );
    await until('the route is taken', () => world.gateway.service.isReady() && taken('endless'));
    const controller = new AbortController();
    const answer = await world.post(
      '/v1/chat/completions',
      { model: 'endless', ...says('hi'), stream: true },
      {},
      controller.signal,
    );
    expect(answer.status).toBe(200);
    let last = -1;
    await until(
      'the provider waits',
      () => {
        const same = provider.state.written === last && last > 0;
        last = provider.state.written;
        return same;
      },
      { everyMs: 300 },
    );
    expect(provider.state.closed).toBe(0);
    controller.abort();
    await until('the call of the provider ends', () => provider.state.closed === 1);
    await until('no request is in flight', async () => (await inFlight()) === '0');
    await provider.server[Symbol.asyncDispose]();
    world.gateway.routes.remove('endless');
  });

  test('a client that disconnects during a check ends the check and the call', async () => {
    world.upstream.play({ kind: 'answer', content: 'fine' });
    world.checks.inject({ kind: 'silence' });
    const controller = new AbortController();
    const before = world.checks.seen.length;
    const asked = world.post('/v1/chat/completions', { model: 'model', ...says('hi') }, {}, controller.signal);
    await until('the check began', () => world.checks.seen.length > before);
    controller.abort();
    await expect(asked).rejects.toThrow();
    await until('no request is in flight', async () => (await inFlight()) === '0');
    expect(world.upstream.seen).toEqual([]);
  });

  async function inFlight(): Promise<string | undefined> {
    const text = await (await fetch(`${world.gateway.service.adminUrl}/metrics`)).text();
    return /portcullis_gateway_requests_in_flight\{[^}]*operation="chat"[^}]*\} (\d+)/.exec(text)?.[1];
  }
});
