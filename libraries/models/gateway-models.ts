import { openTokenFile } from '#kit/http/token-file';
import { systemClock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import { type GatewayCallOptions, openGatewayCall } from './gateway-call.ts';
import { ModelsError } from './models-error.ts';
import type { EmbeddingProfile, Models } from './ports.ts';
import { byScore, readCompletion, readScores, readVectors } from './read-answer.ts';

type GatewayModelsOptions = Pick<GatewayCallOptions, 'url' | 'tokenFile'> & Partial<GatewayCallOptions>;

/** Timeout of a call with all its attempts, milliseconds, if neither the client nor the call sets one. */
const defaultTimeoutMs = 30_000;

/** The models of a model gateway. @param tokenFile the client key, read again on change; absent for an open gateway */
export function openGatewayModels(url: URL, tokenFile: string | undefined): Models {
  return createGatewayModels({ url, ...(tokenFile === undefined ? {} : { tokenFile: openTokenFile(tokenFile) }) });
}

/**
 * The models of a model gateway, called over HTTP: embeddings and chat as in the OpenAI API, rerank as in the APIs of
 * Cohere and Jina. The batches of one call are sent one after another, so that one document does not delay others.
 */
export function createGatewayModels(options: GatewayModelsOptions): Models {
  const settings = { timeoutMs: defaultTimeoutMs, pause: wait, now: systemClock.now, ...options };
  const gateway = openGatewayCall(settings);
  return {
    async embed(profile, use, texts, call = {}) {
      const prefix = use === 'query' ? profile.queryPrefix : profile.passagePrefix;
      const vectors: Float32Array[] = [];
      for (const batch of batchesOf(texts, profile.batch)) {
        const input = batch.map((text) => prefix + text);
        const answer = await gateway.post('/v1/embeddings', embeddingBody(profile, input), call);
        vectors.push(...readVectors(answer, profile, batch.length));
      }
      return vectors;
    },
    async rerank(profile, query, documents, call = {}) {
      const scores: number[] = [];
      const end = settings.now() + (call.timeoutMs ?? settings.timeoutMs);
      for (const batch of batchesOf(documents, profile.maxDocuments)) {
        const body = { model: profile.model, query, documents: batch, top_n: batch.length, return_documents: false };
        const timeoutMs = end - settings.now();
        if (timeoutMs <= 0) throw new ModelsError('unavailable', undefined, undefined, true);
        scores.push(...readScores(await gateway.post('/v1/rerank', body, { ...call, timeoutMs }), batch.length));
      }
      return byScore(scores);
    },
    async complete(model, { system, user, answer }, call = {}) {
      const messages = [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ];
      const post = async (more: object) =>
        readCompletion(await gateway.post('/v1/chat/completions', { model, messages, ...more }, call));
      if (answer === undefined) return post({});
      const format = { type: 'json_schema', json_schema: { name: answer.name, schema: answer.schema, strict: true } };
      try {
        return await post({ response_format: format });
      } catch (error) {
        // A model without strict mode refuses the call; anything else that it refuses, it refuses again.
        if (!(error instanceof ModelsError && error.code === 'refused')) throw error;
        return post({});
      }
    },
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

function embeddingBody({ model, dimension, sendDimension }: EmbeddingProfile, input: readonly string[]) {
  return { model, input, encoding_format: 'float', ...(sendDimension ? { dimensions: dimension } : {}) };
}

function* batchesOf(texts: readonly string[], size: number): Generator<readonly string[]> {
  for (let start = 0; start < texts.length; start += size) yield texts.slice(start, start + size);
}
