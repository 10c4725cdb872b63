import { measureIngest } from '../retrieval-ingest/measure-ingest.ts';
import type { Figure } from '../support/figure.ts';

const chunks = { small: 1_500, full: 100_000 } as const;
/**
 * Time and resident memory of the last documents as multiples of the early documents. On a busy machine the median of
 * few samples varies.
 */
const bounds = { small: { slowdown: 5, growth: 1.5 }, full: { slowdown: 2, growth: 1.3 } } as const;

export const figure: Figure = {
  name: 'retrieval-ingest',
  title: 'time from submit to live, one document after the other: linear up to 100,000 chunks, with flat memory',
  run: async (size, say) => {
    const found = await measureIngest(chunks[size], say);
    if ('missing' in found) return { skipped: found.missing };
    const most = bounds[size];
    const shares = found.shares.map(([stage, share]) => `${stage} ${(share * 100).toFixed(1)} %`);
    const whole = found.shares.reduce((sum, [, share]) => sum + share, 0);
    return {
      holds: found.slowdown <= most.slowdown && found.growth <= most.growth,
      line:
        `${found.documents} documents, ${found.chunks} chunks, ${found.documentsPerSecond.toFixed(1)} documents a second ` +
        `without the time of embedding; ${shares.join(', ')}, together ${(whole * 100).toFixed(0)} %; ` +
        `the last fifth takes ${found.slowdown.toFixed(2)} times as long as the second (at most ${most.slowdown}), resident ` +
        `memory ${found.growth.toFixed(2)} times (at most ${most.growth})`,
    };
  },
};
