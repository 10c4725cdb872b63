import type { Command } from 'commander';
import { withJson } from '../output/format.ts';
import { writeJson, writeText } from '../output/write.ts';
import { readClientKey } from '../platform/client-key.ts';
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
