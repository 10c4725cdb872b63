import { type ConfirmOption, confirm } from './confirm-option.ts';

/**
 * Asks a person at a terminal before a change that removes protection or documents from an object that the command
 * names. A script is not asked.
 * @param effects one sentence for each effect; an empty list needs no confirmation
 * @throws CliError not_confirmed, before anything was written
 */
export async function confirmOnTerminal(effects: readonly string[], options: ConfirmOption): Promise<void> {
  if (process.stdin.isTTY && process.stderr.isTTY) await confirm(effects, options);
}
