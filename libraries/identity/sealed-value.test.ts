import { expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { createSealer } from './sealed-value.ts';

const key = Buffer.alloc(32, 1);
const value = { subject: 'ann', token: 'secret' };

test('a sealed value is opened with its key and purpose only, and contains no clear text', async () => {
  const until = new Date(Date.now() + 60_000);
  const sealed = await createSealer(key, 'session').seal(value, until);
  expect(sealed).not.toContain('secret');
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('secret');
  expect(await createSealer(key, 'session').open(sealed)).toEqual(value);
  expect(await createSealer(Buffer.alloc(32, 2), 'session').open(sealed)).toBeUndefined();
  expect(await createSealer(key, 'sign-in').open(sealed)).toBeUndefined();
});

test('a sealed value is refused after its expiry, and after any change of a character', async () => {
  const clock = createFakeClock(new Date());
  const sealer = createSealer(key, 'session', clock);
  const sealed = await sealer.seal(value, new Date(clock.date().getTime() + 10_000));
  expect(await sealer.open(sealed)).toEqual(value);
  const changed = `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`;
  for (const text of [changed, '', 'a.b.c', sealed.slice(1)]) expect(await sealer.open(text)).toBeUndefined();
  clock.advance(10_000);
  expect(await sealer.open(sealed)).toBeUndefined();
});
