import { spawnSync } from 'node:child_process';
import { CliError } from '../errors/cli-error.ts';

/**
 * Opens a file in the editor of the user and waits until it is closed. The setting may hold options, as in `code --wait`.
 * @throws CliError usage if there is no editor or it fails
 */
export function runEditor(file: string): void {
  const editor = process.env['KUBE_EDITOR'] ?? process.env['EDITOR'] ?? 'vi';
  const [program = '', ...words] = editor.split(/\s+/).filter((word) => word !== '');
  if (program === '') throw new CliError('usage', 'No editor is set: set KUBE_EDITOR or EDITOR.');
  const { error, status, signal } = spawnSync(program, [...words, file], { stdio: 'inherit' });
  if (error !== undefined) {
    throw new CliError('usage', `The editor ${program} cannot be started: set KUBE_EDITOR or EDITOR.`, {
      cause: error,
    });
  }
  if (status === 0) return;
  const how = status === null ? `signal ${signal}` : `exit code ${status}`;
  throw new CliError('usage', `The editor ${program} ended with ${how}: nothing was changed.`);
}
