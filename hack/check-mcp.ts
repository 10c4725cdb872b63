// Usage: sh hack/run hack/check-mcp.ts: the conformance suite of the Model Context Protocol against the services that have
// an MCP server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { startPlatform } from '../e2e/support/start-platform.ts';
import { temporaryFolder } from '../e2e/support/temporary-folder.ts';
import { root } from './check/run-tool.ts';
import { compareChecks, type ReportedCheck } from './mcp/compare-checks.ts';
import { expectedFailures, expectedPasses } from './mcp/expected-checks.ts';
import { openIdentityProxy } from './mcp/identity-proxy.ts';

const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

type FileCheck = {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
  readonly details?: { readonly message?: string };
};

/** The checks of every scenario, each in a folder server-SCENARIO-TIME. */
function readChecks(folder: string): readonly ReportedCheck[] {
  return globSync(join(folder, '*/checks.json')).flatMap((file) => {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(basename(dirname(file)))?.[1] ?? basename(dirname(file));
    const checks = JSON.parse(readFileSync(file, 'utf8')) as readonly FileCheck[];
    return checks.map(({ id, status, errorMessage, details }) => {
      return { scenario, id, status, message: errorMessage ?? details?.message ?? '' };
    });
  });
}

type Verdict = ReturnType<typeof compareChecks>[number];

async function checkServer(name: string, address: string | undefined): Promise<readonly Verdict[]> {
  if (address === undefined) throw new Error(`the ${name} service did not start: it needs the embedded PostgreSQL`);
  using folder = temporaryFolder();
  await using proxy = await openIdentityProxy(address, { 'x-tenant-id': 'acme', 'x-user-id': 'ann' });
  const args = [suite, 'server', '--url', `${proxy.origin}/v1/mcp`, '--suite', 'all', '--output-dir', folder.path];
  await once(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'close');
  const verdicts = compareChecks(readChecks(folder.path), { passes: expectedPasses, failures: expectedFailures });
  return verdicts.map((verdict) => ({ ...verdict, name: `${name}: ${verdict.name}` }));
}

await using platform = await startPlatform({ retrieval: true, memory: true });
const { retrieval, memory } = platform.status().addresses;
const verdicts = [...(await checkServer('retrieval', retrieval)), ...(await checkServer('memory', memory))];
const signs = { passed: 'ok', failed: 'FAILS', expected: 'expected failure' } as const;
for (const { name, kind, words } of verdicts) console.log(`${signs[kind]} ${name}${words === '' ? '' : `: ${words}`}`);
const count = (kind: keyof typeof signs): number => verdicts.filter((one) => one.kind === kind).length;
console.log(`${count('passed')} passed, ${count('failed')} failed, ${count('expected')} skipped`);
process.exitCode = count('failed') === 0 ? 0 : 1;
