import { batchMessages } from '#checks/batch-messages';
import type { JsonNode } from '#kit/json/parse-tree';
import type { CheckUnit } from '../chat/check-unit.ts';
import type { ParseResult } from '../chat/parse-result.ts';
import { renamedPieces } from '../chat/rename-answer.ts';
import { renameModel, rewriteBody } from '../chat/rewrite-body.ts';
import { hasFreeText } from '../judged/answer-strings.ts';
import { readParameterTexts } from '../judged/request-texts.ts';
import { coverageOf, readFurtherTexts } from '../judged/route-coverage.ts';
import { plainError } from '../relay/client-error.ts';
import { guardInput } from '../relay/guard-input.ts';
import { checkTarget } from '../routes/check-target.ts';
import { admitRequest, refusalResponse } from './admit-request.ts';
import { askProvider } from './call-provider.ts';
import { type ClientResponse, errorResponse, type RequestContext } from './request-context.ts';

/** An operation whose request has texts to judge and whose answer has none. */
type InputOperation = {
  /** Path below the base address of the provider. */
  readonly path: string;
  /** The texts of a guarded request. */
  readonly readInputs: (root: JsonNode, extraKeys: ReadonlySet<string>) => ParseResult<readonly CheckUnit[]>;
  /** Members of the request whose texts are inputs, and the model. */
  readonly inputMembers: ReadonlySet<string>;
  readonly isAnswer: (bytes: Uint8Array, guarded: boolean) => boolean;
};

/** Judges every text of a request; one deny refuses the request, and masked texts are forwarded masked. */
export async function relayInputs(context: RequestContext, operation: InputOperation): Promise<ClientResponse> {
  const admitted = await admitRequest(context);
  if (admitted.kind === 'error') return admitted;
  const { bytes, envelope, route } = admitted;
  const { guardrail, upstream } = route.spec;
  const edits = [renameModel(envelope.model, upstream.model)];
  let masked = false;
  if (guardrail.mode === 'Policy') {
    const inputs = operation.readInputs(envelope.root, new Set(route.spec.extraRequestKeys));
    if (!inputs.ok) return refusalResponse(inputs.refusal);
    const coverage = coverageOf(route.spec);
    const further = readFurtherTexts(coverage, () =>
      readParameterTexts(envelope.root, bytes, coverage.judged, operation.inputMembers),
    );
    if (!further.ok) return refusalResponse(further.refusal);
    const target = checkTarget(route.spec, guardrail, 'request');
    const batches = batchMessages([...inputs.value, ...further.value], target);
    const verdict = await guardInput(context.checks, target, batches, context.life.signal);
    if (verdict.kind === 'stop') return errorResponse(verdict.error, 'request');
    masked = verdict.kind === 'mask';
    if (verdict.kind === 'mask') edits.push(...verdict.edits);
  }
  const answer = await askProvider(context, route, { path: operation.path, body: rewriteBody(bytes, edits) });
  if (answer.kind === 'error') return answer;
  const isGuarded = guardrail.mode === 'Policy';
  if (!operation.isAnswer(answer.bytes, isGuarded)) return errorResponse(plainError('upstream_invalid'));
  const pieces = renamedPieces(route.spec.alias)(answer.bytes);
  // The second piece is the alias in the place of the name of the model.
  const received = pieces.filter((_, index) => index !== 1);
  if (isGuarded && coverageOf(route.spec).refuseUnjudged && received.some(hasFreeText)) {
    return errorResponse(plainError('unjudged_answer'));
  }
  return { kind: 'json', bytes: pieces, masked };
}
