// Runs the conformance suite of the Model Context Protocol against the services that have an MCP server, and against a
// version of an agent, which is also tested with the next release of the suite. Usage: sh hack/run
// e2e/mcp-conformance/check-mcp.ts.
import { join } from 'node:path';
import { agentBundle } from '../../dataplane/agents/testing/agent-bundle.ts';
import { root } from '../../hack/check/run-tool.ts';
import { openGatewayProxy } from '../agents/gateway-proxy.ts';
import { startAgentProcess } from '../agents/start-agent-process.ts';
import { prepareNpmPackage } from '../support/npm-package.ts';
import { startPlatform } from '../support/start-platform.ts';
import { compareChecks } from './compare-checks.ts';
import { type CheckVerdict, countVerdicts } from './count-verdicts.ts';
import { agentChecks, agentChecksAhead } from './expected-agent-checks.ts';
import { expectedFailures, expectedPasses } from './expected-checks.ts';
import { openIdentityProxy } from './identity-proxy.ts';
import { runConformance } from './run-conformance.ts';

const suiteName = '@modelcontextprotocol/conformance';
const suite = join(root, 'node_modules', suiteName, 'dist/index.js');
const nextRelease = '0.2.0-alpha.12';

const named = (name: string, verdicts: readonly CheckVerdict[]): readonly CheckVerdict[] =>
  verdicts.map((verdict) => ({ ...verdict, name: `${name}: ${verdict.name}` }));

async function checkService(name: string, address: string | undefined): Promise<readonly CheckVerdict[]> {
  if (address === undefined) throw new Error(`the ${name} service did not start: it needs the embedded PostgreSQL`);
  await using proxy = await openIdentityProxy(address, { 'x-tenant-id': 'acme', 'x-user-id': 'ann' });
  const checks = await runConformance(suite, `${proxy.origin}/v1/mcp`);
  return named(name, compareChecks(checks, { passes: expectedPasses, failures: expectedFailures }));
}

async function checkServices(): Promise<readonly CheckVerdict[]> {
  await using platform = await startPlatform({ retrieval: true, memory: true });
  const { retrieval, memory } = platform.status().addresses;
  return [...(await checkService('retrieval', retrieval)), ...(await checkService('memory', memory))];
}

async function checkAgent(): Promise<readonly CheckVerdict[]> {
  await using proxy = await openGatewayProxy();
  await using world = await startAgentProcess(() => agentBundle({ bundle: { publicUrl: proxy.publicUrl } }));
  proxy.connect(world.gatewayFetch);
  const url = `${proxy.publicUrl}/mcp`;
  const verdicts = named('agent', compareChecks(await runConformance(suite, url), agentChecks));
  const next = await prepareNpmPackage(suiteName, nextRelease);
  if (!next.ok) {
    return [...verdicts, { name: `agent, suite ${nextRelease}`, kind: 'unavailable', words: next.reason }];
  }
  // Scenarios of later editions are left out, because the profile is that of 2025-11-25.
  const checks = await runConformance(join(next.folder, 'dist/index.js'), url, ['--spec-version', '2025-11-25']);
  return [...verdicts, ...named(`agent, suite ${nextRelease}`, compareChecks(checks, agentChecksAhead))];
}

const { lines, failed } = countVerdicts([...(await checkServices()), ...(await checkAgent())]);
for (const line of lines) console.log(line);
process.exitCode = failed === 0 ? 0 : 1;
