import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { describeError } from '../errors/describe-error.ts';
import { isOverApi } from '../management/is-over-api.ts';
import { openManagement } from '../management/management-options.ts';
import { readLimits, readProviders } from '../manifests/read-environment-files.ts';
import { withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { readApplyProblems } from '../platform/apply-problems.ts';
import { openPlatform, restartsText } from '../platform/open-platform.ts';
import { type RunningPlatform, runningPlatform } from '../platform/running-platform.ts';
import type { PlatformStatus } from '../platform/status-file.ts';
import type { ResourceSource, SourceOptions } from '../resources/resource-source.ts';
import { overviewText } from '../status/overview-text.ts';
import { readStatus } from '../status/read-status.ts';
import { statusText } from '../status/status-text.ts';
import { type StatusView, viewOfStatus } from '../status/status-view.ts';
import { type FoundProblem, findProblems, problemsText, withRemedy } from '../why/find-problems.ts';
import { problemsOfOverview } from '../why/overview-problems.ts';
import { type CheckOption, refuseProblems, withCheck } from '../why/refuse-problems.ts';
import { remedyElsewhere } from '../why/remedy-elsewhere.ts';

type StatusOptions = SourceOptions & OutputOptions & CheckOption;
/** The models that a gateway serves, or why they are unknown. */
type Served =
  | { readonly installation: StatusView; readonly problems: readonly FoundProblem[] }
  | { readonly unknown: string; readonly problems: readonly FoundProblem[] };

const program = 'portcullis';

export function addPlatformStatus(parent: Command, source: ResourceSource): void {
  const command = parent
    .command('status')
    .description('show the processes, addresses, gateways, bindings and workloads of the platform');
  withUnnamedOutput(withCheck(withResourceOptions(command, source))).action(status);
}

async function status(options: StatusOptions): Promise<void> {
  if (isOverApi(options)) return statusOverApi(options);
  const platform = runningPlatform(options.data);
  const notApplied = readApplyProblems(platform.data);
  const { problems: found, ...served } = await servedBy(platform, options);
  const refused = [platform.data.providers, platform.data.limits].flatMap(problemOfFile);
  const problems = [...found, ...notApplied.map(fileProblem), ...refused].map((problem) => ({
    ...problem,
    whatToDo: remedyElsewhere(problem.whatToDo, options),
  }));
  const format = formatOf(options);
  writeResult(format, { ...platform.status, problems, notApplied, ...served }, (isWide) =>
    [
      ...(problems.length === 0 ? [] : [problemsText(problems)]),
      textOf(platform.status),
      ...(notApplied.length === 0 ? [] : [`Not applied:\n${notApplied.map((problem) => `  ${problem}`).join('\n')}`]),
      'installation' in served ? `\n${statusText(served.installation, isWide)}` : `\n${served.unknown}`,
    ].join('\n'),
  );
  refuseProblems(problems, options);
}

/**
 * Over the API, the status shows the models and what their replicas enforce, but no processes, workloads and services.
 */
async function statusOverApi(options: StatusOptions): Promise<void> {
  const overview = await openManagement(options).client.getOverview();
  const problems = problemsOfOverview(overview).map((problem) => ({
    ...problem,
    whatToDo: remedyElsewhere(problem.whatToDo, options),
  }));
  writeResult(formatOf(options), { ...overview, problems }, (isWide) =>
    [...(problems.length === 0 ? [] : [problemsText(problems)]), overviewText(overview, isWide)].join('\n'),
  );
  refuseProblems(problems, options);
}

function fileProblem(message: string): FoundProblem {
  const part = 'Folder apply';
  return withRemedy({ component: 'storage', part, reason: 'FileNotApplied', message }, program);
}

/** Why the operator does not use the current content of an environment file: it keeps the last valid content. */
function problemOfFile(path: string): readonly FoundProblem[] {
  try {
    if (!existsSync(path)) return [];
    if (path.endsWith('providers.yaml')) readProviders(path);
    else readLimits(path);
    return [];
  } catch (error) {
    const { message } = describeError(error);
    return [withRemedy({ component: 'storage', part: basename(path), reason: 'FileRefused', message }, program)];
  }
}

/** An operator that does not respond is reported; everything else is still shown. */
async function servedBy(platform: RunningPlatform, options: StatusOptions): Promise<Served> {
  await using resources = openPlatform(platform, options);
  try {
    const status = await readStatus(resources);
    return { installation: viewOfStatus(status), problems: findProblems(status, program) };
  } catch (error) {
    const unknown = describeError(error).message;
    const { problems } = await resources.surroundings();
    const part = 'Operator';
    const own = { component: 'operator', part, reason: 'ServerUnreachable', message: unknown } as const;
    const isKnown = problems.some(({ component }) => component === 'operator' || component === 'storage');
    return { unknown, problems: [...(isKnown ? [] : [own]), ...problems].map((one) => withRemedy(one, program)) };
  }
}

/** The services that a platform may have. */
const services = [
  ['retrieval', 'Retrieval:'],
  ['memory', 'Memory:'],
  ['catalogue', 'Catalogue:'],
] as const;

function consoleFact(address: string | undefined, off: string | undefined): (readonly [string, string])[] {
  if (address !== undefined) return [['Console:', address]];
  return off === undefined ? [] : [['Console:', `off: ${off}`]];
}

function textOf({
  ready,
  addresses,
  managementOff,
  consoleOff,
  clientKeyFile,
  dataDirectory,
  processes,
}: PlatformStatus): string {
  const facts = tableOf([
    ['Ready:', ready ? 'yes' : 'no'],
    ['Gateway:', addresses.gateways.join(' ')],
    ['Management API:', addresses.management ?? `off: ${managementOff ?? 'it is not ready'}`],
    ...services.flatMap(([name, title]) => {
      const address = addresses[name];
      return address === undefined ? [] : [[title, address] as const];
    }),
    ...consoleFact(addresses.console, consoleOff),
    ['Client key file:', clientKeyFile],
    ['Data directory:', dataDirectory],
  ]);
  const rows = processes.map((one) => [
    `  ${one.name}`,
    `process ${one.pid}`,
    one.ready ? 'ready' : one.answering ? 'not ready' : 'not answering',
    restartsText(one.restarts),
  ]);
  return `${facts}\nProcesses:\n${tableOf(rows)}`;
}
