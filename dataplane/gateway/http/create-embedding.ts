import { isEmbeddingAnswer } from '../embeddings/read-embedding-answer.ts';
import { readEmbeddingRequest } from '../embeddings/read-embedding-request.ts';
import { relayInputs } from './relay-inputs.ts';
import type { ClientResponse, RequestContext } from './request-context.ts';

/**
 * Answers POST /v1/embeddings: every input is judged; one denied input refuses the request, and masked inputs are
 * embedded masked.
 */
export function createEmbedding(context: RequestContext): Promise<ClientResponse> {
  return relayInputs(context, {
    path: '/embeddings',
    readInputs: readEmbeddingRequest,
    inputMembers,
    isAnswer: isEmbeddingAnswer,
  });
}

const inputMembers: ReadonlySet<string> = new Set(['model', 'input']);
