import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listen } from '#kit/http/listen';
import { unusedPort } from '#kit/testing/loopback';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { createConsoleService } from '../../dataplane/console/service.ts';
import { createSignInService } from '../../dataplane/signin/service.ts';

const nowhere = new URL('http://127.0.0.1:9');
const logLevel = 'error';

/** A management API that refuses each request with this status. */
function startRefusing(status: number) {
  return listen({
    ...{ host: '127.0.0.1', port: 0, headersTimeoutMs: 5_000, keepAliveTimeoutMs: 5_000, maxHeaderBytes: 16_384 },
    handler: (_incoming, outgoing) => {
      outgoing.writeHead(status, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ error: { code: 'error', message: '' } }));
    },
  });
}

/** Signs a person in, and returns the address of the first page of this person. */
async function firstPageOf(management: URL): Promise<string | null> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder());
  const free = { host: '127.0.0.1', port: 0 };
  const port = await unusedPort();
  const origin = `http://127.0.0.1:${port}`;
  const codeFile = join(folder.path, 'code');
  const signIn = parts.use(
    await createSignInService({
      ...{ ...free, logLevel, codeFile, keyFile: join(folder.path, 'keys.json'), persons: ['ann'] },
      ...{ issuer: 'http://issuer.test', audience: 'portcullis', sessionSeconds: 600 },
      redirectUri: `${origin}/sign-in/callback`,
    }),
  );
  const oidc = { issuer: new URL(signIn.url), clientId: 'portcullis-console', clientSecretFile: undefined };
  parts.use(
    await createConsoleService(
      {
        ...{ listen: { ...free, port }, adminListen: free, origin, logLevel },
        oidc: { ...oidc, scope: 'openid', resource: undefined },
        services: { management, retrieval: undefined, memory: undefined, catalogue: nowhere, gateway: undefined },
        ...{ tenant: 'default', identity: 'development', actChain: false, persons: [] },
      },
      Buffer.alloc(32, 7),
    ),
  );
  let cookie = '';
  const open = async (url: string, init: RequestInit = {}) => {
    const answer = await fetch(url, { redirect: 'manual', ...init, headers: { cookie, ...init.headers } });
    const kept = answer.headers.getSetCookie().filter((one) => !one.includes('Max-Age=0'));
    cookie = [cookie, ...kept.map((one) => one.split(';')[0] ?? '')].filter((one) => one !== '').join('; ');
    return answer.headers.get('location');
  };
  const asked = new URL((await open(`${origin}/sign-in`)) ?? '');
  const given = { person: 'ann', code_of_terminal: readFileSync(codeFile, 'utf8').trim() };
  const body = new URLSearchParams({ ...Object.fromEntries(asked.searchParams), ...given });
  const back = await open(`${signIn.url}/authorize`, { method: 'POST', body, headers: { origin: signIn.url } });
  expect(await open(back ?? '')).toBe('/');
  return await open(`${origin}/`);
}

test.each([429, 503, 504])(
  'a person who signs in while the rights are answered with %i begins with the page that shows it',
  async (status) => {
    await using refusing = await startRefusing(status);
    expect(await firstPageOf(new URL(refusing.url))).toBe('/overview');
  },
);

test('a person who signs in while the management API does not answer begins with the page that shows it', async () => {
  expect(await firstPageOf(nowhere)).toBe('/overview');
});

test('a person whose rights the management API refuses begins with a page that needs no right', async () => {
  await using refusing = await startRefusing(403);
  expect(await firstPageOf(new URL(refusing.url))).toBe('/agents');
});
