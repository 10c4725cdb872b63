import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { measureHiddenReads } from '../catalogue/measure-hidden.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'catalogue-hidden',
  title:
    'reads of an agent that 50 groups but not the caller may view, of a missing one and of a second missing one, in random order with rights in PostgreSQL: equal bytes, and times that tell hidden from missing within the 99 % band of missing from missing',
  async run(size, say) {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    await using server = await startTestServer();
    const { isSame, isWithinChance, line } = await measureHiddenReads(await server.createDatabase(), {}, size, say);
    return { holds: isSame && isWithinChance, line };
  },
};
