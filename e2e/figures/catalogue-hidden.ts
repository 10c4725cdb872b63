import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { startCatalogue } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import type { Figure } from '../support/figure.ts';
import { chanceBand, guessFromTimes } from '../support/guess-from-times.ts';
import { randomFrom } from '../support/random-from.ts';

const pairs = { full: 20_000, small: 500 } as const;
/** Groups that may view the hidden agent, so that a question from its side would cost more than one about nothing. */
const groups = 50;
const missing = ['01890a5d-ac96-774b-bcce-b302099a8077', '01890a5d-ac96-774b-bcce-b302099a8078'] as const;
type Kind = 'hidden' | 'missing' | 'control';

export const figure: Figure = {
  name: 'catalogue-hidden',
  title:
    'reads of an agent that 50 groups but not the caller may view, of a missing one and of a second missing one, in random order: equal bytes, and times that tell hidden from missing within the 99 % band of missing from missing',
  async run(size, say) {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    await using server = await startTestServer();
    await using world = await startCatalogue(await server.createDatabase());
    const [hidden, seen] = [await world.publish('hidden'), await world.publish('seen')];
    await world.allow('bob', 'view', seen);
    await world.relations.grant(
      Array.from({ length: groups }, (_one, at) => ({
        subject: `group:acme/${at}#member`,
        relation: 'view',
        object: `agent:${hidden.agentId}`,
      })),
    );
    let token = '';
    const ids: Readonly<Record<Kind, string>> = { hidden: hidden.agentId, missing: missing[0], control: missing[1] };
    const times: Record<Kind, number[]> = { hidden: [], missing: [], control: [] };
    const bytes = new Set<string>();
    const random = randomFrom(17);
    let others = 0;
    for (let at = -200; at < pairs[size]; at += 1) {
      // A token is valid for ten minutes, which is less than a full run on a busy machine takes.
      if (at % 1_000 === -200 || at % 1_000 === 0) token = await world.token('bob');
      const order: Kind[] = ['hidden', 'missing', 'control'];
      order.sort(() => random() - 0.5);
      for (const kind of order) {
        const start = performance.now();
        const answer = await world.ask(token, `/api/v1/agents/${ids[kind]}`);
        const ms = performance.now() - start;
        if (answer.status !== 404) others += 1;
        const headers = [...answer.headers].filter(([name]) => name !== 'date' && name !== 'traceparent');
        bytes.add(JSON.stringify([answer.status, headers, answer.text.replace(/"traceId":"[0-9a-f]+"/, '')]));
        if (at >= 0) times[kind].push(ms);
      }
      if (at > 0 && at % 5_000 === 0) say(`${at} pairs`);
    }
    const found = guessFromTimes(times.hidden, times.missing);
    const chance = guessFromTimes(times.control, times.missing);
    const count = pairs[size];
    const band = chanceBand(count);
    const holds = bytes.size === 1 && others === 0 && Math.abs(found - 0.5) <= Math.max(band, Math.abs(chance - 0.5));
    return {
      holds,
      line: `${count} pairs: ${bytes.size} different answers; by response time, a hidden agent is distinguished from a missing one with probability ${found.toFixed(4)}, a missing one from a missing one with ${chance.toFixed(4)}; chance is 0.5 ± ${band.toFixed(4)}`,
    };
  },
};
