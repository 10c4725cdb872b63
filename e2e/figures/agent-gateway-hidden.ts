import { openRelations } from '#relations/adapters/open-relations';
import { connectSql, passwordFrom } from '#sql/connect';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { agentId, routedVersion, startAgentPlane } from '../../dataplane/gateway/agents/testing/start-agent-plane.ts';
import type { Figure } from '../support/figure.ts';
import { chanceBand, guessFromTimes } from '../support/guess-from-times.ts';
import { randomFrom } from '../support/random-from.ts';

const pairs = { full: 20_000, small: 1_000 } as const;
/** Groups that may view and invoke the hidden agent, so that a question from its side would cost more than one about nothing. */
const groups = 50;
const operations = ['/mcp', '/message:send'] as const;
const missing = ['01890a5d-ac96-774b-bcce-b302099a8077', '01890a5d-ac96-774b-bcce-b302099a8078'] as const;
type Kind = 'hidden' | 'missing' | 'control';
type Seen = { readonly bytes: string; readonly ms: number };

export const figure: Figure = {
  name: 'agent-gateway-hidden',
  title:
    'requests of a person without rights to an agent that 50 groups may view and invoke, to a missing one and to a second missing one, in random order with rights in PostgreSQL: equal bytes, and times that tell hidden from missing within the 99 % band of missing from missing',
  async run(size, say) {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    await using server = await startTestServer();
    const { url, passwordFile } = await server.createDatabase();
    await using database = connectSql({ url, applicationName: 'agents', password: passwordFrom(passwordFile) });
    const relations = await openRelations({ kind: 'postgres' }, database, undefined);
    await relations.grant(
      Array.from({ length: groups }, (_one, at) =>
        (['view', 'invoke'] as const).map((relation) => ({
          subject: `group:acme/${at}#member`,
          relation,
          object: `agent:${agentId}`,
        })),
      ).flat(),
    );
    await using world = await startAgentPlane(undefined, [], undefined, relations);
    await world.serve({ versions: [routedVersion(await world.startProcess())] });
    let token = '';
    const paths: Readonly<Record<Kind, string>> = { hidden: agentId, missing: missing[0], control: missing[1] };
    const ask = async (kind: Kind, operation: string): Promise<Seen> => {
      const start = performance.now();
      const answer = await world.call(`/agents/${paths[kind]}${operation}`, { token, body: '{}' });
      const text = await answer.text();
      const ms = performance.now() - start;
      const headers = [...answer.headers].filter(([name]) => name !== 'date' && name !== 'traceparent');
      return { bytes: JSON.stringify([answer.status, headers, text.replace(/"traceId":"[0-9a-f]+"/, '')]), ms };
    };
    const random = randomFrom(16);
    const times: Record<Kind, number[]> = { hidden: [], missing: [], control: [] };
    const bytes = { '/mcp': new Set<string>(), '/message:send': new Set<string>() };
    for (let at = -200; at < pairs[size]; at += 1) {
      // A token is valid for five minutes, which is less than a full run on a busy machine takes.
      if (at % 1_000 === -200 || at % 1_000 === 0) token = await world.personToken('bob');
      const operation = at % 2 === 0 ? '/mcp' : '/message:send';
      const order: Kind[] = ['hidden', 'missing', 'control'];
      order.sort(() => random() - 0.5);
      for (const kind of order) {
        const seen = await ask(kind, operation);
        bytes[operation].add(seen.bytes);
        if (at >= 0) times[kind].push(seen.ms);
      }
      if (at > 0 && at % 5_000 === 0) say(`${at} pairs`);
    }
    const [found, chance] = [guessFromTimes(times.hidden, times.missing), guessFromTimes(times.control, times.missing)];
    const count = pairs[size];
    const band = chanceBand(count);
    const answers = operations.map((operation) => bytes[operation].size);
    const holds = answers.every((of) => of === 1) && Math.abs(found - 0.5) <= Math.max(band, Math.abs(chance - 0.5));
    return {
      holds,
      line: `${count} pairs, ${answers.join(' and ')} distinct answers of ${operations.join(' and ')}; by response time, a hidden agent is distinguished from a missing one with probability ${found.toFixed(4)}, a missing one from a missing one with ${chance.toFixed(4)}; chance is 0.5 ± ${band.toFixed(4)}`,
    };
  },
};
