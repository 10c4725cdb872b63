import { resourceIdSchema } from '#contracts/management';

/** An id of the path in lower case, as it is stored; undefined where it is no UUID of version 7. */
export function readPathId(text: string | undefined): string | undefined {
  return text !== undefined && resourceIdSchema.safeParse(text).success ? text.toLowerCase() : undefined;
}

/** The number of a revision in the path or query; undefined where it is not a positive integer. */
export function readRevisionNumber(text: string | undefined): number | undefined {
  if (text === undefined || !/^[1-9]\d{0,9}$/.test(text)) return undefined;
  const number = Number(text);
  return number <= 2_147_483_647 ? number : undefined;
}
