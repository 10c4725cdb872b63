import { deniedSubstring, deniedWord, fuzzLimits, fuzzPolicy, maskedSubstring, number, token } from './fuzz-bundle.ts';
import { type HttpRequest, type Reading, readReferenceRequest } from './reference-http.ts';
import { readJson, type Value } from './reference-json.ts';
import { type Code, pages, profile, wireContextHeaders } from './wire-contract.ts';

/** A code of the contract, a reason of a result, the response of another page, or no answer. */
export type Told = Code | 'policy_pass' | 'policy_denied' | 'content_redacted' | 'page' | 'closed';

/** The allowed answers to one request. */
export type Expected = {
  readonly told: readonly Told[];
  /** Whether the request is malformed HTTP or JSON, so that no implementation may process it. */
  readonly malformed: boolean;
  /**
   * Whether the server may refuse the request before earlier requests are answered: then neither this request nor later
   * ones get an answer.
   */
  readonly unreadable: boolean;
  /** Whether the server may close the connection after the answer. */
  readonly mayClose: boolean;
  /** The answer has no body. */
  readonly head: boolean;
  /** The media type, if the answer is a page. */
  readonly media?: RegExp | undefined;
  /** The body of a mask, as JSON. */
  readonly masked?: string;
};

/** The requests on a connection, and how the last of them leaves the connection. */
export type Foretold = { readonly expected: readonly Expected[]; readonly end: 'open' | 'closes' | 'breaks' };

/**
 * The answers that a runtime with the bundle of the fuzzer must send for the bytes of a connection, derived from the
 * obligations of e2e/requirements alone.
 */
export function foretell(bytes: Buffer, digest: string): Foretold {
  const expected: Expected[] = [];
  for (let at = 0; ; ) {
    const reading = readReferenceRequest(bytes, at);
    switch (reading.kind) {
      case 'nothing':
        return { expected, end: 'open' };
      case 'request':
        expected.push(answerTo(reading.request, reading.body, digest));
        at = reading.next;
        if (reading.request.closes) return { expected, end: at < bytes.length ? 'breaks' : 'closes' };
        break;
      default:
        expected.push(answerToBroken(reading, digest));
        return { expected, end: 'breaks' };
    }
  }
}

const fault = (...told: readonly Told[]): Expected => ({
  told,
  malformed: true,
  unreadable: true,
  mayClose: true,
  head: false,
});

function answerToBroken(reading: Exclude<Reading, { kind: 'nothing' | 'request' }>, digest: string): Expected {
  switch (reading.kind) {
    case 'malformed':
      // The fault determines whether the answer to a malformed HEAD request has a body.
      return reading.head ? fault('invalid_json', 'closed') : fault('invalid_json');
    case 'unfinished':
      return fault('invalid_json', 'closed');
    case 'broken_body': {
      const first = beforeBody(reading.request, digest);
      const told: readonly Told[] = ['invalid_json', 'closed', ...(first === undefined ? [] : [first])];
      const media = mediaOf(reading.request);
      const over: readonly Told[] = reading.received > fuzzLimits.maxBodyBytes ? ['body_too_large'] : [];
      // A page is answered as soon as its head has arrived: no body can change it.
      const malformed = first !== 'page';
      return { ...fault(...told, ...over), malformed, head: reading.request.method === 'HEAD', media };
    }
  }
}

const checks = new Set(['/request', '/response']);

/** The path of a request target, normalised as RFC 3986, section 6.2.2, allows; undefined for an invalid target. */
function pathOf(target: string): string | undefined {
  const path = target.replace(/^https?:\/\/(?:[\w:]+@)?[\w\-.~%]+(?::[0-9]*)?(?=[/?])/i, '').replace(/\?.*$/, '');
  if (!path.startsWith('/') || path.includes('#')) return undefined;
  const plain = path.replaceAll(/%([2-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return plain.replace(/^(?:\/\.{1,2}(?=\/))+/, '');
}

function stageOf(target: string): 'request' | 'response' {
  return pathOf(target) === '/response' ? 'response' : 'request';
}

/** The answer that does not depend on the body; undefined when the body decides. */
function beforeBody(request: HttpRequest, digest: string): Told | undefined {
  const path = pathOf(request.target);
  if (path === undefined) return 'invalid_json';
  if (Object.hasOwn(pages, path)) return page(request, path);
  if (!checks.has(path)) return 'not_found';
  if (request.method !== 'POST') return 'method_not_allowed';
  return gates(request, digest);
}

function page(request: HttpRequest, path: string): Told {
  if (request.method !== 'GET' && request.method !== 'HEAD') return 'method_not_allowed';
  return path === '/metrics' && !hasToken(request) ? 'unauthenticated' : 'page';
}

function valuesOf({ headers }: HttpRequest, name: string): readonly string[] {
  return headers.flatMap(([one, value]) => (one === name ? [value] : []));
}

function hasToken(request: HttpRequest): boolean {
  const [value = '', ...more] = valuesOf(request, 'authorization');
  const [scheme = '', ...rest] = value.split(/ +/);
  return more.length === 0 && scheme.toLowerCase() === 'bearer' && rest.length === 1 && rest[0] === token;
}

function mediaOf({ target }: HttpRequest): RegExp | undefined {
  return pages[pathOf(target) ?? ''];
}

function gates(request: HttpRequest, digest: string): Code | undefined {
  if (!hasToken(request)) return 'unauthenticated';
  const once = wireContextHeaders.map((name) => valuesOf(request, name));
  if (once.some((values) => values.length !== 1 || values[0]?.trim() === '')) return 'untrusted_context';
  const [id, revision, sentDigest, sentProfile, mode] = once.map(([value]) => value);
  if (mode !== 'buffered' && mode !== 'sse-reject') return 'untrusted_context';
  if (valuesOf(request, 'content-encoding').length > 0) return 'unsupported_media';
  const [type = '', ...types] = valuesOf(request, 'content-type');
  const [media = '', ...parameters] = type.toLowerCase().split(/[ \t]*;[ \t]*/);
  const charset = parameters.every((one) => one === 'charset=utf-8' || one === 'charset="utf-8"');
  if (types.length > 0 || media !== 'application/json' || parameters.length > 1 || !charset) return 'unsupported_media';
  if ((request.declared ?? 0) > fuzzLimits.maxBodyBytes) return 'body_too_large';
  const loaded =
    id === fuzzPolicy.id && revision === fuzzPolicy.revision && sentDigest === digest && sentProfile === profile;
  return loaded ? undefined : 'policy_unavailable';
}

function answerTo(request: HttpRequest, body: Buffer, digest: string): Expected {
  const answer = certainAnswer(request, body, digest);
  const unreadable =
    request.doubtful || pathOf(request.target) === undefined || /[^\w\-.~/!$&'()*+,;=:@?]/.test(request.target);
  return unreadable ? { ...answer, told: [...answer.told, 'invalid_json'], unreadable, mayClose: true } : answer;
}

function certainAnswer(request: HttpRequest, body: Buffer, digest: string): Expected {
  const stage = stageOf(request.target);
  const head = request.method === 'HEAD';
  const common = { unreadable: false, mayClose: request.closes, head, media: mediaOf(request) };
  const refused = (told: Told, malformed: boolean): Expected => ({
    ...common,
    told: [told],
    malformed,
    mayClose: request.closes || mayLeaveBody(request),
  });
  const first = beforeBody(request, digest);
  if (first === 'page') return refused(first, false);
  if (first !== undefined) return refused(first, first === 'invalid_json');
  if (body.length > fuzzLimits.maxBodyBytes) return refused('body_too_large', false);
  const value = readJson(body);
  if (value === undefined) return refused('invalid_json', true);
  const messages = messagesOf(value, stage);
  if (messages === undefined) return refused('invalid_payload', true);
  if (messages.length < 1 || messages.length > fuzzLimits.maxMessages) return refused('message_limit', true);
  const stops = stage === 'response' && valuesOf(request, 'x-ap-gr-response-mode')[0] === 'sse-reject';
  return { ...common, ...decide(messages, stage, stops), malformed: false };
}

/**
 * The server does not drain the body of a refused request that exceeds 64 KiB, declares no length or has not started.
 */
function mayLeaveBody(request: HttpRequest): boolean {
  const endless = valuesOf(request, 'transfer-encoding').length > 0 || valuesOf(request, 'expect').length > 0;
  return endless || (request.declared ?? 0) > 65_536;
}

type Message = { readonly role: string; readonly content: string };

function membersOf(value: Value | undefined, ...keys: readonly string[]): ReadonlyMap<string, Value> | undefined {
  if (value?.kind !== 'object' || value.members.size !== keys.length) return undefined;
  return keys.every((key) => value.members.has(key)) ? value.members : undefined;
}

function messagesOf(value: Value, stage: 'request' | 'response'): readonly Message[] | undefined {
  const key = stage === 'request' ? 'messages' : 'choices';
  const list = membersOf(membersOf(value, 'body')?.get('body'), key)?.get(key);
  if (list?.kind !== 'array') return undefined;
  const messages = list.items.map((item) =>
    messageOf(stage === 'request' ? item : membersOf(item, 'message')?.get('message')),
  );
  return messages.every((message) => message !== undefined) ? messages : undefined;
}

function messageOf(value: Value | undefined): Message | undefined {
  const members = membersOf(value, 'role', 'content');
  const role = members?.get('role');
  const content = members?.get('content');
  if (role?.kind !== 'string' || content?.kind !== 'string') return undefined;
  const length = [...role.text].length;
  return length >= 1 && length <= 32 ? { role: role.text, content: content.text } : undefined;
}

const word = new RegExp(`(?<![\\p{L}\\p{N}\\p{M}_])${deniedWord}(?![\\p{L}\\p{N}\\p{M}_])`, 'u');
const maskable = new RegExp(`${maskedSubstring.term}|${number.pattern}`, 'g');

function decide(
  messages: readonly Message[],
  stage: 'request' | 'response',
  stops: boolean,
): Pick<Expected, 'told' | 'masked'> {
  if (messages.some(({ content }) => content.includes(deniedSubstring) || word.test(content)))
    return { told: ['policy_denied'] };
  const matches = messages.reduce((sum, { content }) => sum + (content.match(maskable)?.length ?? 0), 0);
  if (matches === 0) return { told: ['policy_pass'] };
  if (matches > fuzzLimits.maxMatches) return { told: stops ? ['match_limit', 'policy_denied'] : ['match_limit'] };
  if (stops) return { told: ['policy_denied'] };
  const clean = messages.map(({ role, content }) => ({
    role,
    content: content.replace(maskable, (text) =>
      text === maskedSubstring.term ? maskedSubstring.replacement : number.replacement,
    ),
  }));
  const body = JSON.stringify(
    stage === 'request' ? { messages: clean } : { choices: clean.map((message) => ({ message })) },
  );
  if (Buffer.byteLength(body) > fuzzLimits.maxBodyBytes) return { told: ['output_too_large'] };
  return { told: ['content_redacted'], masked: body };
}
