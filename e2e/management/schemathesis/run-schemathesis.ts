import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { openBusyWorld } from '../open-busy-world.ts';

export type SchemathesisReport = {
  /** What the tool printed. */
  readonly output: string;
  readonly code: number;
  readonly cases: number;
  readonly failures: number;
};

/** Runs the tool with all checks against the document that one replica serves. */
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
  const config = join(folder.path, 'schemathesis.toml');
  const parameters = [
    '[parameters]',
    `"path.policyId" = "${id}"`,
    `"path.modelId" = "${modelId}"`,
    `"path.operationId" = "${applied.json.operationId}"`,
  ];
  writeFileSync(
    config,
    `${parameters.join('\n')}\n${readFileSync(join(import.meta.dirname, 'schemathesis.toml'), 'utf8')}`,
  );
  const args = [
    '--config-file',
    config,
    'run',
    `${url}/api/v1/guardrail-management/openapi.json`,
    '--header',
    `Authorization: Bearer ${await world.api.mint()}`,
    '--checks',
    'all',
    '--max-examples',
    String(options.examples),
    '--seed',
    '6',
    '--continue-on-failure',
    '--no-color',
  ];
  const { output, code } = await run(join(options.python, '../schemathesis'), args, folder.path);
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
    // The tool keeps notes in the folder where it runs.
    const options = { cwd, maxBuffer: 256 * 1_048_576, env: { PATH: process.env.PATH, NO_COLOR: '1', COLUMNS: '160' } };
    execFile(file, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ output: `${stdout}\n${stderr}`, code });
    });
  });
}
