import { expect, test } from 'vitest';
import { identifyByHeaders } from './identify-caller.ts';

const identify = identifyByHeaders({ verify: () => Promise.reject(new Error('no token was sent')) });
const person = { 'X-User-Id': 'ann', 'X-Tenant-Id': 'acme', 'X-Groups': 'staff' };
const call = (headers: Readonly<Record<string, string>>, remoteAddress: string | undefined) =>
  identify({ rawHeaders: Object.entries(headers).flat(), remoteAddress }, 'a');

test.each(['127.0.0.1', '127.8.0.1', '::1', '::ffff:127.0.0.1'])(
  'in development mode headers on a connection from %s name the person of the services',
  async (address) => {
    expect(await call(person, address)).toMatchObject({
      kind: 'caller',
      subject: { issuer: 'development:acme', subject: 'ann' },
      tenant: 'acme',
      groups: ['staff'],
      actors: [],
    });
  },
);

test.each(['10.0.0.1', '1127.0.0.1', '::ffff:10.0.0.1', '::1:1', 'fe80::1', undefined])(
  'in development mode headers on a connection from %s do not identify a caller',
  async (address) => {
    expect(await call(person, address)).toEqual({ kind: 'refused', code: 'unauthenticated' });
  },
);

test.each(['X-User-Id', 'X-Tenant-Id'])('in development mode a call without %s is refused', async (absent) => {
  const headers = Object.fromEntries(Object.entries(person).filter(([name]) => name !== absent));
  expect(await call(headers, '127.0.0.1')).toEqual({ kind: 'refused', code: 'unauthenticated' });
});
