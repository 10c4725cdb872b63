import type { Command } from 'commander';
import { tenantIssuer } from '#identity/authorize-callers';
import type { JsonValue } from '#kit/json/json-value';
import { changeAgent, promoted, rolledBack } from '../agents/change-agent.ts';
import { findAgentAddress } from '../agents/find-agent-address.ts';
import { handOverFile } from '../agents/hand-over-file.ts';
import { sendAgentMessage } from '../agents/send-message.ts';
import { CliError } from '../errors/cli-error.ts';
import { callerIdentity, defaultTenant, readCallerName, readCallerNames } from '../http/caller-options.ts';
import { type ConfirmOption, withConfirm } from '../options/confirm-option.ts';
import { type DryRunOption, withDryRun } from '../options/dry-run-option.ts';
import { readJsonObject } from '../options/json-object.ts';
import { readInput } from '../options/read-input.ts';
import { type ResourceCommandOptions, withRequestTimeout, withResourceOptions } from '../options/resource-options.ts';
import { type WaitOption, withWait } from '../options/wait-option.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { formatOf, type OutputOptions, withOutput, withUnnamedOutput, writeResult } from '../output/format.ts';
import { runningPlatform } from '../platform/running-platform.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
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

/** Longer than the longest run of a version, 900 s. */
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

/** The commands that change which versions an Agent serves. */
function addAgentChanges(agent: Command, source: ResourceSource): void {
  const written = (command: Command): Command =>
    withDryRun(
      withWait(
        withConfirm(withOutput(withResourceOptions(command, source))),
        'wait until it is served (default: 60 s)',
      ),
    );
  const change = async (name: string, options: ChangeOptions, changeOf: Parameters<typeof changeAgent>[2]) => {
    await using resources = await source.open({ ...options, isDryRun: options.dryRun === 'server' });
    await changeAgent(resources, name, changeOf, options);
  };
  written(
    agent
      .command('switch')
      .description('serve another version of an agent, or give it a share of the callers for trial')
      .argument('<agent>', 'name of an Agent')
      .argument('<agentversion>', 'name of an AgentVersion of this agent')
      .option(
        '--canary <percent>',
        'share of the callers that it gets; the present version serves the others',
        percent,
      ),
  ).action((name: string, version: string, options: ChangeOptions & { readonly canary?: number }) =>
    change(name, options, ({ spec }) =>
      options.canary === undefined
        ? { version }
        : { version: spec.version, canary: { version, percent: options.canary } },
    ),
  );
  written(
    agent
      .command('promote')
      .description('serve the version on trial to every caller')
      .argument('<agent>', 'name of an Agent'),
  ).action((name: string, options: ChangeOptions) => change(name, options, promoted));
  written(
    agent
      .command('rollback')
      .description('end the trial of a version, or serve the previous version')
      .argument('<agent>', 'name of an Agent')
      .option('--to <version>', 'name of the AgentVersion to serve'),
  ).action((name: string, options: ChangeOptions & { readonly to?: string }) => {
    const { to } = options;
    return change(name, options, to === undefined ? rolledBack : () => ({ version: to }));
  });
}

type ChangeOptions = ResourceCommandOptions & OutputOptions & WaitOption & DryRunOption & ConfirmOption;

const percent = wholeNumber(1, 99);

async function sendMessage(name: string, options: SendOptions): Promise<void> {
  const identity = await callerIdentity(options)();
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
  writeResult(formatOf(options), answer, () => answer.text ?? JSON.stringify(answer.data, undefined, 2));
}
