import { servedTable } from '../../operator/management/http/served-table.ts';
import { code, page, table } from '../reference/markdown.ts';

/** The operations of the management API, from the table that its routes and its OpenAPI document come from. */
export function generate(): ReadonlyMap<string, string> {
  const { operations, everyError, limits } = servedTable;
  const parts = operations.flatMap(({ name, method, path, summary, description, gates, parameters, ...rest }) => [
    `## ${summary}`,
    `${code(`${method} ${path}`)} (${code(name)}) answers ${rest.success.status}. ${description}`,
    `Gates in order: ${gates.map(code).join(', ')}.`,
    ...(parameters.length === 0
      ? []
      : [
          table(
            ['Parameter', 'In', 'Required', 'Meaning'],
            parameters.map((one) => [code(one.name), one.in, one.required ? 'yes' : 'no', one.description]),
          ),
        ]),
    ...(rest.errors.length === 0 ? [] : [`Errors: ${rest.errors.map(code).join(', ')}.`]),
    rest.obligations.length === 0
      ? 'Not part of the contract.'
      : `Obligations: ${rest.obligations.map(code).join(', ')}.`,
  ]);
  const bounds = table(
    ['Limit', 'Value'],
    [
      ['Body, bytes', String(limits.bodyBytes)],
      ['Time for a body, milliseconds', String(limits.bodyMs)],
      ['Idempotency-Key, characters', `${limits.idempotencyKey.min} to ${limits.idempotencyKey.max}`],
    ],
  );
  const introduction =
    'The operations of the policy management API. A request passes the gates of its operation in order, and the first ' +
    'one that fails answers; the codes are explained in [errors](errors.md).';
  const common = `Errors of every operation: ${everyError.map(code).join(', ')}.`;
  return new Map([
    ['docs/reference/management-api.md', page('Management API', introduction, [bounds, common, ...parts])],
  ]);
}
