import { expect, test } from 'vitest';
import { kinds } from '#resources/kinds';
import { createClient } from '../client/client.ts';
import { startFakeApiServer } from './fake-api-server.ts';

test('a watch from an earlier version receives the deletions since', async () => {
  await using server = await startFakeApiServer();
  await using client = createClient({
    url: server.url,
    credentials: { authorization: () => 'Bearer token' },
    namespace: 'default',
  });
  for (const name of ['kept', 'gone']) {
    await client.create(kinds.agent, { apiVersion: 'portcullis.dev/v1alpha1', kind: 'Agent', metadata: { name } });
  }
  const { resourceVersion } = await client.list(kinds.agent);
  server.remove('agents', 'gone');
  const stop = new AbortController();
  const watch = client.watch(kinds.agent, { resourceVersion, signal: stop.signal });
  const first = await watch[Symbol.asyncIterator]().next();
  expect(first.value).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'gone' } } });
  stop.abort();
});
