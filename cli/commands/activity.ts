import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CollectedActivity, ReplicaDecision } from '#contracts/activity';
import { selectDecisions } from '#contracts/select-decisions';
import { wait } from '#kit/time/wait';
import { activityTable } from '../activity/activity-text.ts';
import { followActivity } from '../activity/follow-activity.ts';
import { openActivity } from '../activity/open-activity.ts';
import { missingSentences } from '../activity/read-activity.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { wholeNumber } from '../options/whole-number.ts';
import {
  type Format,
  formatOf,
  isForPeople,
  type OutputOptions,
  withUnnamedOutput,
  writeResult,
  writeValue,
} from '../output/format.ts';
import { writeText } from '../output/write.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { untilInterrupted } from '../watching/interruption.ts';

export type ActivityOptions = ResourceCommandOptions &
  OutputOptions & {
    readonly model?: string;
    readonly client?: string;
    readonly stage?: string;
    readonly outcome?: string;
    readonly rule?: string;
    readonly request?: string;
    readonly since?: number;
    readonly limit: number;
    readonly follow?: boolean;
  };

const followMs = 1_000;

export function addActivity(program: Command, source: ResourceSource): void {
  withUnnamedOutput(withResourceOptions(createActivity(program), source)).action(showActivity);
}

/** The command with its filters, without the options that select an installation. */
export function createActivity(program: Command): Command {
  return program
    .command('activity')
    .description('show the newest decisions of the gateways, with the rule that decided; no text is kept')
    .option('--model <alias>', 'only requests to this alias')
    .option('--client <name>', 'only requests with the client key of this name')
    .addOption(new Option('--stage <stage>', 'only decisions of this stage').choices(['none', 'request', 'response']))
    .addOption(
      new Option('--outcome <outcome>', 'only decisions with this outcome').choices([
        'passed',
        'masked',
        'denied',
        'check_failed',
      ]),
    )
    .option('--rule <id>', 'only decisions of this rule')
    .option('--request <id>', 'only the request with this x-request-id')
    .option('--since <duration>', 'only decisions of the last seconds, minutes or hours: 30s, 10m, 2h', readDuration)
    .option('--limit <number>', 'maximum number of decisions', wholeNumber(1, 1_000), 20)
    .option('-f, --follow', 'keep running and print new decisions as they are made, each in the format of -o');
}

export async function showActivity(options: ActivityOptions): Promise<void> {
  const { read, policyNames } = openActivity(options);
  const nameOf = await policyNames();
  const first = await read();
  warn(first);
  const shown = selected(first, options);
  if (options.follow === true) return follow(read, first, nameOf, options);
  const named = shown.map((one) => ({ ...one, policy: nameOf(one.policyId) }));
  const missing = missingSentences(first);
  writeResult(formatOf(options), { items: named, missing }, (isWide) =>
    shown.length === 0
      ? 'There is no such decision: a gateway forgets them when it restarts.'
      : activityTable(shown, nameOf, isWide),
  );
}

/** Prints the newest decisions, oldest first, and then each new one, until Ctrl-C. */
async function follow(
  read: () => Promise<CollectedActivity>,
  first: CollectedActivity,
  nameOf: (policyId: string) => string,
  options: ActivityOptions,
): Promise<void> {
  const format = formatOf(options);
  const print = (items: readonly ReplicaDecision[]): void => {
    const ordered = items.toReversed();
    if (ordered.length === 0) return;
    if (isForPeople(format)) writeText(activityTable(ordered, nameOf, true));
    else for (const one of ordered) writeFollowed(format, { ...one, policy: nameOf(one.policyId) });
  };
  print(selected(first, options));
  using interruption = untilInterrupted();
  await followActivity({
    first,
    read,
    print: (fresh) => print(selected({ items: [...fresh], missing: [] }, { ...options, limit: fresh.length })),
    warn: warnOf,
    async pause() {
      await wait(followMs, interruption.signal);
      return !interruption.signal.aborted;
    },
  });
}

/** Each decision is written separately: as a line of JSON, a document of YAML, or the values of a template. */
function writeFollowed(format: Exclude<Format, 'text' | 'wide'>, decision: object): void {
  if (format === 'yaml') writeText('---');
  if (format === 'json') writeText(JSON.stringify(decision));
  else writeValue(format, decision);
}

function selected(activity: CollectedActivity, options: ActivityOptions): readonly ReplicaDecision[] {
  const { model, client, stage, outcome, rule, request: requestId, since, limit } = options;
  const after = since === undefined ? {} : { since: new Date(Date.now() - since).toISOString() };
  return selectDecisions(activity.items, { model, client, stage, outcome, rule, requestId, ...after }, limit);
}

function warn(activity: CollectedActivity): void {
  for (const sentence of missingSentences(activity)) warnOf(`decisions are missing: ${sentence}`);
}

function warnOf(sentence: string): void {
  process.stderr.write(`portcullis: warning: ${sentence}\n`);
}

const units = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** @returns the duration in milliseconds */
function readDuration(text: string): number {
  const found = /^([1-9]\d{0,5})([smh])$/.exec(text);
  if (found === null) throw new InvalidArgumentError('It must be a number with s, m or h, such as 30s, 10m or 2h.');
  return Number(found[1]) * units[found[2] as keyof typeof units];
}
