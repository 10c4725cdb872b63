import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { CliError } from '../errors/cli-error.ts';
import { withJson } from '../output/format.ts';
import { writeJson, writeText } from '../output/write.ts';
import { runningPlatform } from '../platform/running-platform.ts';

type EnvOptions = { readonly data?: string; readonly json?: boolean };

export function addEnv(program: Command): void {
  const command = program
    .command('env')
    .description('print the variables that point OpenAI clients to the gateway: eval "$(portcullis env)"')
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)');
  withJson(command).action(env);
}

function env(options: EnvOptions): void {
  const { status } = runningPlatform(options.data);
  const variables = {
    OPENAI_BASE_URL: `${status.addresses.gateway}/v1`,
    OPENAI_API_KEY: readClientKey(status.clientKeyFile),
  };
  if (options.json === true) {
    writeJson(variables);
    return;
  }
  writeText(
    Object.entries(variables)
      .map(([name, value]) => `export ${name}='${value}'`)
      .join('\n'),
  );
}

/** The key that clients send: the first word of the first line of the file. */
export function readClientKey(path: string): string {
  const word = readFileSync(path, 'utf8').split('\n', 1)[0]?.trim().split(/\s+/)[0];
  if (word === undefined || word === '') throw new CliError('failed', `The client key file ${path} holds no key.`);
  return word;
}
