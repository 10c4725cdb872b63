import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { type AgentReply, replyText } from '../agents/collect-reply.ts';
import { findAgentAddress } from '../agents/find-agent-address.ts';
import { sendAgentMessage } from '../agents/send-message.ts';
import { streamAgentMessage } from '../agents/stream-message.ts';
import { CliError } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import { defaultTenant, personIdentity, readCallerName, readCallerNames } from '../http/caller-options.ts';
import { withRequestTimeout } from '../options/resource-options.ts';
import { formatOf, isForPeople, type OutputOptions, withUnnamedOutput, writeValue } from '../output/format.ts';
import { escapeControls } from '../output/write.ts';
import { runningPlatform } from '../platform/running-platform.ts';
import { untilInterrupted } from '../watching/interruption.ts';

type ChatOptions = OutputOptions & {
  readonly message?: string;
  readonly context?: string;
  readonly as?: string;
  readonly groups?: readonly string[];
  readonly tenant: string;
  readonly data?: string;
  readonly requestTimeout: number;
};

/** Sends one message of the conversation. */
type Turn = (text: string) => Promise<void>;

/** This time is longer than the longest run of an agent version, 900 s. */
const answerSeconds = 930;

export function addAgentChat(agent: Command): void {
  const chat = agent
    .command('chat')
    .description('talk to an agent: each line is a message, and answers are printed as they arrive')
    .argument('<agent>', 'name of an Agent, or of an AgentVersion')
    .option('-m, --message <text>', 'one message (default: each line of standard input)')
    .option('--context <id>', 'continue the conversation with this id, contextId in the output of --json')
    .option('--as <person>', 'person who calls (default: PORTCULLIS_AS)', readCallerName)
    .option('--groups <names>', 'groups of this person, separated by commas', readCallerNames)
    .option('--tenant <name>', 'tenant of the person', readCallerName, defaultTenant)
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)');
  const timeout = { seconds: answerSeconds, description: 'longest wait for an answer, or for its next part' };
  withRequestTimeout(withUnnamedOutput(chat), timeout).action(chatWithAgent);
}

async function chatWithAgent(name: string, options: ChatOptions): Promise<void> {
  const identity = await personIdentity('agent chat', options)();
  const to = await findAgentAddress(runningPlatform(options.data), name, options.requestTimeout);
  using interruption = untilInterrupted();
  const { signal } = interruption;
  const { requestTimeout: timeoutSeconds } = options;
  let contextId = options.context;
  let taskId: string | undefined;
  const turn = async (text: string): Promise<void> => {
    const call = { to, identity, text, contextId, taskId, timeoutSeconds };
    const printer = printerOf(options);
    const streamed = await streamAgentMessage({ ...call, signal, onText: printer.text });
    const reply = streamed ?? (await sendAgentMessage({ ...call, data: undefined, signal }));
    contextId = reply.contextId ?? contextId;
    taskId = reply.inputRequired ? (reply.taskId ?? taskId) : undefined;
    printer.end(reply);
  };
  await (options.message === undefined ? eachLine(turn, signal) : turn(options.message));
}

/** Sends one message for each line. On a terminal, a refused message does not end the conversation. */
async function eachLine(turn: Turn, signal: AbortSignal): Promise<void> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const prompt = (): void => {
    if (isTerminal && !signal.aborted) process.stdout.write('> ');
  };
  prompt();
  for await (const line of createInterface({ input: process.stdin, terminal: false, signal })) {
    if (line.trim() !== '') {
      await turn(line).catch((error: unknown) => {
        if (!isTerminal || signal.aborted) throw error;
        process.stderr.write(`portcullis: ${describeError(error).message}\n`);
      });
    }
    prompt();
  }
}

/** Prints the text of an answer as it arrives, or its JSON at the end. */
function printerOf(options: OutputOptions) {
  const format = formatOf(options);
  let printed = '';
  const text = (piece: string): void => {
    if (!isForPeople(format)) return;
    printed += piece;
    process.stdout.write(escapeControls(piece));
  };
  return {
    text,
    /** @throws CliError the fault of the reply */
    end({ fault, ...answer }: AgentReply): void {
      if (!isForPeople(format)) writeValue(format, { complete: fault === undefined, ...answer });
      else if (printed === '') text(replyText(answer));
      if (printed !== '' && !printed.endsWith('\n')) process.stdout.write('\n');
      if (fault === undefined) return;
      throw printed === '' ? fault : new CliError(fault.exit, `The answer above is incomplete. ${fault.message}`);
    },
  };
}
