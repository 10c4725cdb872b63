import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { agentBundle } from '../../dataplane/agents/testing/agent-bundle.ts';
import { prepareNpmPackage } from '../support/npm-package.ts';
import { openGatewayProxy } from './gateway-proxy.ts';
import { startAgentProcess } from './start-agent-process.ts';

const run = promisify(execFile);

test('the command line of the MCP inspector lists the tool of an agent, calls it, and shows a refused call', async (context) => {
  const inspector = await prepareNpmPackage('@modelcontextprotocol/inspector', '2.12.0');
  if (!inspector.ok) return context.skip(inspector.reason);
  await using proxy = await openGatewayProxy();
  await using world = await startAgentProcess(() => agentBundle({ bundle: { publicUrl: proxy.publicUrl } }));
  proxy.connect(world.gatewayFetch);
  using home = temporaryFolder();
  const program = join(inspector.folder, 'clients/launcher/build/index.js');
  const inspect = async (...words: readonly string[]) => {
    const args = [program, '--cli', `${proxy.publicUrl}/mcp`, '--transport', 'http', ...words];
    const env = { PATH: process.env['PATH'], HOME: home.path };
    const ended = await run(process.execPath, args, { env }).catch((end: { stdout: string }) => end);
    return JSON.parse(ended.stdout) as unknown;
  };
  expect(await inspect('--method', 'tools/list', '--strict')).toMatchObject({
    tools: [{ name: 'answer_question', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } }],
  });
  const call = ['--method', 'tools/call', '--tool-name', 'answer_question', '--tool-arg'];
  expect(await inspect(...call, 'question=Good morning')).toMatchObject({
    structuredContent: { answer: 'Good morning' },
  });
  expect(await inspect(...call, 'other=1')).toMatchObject({ isError: true });
});
