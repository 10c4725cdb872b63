import { expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { agentBundle, questionFlow } from '../testing/agent-bundle.ts';
import { messageOf, startAgent } from '../testing/start-agent.ts';
import { loadAgent } from './load-agent.ts';

const inner = questionFlow() as Readonly<Record<string, unknown>> & { readonly metadata: { readonly flowId: string } };
const outer = {
  ...questionFlow(),
  nodes: [
    { id: 'start', kind: 'input' },
    {
      id: 'ask',
      kind: 'subflow',
      inputs: { question: `\${${'input.question'}}` },
      config: { flowId: inner.metadata.flowId, sha256: digestOf(inner), entrypoint: 'main' },
    },
    { id: 'end', kind: 'output', inputs: { data: { answer: `\${${'nodes.ask.output.data.answer'}}` } } },
  ],
  edges: [
    { from: 'start', to: 'ask' },
    { from: 'ask', to: 'end' },
  ],
};
const bundleOf = (...subflows: readonly object[]) =>
  agentBundle({
    flow: outer,
    bundle: subflows.length === 0 ? {} : { subflows: subflows.map((flow) => JSON.stringify(flow)) },
  });
const problemsOf = (bundle: object) => {
  const load = loadAgent(Buffer.from(JSON.stringify(bundle)));
  return load.ok ? [] : load.problems.map(({ code, message }) => `${code} ${message}`);
};

test('a version runs the subflow that it contains', async () => {
  await using agent = await startAgent({ bundle: bundleOf(inner) });
  const answer = await agent.call('POST', '/message:send', messageOf({ text: 'hello' }));
  expect(answer.json).toMatchObject({ message: { parts: [{ data: { answer: 'hello' } }] } });
});

test('a version without the subflow of its flow, or with another subflow, is refused', () => {
  expect(problemsOf(bundleOf(inner))).toEqual([]);
  expect(problemsOf(bundleOf())).toEqual([
    expect.stringMatching(/^source_invalid flow\.yaml:1:\d+: node ask, .* names no flow that was given with this one$/),
  ]);
  expect(problemsOf(bundleOf(inner, questionFlow('m')))).toEqual([
    'source_invalid flow.yaml:1:1: subflows[1] is not used by the flow',
  ]);
});

test('the digest of a version covers its subflows', () => {
  const { digest } = bundleOf(inner);
  const changed = { ...bundleOf({ ...inner, metadata: { ...inner.metadata, version: 4 } }), digest };
  expect(problemsOf(changed)).toEqual(['bundle_invalid the digest of the bundle is not that of its content']);
});
