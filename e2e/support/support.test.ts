import { describe, expect, test } from 'vitest';
import { canonicalBytes, digestOf } from '#contracts/canonical';
import { DeadlineError, until } from '#kit/testing/until';
import { chatCall } from './chat-call.ts';
import { startCheckProxy } from './check-proxy.ts';
import { startLoad } from './load.ts';
import { sampleBundle } from './sample-policy.ts';
import { contentFrame, scriptedDoneFrame, startScriptedUpstream, wantsStream } from './scripted-upstream.ts';

const call = { key: 'key', model: 'any', content: 'Hello.' };

describe('the scripted provider of the tests', () => {
  test('the scripted provider of the tests answers completely and in streams, and records its requests', async () => {
    await using upstream = await startScriptedUpstream({ kind: 'answer', content: 'a longer answer', frameLength: 4 });
    for (const stream of [false, true]) {
      const result = await chatCall({ ...call, url: upstream.url, stream });
      expect(result).toMatchObject({ status: 200, complete: true, text: 'a longer answer', error: undefined });
    }
    expect(upstream.seen.map(wantsStream)).toEqual([false, true]);
    expect(upstream.seen[0]?.text).toContain('Hello.');
  });

  test('a connection that the scripted provider breaks is an incomplete answer for the client', async () => {
    await using upstream = await startScriptedUpstream({
      kind: 'frames',
      frames: [contentFrame('half')],
      end: 'close',
    });
    expect(await chatCall({ ...call, url: upstream.url, stream: true })).toMatchObject({
      complete: false,
      text: 'half',
    });
    upstream.play({ kind: 'reset' });
    expect((await chatCall({ ...call, url: upstream.url, stream: true })).status).toBeUndefined();
    upstream.play({ kind: 'frames', frames: [contentFrame('all'), scriptedDoneFrame], end: 'end' });
    expect(await chatCall({ ...call, url: upstream.url, stream: true })).toMatchObject({ complete: true, text: 'all' });
  });
});

describe('the fault proxy of the tests', () => {
  const post = (url: string, body: string) => fetch(`${url}/request`, { method: 'POST', body });
  const probe = '{"body":{"messages":[]}}';
  const check = '{"body":{"messages":[{"role":"user","content":"x"}]}}';

  test('the fault proxy forwards probes and injects the chosen fault into checks', async () => {
    await using target = await startScriptedUpstream({ kind: 'raw', body: 'unchanged', contentType: 'text/plain' });
    await using proxy = await startCheckProxy(target.url);
    expect(await (await post(proxy.url, check)).text()).toBe('unchanged');
    proxy.inject({ kind: 'rewrite', rewrite: (answer) => ({ ...answer, status: 418, body: 'changed' }) });
    const changed = await post(proxy.url, check);
    expect([changed.status, await changed.text()]).toEqual([418, 'changed']);
    expect(await (await post(proxy.url, probe)).text()).toBe('unchanged');
    proxy.inject({ kind: 'reset' });
    await expect(post(proxy.url, check)).rejects.toThrow();
    proxy.inject({ kind: 'truncate' });
    await expect(post(proxy.url, check).then((response) => response.text())).rejects.toThrow();
    expect(proxy.seen.length).toBe(4);
  });

  test('the fault proxy replaces a header and changes its target', async () => {
    await using one = await startScriptedUpstream({ kind: 'raw', body: 'one', contentType: 'text/plain' });
    await using other = await startScriptedUpstream({ kind: 'raw', body: 'other', contentType: 'text/plain' });
    await using proxy = await startCheckProxy(one.url);
    proxy.inject({ kind: 'header', name: 'content-type', value: 'text/changed' });
    await post(proxy.url, check);
    expect(one.seen[0]?.headers['content-type']).toBe('text/changed');
    proxy.retarget(other.url);
    expect(await (await post(proxy.url, check)).text()).toBe('other');
  });
});

test('the test helper until fails with the condition and the last error after its deadline', async () => {
  const waiting = until('the moon', () => Promise.reject(new Error('behind a cloud')), { deadlineMs: 30, everyMs: 5 });
  await expect(waiting).rejects.toThrow(DeadlineError);
  await expect(waiting).rejects.toThrow('the moon: not true within 30 ms; last seen: Error: behind a cloud');
});

test('a generated load uses at most its number of workers and returns every result', async () => {
  let current = 0;
  let most = 0;
  const load = startLoad({
    workers: 3,
    restMs: 1,
    call: async (turn) => {
      current += 1;
      most = Math.max(most, current);
      await new Promise((resolve) => setImmediate(resolve));
      current -= 1;
      return turn;
    },
  });
  await until('some results', () => load.results.length > 20);
  const results = await load.stop();
  expect(most).toBe(3);
  expect(new Set(results).size).toBe(results.length);
});

test('the sample bundle of the tests can be loaded', () => {
  expect(digestOf(JSON.parse(canonicalBytes(sampleBundle()).toString('utf8')))).toBe(digestOf(sampleBundle()));
});
