import { renameModel, rewriteBody } from '../chat/rewrite-body.ts';
import { isEmbeddingAnswer } from '../embeddings/read-embedding-answer.ts';
import { batchUnits, readEmbeddingRequest } from '../embeddings/read-embedding-request.ts';
import { plainError } from '../relay/client-error.ts';
import { guardInput } from '../relay/guard-input.ts';
import { checkTarget } from '../routes/check-target.ts';
import { admitRequest, refusalResponse } from './admit-request.ts';
import { askProvider } from './call-provider.ts';
import { type ClientResponse, errorResponse, type RequestContext } from './request-context.ts';

/** POST /v1/embeddings: every input is judged; one deny refuses the request, and masked inputs are embedded masked. */
export async function createEmbedding(context: RequestContext): Promise<ClientResponse> {
  const admitted = await admitRequest(context);
  if (admitted.kind === 'error') return admitted;
  const { bytes, envelope, route } = admitted;
  const { guardrail, upstream } = route.spec;
  const edits = [renameModel(envelope.model, upstream.model)];
  let masked = false;
  if (guardrail.mode === 'Policy') {
    const inputs = readEmbeddingRequest(envelope.root, new Set(route.spec.extraRequestKeys));
    if (!inputs.ok) return refusalResponse(inputs.refusal);
    const target = checkTarget(route.spec, guardrail, 'request');
    const batches = batchUnits(inputs.value, target);
    const verdict = await guardInput(context.checks, target, batches, context.life.signal);
    if (verdict.kind === 'stop') return errorResponse(verdict.error, 'request');
    masked = verdict.kind === 'mask';
    if (verdict.kind === 'mask') edits.push(...verdict.edits);
  }
  const answer = await askProvider(context, route, { path: '/embeddings', body: rewriteBody(bytes, edits) });
  if (answer.kind === 'error') return answer;
  if (!isEmbeddingAnswer(answer.bytes)) return errorResponse(plainError('upstream_invalid'));
  return { kind: 'json', bytes: answer.bytes, masked };
}
