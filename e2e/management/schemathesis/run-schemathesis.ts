import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { openBusyWorld } from '../open-busy-world.ts';

type SchemathesisReport = {
  /** Output of the tool. */
  readonly output: string;
  readonly code: number;
  readonly cases: number;
  readonly failures: number;
};

/** Runs Schemathesis with all checks against the document that one replica serves. */
export async function runSchemathesis(options: {
  readonly python: string;
  readonly examples: number;
}): Promise<SchemathesisReport> {
  await using world = await openBusyWorld({ replicas: 1 });
  const { id } = await world.act.createPolicy('seen-from-outside');
  const modelId = await world.act.createModel('seen-from-outside');
  const applied = await world.act.applied(modelId, id, 1);
  const url = world.api.replicas[0]?.url ?? '';
  using folder = temporaryFolder();
  const own = readFileSync(join(import.meta.dirname, 'schemathesis.toml'), 'utf8');
  const known = [
    '[parameters]',
    `"path.policyId" = "${id}"`,
    `"path.modelId" = "${modelId}"`,
    `"path.operationId" = "${applied.json.operationId}"`,
  ].join('\n');
  const token = await world.api.mint();
  const common = { python: options.python, folder: folder.path, url, token, examples: options.examples };
  // Configured ids also replace generated invalid ones, so valid requests to existing resources are a separate run.
  const anything = await runOnce({ ...common, config: own, mode: 'all' });
  const present = await runOnce({ ...common, config: `${known}\n${own}`, mode: 'positive' });
  return {
    output: `${anything.output}\n${present.output}`,
    code: Math.max(anything.code, present.code),
    cases: anything.cases + present.cases,
    failures: anything.failures + present.failures,
  };
}

async function runOnce(options: {
  readonly python: string;
  readonly folder: string;
  readonly url: string;
  readonly token: string;
  readonly examples: number;
  readonly config: string;
  readonly mode: 'all' | 'positive';
}): Promise<SchemathesisReport> {
  const config = join(options.folder, `${options.mode}.toml`);
  writeFileSync(config, options.config);
  const args = [
    ...['--config-file', config, 'run', `${options.url}/api/v1/guardrail-management/openapi.json`],
    ...['--header', `Authorization: Bearer ${options.token}`, '--checks', 'all', '--mode', options.mode],
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
