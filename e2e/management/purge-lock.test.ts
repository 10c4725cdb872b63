import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { openService } from '../../operator/management/testing/open-service.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { callUrl } from './call-api.ts';
import { newKey } from './start-management.ts';

const policies = '/api/v1/guardrail-policies';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the lock of rights'), () => {
  test('a right changes while a purge reads long lists of resources', async () => {
    const opened = Promise.withResolvers<void>();
    let isReading = false;
    const wrapClient = (client: KubeClient): KubeClient => ({
      ...client,
      async list(kind, options) {
        if (kind.plural === kinds.agentVersion.plural) {
          isReading = true;
          await opened.promise;
        }
        return client.list(kind, options);
      },
    });
    await using open = await openService({ wrapClient });
    const call = (path: string, method: string, body?: unknown, etag?: string) =>
      callUrl(`${open.service.url}${path}`, {
        ...{ method, body, token: null },
        headers: { 'idempotency-key': newKey(), 'if-match': etag },
      });
    const policy = { name: 'long', definition: definitionOf('long') };
    const path = `${policies}/${(await call(policies, 'POST', policy)).json.target.id}`;
    const read = await until('the policy is recorded', async () => {
      const answer = await call(path, 'GET');
      return answer.status === 200 && answer;
    });
    await call(path, 'PUT', { ...policy, status: 'draft', description: '2' }, String(read.headers['etag']));
    const purging = call(`/api/v1/policy-purges/${read.json.id}/1`, 'POST');
    await until('the purge reads lists', () => isReading);
    const right = { role: 'viewer', holder: { issuer: 'test', subject: 'granted-meanwhile' } };
    expect((await call('/api/v1/rights/grant', 'POST', right)).status).toBe(200);
    opened.resolve();
    expect((await purging).json).toMatchObject({ revision: 1, changed: true });
  });
});
