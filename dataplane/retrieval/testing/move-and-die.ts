// A process that moves a collection, with rights in a store outside of the database, and is killed after the store has
// made the change. Arguments: URL of the database, file of its password, and the move as JSON.
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { connectSql, passwordFrom } from '#sql/connect';
import { moveCollection } from '../access/move-collection.ts';

const [url = '', passwordFile = '', move = ''] = process.argv.slice(2);
const database = connectSql({ url, password: passwordFrom(passwordFile), applicationName: 'move-and-die' });
const stored = await openPostgresRelations(database);
const relations = {
  ...stored,
  joinsTransactions: false,
  async replace(change: Parameters<typeof stored.replace>[0]) {
    await stored.replace(change);
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => undefined);
  },
};
const audit = await openPostgresAudit(database, 'retrieval');
await moveCollection({ database, relations, audit }, { ...JSON.parse(move), isPermitted: async () => true });
