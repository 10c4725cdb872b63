import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { folderWithFiles, runInProcess } from '../../cli/testing/run-cli.ts';
import { questionFlow } from '../../dataplane/agents/testing/agent-bundle.ts';
import { type GrantedAgents, startGrantedAgents } from './start-granted-agents.ts';

const childId = '01890a5d-ac96-774b-bcce-b302099a8091';
const question = `\${${'input.question'}}`;
const ask = { kind: 'agent', inputs: { data: { question } }, config: { agentId: childId } };
/** Asks an agent twice, one call after another: each of its runs has two nodes. */
const twice = {
  ...questionFlow(),
  metadata: { flowId: '01890a5d-ac96-774b-bcce-b302099a8092', name: 'twice', version: 1 },
  nodes: [
    { id: 'start', kind: 'input' },
    { id: 'one', ...ask },
    { id: 'two', ...ask },
    { id: 'end', kind: 'output', inputs: { data: { answer: `\${${'nodes.two.output.data.answer'}}` } } },
  ],
  edges: [
    { from: 'start', to: 'one' },
    { from: 'one', to: 'two' },
    { from: 'two', to: 'end' },
  ],
};
/** A flow that asks an agent once for each item. */
const askingEach = (items: readonly number[], concurrency: number) => ({
  ...twice,
  nodes: [
    { id: 'start', kind: 'input' },
    {
      id: 'each',
      kind: 'loop',
      inputs: { items },
      config: { body: 'one', maxIterations: items.length, concurrency },
    },
    { id: 'one', ...ask },
    { id: 'end', kind: 'output', inputs: { data: { answer: 'done' } } },
  ],
  edges: [
    { from: 'start', to: 'each' },
    { from: 'each', to: 'end' },
  ],
});
const atOnce = askingEach([1, 2, 3, 4], 4);

describe.skipIf(missingPostgres !== undefined)(onPostgres('the budget of a run'), () => {
  let world: GrantedAgents;
  beforeAll(async () => {
    world = await startGrantedAgents();
    await world.add({ name: 'child', agentId: childId, bundle: {} });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const parentOf = (name: string, flow: object, nodes: number) =>
    world.add({
      name,
      flow: flow as never,
      bundle: { requires: [{ kind: 'agent', name: childId }] },
      budget: { nodes, modelTokens: 1_000, outputBytes: 100_000 },
    });
  const outcomeOf = async (agentId: string): Promise<unknown> => {
    const { status, json, headers } = await world.send(agentId, [{ data: { question: 'why' } }]);
    // Persons do not get the usage of a run.
    expect(headers.has('x-portcullis-run-usage')).toBe(false);
    // Another call would use as much again.
    expect(headers.has('retry-after')).toBe(false);
    const error = json['error'] as { details?: [{ metadata?: { code?: unknown } }] } | undefined;
    return status === 200 ? 'answered' : error?.details?.[0]?.metadata?.code;
  };

  test.each([
    // The second call gets half of the four nodes that are left after five.
    ['two nodes for each call', 9, 'answered'],
    ['one node for the second call', 8, 'flow_failed'],
    ['one node for the first call', 4, 'flow_failed'],
    ['no node for the first call', 3, 'budget_exceeded'],
  ])('a run with %s has the expected end', async (_what, nodes, expected) => {
    expect(await outcomeOf(await parentOf(`twice-${nodes}`, twice, nodes))).toBe(expected);
  });

  test.each([
    ['enough for each of four calls at the same time', 60, 'answered'],
    ['too little for each of four calls at the same time', 6, 'budget_exceeded'],
  ])('a run with %s has the expected end', async (_what, nodes, expected) => {
    expect(await outcomeOf(await parentOf(`at-once-${nodes}`, atOnce, nodes))).toBe(expected);
  });

  test('portcullis flow run calls an agent with the token of a person, and no call uses the budget of the run', async () => {
    using folder = folderWithFiles();
    const token = folder.write('token', (await world.bearer()).replace('Bearer ', ''));
    // If each of them got half of the remaining budget, no node would be left for the seventeenth.
    const flow = folder.write(
      'flow.json',
      JSON.stringify(
        askingEach(
          Array.from({ length: 20 }, (_, at) => at),
          1,
        ),
      ),
    );
    const input = JSON.stringify({ question: 'why' });
    const at = ['--gateway', world.gateway, '--token-file', token];
    const end = await runInProcess(['flow', 'run', flow, '--input', input, ...at]);
    expect([end.code, JSON.parse(end.stdout)]).toEqual([0, { answer: 'done' }]);
  });
});
