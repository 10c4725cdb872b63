import { packedContextSchema, queryResponseSchema } from '#contracts/retrieval';
import type { FlowPorts, PortRequests } from '../engine/ports.ts';
import { type CallerService, readServiceAnswer } from './caller-service.ts';
import { exchangeWithService } from './exchange-with-service.ts';
import { traceHeaders } from './trace-headers.ts';

/** Searches collections of the retrieval service, with the rights of the caller of the run. */
export function createRetrievalPort({ url, identity }: CallerService): FlowPorts['retrieval'] {
  return async (request, call) => {
    const { tokenBudget } = request;
    const exchange = async (path: string, body: object): Promise<unknown> =>
      exchangeWithService({
        url: new URL(path, url),
        headers: { ...traceHeaders(call), ...(await identity(call)) },
        body,
        signal: call.signal,
      });
    if (tokenBudget === undefined) {
      const { items } = readServiceAnswer(queryResponseSchema, await exchange('/v1/query', searchOf(request)));
      return { items };
    }
    const packed = await exchange('/v1/retrieve_and_pack', { ...searchOf(request), token_budget: tokenBudget });
    const { items, packed_context: text } = readServiceAnswer(packedContextSchema, packed);
    return { items, text };
  };
}

function searchOf({ collection, query, topK, rerank, mode, filters }: PortRequests['retrieval']): object {
  return {
    collection,
    text: query,
    top_k: topK,
    rerank,
    ...(mode === undefined ? {} : { mode }),
    ...(filters === undefined ? {} : { filters }),
  };
}
