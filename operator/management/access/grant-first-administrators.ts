import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { administratorTuples, readAdministrators } from '#relations/administrators';
import type { RecordedChanges } from '#relations/changes/recorded-changes';
import { controlPlane } from '#relations/model';
import type { Database } from '#sql/connect';
import { rightEntry } from './record-rights.ts';

/** The author of the grants: the process, because the person who wrote the setting is not known. */
const bySetting = { author: { kind: 'service', name: 'management' }, client: 'none', traceId: null } as const;

/**
 * Grants the administrators of the setting at the first start only, so that a right that was revoked stays revoked, and
 * records each grant. An installation that already has administrators, for example from an earlier version, is not
 * changed.
 * @throws ConfigError, RelationsUnavailableError, SqlUnavailableError
 */
export async function grantFirstAdministrators(
  { sql }: Pick<Database, 'sql'>,
  record: Pick<RecordedChanges, 'change'>,
  options: { readonly names: readonly string[]; readonly clock: Clock; readonly logger: Pick<Logger, 'info'> },
): Promise<void> {
  const { names, clock, logger } = options;
  const tuples = administratorTuples(readAdministrators(names));
  if (tuples.length === 0) return;
  // The row is locked until the rights are granted: a replica that starts later sees both or neither. This is not
  // repeated after a conflict, because a repeated attempt could not tell that this process has granted them.
  await sql.beginOnce(async (transaction) => {
    const [first] = await transaction`
      insert into management.first_administrators (granted) values (true) on conflict do nothing returning granted`;
    const result = first === undefined ? 'used' : await grant();
    const advice =
      'PORTCULLIS_ADMINISTRATORS counts at the first start only: use "portcullis admin grant" and "revoke"';
    logger.info(result === 'changed' ? 'first_administrators_granted' : 'administrators_setting_not_used', { advice });
  });

  function grant() {
    return record.change({
      action: 'grant',
      object: controlPlane,
      tuples,
      entryOf: (tuple) => rightEntry('grant', tuple, bySetting, clock.date()),
      refusalOfAuthor: async () => undefined,
      refusalOfHeld: (held) => (held.length > 0 ? 'used' : undefined),
    });
  }
}
