import { expect, test } from 'vitest';
import { missingPostgres } from '#sql/testing/test-server';
import { openManagementWorld } from './open-management-world.ts';

test.skipIf(missingPostgres !== undefined)(
  'a page of policies as resources has at most 10, whatever limit is requested, and the next page has the others',
  async () => {
    await using world = await openManagementWorld();
    const page = async (query = '') => {
      const { json } = await world.api.call(`/api/v1/resources/guardrailpolicies${query}`);
      const { items, continue: next } = json as {
        readonly items: readonly unknown[];
        readonly continue: string | null;
      };
      return { size: items.length, next };
    };
    for (let made = 1; made <= 10; made += 1) await world.createPolicy(`page-${made}`);
    for (const query of ['', '?limit=500']) expect(await page(query)).toEqual({ size: 10, next: null });
    expect(await page('?limit=9')).toEqual({ size: 9, next: expect.any(String) });
    await world.createPolicy('page-11');
    for (const query of ['', '?limit=500']) expect(await page(query)).toEqual({ size: 10, next: expect.any(String) });
    const { next } = await page();
    expect(await page(`?continue=${encodeURIComponent(next ?? '')}`)).toEqual({ size: 1, next: null });
  },
);
