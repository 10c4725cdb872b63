import type { Command } from 'commander';
import { CliError } from '../errors/cli-error.ts';
import { readSource } from '../manifests/read-sources.ts';
import { withJson } from '../output/format.ts';
import { writeJson, writeText } from '../output/write.ts';
import { runningPlatform } from '../platform/running-platform.ts';

type EnvOptions = { readonly data?: string; readonly json?: boolean };

export function addEnv(program: Command): void {
  const command = program
    .command('env')
    .description('print the environment variables that OpenAI clients need: eval "$(portcullis env)"')
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
  warnOfOtherKey(variables.OPENAI_API_KEY);
  writeText(
    Object.entries(variables)
      .map(([name, value]) => `export ${name}='${value}'`)
      .join('\n'),
  );
}

/** Warnings go to standard error, which stays visible when a shell evaluates the output. */
function warnOfOtherKey(key: string): void {
  const current = process.env['OPENAI_API_KEY'];
  if (current === undefined || current === '' || current === key) return;
  process.stderr.write(
    'portcullis: warning: OPENAI_API_KEY already has another value in this shell, which these lines replace. ' +
      'Open another shell to use that key again.\n',
  );
}

const remedy = 'stop the platform, delete the file if it exists, and start it again, which writes a new key';

/**
 * The client key: the first word of the first line of the file.
 * @throws CliError not_found, failed
 */
export function readClientKey(path: string): string {
  const word = readSource(path, remedy).bytes.toString('utf8').split('\n', 1)[0]?.trim().split(/\s+/)[0];
  if (word === undefined || word === '')
    throw new CliError('failed', `The client key file ${path} holds no key: ${remedy}.`);
  return word;
}
