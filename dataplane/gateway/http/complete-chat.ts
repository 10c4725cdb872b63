import { currentProfile } from '#contracts/profiles';
import { type JsonNode, member } from '#kit/json/parse-tree';
import type { Edit } from '#kit/json/splice';
import { readChatRequest } from '../chat/read-chat-request.ts';
import { renamerTo } from '../chat/rename-answer.ts';
import { renameModel, rewriteBody } from '../chat/rewrite-body.ts';
import { readRequestTexts } from '../judged/request-texts.ts';
import { coverageOf, isContractOnly, readFurtherTexts } from '../judged/route-coverage.ts';
import { plainError } from '../relay/client-error.ts';
import { guardAnswer } from '../relay/guard-answer.ts';
import { guardInput } from '../relay/guard-input.ts';
import { planChecks } from '../relay/plan-checks.ts';
import { checkTarget } from '../routes/check-target.ts';
import type { TakenRoute } from '../routes/route-table.ts';
import { type AdmittedRequest, admitRequest, refusalResponse } from './admit-request.ts';
import { askProvider } from './call-provider.ts';
import { type ClientResponse, errorResponse, type RequestContext } from './request-context.ts';
import { streamChat } from './stream-chat.ts';

const path = '/chat/completions';

/** POST /v1/chat/completions: checks the input, calls the provider, and checks the output. */
export async function completeChat(context: RequestContext): Promise<ClientResponse> {
  const admitted = await admitRequest(context);
  if (admitted.kind === 'error') return admitted;
  const { guardrail } = admitted.route.spec;
  if (guardrail.mode === 'None') return completeUnguarded(context, admitted);
  const chat = readChatRequest(admitted.envelope.root, rulesOf(admitted.route));
  if (!chat.ok) return refusalResponse(chat.refusal);
  const { checks, life } = context;
  const { signal } = life;
  const { spec } = admitted.route;
  const coverage = coverageOf(spec);
  const further = readFurtherTexts(coverage, () =>
    readRequestTexts(admitted.envelope.root, admitted.bytes, coverage.judged),
  );
  if (!further.ok) return refusalResponse(further.refusal);
  const inputTarget = checkTarget(spec, guardrail, 'request');
  const split = spec.longConversations === 'Split';
  const plan = planChecks('request', {
    texts: chat.value.units,
    further: further.value,
    limits: inputTarget,
    split,
  });
  const input = await guardInput(checks, inputTarget, plan, signal);
  if (input.kind === 'stop') return errorResponse(input.error, 'request');
  const body = forwardedBody(admitted, input.kind === 'mask' ? input.edits : []);
  const target = checkTarget(spec, guardrail, 'response');
  const masked = input.kind === 'mask';
  const furtherCoverage = isContractOnly(coverage) ? undefined : { ...coverage, limits: target };
  if (chat.value.stream) {
    return streamChat(context, admitted.route, { path, body, masked, target, coverage: furtherCoverage });
  }
  const answer = await askProvider(context, admitted.route, { path, body });
  if (answer.kind === 'error') return answer;
  const { structured } = chat.value;
  const output = await guardAnswer(checks, target, { bytes: answer.bytes, structured, coverage }, signal);
  if (output.kind === 'stop') return errorResponse(output.error, output.stage);
  return { kind: 'json', bytes: renamed(output.bytes, admitted.route), masked: masked || output.kind === 'mask' };
}

async function completeUnguarded(context: RequestContext, admitted: AdmittedRequest): Promise<ClientResponse> {
  const body = forwardedBody(admitted, []);
  if (isTrue(member(admitted.envelope.root, 'stream'))) {
    if (admitted.route.spec.streaming === 'Refused') return errorResponse(plainError('streaming_refused', 'stream'));
    return streamChat(context, admitted.route, { path, body, masked: false, target: undefined, coverage: undefined });
  }
  const answer = await askProvider(context, admitted.route, { path, body });
  if (answer.kind === 'error') return answer;
  return { kind: 'json', bytes: renamed(answer.bytes, admitted.route), masked: false };
}

function rulesOf({ spec }: TakenRoute): Parameters<typeof readChatRequest>[1] {
  const { guardrail, streaming } = spec;
  const isJudged = guardrail.mode === 'Policy' && (guardrail.streaming.allowed || streaming === 'Allowed');
  return {
    textOnly: spec.contentProfile !== currentProfile,
    streaming: streaming === 'Refused' ? 'refused' : isJudged ? 'served' : 'unjudged',
    extraKeys: new Set(spec.extraRequestKeys),
  };
}

function forwardedBody({ bytes, envelope, route }: AdmittedRequest, edits: readonly Edit[]): Uint8Array {
  return rewriteBody(bytes, [renameModel(envelope.model, route.spec.upstream.model), ...edits]);
}

/** The answer with the alias of the binding as its model. */
function renamed(bytes: Uint8Array, { spec }: TakenRoute): Buffer {
  return renamerTo(spec.alias)(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

function isTrue(node: JsonNode | undefined): boolean {
  return node?.kind === 'boolean' && node.value;
}
