// A process of the crash tests that queries the search index without a pause, like a busy replica of the API. It also
// writes committed changes to OpenSearch.
import { setTimeout as pause } from 'node:timers/promises';
import { endWithParent } from '../support/crash-plan.ts';
import { crashSettings, openCrashDatabase } from './crash-settings.ts';
import { openCrashStores } from './crash-stores.ts';
import { readIndexed } from './indexed-chunks.ts';

const settings = crashSettings();
endWithParent();

const database = openCrashDatabase(settings, 'crash-searcher');
const { search } = await openCrashStores(database, process.env, new AsyncDisposableStack());
process.stdout.write(`${JSON.stringify({ listening: 'queries' })}\n`);
for (;;) {
  // The search is repeated after an error, because the index or the database may be unavailable.
  await readIndexed(database, search.index, settings.collectionId).catch(() => undefined);
  await pause(20);
}
