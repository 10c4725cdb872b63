import { openRelations } from '#relations/adapters/open-relations';
import { connectSql, passwordFrom } from '#sql/connect';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { measureHiddenCalls } from '../agent-gateway/measure-hidden.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'agent-gateway-hidden',
  title:
    'requests of a person without rights to an agent that 50 groups may view and invoke, to a missing one and to a second missing one, in random order with rights in PostgreSQL: equal bytes, and times that tell hidden from missing within the 99 % band of missing from missing',
  async run(size, say) {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    await using server = await startTestServer();
    const { url, passwordFile } = await server.createDatabase();
    await using database = connectSql({ url, applicationName: 'agents', password: passwordFrom(passwordFile) });
    const relations = await openRelations({ kind: 'postgres' }, database, undefined);
    const { isSame, isWithinChance, line } = await measureHiddenCalls(relations, size, say);
    return { holds: isSame && isWithinChance, line };
  },
};
