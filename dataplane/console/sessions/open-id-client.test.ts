import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { createOpenIdClient, SignInError } from './open-id-client.ts';

/** An OpenID provider that refuses every code, and keeps the token requests; `answer` is the status of each answer, 0 for no answer. */
async function startProvider() {
  const asked: URLSearchParams[] = [];
  const credentials: (string | undefined)[] = [];
  const state = { answer: 400 };
  const server = createServer(async (request, response) => {
    const issuer = `http://${request.headers.host}`;
    response.setHeader('content-type', 'application/json');
    if (request.method === 'GET') {
      const metadata = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
      response.end(JSON.stringify(metadata));
      return;
    }
    asked.push(new URLSearchParams(await text(request)));
    credentials.push(request.headers.authorization);
    if (state.answer === 0) {
      response.destroy();
      return;
    }
    response.statusCode = state.answer;
    response.end(JSON.stringify({ error: 'invalid_grant' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    asked,
    credentials,
    state,
    issuer: new URL(`http://127.0.0.1:${port}`),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test.each([
  ['https://api.example', ['https://api.example']],
  [undefined, []],
])(
  'a sign-in for the resource %s names it in the authorization request and in the token request (RFC 8707)',
  async (resource, named) => {
    await using provider = await startProvider();
    const config = { issuer: provider.issuer, clientId: 'c', clientSecretFile: undefined, scope: 'openid', resource };
    const client = createOpenIdClient(config, 'http://127.0.0.1/callback');
    const { attempt, url } = await client.begin('/', 'en');
    expect(new URL(url).searchParams.getAll('resource')).toEqual(named);
    const came = new URL(`http://127.0.0.1/callback?code=x&state=${attempt.state}`);
    await expect(client.finish(came, attempt)).rejects.toBeInstanceOf(SignInError);
    expect(provider.asked.map((form) => form.getAll('resource'))).toEqual([named]);
  },
);

test('a client secret that was rotated is used by the next sign-in', async () => {
  await using provider = await startProvider();
  using folder = temporaryFolder();
  const clientSecretFile = join(folder.path, 'secret');
  const config = { issuer: provider.issuer, clientId: 'c', clientSecretFile, scope: 'openid', resource: undefined };
  const client = createOpenIdClient(config, 'http://127.0.0.1/callback');
  for (const secret of ['first', 'second']) {
    writeFileSync(clientSecretFile, `${secret}\n`);
    const { attempt } = await client.begin('/', 'en');
    const came = new URL(`http://127.0.0.1/callback?code=x&state=${attempt.state}`);
    await expect(client.finish(came, attempt)).rejects.toMatchObject({ code: 'refused' });
  }
  expect(provider.credentials).toEqual(['c:first', 'c:second'].map((text) => `Basic ${btoa(text)}`));
});

test.each([
  [0, 'unavailable'],
  [500, 'unavailable'],
  [503, 'unavailable'],
  [400, 'refused'],
  [401, 'refused'],
] as const)('a sign-in whose token request is answered with %i is %s', async (answer, code) => {
  await using provider = await startProvider();
  const { issuer, state } = provider;
  const config = { issuer, clientId: 'c', clientSecretFile: undefined, scope: 'openid', resource: undefined };
  const client = createOpenIdClient(config, 'http://127.0.0.1/callback');
  const { attempt } = await client.begin('/', 'en');
  state.answer = answer;
  const came = new URL(`http://127.0.0.1/callback?code=x&state=${attempt.state}`);
  await expect(client.finish(came, attempt)).rejects.toMatchObject({ code });
});
