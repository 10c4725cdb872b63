import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { readConnectionsFile } from './connections-file.ts';

const http = { name: 'crm', kind: 'http', url: 'https://crm.example/api', agents: ['planner'] };
const mcp = { name: 'tools', kind: 'mcp', url: 'https://tools.example/mcp', agents: ['planner'], tools: ['find'] };

async function read(...connections: readonly object[]) {
  using folder = temporaryFolder();
  const path = join(folder.path, 'connections.yaml');
  await writeFile(path, JSON.stringify({ connections }));
  const { value, problems } = await readConnectionsFile(path);
  return { value, problems: problems.map((problem) => problem.replace(path, 'FILE')) };
}

test('connections are read with defaults that allow only GET and only the open internet', async () => {
  const { value, problems } = await read(http, mcp);
  expect(problems).toEqual([]);
  expect(value).toMatchObject([
    { methods: ['GET'], allowedNetworks: [], credentialHeader: 'authorization', timeoutMs: 10_000, maxConcurrency: 16 },
    { tools: ['find'], maxAnswerBytes: 262_144 },
  ]);
  expect(await readConnectionsFile('/nowhere/connections.yaml')).toEqual({ value: [], problems: [] });
});

test.each([
  ['an address without TLS and without allowed networks', { url: 'http://crm.example/' }, 'url'],
  ['an address with a password', { url: 'https://a:b@crm.example/' }, 'url'],
  ['an address with a query', { url: 'https://crm.example/?a=b' }, 'url'],
  ['another scheme', { url: 'ftp://crm.example/' }, 'url'],
  ['no agent', { agents: [] }, 'agents'],
  ['a credential that is a path', { credential: '../token' }, 'credential'],
  ['a header that changes how the request is read', { credentialHeader: 'host' }, 'credentialHeader'],
  ['an invalid network', { allowedNetworks: ['10.0.0.1/8'] }, 'allowedNetworks[0]'],
  ['an unknown method', { methods: ['TRACE'] }, 'methods[0]'],
  ['tools of MCP', { tools: ['find'] }, 'tools'],
  ['a timeout that is too long', { timeoutMs: 120_001 }, 'timeoutMs'],
])('a connection with %s is refused, and the field is named', async (_, more, field) => {
  const { problems } = await read({ ...http, ...more });
  expect(problems).toEqual([expect.stringContaining(`FILE: connections[0].${field}`)]);
});

test('an address without TLS is accepted with allowed networks, and a name is accepted once', async () => {
  expect((await read({ ...http, url: 'http://crm.example/', allowedNetworks: ['10.0.0.0/8'] })).problems).toEqual([]);
  expect((await read(http, { ...mcp, name: 'crm' })).problems).toEqual(['FILE: the connection crm is listed twice']);
  const { tools: _, ...withoutTools } = mcp;
  expect((await read(withoutTools)).problems).toEqual([expect.stringContaining('connections[0].tools')]);
});
