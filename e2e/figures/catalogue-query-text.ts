import { missingPostgres } from '#sql/testing/test-server';
import { findQueryText, missingForQueryText } from '../catalogue/query-text.ts';
import type { Figure } from '../support/figure.ts';

/** Requests of each of ten kinds. */
const sizes = { small: 4, full: 500 } as const;
const shown = 10;

export const figure: Figure = {
  name: 'catalogue-query-text',
  title:
    'a marker in the query of searches that succeed, are refused, fail and are abandoned by their client is found nowhere ' +
    'afterwards: rows and files of the database, files of the bus, spans, logs, metrics and heaps of the catalogue, ' +
    'of the gateway, of the runtime and of the console',
  async run(size, say) {
    const missing = missingPostgres ?? missingForQueryText;
    if (missing !== undefined) return { skipped: missing };
    const { counts, places, faults } = await findQueryText(sizes[size], say);
    for (const fault of faults.slice(0, shown)) say(fault);
    const answers = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const repeated = counts['answers with the text'] ?? 0;
    return {
      holds: faults.length === 0 && repeated === 0,
      line: `${answers} requests, ${repeated} answers with the text; ${places.length} places: ${faults.length} faults`,
    };
  },
};
