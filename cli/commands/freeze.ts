import type { Command } from 'commander';
import { type Freeze, freezeSchema, freezesSchema, type NewFreeze } from '#contracts/freezes';
import { typedCommand } from '../command-line/typed-command.ts';
import { CliError } from '../errors/cli-error.ts';
import { ManagementApiError, orAbsent } from '../management/management-error.ts';
import {
  type ManagementCommandOptions,
  openManagement,
  withManagementOptions,
} from '../management/management-options.ts';
import { sendRequest } from '../management/send-request.ts';
import { type NameOfTarget, shownTargetNames, targetIdOf } from '../management/target-names.ts';
import { confirmOnTerminal } from '../options/confirm-on-terminal.ts';
import { type ConfirmOption, withConfirm } from '../options/confirm-option.ts';
import { readTime } from '../options/time-option.ts';
import { formatOf, type OutputOptions, withOutput, withUnnamedOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { writeNamed } from '../output/write-named.ts';

type Options = ManagementCommandOptions & OutputOptions;
type WindowOptions = Options & {
  readonly policy?: string;
  readonly model?: string;
  readonly from?: string;
  readonly until: string;
};

export function addFreeze(program: Command): void {
  const freeze = program
    .command('freeze')
    .description(
      'refuse applications, unbinds and archivings of a policy or model over the management API (--via api) for a time',
    );
  withOutput(withManagementOptions(freeze.command('list')))
    .description('show the windows that have not ended')
    .action(list);
  withUnnamedOutput(withManagementOptions(freeze.command('set')))
    .description('set a window, from now or from a later time')
    .option(
      '--policy <policy>',
      'name of a policy: for applications, replacements, unbinds and archivings of this policy',
    )
    .option('--model <model>', 'name or alias of a model: for applications and unbinds of this model')
    .option('--from <time>', 'the start, such as 2026-12-24T00:00:00Z (default: now)', readTime)
    .requiredOption('--until <time>', 'the end', readTime)
    .action(set);
  withConfirm(withUnnamedOutput(withManagementOptions(freeze.command('remove'))))
    .description('remove a window, even one that has begun; asks first at a terminal')
    .argument('<id>', 'the id that "freeze list" shows')
    .action(remove);
}

async function list(options: Options): Promise<void> {
  const { connection } = openManagement(options);
  const { value } = await sendRequest(connection, { method: 'GET', path: '/api/v1/freezes' }, freezesSchema);
  const nameOf = await shownTargetNames(
    connection,
    formatOf(options),
    value.items.map(({ target }) => target),
  );
  const head = ['ID', 'TARGET', 'FROM', 'UNTIL'];
  const text = (isWide: boolean): string =>
    tableOf([
      isWide ? [...head, 'TARGET ID'] : head,
      ...value.items.map(({ id, target, startsAt, endsAt }) => {
        const row = [id, textOf({ target }, nameOf), startsAt, endsAt];
        return isWide ? [...row, target.id] : row;
      }),
    ]);
  writeNamed(formatOf(options), { value, names: value.items.map(({ id }) => id), text });
}

async function set(options: WindowOptions): Promise<void> {
  const { policy, model, from, until } = options;
  if ((policy === undefined) === (model === undefined)) {
    throw new CliError('usage', '"freeze set" needs exactly one target: --policy NAME or --model NAME.');
  }
  const window = { ...(from === undefined ? {} : { startsAt: from }), endsAt: until };
  const { connection } = openManagement(options);
  const body: NewFreeze =
    policy === undefined
      ? { modelId: await targetIdOf(connection, 'model', model ?? ''), ...window }
      : { policyId: await targetIdOf(connection, 'policy', policy), ...window };
  const call = { method: 'POST', path: '/api/v1/freezes', body } as const;
  const { value } = await sendRequest(connection, call, freezeSchema).catch((error: unknown) =>
    nameOptions(error, options),
  );
  const target = textOf(value, await shownTargetNames(connection, formatOf(options), [value.target]));
  writeResult(
    formatOf(options),
    value,
    () => `${target} is frozen from ${value.startsAt} to ${value.endsAt}: for commands with --via api.`,
  );
}

/** Names a refused member by its option and value. @throws CliError usage, and any other error unchanged */
function nameOptions(error: unknown, { from, until }: WindowOptions): never {
  if (!(error instanceof ManagementApiError) || error.code !== 'invalid_body' || error.details.length === 0)
    throw error;
  const given = new Map([
    ['/startsAt', ['--from', from]],
    ['/endsAt', ['--until', until]],
  ]);
  const sentences = error.details.map(({ path, message }) => {
    const [option = path, value] = given.get(path) ?? [];
    if (value === undefined) return `${option} of "freeze set" ${message}.`;
    return `${option} of "freeze set" cannot be ${JSON.stringify(value)}: it ${message}.`;
  });
  throw new CliError('usage', sentences.join(' '), { cause: error });
}

async function remove(id: string, options: Options & ConfirmOption): Promise<void> {
  const { connection } = openManagement(options);
  await confirmOnTerminal(
    [`The window ${id} would be removed: the commands that it refuses would be accepted.`],
    options,
  );
  const call = { method: 'POST', path: `/api/v1/freezes/${encodeURIComponent(id)}/remove` } as const;
  const { value } = await sendRequest(connection, call, freezeSchema).catch(
    orAbsent(
      `There is no freeze window with the id ${id}, or it has ended. ${typedCommand('freeze list')} shows those that have not ended.`,
    ),
  );
  const target = textOf(value, await shownTargetNames(connection, formatOf(options), [value.target]));
  writeResult(formatOf(options), value, () => `The window of ${target} was removed.`);
}

function textOf({ target }: Pick<Freeze, 'target'>, nameOf: NameOfTarget): string {
  return `${target.type} ${nameOf(target.type, target.id)}`;
}
