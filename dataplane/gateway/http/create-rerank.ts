import { isRerankAnswer } from '../rerank/read-rerank-answer.ts';
import { readRerankRequest } from '../rerank/read-rerank-request.ts';
import { relayInputs } from './relay-inputs.ts';
import type { ClientResponse, RequestContext } from './request-context.ts';

/**
 * POST /v1/rerank, as in the APIs of Cohere and Jina: query and documents are judged like the inputs of embeddings, and
 * masked texts are ranked masked.
 */
export function createRerank(context: RequestContext): Promise<ClientResponse> {
  return relayInputs(context, {
    path: '/rerank',
    readInputs: readRerankRequest,
    inputMembers,
    isAnswer: isRerankAnswer,
  });
}

const inputMembers: ReadonlySet<string> = new Set(['model', 'query', 'documents']);
