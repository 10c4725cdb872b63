import type { Command } from 'commander';
import { CliError } from '../../errors/cli-error.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../../options/resource-options.ts';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../../output/format.ts';
import type { ResourceSource } from '../../resources/resource-source.ts';
import { readStatus } from '../../status/read-status.ts';
import { statusText } from '../../status/status-text.ts';
import { type StatusView, viewOfStatus } from '../../status/status-view.ts';
import { findProblems, problemsText } from '../../why/find-problems.ts';
import { type CheckOption, refuseProblems, withCheck } from '../../why/refuse-problems.ts';

type StatusOptions = ResourceCommandOptions & OutputOptions & CheckOption;

export function addInstallationStatus(program: Command, source: ResourceSource): void {
  const command = program
    .command('status')
    .description('show the leader, the gateway replicas, the bindings and the workloads');
  withUnnamedOutput(withCheck(withResourceOptions(command, source))).action((options: StatusOptions) =>
    status(source, options),
  );
}

async function status(source: ResourceSource, options: StatusOptions): Promise<void> {
  await using resources = await source.open(options);
  const read = await readStatus(resources);
  const view = viewOfStatus(read);
  if (isEmpty(view)) {
    throw new CliError('not_found', `Portcullis is not installed in the namespace ${view.namespace}. ${hint}`);
  }
  const problems = findProblems(read, source.program);
  writeResult(formatOf(options), { ...view, problems }, (isWide) =>
    [...(problems.length === 0 ? [] : [problemsText(problems)]), statusText(view, isWide)].join('\n'),
  );
  if (!hasRun(view)) throw new CliError('not_running', `Operator: ${view.operator.message} ${hint}`);
  refuseProblems(problems, options);
}

const hint = 'Choose the namespace of the installation with -n NAMESPACE.';

/** Whether an operator was ever elected in the namespace; false if the namespace has no Lease. */
function hasRun({ operator }: StatusView): boolean {
  return operator.state !== 'absent' || operator.lease !== undefined;
}

/**
 * Whether the namespace has neither a process nor a resource of an installation, so that it is probably the wrong
 * namespace.
 */
function isEmpty(view: StatusView): boolean {
  const { operator, gateways, bindings, workloads } = view;
  return !hasRun(view) && [operator.replicas, gateways, bindings, workloads].every((found) => found.length === 0);
}
