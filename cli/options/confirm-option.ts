import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { CliError } from '../errors/cli-error.ts';

export type ConfirmOption = { readonly yes?: boolean };

/** Adds `--yes`, with which a script confirms a change that otherwise needs an answer on the terminal. */
export function withConfirm(command: Command): Command {
  return command.option('-y, --yes', 'do not ask for confirmation');
}

/**
 * Asks before a change that removes protection or cannot be undone. Without a terminal only `--yes` confirms it.
 * @param effects one sentence for each effect, naming the resource; an empty list needs no confirmation
 * @throws CliError not_confirmed, before anything was written
 */
export async function confirm(effects: readonly string[], { yes = false }: ConfirmOption): Promise<void> {
  if (effects.length === 0 || yes) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CliError(
      'not_confirmed',
      `${effects.join('\n')}\nNothing was changed. To confirm the change, repeat the command with --yes.`,
    );
  }
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${effects.join('\n')}\nContinue? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('not_confirmed', 'Nothing was changed.');
}
