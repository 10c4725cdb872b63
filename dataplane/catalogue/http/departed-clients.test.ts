import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { Relations } from '#relations/ports';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { openCatalogue } from '../testing/open-catalogue.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('clients of the catalogue that leave'), () => {
  test.each([['/api/v1/agents'], ['/api/v1/agents?state=removed&workspaceId=none']])(
    '%s of a caller with rights on very many agents ends when its client leaves',
    async (path) => {
      let isEndless = true;
      let asked = 0;
      // A store in which the caller has rights on an unlimited number of agents, none of which match the filters.
      const relations: Pick<Relations, 'nextObjects' | 'checkEach'> = {
        checkEach: async (_subject, _relation, objects) => objects.map(() => false),
        async nextObjects(_subject, _relation, _type, { from, limit }) {
          asked += 1;
          await setImmediate();
          const first = Number(from?.slice(-12)) || 1;
          const numbers = isEndless ? Array.from({ length: limit }, (_one, at) => first + at) : [];
          return numbers.map((number) => `agent:00000000-0000-4000-8000-${String(number).padStart(12, '0')}`);
        },
      };
      await using world = await openCatalogue({ overrides: { relations } });
      try {
        const client = new AbortController();
        const headers = { authorization: `Bearer ${await world.token('ann')}` };
        const answer = fetch(`${world.url}${path}`, { headers, signal: client.signal });
        await until('the list reads on', () => asked > 6);
        client.abort();
        await expect(answer).rejects.toThrow();
        await until('the list has ended', () => world.log().includes('request_ended'));
        expect(world.log()).toContain('"code":"invalid_request"');
      } finally {
        isEndless = false;
      }
    },
  );
});
