import { type ListedOperation, operationPageSchema, operationPageSize } from '#contracts/operations';
import { type ManagementConnection, sendRequest } from './send-request.ts';

/** Filters of the route, by the names of its parameters. */
type OperationFilters = Readonly<Record<string, string | undefined>>;

/** The newest operations, at most `most`, in pages. @throws ManagementApiError, ManagementUnreachableError */
export async function* readOperations(
  connection: ManagementConnection,
  filters: OperationFilters,
  most: number,
): AsyncGenerator<ListedOperation> {
  let cursor: string | undefined;
  for (let count = 0; count < most; ) {
    const limit = String(Math.min(operationPageSize.max, most - count));
    const given = Object.entries({ ...filters, limit, cursor }).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    );
    const path = `/api/v1/operations?${new URLSearchParams(given)}`;
    const { value } = await sendRequest(connection, { method: 'GET', path }, operationPageSchema);
    yield* value.items;
    count += value.items.length;
    if (value.nextCursor === null) return;
    cursor = value.nextCursor;
  }
}
