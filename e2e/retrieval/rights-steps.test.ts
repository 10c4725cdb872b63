import { describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { randomFrom } from '../support/random-from.ts';
import { measureRights } from './measure-rights.ts';
import type { CallService } from './rights-steps.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('random steps of rights'), () => {
  // The figure retrieval-rights proves that a correct service shows no difference.
  test('random steps detect a service that ignores changes of access lists and groups', async () => {
    await using opened = await openTestDatabase();
    const disturb =
      (call: CallService): CallService =>
      async (asker, path, body) => {
        const isForgotten = path.includes('/v1/documents:acl') || path.includes('/members');
        return isForgotten ? { status: 200, json: {} } : await call(asker, path, body);
      };
    const found = await measureRights(opened, { name: 'the service', steps: 150, random: randomFrom(5), disturb });
    expect(found.forbidden + found.missing).toBeGreaterThan(0);
  });
});
