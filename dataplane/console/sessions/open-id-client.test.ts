import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createOpenIdClient, SignInError } from './open-id-client.ts';

/** An OpenID provider that refuses every code, and keeps the token requests. */
async function startProvider() {
  const asked: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    const issuer = `http://${request.headers.host}`;
    response.setHeader('content-type', 'application/json');
    if (request.method === 'GET') {
      const metadata = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
      response.end(JSON.stringify(metadata));
      return;
    }
    asked.push(new URLSearchParams(await text(request)));
    response.statusCode = 400;
    response.end(JSON.stringify({ error: 'invalid_grant' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    asked,
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
