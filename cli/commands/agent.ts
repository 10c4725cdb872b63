import type { Command } from 'commander';
import { tenantIssuer } from '#identity/authorize-callers';
import type { JsonValue } from '#kit/json/json-value';
import { replyText } from '../agents/collect-reply.ts';
import { findAgentAddress } from '../agents/find-agent-address.ts';
import { handOverFile } from '../agents/hand-over-file.ts';
import { sendAgentMessage } from '../agents/send-message.ts';
import { CliError } from '../errors/cli-error.ts';
import { defaultTenant, personIdentity, readCallerName, readCallerNames } from '../http/caller-options.ts';
import { readJsonObject } from '../options/json-object.ts';
import { readInput } from '../options/read-input.ts';
import { withRequestTimeout } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { runningPlatform } from '../platform/running-platform.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { addAgentChanges } from './agent-changes.ts';
import { addAgentChat } from './agent-chat.ts';
import { addAgentRuns } from './agent-runs.ts';

type SendOptions = OutputOptions & {
  readonly message?: string;
  readonly input?: Readonly<Record<string, JsonValue>>;
  readonly file?: string;
  readonly as?: string;
  readonly groups?: readonly string[];
  readonly tenant: string;
  readonly data?: string;
  readonly requestTimeout: number;
};

/** This time is longer than the longest run of an agent version, 900 s. */
const answerSeconds = 930;

export function addAgent(program: Command, source: ResourceSource): void {
  const agent = program
    .command('agent')
    .description(
      'talk to an agent that the platform runs, and choose the version that it serves; "agents" finds agents',
    );
  const send = agent
    .command('send')
    .description('send one message to an agent and print its answer')
    .argument('<agent>', 'name of an Agent, or of an AgentVersion')
    .option('-m, --message <text>', 'the message (default: standard input, unless --input or --file is given)')
    .option('--input <json>', 'structured input, a JSON object', readJsonObject)
    .option('--file <path>', 'file that the agent may read once; its reference is the member file of the input')
    .option('--as <person>', 'person who calls (default: PORTCULLIS_AS)', readCallerName)
    .option('--groups <names>', 'groups of this person, separated by commas', readCallerNames)
    .option('--tenant <name>', 'tenant of the person', readCallerName, defaultTenant)
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)');
  const timeout = { seconds: answerSeconds, description: 'longest wait for the answer' };
  withRequestTimeout(withUnnamedOutput(send), timeout).action(sendMessage);
  addAgentChat(agent);
  addAgentRuns(agent);
  addAgentChanges(agent, source);
}

async function sendMessage(name: string, options: SendOptions): Promise<void> {
  const identity = await personIdentity('agent send', options)();
  const platform = runningPlatform(options.data);
  const to = await findAgentAddress(platform, name, options.requestTimeout);
  const { message, input, file: path, requestTimeout: timeoutSeconds } = options;
  const isRead = message === undefined && input === undefined && path === undefined;
  const text = isRead ? await readInput('the message') : message;
  if (input?.['file'] !== undefined && path !== undefined) {
    throw new CliError('usage', '--file sets the member file of the input: leave it out of --input.');
  }
  const acting = { issuer: tenantIssuer(options.tenant), subject: options.as ?? process.env['PORTCULLIS_AS'] ?? '' };
  await using file =
    path === undefined ? undefined : await handOverFile(platform.data, path, { agentId: to.agentId, acting });
  const {
    contextId: _context,
    taskId: _task,
    ...answer
  } = await sendAgentMessage({
    to,
    identity,
    text,
    data: file === undefined ? input : { ...input, file: { ...file.reference } },
    contextId: file?.contextId,
    timeoutSeconds,
  });
  writeResult(formatOf(options), answer, () => replyText(answer));
}
