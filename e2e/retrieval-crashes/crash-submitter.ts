// A submitter of the crash tests: it reports each accepted submit on its standard output.
import { endWithParent } from '../support/crash-plan.ts';
import { crashSettings, openCrashDatabase } from './crash-settings.ts';
import { openCrashStores } from './crash-stores.ts';
import { submitLanes } from './submit-lanes.ts';

const settings = crashSettings();
endWithParent();
const database = openCrashDatabase(settings, 'crash-submitter');
const stores = await openCrashStores(database, process.env, new AsyncDisposableStack());
process.stdout.write(`${JSON.stringify({ listening: 'submits' })}\n`);
await submitLanes({ ...stores, database }, settings, (accepted) => {
  process.stdout.write(`${JSON.stringify({ accepted })}\n`);
});
process.stdout.write(`${JSON.stringify({ ended: true })}\n`);
process.exit(0);
