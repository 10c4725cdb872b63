import type { Database } from '#sql/connect';
import type { OperationFilter, OperationLog } from '../../operation-log.ts';
import { translated } from '../../translated.ts';
import { type OperationRow, operationColumns, operationOfRow } from './operation-rows.ts';

/** Pages of management.operations. Ids are UUIDs of version 7, so that their order is the order of the commands. */
export function createOperationLog({ sql }: Pick<Database, 'sql'>): OperationLog {
  // Claims of tokens have no U+0000, which jsonb does not take (libraries/identity/validate-claims.ts).
  const author = sql`origin::jsonb -> 'author'`;

  function conditions(filter: OperationFilter) {
    const { operationId = null, kind = null, state = null, targetId = null, subject = null } = filter;
    const only = filter.author === undefined ? null : JSON.stringify(filter.author);
    return sql`
      (${operationId}::uuid is null or operation_id = ${operationId})
      and (${kind}::text is null or kind = ${kind})
      and (${state}::text is null or state = ${state})
      and (${targetId}::uuid is null or target_id = ${targetId})
      and (${subject}::text is null or ${author} ->> 'subject' = ${subject})
      and (${only}::text is null or ${author} = (${only}::text)::jsonb)`;
  }

  return {
    page: (filter, { limit, after }) =>
      translated(async () => {
        const rows = await sql<OperationRow[]>`
          select ${operationColumns(sql)} from management.operations
          where ${conditions(filter)} and (${after ?? null}::uuid is null or operation_id < ${after ?? null})
          order by operation_id desc limit ${limit + 1}`;
        return { records: rows.slice(0, limit).map(operationOfRow), more: rows.length > limit };
      }),
  };
}
