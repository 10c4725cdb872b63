import { checkBytes } from '#checks/batch-messages';
import type { JudgedTextKind } from '#contracts/judged-texts';
import { currentProfile } from '#contracts/profiles';
import { type JsonNode, member } from '#kit/json/parse-tree';
import type { Edit } from '#kit/json/splice';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import type { CheckUnit } from '../chat/check-unit.ts';
import { requestTextBytes } from '../chat/estimate-tokens.ts';
import type { ParseResult } from '../chat/parse-result.ts';
import type { ChatRequest, ChatRules } from '../chat/read-chat-request.ts';
import { readUsage } from '../chat/read-usage.ts';
import { type RenameAnswer, renamedPieces, renamerTo } from '../chat/rename-answer.ts';
import { renameModel, rewriteBody } from '../chat/rewrite-body.ts';
import type { Covered } from '../judged/covered-texts.ts';
import { escapedResults } from '../judged/escaped-texts.ts';
import { coverageOf, readFurtherTexts } from '../judged/route-coverage.ts';
import { sentTexts } from '../judged/sent-texts.ts';
import { plainError } from '../relay/client-error.ts';
import type { guardAnswer } from '../relay/guard-answer.ts';
import { guardInput } from '../relay/guard-input.ts';
import { isSeam, planChecks } from '../relay/plan-checks.ts';
import type { StreamMachine } from '../relay/relay-stream.ts';
import { checkTarget } from '../routes/check-target.ts';
import type { TakenRoute } from '../routes/route-table.ts';
import type { StreamCoverage } from '../stream/stream-guard.ts';
import { type AdmittedRequest, admitRequest, refusalResponse } from './admit-request.ts';
import { askProvider } from './call-provider.ts';
import { type ClientResponse, errorResponse, type RequestContext } from './request-context.ts';
import { streamText } from './stream-text.ts';

/** An API in which a model answers with text, whole or streamed. */
export type TextApi = {
  /** Path below the base address of the provider. */
  readonly path: string;
  /** Whether only some providers have the path. */
  readonly isOptional: boolean;
  /** The texts of a guarded request. */
  readonly readRequest: (root: JsonNode, rules: ChatRules) => ParseResult<ChatRequest>;
  /** Further texts of a request that the binding has judged. */
  readonly readTexts: (root: JsonNode, bytes: Uint8Array, judged: ReadonlySet<JudgedTextKind>) => Covered;
  readonly guardWhole: typeof guardAnswer;
  readonly guardStream: (coverage: StreamCoverage, rename: RenameAnswer) => StreamMachine;
  readonly relayStream: (rename: RenameAnswer) => StreamMachine;
  /** The members of an event that lead to the name of the model. */
  readonly eventModel: readonly string[];
};

/** Checks the input of a request, calls the provider, and checks the output. */
export async function completeText(context: RequestContext, api: TextApi): Promise<ClientResponse> {
  const admitted = await admitRequest(context);
  if (admitted.kind === 'error') return admitted;
  const { guardrail } = admitted.route.spec;
  if (guardrail.mode === 'None') return completeUnguarded(context, api, admitted);
  const request = api.readRequest(admitted.envelope.root, rulesOf(admitted.route));
  if (!request.ok) return refusalResponse(request.refusal);
  const { checks, life } = context;
  const { signal } = life;
  const { spec } = admitted.route;
  const coverage = coverageOf(spec);
  const further = readFurtherTexts(coverage, () =>
    api.readTexts(admitted.envelope.root, admitted.bytes, coverage.judged),
  );
  if (!further.ok) return refusalResponse(further.refusal);
  const inputTarget = checkTarget(spec, guardrail, 'request');
  const split = spec.longConversations === 'Split';
  // A check of more characters than its bytes is refused, whatever is inside of its texts. Seams are checked apart from it.
  const length = request.value.units.reduce((sum, unit) => sum + (isSeam(unit) ? 0 : unit.content.length), 0);
  const isRefused = !split && length > inputTarget.maxBodyBytes;
  const more = [...further.value, ...(isRefused ? [] : escapedResults(request.value.units))];
  const isLong = (unit: CheckUnit): boolean =>
    guardrail.division?.allowed === true && checkBytes(unit) > inputTarget.maxBodyBytes;
  const plan = planChecks('request', {
    texts: request.value.units,
    further: more.filter((unit) => !isLong(unit)),
    limits: inputTarget,
    split,
  });
  const input = await guardInput(checks, inputTarget, plan, signal, more.filter(isLong));
  if (input.kind === 'stop') return errorResponse(input.error, 'request');
  const masked = input.kind === 'mask';
  const call = callOf(api, admitted, masked ? input.edits : []);
  const target = checkTarget(spec, guardrail, 'response');
  const answered = { ...coverage, isSent: sentTexts(call.body) };
  if (request.value.stream) {
    const machine = api.guardStream({ ...answered, limits: target }, streamRenamer(context, api, admitted.route));
    return streamText(context, admitted.route, {
      ...call,
      masked,
      target,
      machine,
      textBytes: requestTextBytes(admitted.envelope.root),
    });
  }
  const answer = await askProvider(context, admitted.route, call);
  if (answer.kind === 'error') return answer;
  const whole = {
    bytes: answer.bytes,
    structured: request.value.structured,
    coverage: answered,
    inWindows: judgesWindows(spec),
  };
  const output = await api.guardWhole(checks, target, whole, signal);
  if (output.kind === 'stop') return errorResponse(output.error, output.stage);
  return { kind: 'json', bytes: renamed(output.bytes, admitted.route), masked: masked || output.kind === 'mask' };
}

async function completeUnguarded(
  context: RequestContext,
  api: TextApi,
  admitted: AdmittedRequest,
): Promise<ClientResponse> {
  const { route } = admitted;
  const call = callOf(api, admitted, []);
  if (isTrue(member(admitted.envelope.root, 'stream'))) {
    if (route.spec.streaming === 'Refused') return errorResponse(plainError('streaming_refused', 'stream'));
    const machine = api.relayStream(streamRenamer(context, api, route));
    return streamText(context, route, {
      ...call,
      masked: false,
      target: undefined,
      machine,
      textBytes: requestTextBytes(admitted.envelope.root),
    });
  }
  const answer = await askProvider(context, route, call);
  if (answer.kind === 'error') return answer;
  return { kind: 'json', bytes: renamed(answer.bytes, route), masked: false };
}

function rulesOf({ spec }: TakenRoute): ChatRules {
  return {
    textOnly: spec.contentProfile !== currentProfile,
    streaming: spec.streaming === 'Refused' ? 'refused' : judgesWindows(spec) ? 'served' : 'unjudged',
    extraKeys: new Set(spec.extraRequestKeys),
  };
}

/** Whether the answers of a route may be judged in windows: its rules allow it, or its binding does. */
function judgesWindows({ guardrail, streaming }: GatewayRouteSpec): boolean {
  return guardrail.mode === 'Policy' && (guardrail.streaming.allowed || streaming === 'Allowed');
}

/** The call of the provider: the request with the provider's name of the model, and masked texts. */
function callOf(api: TextApi, { bytes, envelope, route }: AdmittedRequest, edits: readonly Edit[]) {
  const body = rewriteBody(bytes, [renameModel(envelope.model, route.spec.upstream.model), ...edits]);
  return { path: api.path, isOptional: api.isOptional, body };
}

/** The answer with the alias of the binding as its model. */
function renamed(bytes: Uint8Array, { spec }: TakenRoute): readonly Buffer[] {
  return renamedPieces(spec.alias)(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

/** Names the alias in each event of a stream, and notes the tokens that the event reports. */
function streamRenamer(context: RequestContext, { eventModel }: TextApi, { spec }: TakenRoute): RenameAnswer {
  const rename = renamerTo(spec.alias, eventModel);
  const parents = eventModel.slice(0, -1);
  return (event) => {
    context.usage = readUsage(event, parents) ?? context.usage;
    return rename(event);
  };
}

function isTrue(node: JsonNode | undefined): boolean {
  return node?.kind === 'boolean' && node.value;
}
