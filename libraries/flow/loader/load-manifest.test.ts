import { expect, test } from 'vitest';
import { verifies } from '../../../e2e/support/verifies.ts';
import { chainText } from '../testing/flow-text.ts';
import { loadFlow } from './load-flow.ts';
import { loadManifest } from './load-manifest.ts';

const prompt = { id: 'ask', kind: 'prompt', config: { model: 'gpt', messages: [{ role: 'user', content: 'Hello' }] } };
const load = loadFlow(chainText([prompt]));
if (!load.ok) throw new Error(JSON.stringify(load.problems));
const { flow } = load;

const manifest = {
  apiVersion: 'platform.low-code.publish-manifest/v2',
  agent: { name: 'greeting', title: 'Greeting', description: 'Greets.' },
  flow: { sha256: flow.sha256, entrypoint: 'main' },
  executionModes: ['a2a_agent', 'mcp_tool'],
  contract: {
    inputSchema: flow.source.input.schema,
    outputSchema: flow.source.output.schema,
    inputMediaModes: ['application/json'],
    outputMediaModes: ['application/json'],
  },
  a2a: { skills: [{ id: 'greet', name: 'Greet', description: 'Greets.', tags: ['hello'] }] },
  mcp: { toolName: 'greet', title: 'Greet', description: 'Greets.' },
  guardrails: { input: { policy: 'guarded-chat', revision: 1 }, output: 'None' },
  requires: [{ kind: 'model', name: 'gpt' }],
};
const read = (change: object) => loadManifest(JSON.stringify({ ...manifest, ...change }), flow);

test('an agent manifest that matches its flow is accepted, with a digest and with default values', () => {
  const accepted = read({});
  expect(accepted).toMatchObject({ ok: true, manifest: { files: { enabled: false }, limits: { concurrency: 8 } } });
  expect(accepted.ok ? accepted.sha256 : '').toMatch(/^[0-9a-f]{64}$/);
});

test.each([
  ['another apiVersion', { apiVersion: 'platform.low-code.publish-manifest/v1' }, 'shape', 'apiVersion'],
  ['an identity, which the platform issues', { agent: { ...manifest.agent, agentId: 'x' } }, 'shape', 'agent.agentId'],
  ['the digest of another flow', { flow: { ...manifest.flow, sha256: 'a'.repeat(64) } }, 'digest', 'flow.sha256'],
  ['an unknown entry point', { flow: { ...manifest.flow, entrypoint: 'other' } }, 'target', 'flow.entrypoint'],
  [
    'another input schema',
    { contract: { ...manifest.contract, inputSchema: { type: 'object' } } },
    'schema',
    'contract.inputSchema',
  ],
  [
    'another output schema',
    { contract: { ...manifest.contract, outputSchema: { type: 'object', title: 'x' } } },
    'schema',
    'contract.outputSchema',
  ],
  [
    'an output mode that no output of the flow gives',
    { contract: { ...manifest.contract, outputMediaModes: ['application/json', 'text/plain'] } },
    'types',
    'contract.outputMediaModes[1]',
  ],
  ['no skills for a2a_agent', { a2a: undefined }, 'shape', 'a2a'],
  ['no tool for mcp_tool', { mcp: undefined }, 'shape', 'mcp'],
  [
    'a mode that this release lacks',
    { executionModes: ['a2a_agent', 'grpc_agent'] },
    'capability',
    'executionModes[1]',
  ],
  [
    'a capability that this release lacks',
    { contract: { ...manifest.contract, capabilities: { pushNotifications: true } } },
    'capability',
    'contract.capabilities.pushNotifications',
  ],
  [
    'another value of a capability',
    { contract: { ...manifest.contract, capabilities: { streaming: 'yes' } } },
    'shape',
    'contract.capabilities.streaming',
  ],
  ['another version of A2A', { a2a: { ...manifest.a2a, protocolVersion: '0.3' } }, 'capability', 'a2a.protocolVersion'],
  [
    'a media mode of messages that this release lacks',
    { contract: { ...manifest.contract, inputMediaModes: ['application/json', 'image/png'] } },
    'capability',
    'contract.inputMediaModes[1]',
  ],
  [
    'text for an input without a member for it',
    { contract: { ...manifest.contract, inputMediaModes: ['text/plain'] } },
    'types',
    'contract.inputMediaModes[0]',
  ],
  ['files without a media type', { files: { enabled: true } }, 'shape', 'files.mediaTypes'],
  [
    'a media type of files that this release lacks',
    { files: { enabled: true, mediaTypes: ['text/plain', 'video/mp4'] } },
    'capability',
    'files.mediaTypes[1]',
  ],
  ['no execution mode', { executionModes: [] }, 'shape', 'executionModes'],
  ['one mode twice', { executionModes: ['mcp_tool', 'mcp_tool'] }, 'shape', 'executionModes'],
  ['a tool name with a dot', { mcp: { ...manifest.mcp, toolName: 'a.b' } }, 'shape', 'mcp.toolName'],
  ['no guardrails', { guardrails: undefined }, 'shape', 'guardrails'],
  ['a model that the flow uses and it does not require', { requires: [] }, 'target', 'requires'],
])('an agent manifest with %s is refused, and the problem has line and column', (_, change, code, path) => {
  expect(read(change)).toMatchObject({ ok: false, problems: [{ code, path, line: 1 }] });
});

test('each output that an entry point reaches must have one of the output modes of the manifest', () => {
  const sorry = { id: 'sorry', kind: 'output', inputs: { text: 'Sorry' } };
  const other = { id: 'other', kind: 'input' };
  const both = loadFlow(
    chainText([{ ...prompt, onError: { goto: 'sorry' } }], {
      nodes: [sorry, other],
      edges: [['other', 'sorry']],
      entrypoints: { main: 'start', short: 'other' },
    }),
  );
  if (!both.ok) throw new Error(JSON.stringify(both.problems));
  const pathsOf = (entrypoint: string, outputMediaModes: readonly string[]) => {
    const own = { sha256: both.flow.sha256, entrypoint };
    const contract = { ...manifest.contract, outputMediaModes };
    const read = loadManifest(JSON.stringify({ ...manifest, flow: own, contract }), both.flow);
    return read.ok ? [] : read.problems.map(({ path }) => path);
  };
  expect(pathsOf('main', ['text/plain', 'application/json'])).toEqual([]);
  expect(pathsOf('main', ['application/json'])).toEqual(['contract.outputMediaModes']);
  expect(pathsOf('short', ['text/plain'])).toEqual([]);
  expect(pathsOf('short', ['text/plain', 'application/json'])).toEqual(['contract.outputMediaModes[1]']);
});

test('an agent manifest without skills is accepted only for an agent that serves nothing but MCP', () => {
  expect(read({ a2a: undefined, executionModes: ['mcp_tool'] })).toMatchObject({ ok: true });
});

test.each([
  ['requestBytes', 1_024, 16_777_216],
  ['timeoutMs', 1, 900_000],
  ['concurrency', 1, 256],
])('the limit %s of an agent manifest is from %i to %i', (name, min, max) => {
  for (const value of [min, max]) expect(read({ limits: { [name]: value } })).toMatchObject({ ok: true });
  for (const value of [min - 1, max + 1]) {
    expect(read({ limits: { [name]: value } })).toMatchObject({ problems: [{ path: `limits.${name}` }] });
  }
});

verifies(['agents:version:publish-manifest'], 'an agent manifest with another value of schema is refused', () => {
  expect(read({})).toMatchObject({ ok: true });
  for (const name of ['publish-manifest/v1', 'publish-manifest/v3', 'publish-manifest', 'flow/v2']) {
    expect(read({ apiVersion: `platform.low-code.${name}` })).toMatchObject({ ok: false });
  }
});
