import type { Logger } from '#kit/log/logger';
import { grantAdministrators, readAdministrators } from '#relations/administrators';
import { controlPlane } from '#relations/model';
import type { Relations } from '#relations/ports';
import type { Database } from '#sql/connect';

/**
 * Grants the administrators of the setting at the first start only, so that a right that was revoked stays revoked. An
 * installation that has administrators already, such as one of an earlier version, is left as it is.
 * @throws ConfigError, RelationsUnavailableError
 */
export async function grantFirstAdministrators(
  { sql }: Pick<Database, 'sql'>,
  relations: Pick<Relations, 'grant' | 'tuplesOf'>,
  options: { readonly names: readonly string[]; readonly logger: Logger },
): Promise<void> {
  const { names, logger } = options;
  const administrators = readAdministrators(names);
  if (administrators.length === 0) return;
  // The row is locked until the rights are granted: a replica that starts later sees both or neither. A repetition would not
  // know that this process granted them.
  await sql.beginOnce(async (transaction) => {
    const [first] = await transaction`
      insert into management.first_administrators (granted) values (true) on conflict do nothing returning granted`;
    const isFirst = first !== undefined && (await relations.tuplesOf(controlPlane)).length === 0;
    if (isFirst) await grantAdministrators(relations, administrators);
    const advice =
      'PORTCULLIS_ADMINISTRATORS counts at the first start only: use "portcullis admin grant" and "revoke"';
    logger.info(isFirst ? 'first_administrators_granted' : 'administrators_setting_not_used', { advice });
  });
}
