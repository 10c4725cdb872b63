import type { ApiTable } from '#api/operation';
import { code, page, table } from './markdown.ts';

/** The reference page of an API, made from the table of its routes and its OpenAPI document. */
export function operationsPage<Service, Caller, Code extends string>(
  title: string,
  introduction: string,
  { operations, everyError, limits, faults }: ApiTable<Service, Caller, Code>,
): string {
  const parts = operations.flatMap(({ name, method, path, summary, description, gates, parameters, ...rest }) => [
    `## ${summary}`,
    `${code(`${method} ${path}`)} (${code(name)}) answers ${rest.success.status}. ${description}`,
    `Gates in order: ${gates.map(code).join(', ')}.${rest.right === undefined ? '' : ` Right: ${code(rest.right)}.`}`,
    ...(parameters.length === 0
      ? []
      : [
          table(
            ['Parameter', 'In', 'Required', 'Meaning'],
            parameters.map((one) => [code(one.name), one.in, one.required ? 'yes' : 'no', one.description]),
          ),
        ]),
    ...(rest.bodyBytes === undefined ? [] : [`Body: at most ${rest.bodyBytes} bytes.`]),
    ...(rest.errors.length === 0 ? [] : [`Errors: ${rest.errors.map(code).join(', ')}.`]),
    rest.obligations.length === 0
      ? 'Not part of the contract.'
      : `Obligations: ${rest.obligations.map(code).join(', ')}.`,
  ]);
  const takesKeys = operations.some(({ gates }) => gates.includes('idempotency_key'));
  const key = ['Idempotency-Key, characters', `${limits.idempotencyKey.min} to ${limits.idempotencyKey.max}`];
  const bounds = table(
    ['Limit', 'Value'],
    [
      [`Body, bytes (${code(faults.bodyTooLarge)})`, String(limits.bodyBytes)],
      ['Time for a body, milliseconds', String(limits.bodyMs)],
      ...(takesKeys ? [key] : []),
    ],
  );
  const common = `Errors of every operation: ${everyError.map(code).join(', ')}.`;
  return page(title, introduction, [bounds, common, ...parts]);
}
