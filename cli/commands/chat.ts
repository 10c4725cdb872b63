import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { ReplicaDecision } from '#contracts/activity';
import { listAll } from '#kube/client/list-all';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { absentSentence, decisionSentence } from '../activity/activity-text.ts';
import { openActivity } from '../activity/open-activity.ts';
import { missingSentences } from '../activity/read-activity.ts';
import { type AnswerFault, type ChatReply, readBuffered, readStream } from '../chat/read-answer.ts';
import { didYouMean } from '../command-line/did-you-mean.ts';
import { CliError } from '../errors/cli-error.ts';
import type { ExitName } from '../errors/exit-codes.ts';
import { unreachableReason, unreachableRemedy } from '../errors/unreachable.ts';
import { withJson } from '../output/format.ts';
import { writeJson } from '../output/write.ts';
import { openPlatform } from '../platform/open-platform.ts';
import { type RunningPlatform, runningPlatform } from '../platform/running-platform.ts';
import type { SourceOptions } from '../resources/resource-source.ts';
import { readClientKey } from './env.ts';

type ChatOptions = {
  readonly data?: string;
  readonly message?: string;
  readonly system?: string;
  readonly stream: boolean;
  readonly json?: boolean;
  readonly explain?: boolean;
};

export function addChat(program: Command): void {
  const command = program
    .command('chat')
    .description('send one message to a model through the gateway and print the answer')
    .argument('<model>', 'alias of a binding')
    .option('-m, --message <text>', 'the message (default: standard input)')
    .option('--system <text>', 'a system message before the message')
    .option('--explain', 'for administrators: say which rule masked or denied the text')
    .option('--no-stream', 'do not stream the answer')
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)');
  withJson(command).action(chat);
}

async function chat(model: string, options: ChatOptions): Promise<void> {
  const platform = runningPlatform(options.data);
  const { status } = platform;
  const content = options.message ?? (await readAll(process.stdin)).replace(/\r?\n$/, '');
  const system = options.system === undefined ? [] : [{ role: 'system', content: options.system }];
  const body = { model, stream: options.stream, messages: [...system, { role: 'user', content }] };
  const response = await post(status.addresses.gateway, readClientKey(status.clientKeyFile), body);
  const answer = await read(response, options);
  const decision =
    options.explain === true ? await explain({ ...dataOf(options), requestTimeout: 5 }, response) : undefined;
  const decided = decision === undefined ? {} : { decision };
  if (options.json === true) writeJson({ complete: answer.fault === undefined, ...answer, ...decided });
  else if (answer.text !== '' && !answer.text.endsWith('\n')) process.stdout.write('\n');
  if (decision !== undefined && options.json !== true) process.stderr.write(`portcullis: ${decision.sentence}\n`);
  if (answer.fault === undefined) return;
  const meant = answer.fault.kind === 'not_found' ? await aliasRemedy(platform, model) : '';
  throw new CliError(exitOf(answer.fault), `${sentenceOf(model, answer, answer.fault)}${meant}`);
}

/** The output that `--explain` adds; the decision is absent for a request that no policy decided. */
type Explanation = { readonly sentence: string; readonly policy?: string } & Partial<ReplicaDecision>;

/** The decision about a request, found by the request id of its response. */
async function explain(options: SourceOptions, response: Response): Promise<Explanation> {
  const requestId = response.headers.get('x-request-id');
  const { read: readActivity, policyNames } = openActivity(options);
  const activity = await readActivity();
  const found = activity.items.find((one) => one.requestId === requestId);
  if (found === undefined) return { sentence: absentSentence(requestId, missingSentences(activity)) };
  const policy = (await policyNames())(found.policyId);
  return { sentence: decisionSentence(found, policy), ...found, policy };
}

function dataOf({ data }: ChatOptions): Pick<SourceOptions, 'data'> {
  return data === undefined ? {} : { data };
}

async function post(gateway: string, key: string, body: unknown): Promise<Response> {
  try {
    return await fetch(`${gateway}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
      redirect: 'error',
    });
  } catch (cause) {
    const reason = unreachableReason(cause, gateway);
    const remedy = unreachableRemedy('gateway');
    throw new CliError('not_running', `The gateway at ${gateway} does not answer: ${reason}. ${remedy}`, { cause });
  }
}

async function read(response: Response, options: ChatOptions): Promise<ChatReply> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const show = options.json === true ? () => undefined : (piece: string) => process.stdout.write(piece);
  if (response.ok && isStream && response.body !== null) return readStream(response.body, show);
  const answer = readBuffered(response.status, await response.text());
  if (answer.text !== '' && options.json !== true) process.stdout.write(answer.text);
  return answer;
}

/** The alias that was probably meant, or the command that lists the aliases; with a leading space. */
async function aliasRemedy(platform: RunningPlatform, model: string): Promise<string> {
  const otherwise = ' "portcullis get modelbindings" lists the models in the column ALIAS.';
  try {
    await using resources = openPlatform(platform, { requestTimeout: 10 });
    const { items } = await listAll<ModelBinding>(resources.client, kinds.modelBinding);
    return (
      didYouMean(
        model,
        items.map(({ spec }) => spec.model.alias),
      ) || otherwise
    );
  } catch {
    // The names are only a hint: the gateway has already reported that the model does not exist.
    return otherwise;
  }
}

function exitOf({ kind }: AnswerFault): ExitName {
  return kind === 'other' ? 'failed' : kind;
}

/** Text that was printed before the error is marked as incomplete. */
function sentenceOf(model: string, { text }: ChatReply, { kind, message }: AnswerFault): string {
  const incomplete = text === '' ? '' : 'The answer above is incomplete. ';
  switch (kind) {
    case 'guardrail_blocked':
      return `${incomplete}guardrail_blocked: ${message}`;
    case 'guardrail_error':
      return `${incomplete}guardrail_error: ${message}`;
    case 'upstream_error':
      return `${incomplete}upstream_error: ${message}`;
    case 'not_found':
      return `There is no model ${model}.`;
    case 'unauthenticated':
      return `The gateway refused the client key: ${message}`;
    case 'other':
      return `${incomplete}The gateway refused the request: ${message}`;
  }
}
