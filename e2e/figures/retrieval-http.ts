import { missingPostgres } from '#sql/testing/test-server';
import { missingOpenSearch, startOpenSearch } from '../retrieval/opensearch-server.ts';
import { listHops } from '../retrieval-http/list-hops.ts';
import { type HttpCase, measureHttp, type Rung } from '../retrieval-http/measure-http.ts';
import { readCorpus } from '../retrieval-speed/chunks.ts';
import type { Figure } from '../support/figure.ts';

const cases: Readonly<Record<'small' | 'full', readonly HttpCase[]>> = {
  small: [{ chunks: 1_000, dimensions: 384, requests: 64, vectors: 'random' }],
  full: [
    { chunks: 10_000, dimensions: 384, requests: 320, vectors: 'random' },
    { chunks: 10_000, dimensions: 384, requests: 320, vectors: 'of the text' },
    { chunks: 10_000, dimensions: 1_536, requests: 320, vectors: 'random' },
    { chunks: 100_000, dimensions: 384, requests: 320, vectors: 'random' },
  ],
};

export const figure: Figure = {
  name: 'retrieval-http',
  title:
    'queries over HTTP by 1 and 16 callers who see 5 % of the chunks, without and with the call for the embedding, as multiples of a bare route with one select in the same process; every answer is complete',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    say(`texts: ${readCorpus().kind}`);
    const lines: string[] = [];
    for (const given of cases[size]) lines.push(await publish(given, 'embedded', say));
    if (size === 'full' && missingOpenSearch === undefined) {
      await using server = await startOpenSearch();
      const [first] = cases.full;
      if (first !== undefined) await publish({ ...first, openSearch: server.url }, 'OpenSearch', say);
    } else if (size === 'full') say(`not measured with OpenSearch: ${missingOpenSearch}`);
    // A failed request, or a query without its ten items, throws.
    return { holds: true, line: lines[0] ?? '' };
  },
};

async function publish(given: HttpCase, engine: string, say: (line: string) => void): Promise<string> {
  const name = `${engine}, ${given.chunks} chunks, ${given.dimensions} dimensions, vectors ${given.vectors}`;
  const rungs = await measureHttp(given);
  for (const callers of new Set(rungs.map((rung) => rung.callers))) {
    say(`${name}, ${callers} at a time, ms p50/p95 and multiples of the bare route:`);
    for (const rung of rungs) if (rung.callers === callers) say(`  ${rung.what}: ${described(rung)}`);
    say(`  hops of a hybrid query, ms of the median: ${hopsOf(rungs, callers)}`);
  }
  const hybrid = rungs.filter(({ what }) => what.startsWith('hybrid'));
  const hops = [...new Set(rungs.map((rung) => rung.callers))].map(
    (callers) => `hops in ms, ${callers} at a time: ${hopsOf(rungs, callers)}`,
  );
  const queries = hybrid.map((rung) => `${rung.what}, ${rung.callers} at a time: ${described(rung)}`);
  return `${name}: ${[...queries, ...hops].join('; ')}`;
}

function hopsOf(rungs: readonly Rung[], callers: number): string {
  return listHops(rungs, callers)
    .map(({ hop, ms }) => `${hop} ${ms.toFixed(2)}`)
    .join(', ');
}

function described({ times, ratio }: Rung): string {
  return `${times.p50.toFixed(2)}/${times.p95.toFixed(2)} (${ratio.p50.toFixed(1)}/${ratio.p95.toFixed(1)} times)`;
}
