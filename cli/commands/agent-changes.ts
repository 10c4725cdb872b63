import type { Command } from 'commander';
import { changeAgent, promoted, rolledBackTo } from '../agents/change-agent.ts';
import { type ConfirmOption, withConfirm } from '../options/confirm-option.ts';
import { type DryRunOption, withDryRun } from '../options/dry-run-option.ts';
import { withMessage } from '../options/message-option.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { type WaitOption, withWait } from '../options/wait-option.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { type OutputOptions, withOutput } from '../output/format.ts';
import type { ResourceSource } from '../resources/resource-source.ts';

type ChangeOptions = ResourceCommandOptions & OutputOptions & WaitOption & DryRunOption & ConfirmOption;

const percent = wholeNumber(1, 99);

/** The commands that change which versions an Agent serves. */
export function addAgentChanges(agent: Command, source: ResourceSource): void {
  const written = (command: Command): Command =>
    withMessage(
      withDryRun(
        withWait(
          withConfirm(withOutput(withResourceOptions(command, source))),
          'wait until it is served (default: 60 s)',
        ),
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
        'share of the callers that it serves; the current version serves the others',
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
      .option('--to <agentversion>', 'name of the AgentVersion to serve (default: the previous one)'),
  ).action((name: string, options: ChangeOptions & { readonly to?: string }) =>
    change(name, options, rolledBackTo(options.to)),
  );
}
