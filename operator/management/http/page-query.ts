import { managementLimits } from '#contracts/management';

const { min, max, default: standard } = managementLimits.pageSize;

/** The limit of a page; undefined where it is not a whole number within the bounds. */
export function readLimit(text: string | undefined): number | undefined {
  if (text === undefined) return standard;
  const limit = /^[1-9]\d?$/.test(text) ? Number(text) : Number.NaN;
  return limit >= min && limit <= max ? limit : undefined;
}

/** Whether a query has known names only, each at most once. */
export function isKnownQuery(query: URLSearchParams, names: readonly string[]): boolean {
  const given = [...query.keys()];
  return given.every((name) => names.includes(name)) && new Set(given).size === given.length;
}
