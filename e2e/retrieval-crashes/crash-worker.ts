// A worker of the crash tests; only its models are simulated: their vectors depend only on the text.
import { setTimeout as pause } from 'node:timers/promises';
import { Turns } from '#kit/concurrency/turns';
import { createLogger } from '#kit/log/logger';
import { countTokens } from '#models/count-tokens';
import { ModelsError } from '#models/models-error';
import { analyse } from '#search/analysis/analyse';
import { startIngest } from '../../dataplane/retrieval/ingest/role/start-ingest.ts';
import { scriptedModels, testProfile } from '../../dataplane/retrieval/ingest/testing/scripted-models.ts';
import { endWithParent, planFollower } from '../support/crash-plan.ts';
import { fetchedBytes, poison, textAt } from './crash-documents.ts';
import { crashSettings, openCrashDatabase } from './crash-settings.ts';
import { openCrashStores } from './crash-stores.ts';

const settings = crashSettings();
endWithParent();

const database = openCrashDatabase(settings, 'crash-worker');
const { objects, queue, search } = await openCrashStores(database, process.env, new AsyncDisposableStack());
const models = scriptedModels(async (texts) => {
  await pause(Math.random() * 4);
  if (!settings.isHealed && texts.some((text) => text.includes(poison))) throw new ModelsError('refused');
  if (Math.random() < settings.awayShare) throw new ModelsError('unavailable');
});

startIngest(
  {
    database,
    objects,
    models,
    fetcher: { fetch: async (_scope, uri) => fetchedBytes(textAt(uri)) },
    guard: 'unguarded',
    // A batch has four chunks, so that one document needs several writes.
    profileOf: (id) => ({ ...testProfile, id, batch: 4 }),
    bounds: { tenantBytes: Number.POSITIVE_INFINITY, indexBytes: undefined },
    analyse,
    countTokens,
    turns: new Turns(),
    onStep: planFollower(settings.plan),
    hintPrepared: () => undefined,
    onUnavailable: () => undefined,
  },
  {
    logger: createLogger({ service: 'crash-worker', level: 'warn' }),
    queue,
    onQueueAway: () => undefined,
    concurrency: 4,
    onAttempt: () => undefined,
    dropPartition: search.dropPartition,
    removals: [search.clearLeft],
    onRemovalFailed: () => undefined,
    times: { leaseMs: 1_000, pollMs: 50, reconcileMs: 150, graceMs: 200 },
  },
);
process.stdout.write(`${JSON.stringify({ listening: 'jobs' })}\n`);
