// A process with the retrieval service and, on a separate address, a bare route with one select. With the argument
// `local` the process computes the vectors of queries itself instead of calling a model.
import { Hono } from 'hono';
import { listen } from '#kit/http/listen';
import { writeReadyLine } from '#kit/process/ready';
import { runMain } from '#kit/process/run-main';
import type { Models } from '#models/ports';
import { connectSql, passwordFrom } from '#sql/connect';
import { readConfig } from '../../dataplane/retrieval/config.ts';
import { createRetrievalService } from '../../dataplane/retrieval/service.ts';
import { randomOf, randomVector } from '../retrieval-speed/chunks.ts';

const localModels: Models = {
  embed: async ({ dimension }, _use, texts) => texts.map((text) => randomVector(randomOf(text.length), dimension)),
  rerank: () => Promise.reject(new Error('not measured')),
  complete: () => Promise.reject(new Error('not measured')),
  [Symbol.asyncDispose]: async () => undefined,
};

runMain({
  name: 'retrieval-http',
  start: async (signal) => {
    await using parts = new AsyncDisposableStack();
    const { config, secrets } = readConfig();
    const overrides = process.argv[2] === 'local' ? { signal, models: localModels } : { signal };
    const service = parts.use(await createRetrievalService(config, secrets, overrides));
    const database = parts.use(
      connectSql({
        url: config.databaseUrl,
        applicationName: 'bare',
        password: passwordFrom(secrets.databasePasswordFile),
      }),
    );
    const bare = new Hono().get('/', async (context) => {
      const [row] = await database.sql`select name, change_no from retrieval.collections limit 1`;
      return context.json(row);
    });
    const times = { headersTimeoutMs: 10_000, keepAliveTimeoutMs: 65_000, maxHeaderBytes: 32_768 };
    const served = await listen({ host: '127.0.0.1', port: 0, ...times, fetch: bare.fetch });
    parts.defer(() => served.drain({ graceMs: 1_000, idleMs: 100 }));
    writeReadyLine({ listening: service.url ?? '', bare: served.url });
    return parts.move();
  },
});
