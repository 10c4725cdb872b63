import { createHmac, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { type AgentSketch, resourcesOf } from '../testing/agent-resources.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';
import { replayEvents } from './replay-events.ts';

type Received = { readonly headers: IncomingMessage['headers']; readonly body: string };
type Event = { readonly id: string; readonly type: string; readonly subject: string; readonly sequence: string };

const sequenceOf = (number: number): string => String(number).padStart(19, '0');
const secret = 'a-secret-of-events-with-enough-characters';

describe.skipIf(missingPostgres !== undefined)(onPostgres('events of the catalogue'), () => {
  const parts = new AsyncDisposableStack();
  const received: Received[] = [];
  let world: CatalogueWorld;
  let server: Server;
  /** The status of the next answers; `cut` closes the connection after the body was read. */
  let answer: (event: Event) => number | 'cut' = () => 204;

  const eventsOf = ({ agentId }: AgentSketch): readonly Event[] =>
    received.map(({ body }) => JSON.parse(body) as Event).filter(({ subject }) => subject === agentId);
  const typesOf = (agent: AgentSketch) =>
    eventsOf(agent).map(({ type }) => type.replace('dev.portcullis.catalogue.', ''));
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${world.adminUrl}/metrics`)).text();
    return Number(new RegExp(`^portcullis_catalogue_${name}\\{[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1]);
  };

  beforeAll(async () => {
    server = createServer(async (incoming, outgoing) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      received.push({ headers: incoming.headers, body });
      const status = answer(JSON.parse(body) as Event);
      if (status === 'cut') incoming.socket.destroy();
      else outgoing.writeHead(status).end();
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    parts.defer(() => void server.close());
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`);
    const secretFile = join(parts.use(temporaryFolder()).path, 'events.secret');
    writeFileSync(secretFile, `${secret}\n`);
    const events = { kind: 'webhook', url, secretFile, source: '/test' } as const;
    world = parts.use(await openCatalogue({ config: { events }, overrides: { firstPauseSeconds: 0.01 } }));
  });
  afterAll(() => parts.disposeAsync());

  verifies(
    ['catalogue:events:outbox-relay', 'catalogue:query-text:not-in-event-bus', 'catalogue:query-text:not-in-audit'],
    'each change of an agent is a signed CloudEvent, in the order of the agent and without texts',
    async () => {
      const agent = await world.publish('heard', { description: 'A text of a card.' });
      await world.allow('ann', 'invoke', agent);
      const body = JSON.stringify({ query: 'zyxmarkerquery', workspaceId: 'support' });
      const headers = { 'content-type': 'application/json' };
      expect((await world.ask('ann', '/api/v1/agents/search', { method: 'POST', body, headers })).status).toBe(200);
      world.resources.remove('agents', 'heard');
      await until('three events were received', () => eventsOf(agent).length === 3);
      expect(typesOf(agent)).toEqual(['agent.version.selected', 'agent.activated', 'agent.removed']);
      expect(eventsOf(agent).map(({ sequence }) => sequence)).toEqual([1, 2, 3].map(sequenceOf));
      const [first] = received.filter(({ body: text }) => text.includes(agent.agentId));
      expect(JSON.parse(first?.body ?? '')).toEqual({
        specversion: '1.0',
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        source: '/test',
        type: 'dev.portcullis.catalogue.agent.version.selected',
        subject: agent.agentId,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        datacontenttype: 'application/json',
        sequence: '0000000000000000001',
        data: { agentId: agent.agentId, versionId: agent.versionId },
      });
      const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = first?.headers ?? {};
      const signed = createHmac('sha256', secret).update(`${id}.${at}.${first?.body}`).digest('base64');
      expect(signature).toBe(`v1,${signed}`);
      expect(first?.headers['content-type']).toContain('application/cloudevents+json');
      const all = received.map((one) => one.body).join('\n');
      for (const text of ['zyxmarkerquery', 'A text of a card', 'heard', '10.0.0.7', 'ann']) {
        expect([text, all.includes(text)]).toEqual([text, false]);
      }
    },
  );

  verifies(
    ['catalogue:events:outbox-relay'],
    'the twelve events of an agent are in their order when they are sorted by their sequence as text',
    async () => {
      const agent = await world.publish('often-away');
      const since = new Date(Date.now() - 60_000);
      for (let at = 0; at < 10; at += 1) {
        const isReady = at % 2 === 1;
        world.resources.change('agentversions', 'often-away-1', (object) => {
          object['status'] = resourcesOf({ ...agent, isReady, since }).version.status;
        });
        await until(`event ${at + 3} was received`, () => eventsOf(agent).length === at + 3);
      }
      const sorted = eventsOf(agent).toSorted((one, other) => (one.sequence < other.sequence ? -1 : 1));
      expect(sorted.map(({ id }) => id)).toEqual(eventsOf(agent).map(({ id }) => id));
      expect(sorted.map(({ sequence }) => Number(sequence))).toEqual(Array.from({ length: 12 }, (_one, at) => at + 1));
    },
  );

  verifies(
    ['catalogue:events:outbox-relay'],
    'while the receiver fails or loses answers no event is lost, and repeated ones have the same id',
    async () => {
      let failures = 0;
      answer = () => {
        failures += 1;
        return failures % 3 === 0 ? 204 : failures % 3 === 1 ? 503 : 'cut';
      };
      const agents = await Promise.all(Array.from({ length: 4 }, (_one, at) => world.publish(`retried-${at}`)));
      for (const { name } of agents) world.resources.remove('agents', name);
      for (const agent of agents) {
        const distinct = () => [...new Map(eventsOf(agent).map((event) => [event.id, event])).values()];
        await until(`all events of ${agent.name} were received`, () => distinct().length === 3);
        expect(distinct().map(({ sequence }) => sequence)).toEqual([1, 2, 3].map(sequenceOf));
      }
      answer = () => 204;
      await until('nothing is open', async () => (await metric('open_events')) === 0);
      expect(await metric('oldest_event_seconds')).toBe(0);
    },
  );

  verifies(
    ['catalogue:events:outbox-relay'],
    'an event that is refused ten times is parked and counted, and the later ones of its agent are delivered',
    async () => {
      answer = ({ type }) => (type.endsWith('agent.activated') ? 422 : 204);
      const agent = await world.publish('poison');
      world.resources.remove('agents', 'poison');
      await until('the last event was received', () => typesOf(agent).at(-1) === 'agent.removed');
      expect(typesOf(agent).filter((type) => type === 'agent.activated')).toHaveLength(10);
      expect(await metric('parked_events')).toBe(1);
      answer = () => 204;
    },
  );

  verifies(
    ['catalogue:events:outbox-relay'],
    'a parked event is kept for seven days from its parking, and a delivered one from the moment when it happened',
    async () => {
      const { sql } = world.database;
      const week = 7 * 24 * 60;
      /** Ages in minutes. */
      const insert = async (ages: {
        readonly happened: number;
        readonly delivered?: number;
        readonly parked?: number;
      }) => {
        const id: string = randomUUID();
        const ago = (minutes: number | undefined) =>
          sql`clock_timestamp() - make_interval(mins => ${minutes ?? null}::int)`;
        await sql`
          insert into catalogue.outbox (event_id, agent_id, event_no, type, occurred_at, delivered_at, parked_at)
          values (${id}::uuid, ${id}::uuid, 1, 'agent.removed', ${ago(ages.happened)}, ${ago(ages.delivered)},
            ${ago(ages.parked)})`;
        return id;
      };
      const stay = [
        await insert({ happened: 5 * week, parked: 0 }),
        await insert({ happened: 5 * week, parked: week - 60 }),
        await insert({ happened: week - 60, delivered: 0 }),
      ];
      const go = [
        await insert({ happened: 5 * week, parked: week + 1 }),
        await insert({ happened: week + 1, delivered: 0 }),
      ];
      const stored = async () => {
        const ids = sql.array([...stay, ...go]);
        const rows = await sql<{ event_id: string }[]>`
          select event_id from catalogue.outbox where event_id = any(${ids}::uuid[])`;
        return rows.map(({ event_id: id }) => id).toSorted();
      };
      await until('the old ones are gone', async () => (await stored()).every((id) => !go.includes(id)));
      expect(await stored()).toEqual(stay.toSorted());
      await sql`delete from catalogue.outbox where event_id = any(${sql.array(stay)}::uuid[])`;
    },
  );

  verifies(
    ['catalogue:events:outbox-relay'],
    'delivered and parked events are sent again from a number of their agent or from a point in time, with their ids and in their order',
    async () => {
      const agent = await world.publish('replayed');
      const other = await world.publish('untouched');
      world.resources.remove('agents', 'replayed');
      await until('all of both were received', () => eventsOf(agent).length === 3 && eventsOf(other).length === 2);
      const [first, second, third] = eventsOf(agent).map(({ id }) => id);
      await until('nothing is open', async () => (await metric('open_events')) === 0);
      const { agentId } = agent;
      expect(await replayEvents(world.database.sql, { kind: 'agent', agentId, sequence: 2n })).toBe(2);
      await until('two were received again', () => eventsOf(agent).length === 5);
      expect(eventsOf(agent).map(({ id }) => id)).toEqual([first, second, third, second, third]);
      // A timestamp has milliseconds, so that these events may have the same timestamp.
      await world.database.sql`
        update catalogue.outbox set occurred_at = occurred_at - make_interval(hours => 4 - event_no::int)
        where agent_id = ${agentId}::uuid`;
      const [row] = await world.database.sql<{ since: Date }[]>`
        select occurred_at as since from catalogue.outbox where event_id = ${second ?? ''}::uuid`;
      await until('nothing is open again', async () => (await metric('open_events')) === 0);
      const since = row?.since ?? new Date(0);
      expect(await replayEvents(world.database.sql, { kind: 'moment', since })).toBeGreaterThanOrEqual(2);
      await until('two were received once more', () => eventsOf(agent).length === 7);
      expect(
        eventsOf(agent)
          .slice(5)
          .map(({ id }) => id),
      ).toEqual([second, third]);
      const later = new Date(Date.now() + 3_600_000);
      expect(await replayEvents(world.database.sql, { kind: 'moment', since: later })).toBe(0);
      // The reported lag starts at the replay, although the events themselves are hours old.
      await until('nothing is open once more', async () => (await metric('open_events')) === 0);
      answer = () => 503;
      expect(await replayEvents(world.database.sql, { kind: 'agent', agentId, sequence: 2n })).toBe(2);
      expect(await metric('open_events')).toBe(2);
      expect(await metric('oldest_event_seconds')).toBeLessThan(3_600);
      answer = () => 204;
      await until('nothing is open at the end', async () => (await metric('open_events')) === 0);
    },
  );
});
