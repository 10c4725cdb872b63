import { describe, expect, test } from 'vitest';
import { createCookies } from './cookies.ts';

const rights = {
  ...{ view: true, author: true, check: true, apply: true, administer: true },
  ...{ readsPolicies: true, readsModels: true },
};
const key = Buffer.alloc(32, 7);
const cookies = createCookies(key, 'https://console.example');
const attemptOf = (state: string) => ({ state, nonce: 'n', verifier: 'v', returnTo: '/' });
const headerOf = (values: readonly string[]): string => values.map((value) => value.split(';')[0]).join('; ');

describe('cookies of the console', () => {
  test('two tabs sign in at the same time, and the end of one attempt does not affect the other', async () => {
    const [one, other] = [attemptOf('a-state'), attemptOf('b-state')];
    const header = headerOf([...(await cookies.begin(one)), ...(await cookies.begin(other))]);
    expect(await cookies.attempt(header, one.state)).toEqual(one);
    expect(await cookies.attempt(header, other.state)).toEqual(other);
    const [removed = ''] = cookies.settle(one.state);
    expect(removed).toContain('Max-Age=0');
    expect(header).toContain(`${removed.split('=')[0]}=`);
    expect(cookies.settle(other.state)[0]?.split('=')[0]).not.toBe(removed.split('=')[0]);
  });

  test('any number of attempts takes at most 16 cookies, with names that a header can have', async () => {
    const states = Array.from({ length: 200 }, (_, at) => String.fromCodePoint(32 + at * 51));
    const names = new Set(states.map((state) => cookies.settle(state)[0]?.split('=')[0]));
    expect(names.size).toBe(16);
    for (const name of names) expect(name).toMatch(/^__Host-portcullis-sign-in-\d+$/);
    expect(await cookies.attempt(undefined, '')).toBeUndefined();
    expect(await cookies.attempt('', '')).toBeUndefined();
  });

  test.each([
    ['https://console.example', true],
    ['http://127.0.0.1:8090', false],
  ])(
    'the cookies of %s are Secure: %s; each is HttpOnly and SameSite=Lax, and a sign-out removes each',
    async (origin, isSecure) => {
      const own = createCookies(key, origin);
      const session = { subject: 'ann', token: 't'.repeat(5_000), csrf: 'c'.repeat(32), rights };
      const kept = await own.keep({ ...session, expiresAt: Math.floor(Date.now() / 1_000) + 60 });
      for (const value of [...kept, ...(await own.begin(attemptOf('s')))]) {
        expect([value.includes('; Secure'), value.startsWith('__Host-')]).toEqual([isSecure, isSecure]);
        expect(value).toContain('; Path=/; HttpOnly; SameSite=Lax; Max-Age=');
      }
      const nameOf = (value: string) => value.split('=')[0];
      expect(own.forget().map(nameOf)).toEqual(expect.arrayContaining(kept.map(nameOf)));
    },
  );

  test('the answer to a sign-in has few header bytes, and ends the parts of an earlier, longer session', async () => {
    const expiresAt = Math.floor(Date.now() / 1_000) + 60;
    const sessionWith = (length: number) => ({
      subject: 'ann',
      token: 't'.repeat(length),
      csrf: 'c'.repeat(32),
      rights,
      expiresAt,
    });
    const kept = await cookies.keep(sessionWith(1_500));
    expect(kept.join('').length).toBeLessThan(3_000);
    const long = headerOf(await cookies.keep(sessionWith(9_000)));
    const again = await cookies.keep(sessionWith(1_500), long);
    const header = headerOf(again.filter((value) => !value.includes('Max-Age=0')));
    expect((await cookies.session(header))?.token).toHaveLength(1_500);
    const ended = again.filter((value) => value.includes('Max-Age=0')).map((value) => value.split('=')[0]);
    expect([...ended, header.split('=')[0]].toSorted()).toEqual(
      long
        .split('; ')
        .map((value) => value.split('=')[0])
        .toSorted(),
    );
  });
});
