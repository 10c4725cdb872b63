import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { preparePython } from '../support/python.ts';

type SchemathesisReport = {
  /** Output of the tool. */
  readonly output: string;
  readonly code: number;
  readonly cases: number;
  readonly failures: number;
};

/** A served API and the settings of the tool for it. */
type TestedApi = {
  /** Address of the OpenAPI document. */
  readonly document: string;
  /** Headers of each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Name of a file of this folder with the statuses of the interface that differ from the defaults of the tool. */
  readonly configFile: string;
  /** Values of parameters that exist, such as `path.policyId`. */
  readonly known: Readonly<Record<string, string>>;
  /** Number of cases for each operation and mode. */
  readonly examples: number;
};

/** Prepares the tool in a separate Python environment; returns the reason if this machine cannot. */
export function prepareSchemathesis(): ReturnType<typeof preparePython> {
  return preparePython(fileURLToPath(new URL('requirements.txt', import.meta.url)));
}

/** Runs Schemathesis with all checks against the document that a service serves. */
export async function runSchemathesis(python: string, api: TestedApi): Promise<SchemathesisReport> {
  using folder = temporaryFolder();
  const own = readFileSync(join(import.meta.dirname, api.configFile), 'utf8');
  const known = ['[parameters]', ...Object.entries(api.known).map(([name, value]) => `"${name}" = "${value}"`)];
  const common = { ...api, python, folder: folder.path };
  // Configured ids also replace generated invalid ids, so that valid requests to existing resources are a separate run.
  const anything = await runOnce({ ...common, config: own, mode: 'all' });
  const present = await runOnce({ ...common, config: `${known.join('\n')}\n${own}`, mode: 'positive' });
  return {
    output: `${anything.output}\n${present.output}`,
    code: Math.max(anything.code, present.code),
    cases: anything.cases + present.cases,
    failures: anything.failures + present.failures,
  };
}

type Run = TestedApi & {
  readonly python: string;
  readonly folder: string;
  readonly config: string;
  readonly mode: 'all' | 'positive';
};

async function runOnce(options: Run): Promise<SchemathesisReport> {
  const config = join(options.folder, `${options.mode}.toml`);
  writeFileSync(config, options.config);
  const args = [
    ...['--config-file', config, 'run', options.document],
    ...Object.entries(options.headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    // Without `--checks` all checks are on; the option would turn on checks again that the file turns off for an
    // operation.
    ...['--mode', options.mode],
    ...['--max-examples', String(options.examples), '--seed', '6', '--continue-on-failure', '--no-color'],
  ];
  const { output, code } = await run(join(options.python, '../schemathesis'), args, options.folder);
  return {
    output,
    code,
    cases: Number(/(\d+) generated/.exec(output)?.[1] ?? 0),
    failures: Number(/(\d+) unique failures?/.exec(output)?.[1] ?? (code === 0 ? 0 : 1)),
  };
}

function run(
  file: string,
  args: readonly string[],
  cwd: string,
): Promise<{ readonly output: string; readonly code: number }> {
  return new Promise((resolve) => {
    // The tool writes its cache to the working directory.
    const options = { cwd, maxBuffer: 256 * 1_048_576, env: { PATH: process.env.PATH, NO_COLOR: '1', COLUMNS: '160' } };
    execFile(file, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ output: `${stdout}\n${stderr}`, code });
    });
  });
}
