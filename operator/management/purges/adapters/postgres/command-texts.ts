import { digestOf } from '#contracts/canonical';
import type { Database } from '#sql/connect';
import type { CommandWrite } from '../../../operations/command-record.ts';
import { translated } from '../../../operations/translated.ts';
import type { CommandTexts } from '../../ports.ts';

type WriteRow = { readonly operation_id: string; readonly isOpen: boolean; readonly write: string };

/** The writes in `management.operations`. A write is kept while its command runs, and if it was not executed. */
export function createCommandTexts({ sql }: Pick<Database, 'sql'>): CommandTexts {
  async function writesOf(policyId: string, digest: string): Promise<readonly WriteRow[]> {
    const rows = await sql<WriteRow[]>`
      select operation_id, state in ('pending', 'running') as "isOpen", write from management.operations
      where target_type = 'policy' and target_id = ${policyId} and write is not null`;
    return rows.filter(({ write }) => digestIn(JSON.parse(write) as CommandWrite) === digest);
  }

  const applies = (policyId: string, number: number) => sql`
    target_type = 'model' and origin::jsonb #>> '{after,policyId}' = ${policyId}
    and (origin::jsonb #>> '{after,revision}')::bigint = ${number}`;

  return {
    isInCommand: (policyId, { number, definitionDigest }) =>
      translated(async () => {
        const applying = await sql`
          select from management.operations
          where ${applies(policyId, number)} and state in ('pending', 'running') limit 1`;
        return applying.length > 0 || (await writesOf(policyId, definitionDigest)).some(({ isOpen }) => isOpen);
      }),
    forget: (policyId, { number, definitionDigest }) =>
      translated(async () => {
        const ids = (await writesOf(policyId, definitionDigest)).map((row) => row.operation_id);
        await sql`
          update management.operations
          set write = case when operation_id = any(${sql.array(ids)}::uuid[]) then null else write end,
            origin = (origin::jsonb - 'message')::text
          where target_type = 'policy' and target_id = ${policyId} and state in ('succeeded', 'failed')
            and (operation_id = any(${sql.array(ids)}::uuid[]) or (result::jsonb ->> 'revision')::bigint = ${number})`;
        // A command of an earlier version does not name the revision that it applied, and neither does a command that
        // unbinds.
        await sql`
          update management.operations set failure_cause = null
          where failure_cause is not null
            and (${applies(policyId, number)} or target_type = 'model' and origin::jsonb #>> '{after}' is null)`;
      }),
  };
}

function digestIn(write: CommandWrite): string | undefined {
  return write.type === 'write_binding' ? undefined : digestOf(write.spec.definition);
}
