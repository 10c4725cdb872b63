import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { createAuthority } from '../../../hack/cluster/certificates/authority.ts';
import { chatCall } from '../../support/chat-call.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { alias, startGuardedGateway } from '../../support/start-guarded-gateway.ts';

const authority = createAuthority();

/** A provider with a certificate of an authority that is not trusted by default. */
async function startPrivateProvider() {
  const { certificate: cert, key } = authority.issueServer({ commonName: 'models' }, ['127.0.0.1']);
  let questions = 0;
  const server = createServer({ cert, key }, (incoming, outgoing) => {
    questions += 1;
    incoming.resume().on('end', () => {
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end(completionBody('from a private place'));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    questions: () => questions,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

test('a provider with a certificate of a private CA gets requests only when that CA is trusted', async () => {
  await using provider = await startPrivateProvider();
  using folder = temporaryFolder();
  const file = join(folder.path, 'ca.crt');
  writeFileSync(file, authority.certificate);
  const ask = async (environment: Readonly<Record<string, string>>) => {
    await using gateway = await startGuardedGateway({
      environment,
      change: (route) => ({ ...route, upstream: { ...route.upstream, endpoint: provider.url } }),
    });
    const { url, key } = gateway;
    return await until('the alias is served', async () => {
      const result = await chatCall({ url, key, model: alias, content: 'hello', stream: false });
      return result.status !== undefined && ![404, 503].includes(result.status) && result;
    });
  };
  expect(await ask({ NODE_EXTRA_CA_CERTS: file })).toMatchObject({ status: 200, text: 'from a private place' });
  expect(provider.questions()).toBe(1);
  expect(await ask({})).toMatchObject({ status: 502, error: { code: 'upstream_unreachable' } });
  expect(provider.questions()).toBe(1);
});
