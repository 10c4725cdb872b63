import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { startChild } from '#kit/process/start-child';
import { CliError } from '../errors/cli-error.ts';
import { checkout } from '../platform/data-directory.ts';

type RuntimeOptions = {
  readonly bundle: string;
  readonly tokenFile: string;
  readonly listen: string;
  readonly secretsDir?: string;
};

export function addRuntime(program: Command): void {
  program
    .command('runtime')
    .description('run one guardrail runtime until SIGINT or SIGTERM')
    .requiredOption('--bundle <file>', 'bundle to load')
    .requiredOption('--token-file <file>', 'file with the service token')
    .requiredOption('--listen <host:port>', 'address to listen on; port 0 chooses a free one')
    .option('--secrets-dir <dir>', 'folder of provider credentials, one file each')
    .action(runtime);
}

/** The runtime has its own process group, so that each signal reaches it once. */
async function runtime(options: RuntimeOptions): Promise<void> {
  const { secretsDir } = options;
  const child = startChild([process.execPath, join(checkout, 'runtime/main.ts')], {
    ownGroup: true,
    stdin: 'open',
    stdout: 'inherit',
    stderr: 'inherit',
    env: {
      ...process.env,
      PORTCULLIS_EXIT_WITH_STDIN: '1',
      PORTCULLIS_BUNDLE_FILE: resolve(options.bundle),
      PORTCULLIS_TOKEN_FILE: resolve(options.tokenFile),
      PORTCULLIS_LISTEN: options.listen,
      ...(secretsDir === undefined ? {} : { PORTCULLIS_SECRETS_DIR: resolve(secretsDir) }),
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => child.signal(signal === 'SIGHUP' ? 'SIGTERM' : signal));
  }
  const end = await child.ended;
  if (end.kind === 'not_started') throw end.error;
  const code = end.kind === 'exited' ? end.code : undefined;
  if (code === 0) return;
  const how = end.kind === 'exited' ? `exit code ${code}` : `signal ${end.signal}`;
  throw new CliError(code === 2 ? 'usage' : 'failed', `The runtime ended with ${how}: see its message above.`);
}
