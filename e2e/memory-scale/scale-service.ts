import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processMemory } from '#kit/testing/process-table';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import type { TestDatabase } from '#sql/testing/test-server';
import { startEmbeddings } from '../support/embedding-server.ts';
import { wordVector } from '../support/hashed-words.ts';
import { startProcess } from '../support/start-process.ts';
import { scaleProfile, scaleTenant } from './fill-memories.ts';

/**
 * Memory of the index, and limit of the heap, in MiB: the same as in a pod of the chart with its defaults, whose memory
 * limit is 512 MiB. A test compares the values with the rendered pod.
 */
export const scaleMib = { index: 96, heap: 192 } as const;

export const scaleHeapOptions = `--max-old-space-size=${scaleMib.heap} --max-semi-space-size=16`;

type ScaleAnswer = { readonly ms: number; readonly found: number; readonly owners: readonly unknown[] };

/** The memory service in a separate process, with a filled database. */
export type ScaleService = AsyncDisposable & {
  readonly url: string;
  /** Makes one search; returns its duration and the owners of the found memories. */
  search(user: string, request: object): Promise<ScaleAnswer>;
  /** Resident memory, MiB. */
  resident(): number;
};

export async function startScaleService(
  database: Pick<TestDatabase, 'url' | 'passwordFile'>,
  dimension: number,
  role: 'api' | 'both' = 'api',
): Promise<ScaleService> {
  await using parts = new AsyncDisposableStack();
  const modelsFile = join(parts.use(temporaryFolder()).path, 'models.yaml');
  writeFileSync(modelsFile, JSON.stringify({ embedding: [{ id: scaleProfile, model: 'words', dimension }] }));
  const embeddings = parts.use(await startEmbeddings({ vectorOf: (text) => [...wordVector(text, dimension)] }));
  const service = parts.use(
    await startProcess({
      file: 'dataplane/memory/main.ts',
      environment: {
        PORTCULLIS_IDENTITY: 'development',
        PORTCULLIS_ROLE: role,
        PORTCULLIS_DATABASE_URL: database.url,
        PORTCULLIS_DATABASE_PASSWORD_FILE: database.passwordFile,
        PORTCULLIS_MODEL_GATEWAY_URL: embeddings.url,
        PORTCULLIS_MODELS_FILE: modelsFile,
        PORTCULLIS_EMBEDDING_PROFILE: scaleProfile,
        PORTCULLIS_LOG_LEVEL: 'error',
        PORTCULLIS_EXIT_WITH_STDIN: '1',
        PORTCULLIS_INDEX_MIB: `${scaleMib.index}`,
        NODE_OPTIONS: scaleHeapOptions,
      },
    }),
  );
  const owned = parts.move();
  return {
    url: service.url,
    async search(user, request) {
      const headers = { 'x-tenant-id': scaleTenant, 'x-user-id': user, 'content-type': 'application/json' };
      const start = performance.now();
      const answer = await fetch(`${service.url}/v1/memories/search`, {
        ...{ headers, method: 'POST', body: JSON.stringify(request) },
      });
      const json = (await answer.json()) as { readonly results: readonly { readonly metadata: { owner?: unknown } }[] };
      const ms = performance.now() - start;
      if (answer.status !== 200) throw new Error(`the search was answered ${answer.status}: ${JSON.stringify(json)}`);
      return { ms, found: json.results.length, owners: json.results.map(({ metadata }) => metadata.owner) };
    },
    resident: () => processMemory(service.pid).resident / 1_048_576,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
