import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { startCollector } from '../../../e2e/support/start-collector.ts';
import { openMemory } from '../testing/open-memory.ts';

const ann = { user: 'ann' };
const [traceId, callerSpan] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

describe.skipIf(missingPostgres !== undefined)(onPostgres('spans of the memory service'), () => {
  test('a search is a span below that of its caller, its calls of models are below it, and no text is in it', async () => {
    await using collector = await startCollector();
    await using database = await openTestDatabase();
    const words = hashedWords();
    const parents: (string | undefined)[] = [];
    const embed: typeof words.embed = (profile, use, texts, call) => {
      parents.push(call?.traceparent);
      return words.embed(profile, use, texts, call);
    };
    const traces = { url: collector.url, tokenFile: undefined };
    await using memory = await openMemory({
      database,
      config: { traces },
      overrides: { models: { ...words, embed } },
    });
    await memory.say(ann, 'owns a zebra');
    const search = { query: 'my word is xylophone' };
    const traceparent = `00-${traceId}-${callerSpan}-01`;
    const answer = await memory.call(ann, 'POST', '/v1/memories/search', search, { traceparent });
    expect(answer.status).toBe(200);
    const span = await until('the span is collected', async () =>
      collector.spans().find(({ traceId: of }) => of === traceId),
    );
    expect(span).toMatchObject({ service: 'portcullis-memory', parentSpanId: callerSpan, failed: false });
    expect(span.attributes).toMatchObject({ 'portcullis.code': 'none', 'http.response.status_code': 200 });
    expect(parents.filter((one) => one?.includes(traceId) === true)).toEqual([`00-${traceId}-${span.spanId}-01`]);
    expect(collector.text()).not.toMatch(/xylophone|zebra|\bann\b/);
  });
});
