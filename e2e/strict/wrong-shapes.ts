import { bodyText, goodMessage, marker, type Stage, type StrictCase } from './strict-case.ts';

const values: readonly (readonly [string, string])[] = [
  ['null', 'null'],
  ['true', 'true'],
  ['a number', '7'],
  ['a string', `"${marker}"`],
  ['an array', '[]'],
  ['an object', '{}'],
];

/** Values that are wrong where another one is right. */
const except = (...right: readonly string[]) => values.filter(([name]) => !right.includes(name));

/** Fields that belong to somebody else's domain or to a whole chat completion. */
const foreign: readonly string[] = [
  'id',
  'model',
  'usage',
  'index',
  'finish_reason',
  'object',
  'created',
  'logprobs',
  'tool_calls',
  'tools',
  'name',
  'url',
  'document_id',
  'memory_id',
  'agent_id',
  'run_id',
  'acl',
  'filters',
  'tenant_id',
  '__proto__',
  'constructor',
  'Role',
  'CONTENT',
];

type Named = readonly (readonly [string, string])[];

function shapes(stage: Stage): Named {
  const list = stage === 'request' ? 'messages' : 'choices';
  const other = stage === 'request' ? 'choices' : 'messages';
  const of = (message: string): string => bodyText(stage, [message]);
  const inner = bodyText(stage, [goodMessage]).slice('{"body":{'.length, -2);
  const item = stage === 'request' ? (value: string) => value : (value: string) => `{"message":${value}}`;
  const listOf = (value: string): string => `{"body":{"${list}":${value}}}`;
  const choice: Named = [
    ...values
      .filter(([name]) => name !== 'an object')
      .map(([name, value]) => [`choice is ${name}`, listOf(`[${value}]`)] as const),
    ['choice without message', listOf('[{}]')],
    ['choice with an index', listOf(`[{"index":0,"message":${goodMessage}}]`)],
    ['choice with a finish_reason', listOf(`[{"message":${goodMessage},"finish_reason":"stop"}]`)],
  ];
  return [
    ...except('an object').map(([name, value]) => [`the whole is ${name}`, value] as const),
    ['the whole is empty', '{}'],
    ['the whole is the inner object', `{${inner}}`],
    ['a field beside body', `{"body":{${inner}},"model":"x"}`],
    ['body is written in capitals', `{"BODY":{${inner}}}`],
    ...except('an object').map(([name, value]) => [`body is ${name}`, `{"body":${value}}`] as const),
    ['body is empty', '{"body":{}}'],
    [`body holds ${other}`, `{"body":{"${other}":[]}}`],
    [`body holds ${other} too`, `{"body":{${inner},"${other}":[]}}`],
    ['body holds tools', `{"body":{${inner},"tools":[]}}`],
    ...except('an array').map(([name, value]) => [`${list} is ${name}`, listOf(value)] as const),
    ...except('an object').map(([name, value]) => [`message is ${name}`, listOf(`[${item(value)}]`)] as const),
    ['message is empty', of('{}')],
    ['message without role', of(`{"content":"${marker}"}`)],
    ['message without content', of('{"role":"user"}')],
    ...except('a string').map(([name, value]) => [`role is ${name}`, of(`{"role":${value},"content":"a"}`)] as const),
    ['role is empty', of('{"role":"","content":"a"}')],
    ['role has 33 characters', of(`{"role":"${'r'.repeat(33)}","content":"a"}`)],
    ['role has 33 characters beyond the first plane', of(`{"role":"${'\u{1f600}'.repeat(33)}","content":"a"}`)],
    ...except('a string').map(
      ([name, value]) => [`content is ${name}`, of(`{"role":"user","content":${value}}`)] as const,
    ),
    ['content is a list of parts', of(`{"role":"user","content":[{"type":"text","text":"${marker}"}]}`)],
    ['content is an image', of('{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:"}}]}')],
    ...foreign.map(
      (field) => [`message with ${field}`, of(`{"role":"user","content":"a","${field}":"${marker}"}`)] as const,
    ),
    ['the second message is wrong', bodyText(stage, [goodMessage, '{"role":"user"}'])],
    ...(stage === 'response' ? choice : []),
  ];
}

/** Right JSON of the wrong shape: 422 invalid_payload; of a wrong count: 422 message_limit. */
export function wrongShapes(stage: Stage, maxMessages: number): readonly StrictCase[] {
  const counts = [0, maxMessages + 1, 64, 65].map((count) => ({
    name: `count: ${count} messages`,
    bytes: ({ withBody }: Parameters<StrictCase['bytes']>[0]) =>
      withBody(
        bodyText(
          stage,
          Array.from({ length: count }, () => '{"role":"u","content":""}'),
        ),
      ),
    status: 422,
    code: 'message_limit',
  }));
  return [
    ...counts,
    ...shapes(stage).map(([name, text]) => ({
      name: `shape: ${name}`,
      bytes: ({ withBody }: Parameters<StrictCase['bytes']>[0]) => withBody(text),
      status: 422,
      code: 'invalid_payload',
    })),
  ];
}
