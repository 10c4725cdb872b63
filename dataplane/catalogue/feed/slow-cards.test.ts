import { afterEach, beforeEach, describe, expect } from 'vitest';
import type { StorageDecision, StorageGuard } from '#checks/guard/storage-guard';
import { createLogger } from '#kit/log/logger';
import { until } from '#kit/testing/until';
import { createClient } from '#kube/client/client';
import { startFakeApiServer } from '#kube/testing/fake-api-server';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { type AgentSketch, resourcesOf } from '../testing/agent-resources.ts';
import { type CatalogueWorld, startCatalogue } from '../testing/start-catalogue.ts';
import { type AgentFeed, followAgents } from './follow-agents.ts';
import { createCardJudge } from './judge-card.ts';

type Check = { readonly texts: readonly string[]; readonly decide: (decision: StorageDecision) => void };

describe.skipIf(missingPostgres !== undefined)(onPostgres('a worker of the catalogue whose checks take long'), () => {
  let parts: AsyncDisposableStack;
  let world: CatalogueWorld;
  let weather: AgentSketch;
  let news: AgentSketch;
  let feed: AgentFeed;
  let checks: Check[];
  const time = { offset: 0 };
  const clock = { now: () => performance.now() + time.offset, date: () => new Date() };

  /** Each check of this guard takes until the test decides. */
  const guard: StorageGuard = {
    judge: (texts, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        checks.push({ texts, decide: resolve });
      }),
  };
  const nextCheck = async (): Promise<Check> => {
    await until('a check waits', () => checks.length > 0);
    return checks.shift() as Check;
  };
  const pass = ({ texts, decide }: Check) => decide({ kind: 'passed', texts, policyRevision: 'cards:1' });
  const passAll = () =>
    until('no text waits', () => {
      for (const check of checks.splice(0)) pass(check);
      return feed.pending() === 0;
    });
  const shown = async ({ agentId }: AgentSketch) => (await world.ask('ann', `/api/v1/agents/${agentId}`)).json;
  const isCallable = async (agent: AgentSketch) => 'invocationInterface' in (await shown(agent));
  const edit = (agent: AgentSketch, change: Partial<AgentSketch>) =>
    world.resources.change('agentversions', `${agent.name}-1`, (object) => {
      const { spec, status } = resourcesOf({ ...agent, ...change }).version;
      Object.assign(object, { spec, status });
    });
  const makeOld = () =>
    world.database.sql`update catalogue.feed set current_at = clock_timestamp() - make_interval(secs => 61)`;

  /** A worker without a policy has stored two agents; another worker with a policy replaces it. */
  beforeEach(async () => {
    parts = new AsyncDisposableStack();
    checks = [];
    const resources = parts.use(await startFakeApiServer());
    const database = parts.use(await openTestDatabase());
    {
      await using former = await startCatalogue(database, { resources });
      weather = await former.publish('weather');
      news = await former.publish('news');
      for (const right of ['view', 'invoke'] as const) await former.allow('ann', right, weather, news);
    }
    world = parts.use(await startCatalogue(database, { resources, config: { role: 'api', api: undefined } }));
    await makeOld();
    const credentials = { authorization: () => 'Bearer token' };
    feed = parts.use(
      followAgents({
        client: parts.use(createClient({ url: resources.url, credentials, namespace: 'default' })),
        database: world.database,
        logger: createLogger({ service: 'catalogue', level: 'error', destination: { write: () => undefined } }),
        clock,
        cards: createCardJudge(guard),
        acceptsMassRemoval: false,
        onChange: () => undefined,
        pollMs: 50,
      }),
    );
  });
  afterEach(() => parts.disposeAsync());

  verifies(
    ['catalogue:invocation:version-not-ready', 'catalogue:record:safe-description'],
    'after a start agents keep their interfaces and texts while the first card is judged, and changes of their state are stored',
    async () => {
      const held = await nextCheck();
      await until('the agents are current', () => feed.ageMs() < 60_000);
      expect([await isCallable(weather), await isCallable(news)]).toEqual([true, true]);
      edit(news, { description: 'A text that is not judged.', isReady: false });
      await until('the change of the state is stored', async () => !(await isCallable(news)));
      expect(await shown(news)).toMatchObject({ description: news.description });
      expect(await isCallable(weather)).toBe(true);
      expect(feed.pending()).toBe(2);
      pass(held);
      await passAll();
      await until(
        'the new text is shown',
        async () => (await shown(news))['description'] === 'A text that is not judged.',
      );
    },
  );

  verifies(
    ['catalogue:invocation:version-not-ready'],
    'when the policy changes agents are followed and keep their interfaces while their cards are judged again',
    async () => {
      await passAll();
      feed.judgeAgain();
      const held = await nextCheck();
      // A pass that began before may still store its age.
      await until('the agents are old', async () => {
        await makeOld();
        return !(await isCallable(weather));
      });
      // The watches are interrupted for so long that all resources are listed again.
      world.resources.setAway(true);
      time.offset += 61_000;
      world.resources.setAway(false);
      await until('the interface is shown', () => isCallable(weather));
      expect(feed.ageMs()).toBeLessThan(60_000);
      pass(held);
      await passAll();
    },
  );

  verifies(
    ['catalogue:record:safe-description'],
    'a decision of a policy that is replaced during the check shows no text: the card is judged by the new policy',
    async () => {
      await passAll();
      edit(weather, { description: 'A text that the new policy denies.' });
      const former = await nextCheck();
      feed.judgeAgain();
      pass(former);
      const descriptions: unknown[] = [];
      await until('the text is removed', async () => {
        descriptions.push((await shown(weather))['description']);
        for (const { texts, decide } of checks.splice(0)) {
          const isDenied = texts.some((text) => text.includes('denies'));
          const policyRevision = 'cards:2';
          decide(isDenied ? { kind: 'denied', policyRevision } : { kind: 'passed', texts, policyRevision });
        }
        return descriptions.at(-1) === '[removed]';
      });
      expect(descriptions).not.toContain('A text that the new policy denies.');
    },
  );
});
