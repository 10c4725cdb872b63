import { readJson } from '../fuzz/reference-json.ts';

/** The collections of the service under test, all of the tenant `acme`, and whether an access list is required. */
export const fuzzCollections: Readonly<Record<string, { readonly requiresAcl: boolean }>> = {
  handbook: { requiresAcl: true },
  noticeboard: { requiresAcl: false },
};
export const fuzzTenant = 'acme';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type Members = { readonly [key: string]: Json };

/**
 * The status of a submit by a writer of all collections, written from the contract and independently of the service:
 * 413 for a body above 16 MiB, 400 for a form that is not allowed, 403 for another tenant, 404 for an unknown
 * collection, else 202. Lengths of names are those of JSON Schema, in code points.
 */
export function expectedStatus(body: Uint8Array): 202 | 400 | 403 | 404 | 413 {
  if (body.length > 16_777_216) return 413;
  if (readJson(body) === undefined) return 400;
  const json = JSON.parse(Buffer.from(body).toString('utf8')) as Json;
  if (!isObject(json) || !hasOnly(json, ['documents'])) return 400;
  const { documents } = json;
  if (!isList(documents) || documents.length < 1 || documents.length > 200) return 400;
  if (!documents.every(isDocument)) return 400;
  if (documents.some((one) => one['tenant_id'] !== fuzzTenant)) return 403;
  const known = documents.map((one) => fuzzCollections[one['collection'] as string]);
  if (known.some((collection) => collection === undefined)) return 404;
  return documents.every((one, at) => fits(one, known[at]?.requiresAcl === true)) ? 202 : 400;
}

function isDocument(value: Json): value is Members {
  if (!isObject(value) || !hasOnly(value, documentKeys)) return false;
  const { op = 'upsert', content, content_ref, metadata, acl } = value;
  if (op !== 'upsert' && op !== 'delete') return false;
  const names = [
    [value['collection'], 255],
    [value['tenant_id'], 255],
  ] as const;
  if (!names.every(([name, longest]) => isName(name, longest))) return false;
  const keys = [value['doc_id'], value['content_hash'], value['idempotency_key']];
  if (!keys.every((key) => isName(key, 1_024) && Buffer.byteLength(key) <= 1_024)) return false;
  if (content !== undefined && !isContent(content)) return false;
  if (content_ref !== undefined && !isContentRef(content_ref, value['content_hash'] as string)) return false;
  if (metadata !== undefined && !isMetadata(metadata)) return false;
  if (acl !== undefined && !isAcl(acl)) return false;
  if (op === 'upsert' && content === undefined && content_ref === undefined) return false;
  const isHeavy = content !== undefined && (content['sections'] !== undefined || content['tables'] !== undefined);
  return content_ref === undefined || !isHeavy;
}

const documentKeys = [
  ...['op', 'collection', 'tenant_id', 'doc_id', 'content', 'content_ref', 'metadata', 'acl'],
  ...['content_hash', 'idempotency_key'],
];

/** The rules that concern the collection, and sizes. */
function fits({ op, acl, content, metadata }: Members, requiresAcl: boolean): boolean {
  if (op === 'delete') return true;
  const { groups = [], principals = [] } = isObject(acl) ? acl : {};
  if (requiresAcl && (groups as readonly Json[]).length + (principals as readonly Json[]).length === 0) return false;
  return bytesOf(content) <= 4_194_304 && bytesOf(metadata) <= 65_536;
}

function bytesOf(value: Json | undefined): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}

function isContent(value: Json): value is Members {
  if (!isObject(value)) return false;
  const { title, sections, tables } = value;
  if (title !== undefined && typeof title !== 'string') return false;
  if (sections !== undefined && !(isList(sections) && sections.length <= 10_000 && sections.every(isSection))) {
    return false;
  }
  return tables === undefined || (isList(tables) && tables.length <= 1_000 && tables.every(isObject));
}

function isSection(value: Json): boolean {
  if (!isObject(value) || !hasOnly(value, ['text', 'heading'])) return false;
  const { text, heading } = value;
  return typeof text === 'string' && (heading === undefined || typeof heading === 'string');
}

function isContentRef(value: Json, hash: string): boolean {
  if (!isObject(value) || !hasOnly(value, ['uri', 'content_hash', 'bytes'])) return false;
  const { uri, content_hash, bytes } = value;
  if (!isName(uri, 4_096) || !/^(?:s3|https):\/\/[^/]/i.test(uri)) return false;
  if (bytes !== undefined && !(Number.isSafeInteger(bytes) && (bytes as number) >= 1)) return false;
  return content_hash === hash && /^(sha256:)?[0-9a-f]{64}$/i.test(hash);
}

function isMetadata(value: Json): boolean {
  if (!isObject(value)) return false;
  const { source, url, labels, valid_from, valid_until } = value;
  if (source !== undefined && typeof source !== 'string') return false;
  if (url !== undefined && !(typeof url === 'string' && url.length <= 4_096 && isAddress(url))) return false;
  if (labels !== undefined && !(isList(labels) && labels.every((label) => typeof label === 'string'))) return false;
  return [valid_from, valid_until].every((instant) => instant === undefined || isInstant(instant));
}

function isAcl(value: Json): boolean {
  if (!isObject(value) || !hasOnly(value, ['groups', 'principals', 'scope'])) return false;
  const { groups, principals, scope } = value;
  const isNames = (list: Json): boolean =>
    isList(list) && list.length <= 200 && list.every((name) => isName(name, 512));
  if (groups !== undefined && !isNames(groups)) return false;
  if (principals !== undefined && !isNames(principals)) return false;
  return scope === undefined || isObject(scope);
}

/**
 * RFC 3986 with the characters of RFC 3987: a scheme and a non-empty rest; hosts and ports as the parser accepts them.
 */
function isAddress(text: string): boolean {
  return URL.canParse(text) && /^[a-z][a-z0-9+.-]*:[^\s\p{Cc}<>"{}|\\^`]+$/iu.test(text);
}

const instantForm = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|[+-](\d\d):(\d\d))$/;

/** Whether a value is an instant of RFC 3339 without leap seconds, in a year from 1 to 9999 as written and in UTC. */
function isInstant(value: Json): boolean {
  const parts = typeof value === 'string' ? instantForm.exec(value) : null;
  if (parts === null) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0));
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
  const isForm = isDay && hour <= 23 && minute <= 59 && second <= 59 && zoneHour <= 23 && zoneMinute <= 59;
  const ahead = (zoneHour * 60 + zoneMinute) * (String(value).at(-6) === '-' ? -1 : 1);
  const minuteInUtc = hour * 60 + minute - ahead;
  const isBefore = year === 1 && month === 1 && day === 1 && minuteInUtc < 0;
  const isAfter = year === 9999 && month === 12 && day === 31 && minuteInUtc >= 24 * 60;
  return year >= 1 && isForm && !isBefore && !isAfter;
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isName(value: Json | undefined, longest: number): value is string {
  return typeof value === 'string' && value !== '' && [...value].length <= longest && !value.includes('\0');
}

function isObject(value: Json | undefined): value is Members {
  return typeof value === 'object' && value !== null && !isList(value);
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function hasOnly(value: Members, keys: readonly string[]): boolean {
  return Object.keys(value).every((key) => keys.includes(key));
}
