import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { startCollector } from '../../../e2e/support/start-collector.ts';
import { openCatalogue } from '../testing/open-catalogue.ts';

const [traceId, callerSpan] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

describe.skipIf(missingPostgres !== undefined)(onPostgres('spans of the catalogue'), () => {
  test('a search is a span below that of its caller, its calls of models are below it, and no text is in it', async () => {
    await using collector = await startCollector();
    const words = hashedWords();
    const parents: (string | undefined)[] = [];
    const embed: typeof words.embed = (profile, use, texts, call) => {
      parents.push(call?.traceparent);
      return words.embed(profile, use, texts, call);
    };
    await using world = await openCatalogue({
      config: { traces: { url: collector.url, tokenFile: undefined }, embeddingProfile: 'words' },
      overrides: { models: { ...words, embed } },
    });
    const agent = await world.publish('payroll', { description: 'Answers about a zebra.' });
    await world.allow('ann', 'view', agent);
    await world.allow('ann', 'invoke', agent);
    const body = JSON.stringify({ query: 'xylophone', workspaceId: 'support' });
    const headers = { 'content-type': 'application/json', traceparent: `00-${traceId}-${callerSpan}-01` };
    expect((await world.ask('ann', '/api/v1/agents/search', { method: 'POST', body, headers })).status).toBe(200);
    const span = await until('the span is collected', async () =>
      collector.spans().find(({ traceId: of }) => of === traceId),
    );
    expect(span).toMatchObject({ service: 'portcullis-catalogue', parentSpanId: callerSpan, failed: false });
    expect(span.attributes).toMatchObject({ 'portcullis.code': 'none', 'http.response.status_code': 200 });
    const named = parents.filter((one) => one?.includes(traceId) === true);
    expect(named.length).toBeGreaterThan(0);
    expect(new Set(named)).toEqual(new Set([`00-${traceId}-${span.spanId}-01`]));
    expect(collector.text()).not.toMatch(/xylophone|zebra|payroll|\bann\b/);
  });
});
