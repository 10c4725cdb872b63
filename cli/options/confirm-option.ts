import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { CliError } from '../errors/cli-error.ts';

export type ConfirmOption = { readonly yes?: boolean };

/** Adds `--yes`, with which a script confirms a change that otherwise needs an answer on the terminal. */
export function withConfirm(command: Command, description = 'do not ask for confirmation'): Command {
  return command.option('-y, --yes', description);
}

/**
 * Asks before a change that removes protection or cannot be undone. Without a terminal only `--yes` confirms the
 * change.
 * @param effects one sentence for each effect, naming the resource; an empty list needs no confirmation
 * @throws CliError not_confirmed, before anything was written
 */
export async function confirm(effects: readonly string[], { yes = false }: ConfirmOption): Promise<void> {
  if (effects.length === 0 || yes) return;
  // A terminal on which a file was typed (-f -) has no input left.
  if (!process.stdin.isTTY || process.stdin.readableEnded || !process.stderr.isTTY) {
    throw new CliError(
      'not_confirmed',
      `${effects.join('\n')}\nNothing was changed. To confirm the change, repeat the command with --yes.`,
    );
  }
  const answer = await ask(`${effects.join('\n')}\nContinue? [y/N] `);
  if (answer !== undefined && /^y(es)?$/i.test(answer.trim())) return;
  // The cursor is still after the question.
  if (answer === undefined) process.stderr.write('\n');
  throw new CliError('not_confirmed', 'Nothing was changed.');
}

/** The answer of the person; undefined if the question was cancelled by Ctrl-C, Ctrl-D or a closed terminal. */
async function ask(question: string): Promise<string | undefined> {
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  return await new Promise<string | undefined>((resolve) => {
    // The end of the input closes the interface directly after an answer, too; setImmediate gives the answer priority.
    terminal.once('close', () => setImmediate(() => resolve(undefined)));
    terminal.question(question).then(resolve, () => resolve(undefined));
  });
}
