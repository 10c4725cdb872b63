import type { Answer, Fault } from '#kit/testing/faulty-proxy';

/** The check of a request to which the fault applies. */
export type CheckPlace = 'input' | 'output' | 'stream';

/** A fault between gateway and runtime, and the code that the client must receive. */
type RuntimeFault = {
  readonly name: string;
  readonly fault: (place: CheckPlace) => Fault;
  readonly code: string;
  /** The checks to which the fault applies; all when absent. */
  readonly places?: readonly CheckPlace[];
};

const json = { 'content-type': 'application/json' };
const pass = '{"action":{"reason":"policy_pass"}}';

function answerWith(body: string, status = 200, headers: Readonly<Record<string, string>> = {}): () => Fault {
  return () => ({ kind: 'rewrite', rewrite: () => ({ status, headers: { ...json, ...headers }, body }) });
}

function errorBody(code: string): string {
  return JSON.stringify({ code, message: 'A sentence.', traceId: 'trace' });
}

type Message = { readonly role: string; readonly content: string };

/** A mask with these messages, in the shape of this stage. */
function maskOf(place: CheckPlace, messages: readonly Message[]): Answer {
  const body = place === 'input' ? { messages } : { choices: messages.map((message) => ({ message })) };
  return { status: 200, headers: json, body: JSON.stringify({ action: { body, reason: 'content_redacted' } }) };
}

function maskWith(messages: (place: CheckPlace) => readonly Message[]): (place: CheckPlace) => Fault {
  return (place) => ({ kind: 'rewrite', rewrite: () => maskOf(place, messages(place)) });
}

const system = { role: 'system', content: 'Be brief.' };
const user = { role: 'user', content: 'Hello.' };
const assistant = { role: 'assistant', content: 'Hello.' };
/** The messages of a check in this place. */
const carried = (place: CheckPlace): readonly Message[] => (place === 'input' ? [system, user] : [assistant]);

export const runtimeFaults: readonly RuntimeFault[] = [
  { name: 'an HTTP 500 with a pass in the body', fault: answerWith(pass, 500), code: 'unexpected_status' },
  { name: 'an HTTP 202 with a pass in the body', fault: answerWith(pass, 202), code: 'unexpected_status' },
  { name: 'HTTP 503 without a body', fault: answerWith('', 503), code: 'unexpected_status' },
  {
    name: 'a redirect to a check that would pass',
    fault: answerWith(pass, 307, { location: 'http://127.0.0.1:9/request' }),
    code: 'redirected',
  },
  { name: 'garbage', fault: answerWith('<html>\u0000</html>'), code: 'invalid_answer' },
  { name: 'an empty answer', fault: answerWith(''), code: 'invalid_answer' },
  { name: 'an answer over the size limit', fault: answerWith(`"${'x'.repeat(1_000_000)}"`), code: 'invalid_answer' },
  { name: 'extra text after the answer', fault: answerWith(`${pass}${pass}`), code: 'invalid_answer' },
  {
    name: 'a duplicate key',
    fault: answerWith(`{"action":{"reason":"policy_denied"},${pass.slice(1)}`),
    code: 'invalid_answer',
  },
  { name: 'an unknown action', fault: answerWith('{"action":{"reason":"policy_maybe"}}'), code: 'invalid_answer' },
  { name: 'an action without a reason', fault: answerWith('{"action":{}}'), code: 'invalid_answer' },
  {
    name: 'a pass with an additional field',
    fault: answerWith('{"action":{"reason":"policy_pass","score":1}}'),
    code: 'invalid_answer',
  },
  {
    name: 'a deny that says 200',
    fault: answerWith('{"action":{"body":"Запрос отклонён политикой","status_code":200,"reason":"policy_denied"}}'),
    code: 'invalid_answer',
  },
  {
    name: 'a mask in the shape of the other stage',
    fault: (place) => ({
      kind: 'rewrite',
      rewrite: () => maskOf(place === 'input' ? 'output' : 'input', carried(place)),
    }),
    code: 'invalid_answer',
  },
  {
    name: 'a mask with an extra message',
    fault: maskWith((place) => [...carried(place), assistant]),
    code: 'mask_mismatch',
    places: ['input', 'output'],
  },
  {
    name: 'a mask with a missing message',
    fault: maskWith((place) => carried(place).slice(0, -1)),
    code: 'mask_mismatch',
    places: ['input'],
  },
  {
    name: 'a mask with reordered messages',
    fault: maskWith((place) => carried(place).toReversed()),
    code: 'mask_mismatch',
    places: ['input'],
  },
  {
    name: 'a mask with another role',
    fault: maskWith((place) => carried(place).map((message) => ({ ...message, role: 'tool' }))),
    code: 'mask_mismatch',
    places: ['input', 'output'],
  },
  {
    name: 'a mask where a stream requires a reject',
    fault: maskWith(carried),
    code: 'invalid_answer',
    places: ['stream'],
  },
  {
    name: 'another digest',
    fault: () => ({ kind: 'header', name: 'x-ap-gr-bundle-digest', value: '0'.repeat(64) }),
    code: 'policy_unavailable',
  },
  {
    name: 'another revision',
    fault: () => ({ kind: 'header', name: 'x-ap-gr-policy-revision', value: '2' }),
    code: 'policy_unavailable',
  },
  {
    name: 'a wrong service token',
    fault: () => ({ kind: 'header', name: 'authorization', value: 'Bearer wrong' }),
    code: 'unauthenticated',
  },
  { name: 'overload', fault: answerWith(errorBody('overloaded'), 503), code: 'overloaded' },
  {
    name: 'a stage that exceeds its deadline',
    fault: answerWith(errorBody('stage_timeout'), 503),
    code: 'stage_timeout',
  },
  {
    name: 'a code that the contract does not define',
    fault: answerWith(errorBody('all_fine'), 503),
    code: 'unexpected_status',
  },
  { name: 'a truncated answer', fault: () => ({ kind: 'truncate' }), code: 'network' },
  { name: 'a connection reset before the answer', fault: () => ({ kind: 'reset' }), code: 'network' },
  { name: 'an answer after the timeout', fault: () => ({ kind: 'delay', ms: 2_500 }), code: 'timeout' },
  { name: 'no answer', fault: () => ({ kind: 'silence' }), code: 'timeout' },
];
