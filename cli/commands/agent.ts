import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { JsonValue } from '#kit/json/json-value';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import { sendAgentMessage } from '../agents/send-message.ts';
import { CliError } from '../errors/cli-error.ts';
import { callerIdentity, defaultTenant, readCallerName } from '../http/caller-options.ts';
import { readJsonObject } from '../options/json-object.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { openPlatform } from '../platform/open-platform.ts';
import { runningPlatform } from '../platform/running-platform.ts';
import { agentVersionRow } from '../status/agent-version-row.ts';

type SendOptions = OutputOptions & {
  readonly message?: string;
  readonly input?: JsonValue;
  readonly as?: string;
  readonly tenant: string;
  readonly data?: string;
};

const requestSeconds = 10;

export function addAgent(program: Command): void {
  const agent = program.command('agent').description('agents that the platform runs');
  const send = agent
    .command('send')
    .description('send one message to a version of an agent and print its answer')
    .argument('<agentversion>', 'name of an AgentVersion')
    .option('-m, --message <text>', 'the message (default: standard input, unless --input is given)')
    .option('--input <json>', 'structured input, a JSON object', readJsonObject)
    .option('--as <person>', 'person who calls (default: PORTCULLIS_AS)', readCallerName)
    .option('--tenant <name>', 'tenant of the person', readCallerName, defaultTenant)
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)');
  withOutput(send).action(sendMessage);
}

async function sendMessage(name: string, options: SendOptions): Promise<void> {
  const identity = await callerIdentity(options)();
  const origin = await addressOf(name, options);
  const { message, input } = options;
  const isRead = message === undefined && input === undefined;
  const text = isRead ? (await readAll(process.stdin)).replace(/\r?\n$/, '') : message;
  const answer = await sendAgentMessage({ origin, identity, text, data: input });
  writeResult(formatOf(options), answer, () => answer.text ?? JSON.stringify(answer.data, undefined, 2));
}

/** Address of the process of a version. @throws CliError not_running, not_found, failed if it is not ready */
async function addressOf(name: string, { data }: SendOptions): Promise<string> {
  await using resources = openPlatform(runningPlatform(data), { requestTimeout: requestSeconds });
  const found = await resources.client.get<AgentVersion>(kinds.agentVersion, name);
  if (found === undefined) {
    throw new CliError('not_found', `There is no AgentVersion ${name}: "portcullis get agentversions" lists them.`);
  }
  const { state, why = 'the operator has not looked at it yet' } = agentVersionRow(found);
  const address = found.status?.address;
  if (state === 'ready' && address !== undefined) return address;
  throw new CliError('failed', `The AgentVersion ${name} is not ready: ${why}`);
}
