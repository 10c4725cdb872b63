import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { AgentState } from '#contracts/agent-state';
import { verifies } from '../../../e2e/support/verifies.ts';
import { agentBundle, type BundleParts, questionFlow } from '../testing/agent-bundle.ts';
import { alteredHandlers } from '../testing/altered-handlers.ts';
import { startAgent } from '../testing/start-agent.ts';

/** The state, health and first answer of a process that was started with this bundle. */
async function stateOf(bundle: Parameters<typeof startAgent>[0]['bundle'], config = {}) {
  await using agent = await startAgent({ bundle, config: { logLevel: 'error', ...config } });
  const state = (await (await fetch(`${agent.adminUrl}/state`)).json()) as AgentState;
  const live = await agent.call('GET', '/health/live');
  const ready = await agent.call('GET', '/health/ready');
  const message = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] } };
  const sent = await agent.call('POST', '/message:send', message);
  const probe = await fetch(`${agent.adminUrl}/readyz`);
  return {
    live: live.status,
    ready: ready.status,
    sent: sent.status,
    probe: probe.status,
    problems: state.problems.map(({ code, capability }) => (capability === undefined ? code : `${code} ${capability}`)),
  };
}

const refused = (...problems: readonly string[]) => ({ live: 200, ready: 503, sent: 503, probe: 503, problems });
const served = { live: 200, ready: 200, sent: 200, probe: 200, problems: [] };
const withParts = (parts: BundleParts) => stateOf(agentBundle(parts));

verifies(
  ['agents:health:ready'],
  'an agent version with a valid flow, manifest, policy and models is ready',
  async () => {
    expect(await stateOf(agentBundle())).toEqual(served);
  },
);

verifies(
  ['agents:ready:source'],
  'an agent version without a flow source, or with an invalid one, is not ready',
  async () => {
    expect(await stateOf(undefined)).toEqual(refused('source_invalid'));
    const { nodes: _, ...broken } = questionFlow();
    expect(await withParts({ flow: { ...broken, nodes: [] } })).toEqual(refused('source_invalid'));
  },
);

test('a call of a version that is not ready has the code of the contract only for a capability that is unavailable', async () => {
  const codeOf = async (bundle: Parameters<typeof startAgent>[0]['bundle']) => {
    await using agent = await startAgent({ bundle });
    const answers = [await agent.call('GET', '/tasks'), await agent.call('POST', '/message:send', {})];
    const infos = answers.map(({ status, json }) => {
      const error = json['error'] as { readonly details: readonly { readonly metadata: { readonly code: string } }[] };
      return [status, error.details[0]?.metadata.code];
    });
    const mcp = await agent.call('POST', '/mcp', {});
    return [...infos, [mcp.status, mcp.json['code']]];
  };
  const unready = [503, 'not_ready'];
  expect(await codeOf(undefined)).toEqual([unready, unready, unready]);
  expect(await codeOf(agentBundle({ manifest: { unknown: true } }))).toEqual([unready, unready, unready]);
  const unavailable = [503, 'advertised_capability_unavailable'];
  const never = await codeOf(agentBundle({ contract: { tasks: true } }));
  expect(never).toEqual([unavailable, unavailable, unavailable]);
});

test('a message to a version that is not ready has used nothing and can be sent again', async () => {
  await using agent = await startAgent({ bundle: undefined });
  const { headers } = await agent.call('POST', '/message:send', {});
  expect([headers.get('x-portcullis-run-usage'), headers.get('retry-after')]).toEqual([
    'nodes=0,modelTokens=0,outputBytes=0',
    '1',
  ]);
});

test('a bundle that was changed after its digest was computed, and a file that is not a bundle, are refused', async () => {
  expect(await stateOf({ ...agentBundle(), publicUrl: 'https://other.example/a' })).toEqual(refused('bundle_invalid'));
  expect(await stateOf('{"formatVersion": 2}')).toEqual(refused('bundle_invalid'));
});

verifies(
  ['agents:ready:manifest', 'agents:streaming:a2a-version'],
  'a version with a refused manifest is not ready, even when the manifest names another version of A2A',
  async () => {
    expect(await withParts({ manifest: { unknown: true } })).toEqual(refused('manifest_invalid'));
    const a2a = { skills: [{ id: 'a', name: 'A', description: 'A.', tags: ['t'] }] };
    expect(await withParts({ manifest: { a2a: { ...a2a, protocolVersion: '0.3' } } })).toEqual(
      refused('advertised_capability_unavailable a2a.protocolVersion'),
    );
    expect(await withParts({ manifest: { a2a: { ...a2a, protocolVersion: '1.0' } } })).toEqual(served);
  },
);

test('a version that advertises an output mode that its flow does not produce, or omits the mode of an output, is not ready', async () => {
  const { nodes, ...flow } = questionFlow() as { readonly nodes: readonly object[] };
  const [start, end] = nodes;
  const modes = ['text/plain', 'application/json'];
  const textAlone = {
    ...flow,
    output: { schema: { type: 'object' } },
    nodes: [start, { ...end, inputs: { text: 'Hello' } }],
  };
  expect(await withParts({ flow: textAlone, contract: { outputMediaModes: modes } })).toEqual(
    refused('manifest_invalid'),
  );
  expect(await withParts({ flow: textAlone, contract: { outputMediaModes: ['text/plain'] } })).toEqual(served);
  expect(await withParts({ flow: textAlone, contract: { outputMediaModes: ['application/json'] } })).toEqual(
    refused('manifest_invalid', 'manifest_invalid'),
  );
});

verifies(
  ['agents:ready:policy'],
  'an agent version is not ready when the runtime of its policy is unknown to the process',
  async () => {
    const guardrails = { input: { name: 'texts', revision: 1 }, output: 'None' } as const;
    expect(await withParts({ bundle: { guardrails } })).toEqual(refused('policy_invalid'));
    const other = { guardrails: { input: { policy: 'other', revision: 1 }, output: 'None' } };
    expect((await withParts({ bundle: { guardrails }, manifest: other })).problems).toContain('policy_invalid');
  },
);

verifies(
  ['agents:ready:entry-point'],
  'an agent version whose entry point does not exist in the flow is not ready',
  async () => {
    const flow = questionFlow();
    const { manifest } = agentBundle({ flow });
    const own = (JSON.parse(manifest) as { flow: object }).flow;
    expect(await withParts({ flow, manifest: { flow: { ...own, entrypoint: 'other' } } })).toEqual(
      refused('entry_point_invalid'),
    );
  },
);

verifies(['agents:ready:card'], 'an agent version whose manifest yields no valid agent card is not ready', async () => {
  expect(await withParts({ bundle: { publicUrl: 'http://agents.example/a' } })).toEqual(refused('card_invalid'));
  expect(await withParts({ bundle: { publicUrl: 'http://127.0.0.1/a' } })).toEqual(served);
});

verifies(
  ['agents:ready:critical-setting'],
  'an agent version that names a model is not ready in a process without a gateway address',
  async () => {
    const parts = { flow: questionFlow('m'), bundle: { requires: [{ kind: 'model', name: 'm' } as const] } };
    expect(await withParts(parts)).toEqual(refused('setting_invalid'));
  },
);

test.each([
  ['connection', { kind: 'tool_http', config: { connection: 'crm', method: 'GET', path: '/people' } }],
  ['mcp', { kind: 'tool_mcp', config: { server: 'crm', tool: 'find' } }],
] as const)(
  'a version with a tool of the kind %s is not ready in a process without a gateway and its tokens',
  async (kind, tool) => {
    const flow = questionFlow('m') as { readonly nodes: readonly object[] };
    const [start, , end] = flow.nodes;
    const data = { answer: `\${input.question}` };
    const nodes = [start, { id: 'ask', ...tool }, { ...end, inputs: { text: data.answer, data } }];
    const requires = [{ kind, name: 'crm' }] as const;
    const bundle = agentBundle({ flow: { ...flow, nodes }, bundle: { requires: [...requires] } });
    expect(await stateOf(bundle)).toEqual(refused('setting_invalid'));
  },
);

verifies(
  [
    'agents:card:unimplemented-readiness',
    'agents:manifest:tasks-true',
    'agents:streaming:execution-mode',
    'agents:card:built-from',
  ],
  'an agent version that requests a mode without an implementation is not ready, and the mode is named',
  async () => {
    expect(await withParts({ contract: { tasks: true } })).toEqual(
      refused('advertised_capability_unavailable a2a.tasks'),
    );
    expect(await withParts({ manifest: { executionModes: ['a2a_agent', 'grpc_agent'] } })).toEqual(
      refused('advertised_capability_unavailable executionModes'),
    );
    expect(await withParts({ contract: { capabilities: { pushNotifications: true } } })).toEqual(
      refused('advertised_capability_unavailable contract.capabilities'),
    );
    const tool = await withParts({ manifest: { executionModes: ['mcp_tool'] } });
    expect(tool).toEqual(refused('advertised_capability_unavailable a2a.streaming'));
  },
);

verifies(
  ['agents:mcp:needs-conformance'],
  'a version whose MCP profile the startup check did not confirm is not served, although its manifest has the mode',
  async () => {
    await using parts = new AsyncDisposableStack();
    const checkedHandler = alteredHandlers(parts, ({ text }) => ({
      text: text.replace(/"tools":\[(.*)\]/, '"tools":[$1,$1]'),
    }));
    await using agent = await startAgent({ bundle: agentBundle(), checkedHandler });
    const state = (await (await fetch(`${agent.adminUrl}/state`)).json()) as AgentState;
    expect(state).toMatchObject({
      ready: false,
      problems: [{ code: 'advertised_capability_unavailable', capability: 'mcp.tool' }],
      capabilities: { 'a2a.message': true, 'a2a.streaming': true, 'mcp.tool': false },
    });
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
    const called = await agent.call('POST', '/mcp', initialize);
    expect([called.status, called.json['code']]).toEqual([503, 'advertised_capability_unavailable']);
    const ready = await agent.call('GET', '/health/ready');
    expect([ready.status, ready.text]).toEqual([503, expect.stringContaining('advertised_capability_unavailable')]);
  },
);

verifies(
  ['agents:flow:immutable'],
  'a running agent process executes the flow that it started with, even after a request or an edit of the file that names another one',
  async () => {
    await using agent = await startAgent({ bundle: agentBundle() });
    const flow = { ...questionFlow(), metadata: { ...(questionFlow()['metadata'] as object), version: 4 } };
    const other = agentBundle({ flow });
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }], metadata: { flow: other.flow } };
    const send = async () => {
      const body = { message, metadata: { versionId: other.versionId, flow: other.flow } };
      const { json } = await agent.call('POST', '/message:send', body);
      return (json['message'] as { parts: unknown }).parts;
    };
    const state = async () => (await fetch(`${agent.adminUrl}/state`)).json();
    const before = [await send(), await state()];
    await writeFile(agent.bundleFile, JSON.stringify(other));
    expect([await send(), await state()]).toEqual(before);
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      expect((await agent.call(method, '/message:send')).status).toBe(405);
    }
  },
);
