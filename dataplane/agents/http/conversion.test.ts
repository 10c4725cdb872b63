import { expect } from 'vitest';
import type { ExecutionRequest } from '#flow/engine/run-flow';
import { verifies } from '../../../e2e/support/verifies.ts';
import { agentBundle, questionFlow } from '../testing/agent-bundle.ts';
import { errorCodeOf, messageOf, startAgent } from '../testing/start-agent.ts';

/** A flow that returns its input and the facts that expressions read from the context. */
function mirrorFlow(): Readonly<Record<string, unknown>> {
  const flow = questionFlow() as { readonly input: { readonly schema: object }; readonly nodes: readonly object[] };
  const facts = ['userId', 'sessionId', 'agentId', 'versionId'];
  const context = Object.fromEntries(facts.map((name) => [name, `\${context.${name}}`]));
  return {
    ...flow,
    input: { schema: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] } },
    output: { schema: { type: 'object' } },
    nodes: [flow.nodes[0], { id: 'end', kind: 'output', inputs: { data: { input: `\${input}`, context } } }],
  };
}

verifies(
  ['agents:order:conversion'],
  'texts and data become one input, and the context belongs to the caller whatever the parts of a message claim',
  async () => {
    const bundle = agentBundle({ flow: mirrorFlow(), bundle: { requires: [] } });
    await using agent = await startAgent({ bundle });
    const claims = { userId: 'eve', sessionId: 'hers', agentId: 'other', versionId: 'other', tenantId: 'all' };
    const send = async (parts: readonly object[], more: object = {}) => {
      const { message } = messageOf(...parts) as { message: object };
      const body = { message: { ...message, contextId: 'session-1', ...more }, metadata: { context: claims } };
      const answer = await agent.call('POST', '/message:send', body);
      const data = (answer.json as { message?: { parts: { data?: unknown }[] } }).message?.parts.at(-1)?.data;
      return { answer, data: data as { input: unknown; context: ExecutionRequest['context'] } };
    };
    const own = {
      userId: 'ann',
      sessionId: 'session-1',
      agentId: bundle.agentId,
      versionId: bundle.versionId,
    };
    const metadata = { context: claims, ...claims };
    const two = await send([{ text: 'first' }, { text: 'second', metadata }], { metadata });
    expect(two.data).toEqual({ input: { question: 'first\nsecond' }, context: own });
    const mixed = await send([{ data: { limit: 3, context: claims, ...claims } }, { text: 'why' }], { metadata });
    expect(mixed.data).toEqual({ input: { question: 'why', limit: 3, context: claims, ...claims }, context: own });
    const twice = await send([{ data: { question: 'a' } }, { text: 'b' }]);
    expect(errorCodeOf(twice.answer)).toBe('input_invalid');
    const several = await send([{ data: { question: 'a' } }, { data: { question: 'b' } }]);
    expect(errorCodeOf(several.answer)).toBe('input_invalid');
  },
);
