import { batchMessages } from '#checks/batch-messages';
import type { JsonNode } from '#kit/json/parse-tree';
import type { CheckUnit } from '../chat/check-unit.ts';
import { accept, type ParseResult } from '../chat/parse-result.ts';
import { renamedPieces } from '../chat/rename-answer.ts';
import { renameModel, rewriteBody } from '../chat/rewrite-body.ts';
import { maxTexts } from '../chat/text-bounds.ts';
import { hasFreeText } from '../judged/answer-strings.ts';
import { readParameterTexts } from '../judged/request-texts.ts';
import { coverageOf, readFurtherTexts } from '../judged/route-coverage.ts';
import { plainError } from '../relay/client-error.ts';
import { guardInput } from '../relay/guard-input.ts';
import { HeldTree } from '../relay/held-tree.ts';
import { checkTarget } from '../routes/check-target.ts';
import type { TakenRoute } from '../routes/route-table.ts';
import { type AdmittedRequest, admitRequest, refusalResponse } from './admit-request.ts';
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

/** Judges every text of a request; one denied text refuses the request, and masked texts are forwarded masked. */
export async function relayInputs(context: RequestContext, operation: InputOperation): Promise<ClientResponse> {
  const prepared = await prepareInputs(context, operation);
  if (prepared.kind === 'error') return prepared;
  const { route, body, masked } = prepared;
  const answer = await askProvider(context, route, { path: operation.path, body: { bytes: body } });
  if (answer.kind === 'error') return answer;
  const isGuarded = route.spec.guardrail.mode === 'Policy';
  if (!operation.isAnswer(answer.bytes, isGuarded)) return errorResponse(plainError('upstream_invalid'));
  const pieces = renamedPieces(route.spec.alias)(answer.bytes);
  // The second piece is the alias, which replaces the name of the model.
  const received = pieces.filter((_, index) => index !== 1);
  if (isGuarded && coverageOf(route.spec).refuseUnjudged && received.some(hasFreeText)) {
    return errorResponse(plainError('unjudged_answer'));
  }
  return { kind: 'json', bytes: pieces, masked };
}

type PreparedInputs = {
  readonly kind: 'prepared';
  readonly route: TakenRoute;
  readonly body: Uint8Array;
  readonly masked: boolean;
};

/** Reads and judges a request. Its JSON tree is not kept while the provider answers. */
async function prepareInputs(
  context: RequestContext,
  operation: InputOperation,
): Promise<PreparedInputs | (ClientResponse & { readonly kind: 'error' })> {
  using tree = new HeldTree(context.bytes);
  const admitted = await admitRequest(context, tree);
  if (admitted.kind === 'error') return admitted;
  const { bytes, envelope, route } = admitted;
  const { guardrail, upstream } = route.spec;
  const renamed = renameModel(envelope.model, upstream.model);
  if (guardrail.mode !== 'Policy') {
    return { kind: 'prepared', route, body: rewriteBody(bytes, [renamed]), masked: false };
  }
  const read = await tree.read(
    () => readTexts(operation, admitted),
    (texts) => (texts.ok ? Math.min(maxTexts, texts.value.length) : 0),
  );
  const { signal } = context.life;
  if (signal.aborted) throw signal.reason;
  if (read === undefined) return errorResponse(plainError('overloaded'));
  if (!read.value.ok) return refusalResponse(read.value.refusal);
  const target = checkTarget(route.spec, guardrail, 'request');
  const verdict = await guardInput(context.checks, target, batchMessages(read.value.value, target), signal);
  if (verdict.kind === 'stop') return errorResponse(verdict.error, 'request');
  const masked = verdict.kind === 'mask';
  const body = rewriteBody(bytes, [renamed, ...(masked ? verdict.edits : [])]);
  return { kind: 'prepared', route, body, masked };
}

/** Reads the inputs, and the further texts that the binding adds to the judged texts. */
function readTexts(
  { readInputs, inputMembers }: InputOperation,
  { envelope, bytes, route }: AdmittedRequest,
): ParseResult<readonly CheckUnit[]> {
  const inputs = readInputs(envelope.root, new Set(route.spec.extraRequestKeys));
  if (!inputs.ok) return inputs;
  const coverage = coverageOf(route.spec);
  const further = readFurtherTexts(coverage, () =>
    readParameterTexts(envelope.root, bytes, coverage.judged, inputMembers),
  );
  return further.ok ? accept([...inputs.value, ...further.value]) : further;
}
