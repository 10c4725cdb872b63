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

/** The console and the sign-in pages start at the first visit; a start takes a second or two. */
const longestStartMs = 60_000;

async function showConsole({ data, json }: ConsoleOptions): Promise<void> {
  const platform = runningPlatform(data);
  const { addresses, consoleOff } = platform.status;
  if (addresses.console === undefined) {
    const reason = consoleOff ?? 'the platform was started with --no-console.';
    throw new CliError('failed', `The console does not run: ${reason}`);
  }
  await visit(addresses.console);
  const code = readSignInCode(platform.data);
  if (code === undefined) throw new CliError('failed', 'The sign-in pages have not written a code yet: try again.');
  if (json === true) writeJson({ url: addresses.console, code });
  else writeText(`${addresses.console}\nsign-in code ${code}`);
}

/** @throws CliError if the console does not answer */
async function visit(url: string): Promise<void> {
  const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(longestStartMs) }).catch(
    () => undefined,
  );
  await answer?.body?.cancel();
  if (answer === undefined || answer.status >= 500)
    throw new CliError(
      'failed',
      `The console at ${url} does not answer: see logs/console.log and logs/signin.log in the data directory.`,
    );
}
