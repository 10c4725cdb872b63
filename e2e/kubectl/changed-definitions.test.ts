import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { kinds } from '#resources/kinds';
import { createBoundedClient } from '../../cli/resources/bounded-client.ts';
import { policyObject } from '../../operator/testing/objects.ts';
import { type ApiServer, missingApiServer, onApiServer, openApiServer } from '../kube/open-api-server.ts';
import { pluginFor } from './run-plugin.ts';

/** The API server closes the storage of a changed kind and answers the first requests with Retry-After. */
async function changeDefinitions({ kubectl }: ApiServer, description: string): Promise<void> {
  const path = '/spec/versions/0/additionalPrinterColumns/0/description';
  const patch = JSON.stringify([{ op: 'replace', path, value: description }]);
  for (const { plural } of Object.values(kinds)) {
    await kubectl('patch', 'customresourcedefinition', `${plural}.portcullis.dev`, '--type=json', `--patch=${patch}`);
  }
}

/** Number of lists that the API server answered with Retry-After, from its audit log. */
function refusedLists({ controlPlane }: ApiServer): number {
  const lines = readFileSync(controlPlane.auditLogFile, 'utf8').trim().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as { verb: string; responseStatus?: { code?: number } });
  return entries.filter(({ verb, responseStatus }) => verb === 'list' && responseStatus?.code === 429).length;
}

describe.skipIf(missingApiServer !== undefined)(onApiServer('clients right after a change of the definitions'), () => {
  const parts = new AsyncDisposableStack();
  let server: ApiServer;
  beforeAll(async () => {
    // No other client requests these kinds.
    server = parts.use(await openApiServer({ audit: true }));
  });
  afterAll(() => parts.disposeAsync());

  test('the client of the command line retries when the API server sends Retry-After', async () => {
    const refused = refusedLists(server);
    await changeDefinitions(server, 'another one');
    await using client = createBoundedClient({ ...server.access, namespace: 'default' }, 30);
    for (const kind of Object.values(kinds)) expect((await client.list(kind)).items).toEqual([]);
    expect(refusedLists(server)).toBeGreaterThan(refused);
  });

  test('a backup and a restore succeed right after a change of the definitions', async () => {
    using folder = temporaryFolder();
    const client = await server.client();
    const plugin = pluginFor(server.controlPlane.kubeconfigFile, client.namespace);
    const file = join(folder.path, 'backup.json');
    const policy = await client.create(kinds.guardrailPolicy, policyObject('guard'));
    await changeDefinitions(server, 'changed before the backup');
    expect(await plugin(['backup', '-o', file])).toMatchObject({ code: 0, stderr: '' });
    await client.delete(kinds.guardrailPolicy, 'guard', { uid: policy.metadata.uid });
    await changeDefinitions(server, 'changed before the restore');
    expect(await plugin(['restore', file])).toMatchObject({ code: 0, stderr: '' });
    expect((await client.get(kinds.guardrailPolicy, 'guard'))?.spec).toEqual(policy.spec);
  });
});
