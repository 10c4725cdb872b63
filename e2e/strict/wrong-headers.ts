import { added, type Headers, replaced, type StrictCase, without } from './strict-case.ts';

type Fault = readonly [string, (headers: Headers) => Headers];

function cases(family: string, status: number, code: string, faults: readonly Fault[]): readonly StrictCase[] {
  return faults.map(([name, change]) => ({
    name: `${family}: ${name}`,
    bytes: ({ withHeaders }) => withHeaders(change),
    status,
    code,
  }));
}

function tokens(token: string): readonly Fault[] {
  const set = (value: string) => replaced('authorization', value);
  return [
    ['none', without('authorization')],
    ['empty', set('')],
    ['no scheme', set(token)],
    ['scheme alone', set('Bearer')],
    ['scheme and a space', set('Bearer ')],
    ['Basic', set(`Basic ${token}`)],
    ['Token', set(`Token ${token}`)],
    ['another token', set('Bearer another-token')],
    ['a longer token', set(`Bearer ${token}x`)],
    ['a shorter token', set(`Bearer ${token.slice(0, -1)}`)],
    ['the token in capitals', set(`Bearer ${token.toUpperCase()}`)],
    ['the token twice in one value', set(`Bearer ${token}, Bearer ${token}`)],
    ['a token in quotes', set(`Bearer "${token}"`)],
    ['the right one twice', replaced('authorization', `Bearer ${token}`, `Bearer ${token}`)],
    ['the right one and a wrong one', replaced('authorization', `Bearer ${token}`, 'Bearer x')],
    [
      'in proxy-authorization',
      (headers) => added('proxy-authorization', `Bearer ${token}`)(without('authorization')(headers)),
    ],
  ];
}

const media: readonly Fault[] = [
  ['none', without('content-type')],
  ['empty', replaced('content-type', '')],
  ['text/plain', replaced('content-type', 'text/plain')],
  ['text/json', replaced('content-type', 'text/json')],
  ['application/jsonp', replaced('content-type', 'application/jsonp')],
  ['application/problem+json', replaced('content-type', 'application/problem+json')],
  ['application/x-ndjson', replaced('content-type', 'application/x-ndjson')],
  ['application/pdf', replaced('content-type', 'application/pdf')],
  ['image/png', replaced('content-type', 'image/png')],
  ['text/event-stream', replaced('content-type', 'text/event-stream')],
  ['multipart/form-data', replaced('content-type', 'multipart/form-data; boundary=x')],
  ['another charset', replaced('content-type', 'application/json; charset=utf-16')],
  ['Latin-1', replaced('content-type', 'application/json; charset=iso-8859-1')],
  ['twice', replaced('content-type', 'application/json', 'application/json')],
  ['two in one value', replaced('content-type', 'application/json, text/plain')],
  ['gzip', added('content-encoding', 'gzip')],
  ['br', added('content-encoding', 'br')],
  ['identity', added('content-encoding', 'identity')],
  ['an unknown encoding', added('content-encoding', 'x-own')],
];

export type ContextValues = Readonly<Record<string, string>>;

/** A value that has no capitals has no such fault. */
function capitals(name: string, value: string): readonly Fault[] {
  const other = value.toUpperCase();
  return other === value ? [] : [['capitals', replaced(name, other)]];
}

function contextFaults(context: ContextValues): readonly StrictCase[] {
  return Object.entries(context).flatMap(([name, value]) => {
    const isMode = name === 'x-ap-gr-response-mode';
    const [status, code] = isMode ? ([403, 'untrusted_context'] as const) : ([503, 'policy_unavailable'] as const);
    return [
      ...cases(name, 403, 'untrusted_context', [
        ['missing', without(name)],
        ['empty', replaced(name, '')],
        ['white space', replaced(name, '   ')],
        ['twice the same', replaced(name, value, value)],
        ['twice, right first', replaced(name, value, 'other')],
        ['twice, right last', replaced(name, 'other', value)],
        ['twice, one empty', replaced(name, value, '')],
        ['twice in another case', added(name.toUpperCase(), value)],
      ]),
      ...cases(name, status, code, [
        ['another value', replaced(name, 'other')],
        ['two values in one', replaced(name, `${value}, ${value}`)],
        ['a prefix', replaced(name, `x${value}`)],
        ['a suffix', replaced(name, `${value}x`)],
        ['a quoted value', replaced(name, `"${value}"`)],
        ...capitals(name, value),
      ]),
    ];
  });
}

function digestFaults({ 'x-ap-gr-bundle-digest': digest = '' }: ContextValues): readonly StrictCase[] {
  const name = 'x-ap-gr-bundle-digest';
  return cases(name, 503, 'policy_unavailable', [
    ['sha256: before it', replaced(name, `sha256:${digest}`)],
    ['63 characters', replaced(name, digest.slice(1))],
    ['zeros', replaced(name, '0'.repeat(64))],
  ]);
}

/** Faults of headers: 401, 403, 415 and 503. */
export function wrongHeaders(token: string, context: ContextValues): readonly StrictCase[] {
  return [
    ...cases('token', 401, 'unauthenticated', tokens(token)),
    ...cases('media', 415, 'unsupported_media', media),
    ...contextFaults(context),
    ...digestFaults(context),
  ];
}
