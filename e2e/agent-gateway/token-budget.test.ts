import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres } from '#sql/testing/test-server';
import { agentBundle, questionFlow } from '../../dataplane/agents/testing/agent-bundle.ts';
import { messageOf } from '../../dataplane/agents/testing/start-agent.ts';
import { alias } from '../support/start-guarded-gateway.ts';
import { type AgentGateway, startAgentGateway } from './start-agent-gateway.ts';

describe.skipIf(missingPostgres !== undefined)('the tokens of a person in a day', () => {
  let world: AgentGateway;
  const bundle = agentBundle({
    flow: questionFlow(alias),
    bundle: { requires: [{ kind: 'model', name: alias }] },
  });
  const { agentId, versionId } = bundle;
  beforeAll(async () => {
    world = await startAgentGateway({ PORTCULLIS_AGENT_TOKENS_PER_DAY: '1' });
    const { process: _, ...version } = await world.startVersion(bundle);
    await world.serve({ name: 'question', agentId, served: versionId, versions: [version] });
    for (const person of ['ann', 'ben']) await world.allow(person, 'invoke', agentId);
    const choices = [{ index: 0, message: { role: 'assistant', content: 'a healthy answer' }, finish_reason: 'stop' }];
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    world.platform.upstream.play({
      kind: 'raw',
      body: JSON.stringify({ choices, usage }),
      contentType: 'application/json',
    });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const ask = (as: string) => world.call(`${agentId}/message:send`, { as, body: messageOf({ text: 'hello' }) });

  test('a run that uses up the daily tokens of a person is the last one of that person, and other persons are not affected', async () => {
    await until('the budgets are open', async () => ((await ask('ann')).status === 200 ? true : undefined));
    // The tokens are counted when the answer of the model was sent.
    const refused = await until('the tokens are counted', async () => {
      const answer = await ask('ann');
      return answer.status === 429 ? answer : undefined;
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await refused.text()).toContain('"code":"budget_used"');
    expect((await ask('ben')).status).toBe(200);
  });
});
