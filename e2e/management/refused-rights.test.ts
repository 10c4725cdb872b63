import { describe, expect, test } from 'vitest';
import type { AuditEntry } from '#contracts/audit';
import type { Relations } from '#relations/ports';
import { RelationsUnavailableError } from '#relations/ports';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import type { ManagementOverrides } from '../../operator/management/service.ts';
import { openService } from '../../operator/management/testing/open-service.ts';
import { callUrl } from './call-api.ts';

type Failing = 'authorizer' | 'tuplesOf' | 'grant';

/** A store of rights outside of the database that does not answer one kind of request. */
function accessWith(failing: Failing): NonNullable<ManagementOverrides['access']> {
  const answer = async <T>(request: Failing, value: T): Promise<T> => {
    if (request === failing) throw new RelationsUnavailableError();
    return value;
  };
  const author = { kind: 'token' as const, issuer: 'test', subject: 'administrator', actors: [] };
  const caller = { subject: 'user:test|administrator', author, groups: [] };
  const relations = {
    joinsTransactions: false,
    tuplesOf: () => answer('tuplesOf', []),
    grant: () => answer('grant', undefined),
  } as unknown as Relations;
  return {
    authorizer: {
      async authorize(_headers, { operation }) {
        if (operation === 'grantRight' && failing === 'authorizer') {
          return { kind: 'error', code: 'authorization_unavailable', cause: new RelationsUnavailableError(), caller };
        }
        return { kind: 'caller', caller };
      },
    },
    rights: { has: () => Promise.resolve(true), objects: () => Promise.resolve([]) },
    relations,
  };
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('changes of rights that the store does not answer'), () => {
  test.each([
    ['authorizer', 'before the right is asked for', [['refused', 'authorization_unavailable']]],
    ['tuplesOf', 'before anything was sent', [['refused', 'authorization_unavailable']]],
    ['grant', 'after the change was sent', []],
  ] as const)(
    '%s: a grant that fails %s is 503, and recorded as refused only if nothing can have changed',
    async (failing, _when, recorded) => {
      await using open = await openService({ access: accessWith(failing) });
      const call = (path: string, options: { readonly method?: string; readonly body?: unknown } = {}) =>
        callUrl(`${open.service.url}${path}`, { ...options, token: null });
      const body = { role: 'viewer', holder: { issuer: 'http://issuer.test', subject: 'second' } };
      const refused = await call('/api/v1/rights/grant', { method: 'POST', body });
      expect([refused.status, refused.json.error.code]).toEqual([503, 'authorization_unavailable']);
      const { items } = (await call('/api/v1/audit?action=administrator.grant')).json;
      const entries = (items as readonly AuditEntry[]).map(({ content: { outcome, code } }) => [outcome, code]);
      expect(entries).toEqual(recorded);
    },
  );
});
