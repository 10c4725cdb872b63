import type { Command } from 'commander';
import type { ReplicaDecision } from '#contracts/activity';
import { listAll } from '#kube/client/list-all';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { absentSentence, decisionSentence } from '../activity/activity-text.ts';
import { openActivity } from '../activity/open-activity.ts';
import { missingSentences } from '../activity/read-activity.ts';
import type { AnswerFault, ChatReply } from '../chat/read-answer.ts';
import { requestAnswer } from '../chat/request-answer.ts';
import { didYouMean } from '../command-line/did-you-mean.ts';
import { CliError } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import type { ExitName } from '../errors/exit-codes.ts';
import { readInput } from '../options/read-input.ts';
import { withRequestTimeout } from '../options/resource-options.ts';
import { formatOf, isForPeople, type OutputOptions, withUnnamedOutput, writeValue } from '../output/format.ts';
import { escapeControls } from '../output/write.ts';
import { readClientKey } from '../platform/client-key.ts';
import { openPlatform } from '../platform/open-platform.ts';
import { type RunningPlatform, runningPlatform } from '../platform/running-platform.ts';
import type { SourceOptions } from '../resources/resource-source.ts';

type ChatOptions = OutputOptions & {
  readonly data?: string;
  readonly message?: string;
  readonly system?: string;
  readonly stream: boolean;
  readonly explain?: boolean;
  readonly requestTimeout: number;
};

/** How long to wait for an answer, seconds: a model may think for minutes before the first word. */
const answerSeconds = 300;

export function addChat(program: Command): void {
  const command = program
    .command('chat')
    .description('send one message to a model through the gateway and print the answer')
    .argument('<model>', 'alias of a binding')
    .option('-m, --message <text>', 'the message (default: standard input)')
    .option('--system <text>', 'a system message before the message')
    .option('--explain', 'for administrators: print the rule that masked or denied the text')
    .option('--no-stream', 'do not stream the answer')
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)');
  const timeout = { seconds: answerSeconds, description: 'longest wait for the answer, or for its next part' };
  withRequestTimeout(withUnnamedOutput(command), timeout).action(chat);
}

async function chat(model: string, options: ChatOptions): Promise<void> {
  const platform = runningPlatform(options.data);
  const { status } = platform;
  const format = formatOf(options);
  const content = options.message ?? (await readInput('the message'));
  const system = options.system === undefined ? [] : [{ role: 'system', content: options.system }];
  const body = { model, stream: options.stream, messages: [...system, { role: 'user', content }] };
  const { reply, requestId } = await requestAnswer({
    gateway: status.addresses.gateway,
    key: readClientKey(status.clientKeyFile),
    body,
    timeoutSeconds: options.requestTimeout,
    onText: isForPeople(format) ? writePiece : () => undefined,
  });
  const decision =
    options.explain === true
      ? await explain({ ...dataOf(options), requestTimeout: 5 }, requestId).catch(unexplained)
      : undefined;
  const decided = decision === undefined ? {} : { decision };
  if (!isForPeople(format)) writeValue(format, { complete: reply.fault === undefined, ...reply, ...decided });
  else if (reply.text !== '' && !reply.text.endsWith('\n')) process.stdout.write('\n');
  if (decision !== undefined && isForPeople(format)) process.stderr.write(`portcullis: ${decision.sentence}\n`);
  if (reply.fault === undefined) return;
  const meant = reply.fault.kind === 'not_found' ? await aliasRemedy(platform, model) : '';
  throw new CliError(exitOf(reply.fault), `${sentenceOf(model, reply, reply.fault)}${meant}`);
}

/** The output that `--explain` adds; the decision is absent for a request that no policy decided. */
type Explanation = { readonly sentence: string; readonly policy?: string } & Partial<ReplicaDecision>;

/** The decision about a request, found by the request id of its response. */
async function explain(options: SourceOptions, requestId: string | null): Promise<Explanation> {
  const { read: readActivity, policyNames } = openActivity(options);
  const activity = await readActivity();
  const found = activity.items.find((one) => one.requestId === requestId);
  if (found === undefined) return { sentence: absentSentence(requestId, missingSentences(activity)) };
  const policy = (await policyNames())(found.policyId);
  return { sentence: decisionSentence(found, policy), ...found, policy };
}

/** The answer and its exit code do not depend on the decision being readable. */
function unexplained(error: unknown): Explanation {
  return { sentence: `The decision cannot be read: ${describeError(error).message}` };
}

/** Control characters of a model could hide other lines of a terminal; a file or a program gets the text unchanged. */
function writePiece(piece: string): void {
  process.stdout.write(process.stdout.isTTY ? escapeControls(piece) : piece);
}

function dataOf({ data }: ChatOptions): Pick<SourceOptions, 'data'> {
  return data === undefined ? {} : { data };
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
    case 'timeout':
      return `${incomplete}${message}`;
    case 'not_found':
      return `There is no model ${model}.`;
    case 'unauthenticated':
      return `The gateway refused the client key: ${message}`;
    case 'other':
      return `${incomplete}The gateway refused the request: ${message}`;
  }
}
