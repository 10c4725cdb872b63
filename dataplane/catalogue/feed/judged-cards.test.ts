import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  answerWith,
  denyResult,
  passResult,
  type RuntimeBehaviour,
  rawAnswer,
  requestMask,
  type ScriptedRuntime,
  scriptedError,
  startScriptedRuntime,
} from '#checks/testing/scripted-runtime';
import type { ServedTarget } from '#contracts/served-target';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { type AgentSketch, resourcesOf, sketchAgent } from '../testing/agent-resources.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';

/** Denies the word "forbidden" and masks e-mail addresses, as a runtime with such a policy does. */
const policy: RuntimeBehaviour = (socket, { body }) => {
  const { messages } = JSON.parse(body).body as { messages: { role: string; content: string }[] };
  const masked = messages.map((one) => ({ ...one, content: one.content.replaceAll(/\S+@\S+/g, '[email]') }));
  const isDenied = messages.some(({ content }) => content.includes('forbidden'));
  const isMasked = masked.some(({ content }, at) => content !== messages[at]?.content);
  const result = isDenied ? denyResult : isMasked ? requestMask(...masked) : passResult;
  socket.write(rawAnswer(200, JSON.stringify(result)));
};

describe.skipIf(missingPostgres !== undefined)(onPostgres('cards and the policy of the catalogue'), () => {
  const parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  const [targetFile, tokenFile] = [join(folder, 'target.json'), join(folder, 'runtime.token')];
  let runtime: ScriptedRuntime;
  let world: CatalogueWorld;

  const writeTarget = (policyRevision: string): void => {
    const target: ServedTarget = {
      addresses: [runtime.origin],
      policyId: 'cards',
      policyRevision,
      bundleDigest: 'ab'.repeat(32),
      contentProfile: 'gateway-1.5.0-chat-webhook-v2',
      maxBodyBytes: 16_384,
      maxMessages: 32,
      deadlineMs: { request: 1_000, response: 1_000 },
      division: { allowed: true },
    };
    writeFileSync(`${targetFile}.new`, JSON.stringify(target));
    renameSync(`${targetFile}.new`, targetFile);
  };
  const shown = async ({ agentId }: AgentSketch) => (await world.ask('ann', `/api/v1/agents/${agentId}`)).json;
  const editVersion = (agent: AgentSketch, change: Partial<AgentSketch>) =>
    world.resources.change('agentversions', `${agent.name}-1`, (object) => {
      Object.assign(object, { spec: resourcesOf({ ...agent, ...change }).version.spec });
    });
  const metric = async (name: string): Promise<string | undefined> => {
    const text = await (await fetch(`${world.adminUrl}/metrics`)).text();
    return new RegExp(`^portcullis_catalogue_${name}\\{[^}]*\\} (\\d+)$`, 'm').exec(text)?.[1];
  };

  beforeAll(async () => {
    runtime = parts.use(await startScriptedRuntime(policy));
    writeFileSync(tokenFile, 'runtime-service-token\n');
    writeTarget('1');
    world = parts.use(await openCatalogue({ config: { guard: { targetFile, tokenFile } } }));
  });
  afterAll(() => parts.disposeAsync());

  test('a scrape says whether cards are shown UNGUARDED', async () => {
    expect(await metric('cards_unguarded')).toBe('0');
    await using open = await openCatalogue({});
    const text = await (await fetch(`${open.adminUrl}/metrics`)).text();
    expect(text).toMatch(/^portcullis_catalogue_cards_unguarded\{[^}]*\} 1$/m);
  });

  verifies(
    ['catalogue:record:safe-name', 'catalogue:record:safe-description', 'catalogue:record:skills'],
    'names, descriptions and skills are shown as judged by the policy: masked texts masked, denied ones removed',
    async () => {
      const skills = [
        { id: 'ask', name: 'Ask', description: 'Do the forbidden thing.' },
        { id: 'mail', name: 'Mail', description: 'Writes to pay@example.com today.' },
      ];
      const agent = await world.publish('partly', { title: 'A forbidden name', description: 'Answers.', skills });
      await world.allow('ann', 'view', agent);
      await world.allow('ann', 'invoke', agent);
      expect(await shown(agent)).toMatchObject({
        name: '[removed]',
        description: 'Answers.',
        state: 'active',
        skills: [
          { id: 'ask', name: 'Ask', description: '[removed]' },
          { id: 'mail', name: 'Mail', description: 'Writes to [email] today.' },
        ],
      });
      const [entry] = await world.database.sql<{ passage: string }[]>`
        select passage from catalogue.entries where agent_id = ${agent.agentId}::uuid`;
      expect(entry?.passage).not.toMatch(/forbidden|example\.com/);
    },
  );

  verifies(
    ['catalogue:record:safe-description', 'catalogue:state:active'],
    'while the policy does not answer a new agent is not shown, a known one keeps its texts, and other changes are stored',
    async () => {
      const known = await world.publish('known', { description: 'The first text.' });
      await world.allow('ann', 'view', known);
      runtime.behave(answerWith(503, scriptedError('stage_timeout')));
      editVersion(known, { description: 'The second text.' });
      const fresh = sketchAgent('fresh');
      await world.allow('ann', 'view', fresh);
      const published = world.publish('fresh');
      await until('both wait', async () => (await metric('feed_pending')) === '2');
      expect(await shown(known)).toMatchObject({ description: 'The first text.', state: 'active' });
      expect(await shown(fresh)).toHaveProperty('error');
      world.resources.remove('agents', 'partly');
      await until('the removal is stored', async () => (await world.stored(sketchAgent('partly'))) === 'removed');
      expect(world.log()).toContain('cards_wait');
      runtime.behave(policy);
      await published;
      await until('the new text is shown', async () => (await shown(known))['description'] === 'The second text.');
      await until('nothing waits', async () => (await metric('feed_pending')) === '0');
      expect(await shown(fresh)).toMatchObject({ state: 'active' });
    },
  );

  verifies(
    ['catalogue:record:safe-name'],
    'a text is judged once for each revision of the policy, and all cards again when the policy changes',
    async () => {
      const agent = await world.publish('judged', { description: 'A text that a later revision denies.' });
      await world.allow('ann', 'view', agent);
      const before = runtime.received.length;
      world.resources.change('agentversions', 'judged-1', (object) => {
        object['status'] = resourcesOf({ ...agent, isReady: false, since: new Date() }).version.status;
      });
      await until('the change is stored', async () => {
        const [row] = await world.database.sql<{ is_ready: boolean }[]>`
          select is_ready from catalogue.agents where agent_id = ${agent.agentId}::uuid`;
        return row?.is_ready === false;
      });
      expect(runtime.received.length).toBe(before);
      runtime.behave((socket, check) =>
        check.body.includes('later revision') ? answerWith(200, denyResult)(socket, check) : policy(socket, check),
      );
      writeTarget('2');
      await until('the text is removed', async () => (await shown(agent))['description'] === '[removed]');
      expect(await shown(agent)).toMatchObject({ name: 'Agent judged' });
    },
  );
});
