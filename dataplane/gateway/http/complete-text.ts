import { checkBytes } from '#checks/batch-messages';
import type { CheckTarget } from '#checks/check-target';
import type { JudgedTextKind } from '#contracts/judged-texts';
import { currentProfile } from '#contracts/profiles';
import { type JsonNode, member } from '#kit/json/parse-tree';
import type { Edit } from '#kit/json/splice';
import type { GatewayRouteSpec, GuardedRoute } from '#resources/gateway-route';
import type { CheckUnit } from '../chat/check-unit.ts';
import { requestTextBytes } from '../chat/estimate-tokens.ts';
import { accept, type ParseResult } from '../chat/parse-result.ts';
import type { ChatRequest, ChatRules } from '../chat/read-chat-request.ts';
import { readUsage } from '../chat/read-usage.ts';
import { type RenameAnswer, renamedPieces, renamerTo } from '../chat/rename-answer.ts';
import { renameModel, rewriteBody } from '../chat/rewrite-body.ts';
import { maxTexts } from '../chat/text-bounds.ts';
import type { Covered } from '../judged/covered-texts.ts';
import { escapedResults } from '../judged/escaped-texts.ts';
import { type Coverage, coverageOf, isContractOnly, readFurtherTexts } from '../judged/route-coverage.ts';
import { sentTexts } from '../judged/sent-texts.ts';
import { plainError } from '../relay/client-error.ts';
import type { guardAnswer } from '../relay/guard-answer.ts';
import { guardInput } from '../relay/guard-input.ts';
import { HeldTree } from '../relay/held-tree.ts';
import { isSeam, planChecks } from '../relay/plan-checks.ts';
import type { StreamMachine } from '../relay/relay-stream.ts';
import { SentBody } from '../relay/sent-body.ts';
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
  /** Whether only some providers have this path. */
  readonly isOptional: boolean;
  /** The texts of a guarded request. */
  readonly readRequest: (root: JsonNode, rules: ChatRules) => ParseResult<ChatRequest>;
  /** Reads the further texts of a request that the binding adds to the judged texts. */
  readonly readTexts: (root: JsonNode, bytes: Uint8Array, judged: ReadonlySet<JudgedTextKind>) => Covered;
  readonly guardWhole: typeof guardAnswer;
  readonly guardStream: (coverage: StreamCoverage, rename: RenameAnswer) => StreamMachine;
  readonly relayStream: (rename: RenameAnswer) => StreamMachine;
  /** Whether answers repeat members of the request, so that their texts are known. */
  readonly repeatsRequest: boolean;
  /** The members of an event that contain the name of the model. */
  readonly eventModel: readonly string[];
};

/** A request in the form in which it is sent to the provider. Its JSON tree is not kept while the provider answers. */
type PreparedCall = {
  readonly kind: 'prepared';
  readonly route: TakenRoute;
  readonly call: { readonly path: string; readonly isOptional: boolean; readonly body: SentBody };
  readonly stream: boolean;
  /** Bytes of the texts of a request for a stream. */
  readonly textBytes: number;
  /** The guard of the answer; undefined for an unguarded route. */
  readonly guard: AnswerGuard | undefined;
};

type ErrorReply = ClientResponse & { readonly kind: 'error' };

/** The input for the check of an answer. `masked`: a check masked the request. */
type AnswerGuard = {
  readonly masked: boolean;
  readonly structured: boolean;
  readonly coverage: Coverage;
  readonly target: CheckTarget;
};

/** Checks the input of a request, calls the provider, and checks the output. */
export async function completeText(context: RequestContext, api: TextApi): Promise<ClientResponse> {
  const prepared = await prepareCall(context, api);
  if (prepared.kind === 'error') return prepared;
  const { route, call, guard } = prepared;
  if (prepared.stream) {
    const rename = streamRenamer(context, api, route);
    const needsBody = guard !== undefined && api.repeatsRequest && !isContractOnly(guard.coverage);
    const sent = needsBody ? { sent: sentTexts(call.body.bytes) } : {};
    return streamText(context, route, {
      ...call,
      needsBody,
      masked: guard?.masked ?? false,
      target: guard?.target,
      machine:
        guard === undefined
          ? api.relayStream(rename)
          : api.guardStream({ ...guard.coverage, limits: guard.target, ...sent }, rename),
      textBytes: prepared.textBytes,
    });
  }
  const answer = await askProvider(context, route, call);
  if (answer.kind === 'error') return answer;
  if (guard === undefined) return { kind: 'json', bytes: renamed(answer.bytes, route), masked: false };
  using tree = new HeldTree(context.bytes);
  const { structured, coverage, target } = guard;
  const inWindows = judgesWindows(route.spec);
  const whole = { bytes: answer.bytes, request: call.body.bytes, structured, coverage, inWindows, tree };
  const output = await api.guardWhole(context.checks, target, whole, context.life.signal);
  if (output.kind === 'stop') return errorResponse(output.error, output.stage);
  return { kind: 'json', bytes: renamed(output.bytes, route), masked: guard.masked || output.kind === 'mask' };
}

/** Reads and checks a request. */
async function prepareCall(context: RequestContext, api: TextApi): Promise<PreparedCall | ErrorReply> {
  using tree = new HeldTree(context.bytes);
  const admitted = await admitRequest(context, tree);
  if (admitted.kind === 'error') return admitted;
  const { envelope, route } = admitted;
  const { guardrail, longConversations } = route.spec;
  if (guardrail.mode === 'None') return prepareUnguarded(context, api, admitted);
  const read = await tree.read(() => readTexts(api, admitted, guardrail), textsOf);
  const { checks, life } = context;
  if (life.signal.aborted) throw life.signal.reason;
  if (read === undefined) return errorResponse(plainError('overloaded'));
  if (!read.value.ok) return refusalResponse(read.value.refusal);
  const { request, further, coverage } = read.value.value;
  const target = checkTarget(route.spec, guardrail, 'request');
  const isLong = (unit: CheckUnit): boolean =>
    guardrail.division?.allowed === true && checkBytes(unit) > target.maxBodyBytes;
  const plan = planChecks('request', {
    texts: request.units,
    further: further.filter((unit) => !isLong(unit)),
    limits: target,
    split: longConversations === 'Split',
  });
  const input = await guardInput(checks, target, plan, life.signal, further.filter(isLong));
  if (input.kind === 'stop') return errorResponse(input.error, 'request');
  const { stream, structured } = request;
  const masked = input.kind === 'mask';
  return {
    kind: 'prepared',
    route,
    call: callOf(context, api, admitted, masked ? input.edits : []),
    stream,
    textBytes: stream ? requestTextBytes(envelope.root) : 0,
    guard: { masked, structured, coverage, target: checkTarget(route.spec, guardrail, 'response') },
  };
}

function prepareUnguarded(context: RequestContext, api: TextApi, admitted: AdmittedRequest): PreparedCall | ErrorReply {
  const { route, envelope } = admitted;
  const stream = isTrue(member(envelope.root, 'stream'));
  if (stream && route.spec.streaming === 'Refused') return errorResponse(plainError('streaming_refused', 'stream'));
  const textBytes = stream ? requestTextBytes(envelope.root) : 0;
  return { kind: 'prepared', route, call: callOf(context, api, admitted, []), stream, textBytes, guard: undefined };
}

/** The judged texts of a request: the texts of the contract, and the further texts. */
type RequestTexts = {
  readonly request: ChatRequest;
  readonly further: readonly CheckUnit[];
  readonly coverage: Coverage;
};

function readTexts(
  api: TextApi,
  { envelope, bytes, route }: AdmittedRequest,
  guardrail: GuardedRoute,
): ParseResult<RequestTexts> {
  const { spec } = route;
  const request = api.readRequest(envelope.root, rulesOf(route));
  if (!request.ok) return request;
  const coverage = coverageOf(spec);
  const further = readFurtherTexts(coverage, () => api.readTexts(envelope.root, bytes, coverage.judged));
  if (!further.ok) return further;
  // A check with more characters than its maximum number of bytes is refused, whatever its texts contain. Seams are
  // checked separately.
  const length = request.value.units.reduce((sum, unit) => sum + (isSeam(unit) ? 0 : unit.content.length), 0);
  const { maxBodyBytes } = checkTarget(spec, guardrail, 'request');
  const isRefused = spec.longConversations !== 'Split' && length > maxBodyBytes;
  const escaped = isRefused ? [] : escapedResults(request.value.units);
  return accept({ request: request.value, further: [...further.value, ...escaped], coverage });
}

/** The number of texts; a request of more than `maxTexts` is refused. */
function textsOf(read: ParseResult<RequestTexts>): number {
  return read.ok ? Math.min(maxTexts, read.value.request.units.length + read.value.further.length) : 0;
}

function rulesOf({ spec }: TakenRoute): ChatRules {
  return {
    textOnly: spec.contentProfile !== currentProfile,
    streaming: spec.streaming === 'Refused' ? 'refused' : judgesWindows(spec) ? 'served' : 'unjudged',
    extraKeys: new Set(spec.extraRequestKeys),
  };
}

/** Whether the answers of a route may be judged in windows: the rules or the binding allow it. */
function judgesWindows({ guardrail, streaming }: GatewayRouteSpec): boolean {
  return guardrail.mode === 'Policy' && (guardrail.streaming.allowed || streaming === 'Allowed');
}

/** The call of the provider: the request with the provider's name of the model, and masked texts. */
function callOf(
  context: RequestContext,
  { path, isOptional }: TextApi,
  { bytes, envelope, route }: AdmittedRequest,
  edits: readonly Edit[],
): PreparedCall['call'] {
  const rewritten = rewriteBody(bytes, [renameModel(envelope.model, route.spec.upstream.model), ...edits]);
  const held = bytes.length;
  const body = new SentBody(rewritten, () => context.bytes.release(held));
  return { path, isOptional, body };
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
