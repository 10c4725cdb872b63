import type { Command } from 'commander';
import { CliError } from '../errors/cli-error.ts';
import { withJson } from '../output/format.ts';
import { writeJson, writeText } from '../output/write.ts';
import { runningPlatform } from '../platform/running-platform.ts';
import { readSignInCode } from '../platform/sign-in-code.ts';

type ConsoleOptions = { readonly data?: string; readonly json?: boolean };

export function addConsole(program: Command): void {
  const command = program
    .command('console')
    .description('print the address of the console and the code of the next sign-in')
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)');
  withJson(command).action(showConsole);
}

function showConsole({ data, json }: ConsoleOptions): void {
  const platform = runningPlatform(data);
  const { addresses, consoleOff } = platform.status;
  if (addresses.console === undefined) {
    const reason = consoleOff ?? 'the platform was started without --console.';
    throw new CliError('failed', `The console does not run: ${reason}`);
  }
  const code = readSignInCode(platform.data);
  if (code === undefined) throw new CliError('failed', 'The sign-in pages have not written a code yet: try again.');
  if (json === true) writeJson({ url: addresses.console, code });
  else writeText(`${addresses.console}\nsign-in code ${code}`);
}
