import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvironment } from '#kit/env/read-environment';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { openGatewayModels } from '#models/gateway-models';
import { type CatalogueConfig, settings } from '../../dataplane/catalogue/config.ts';
import { startProcess } from '../support/start-process.ts';
import type { Embedder } from './fill-catalogue.ts';

type OfflineEmbedder = AsyncDisposable & Embedder & { readonly config: Partial<CatalogueConfig> };

const { PORTCULLIS_INDEX_MIB } = settings;

/**
 * Starts the embedding model of one machine in a process of its own, and returns the settings with which a catalogue on
 * this machine searches with it.
 */
export async function startOfflineEmbedder(): Promise<OfflineEmbedder> {
  await using parts = new AsyncDisposableStack();
  const modelsFile = join(parts.use(temporaryFolder()).path, 'models.yaml');
  const profile = {
    ...{ id: 'offline', model: 'echo', dimension: 384, sendDimension: true, batch: 64, maxTokens: 2_000 },
    ...{ queryPrefix: '', passagePrefix: '' },
  };
  writeFileSync(modelsFile, JSON.stringify({ embedding: [profile] }));
  const echo = parts.use(await startProcess({ file: 'dataplane/echo/main.ts', environment: {} }));
  const modelGateway = new URL(echo.url);
  const models = parts.use(openGatewayModels(modelGateway, undefined));
  const indexBytes = readEnvironment({ PORTCULLIS_INDEX_MIB }, {}).PORTCULLIS_INDEX_MIB * 1_048_576;
  const owned = parts.move();
  return {
    models,
    profile,
    config: { modelGateway, modelsFile, embeddingProfile: profile.id, indexBytes },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
