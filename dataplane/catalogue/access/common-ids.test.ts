import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commonIds, type IdList } from './common-ids.ts';

const sorted = fc.uniqueArray(fc.nat({ max: 60 })).map((numbers) => numbers.map((one) => `${100 + one}`).toSorted());

test('common ids are those in every list, read in parts without gaps or repetitions', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sorted, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 7 }),
      async (all, limit) => {
        const lists = all.map(
          (ids): IdList =>
            async (window) =>
              ids.filter((id) => id >= window.from).slice(0, window.limit),
        );
        const found: string[] = [];
        for (let from: string | undefined = ''; from !== undefined; ) {
          const part = await commonIds(lists, { from, limit });
          expect(part.ids.length).toBe(part.next === undefined ? Math.min(part.ids.length, limit) : limit);
          found.push(...part.ids);
          from = part.next;
        }
        expect(found).toEqual(all[0]?.filter((id) => all.every((ids) => ids.includes(id))));
      },
    ),
  );
});

test('the values between two ids of a short list are not read from a long list', async () => {
  let read = 0;
  const long: IdList = async ({ from, limit }) => {
    const start = Math.max(0, Number(from));
    const ids = Array.from({ length: Math.min(limit, 100_000 - start) }, (_one, at) =>
      String(start + at).padStart(6, '0'),
    );
    read += ids.length;
    return ids;
  };
  const short: IdList = async ({ from, limit }) => ['050000', '099999'].filter((id) => id >= from).slice(0, limit);
  expect(await commonIds([long, short], { from: '', limit: 10 })).toEqual({
    ids: ['050000', '099999'],
    next: undefined,
  });
  expect(read).toBeLessThan(50);
});
