import { describe, expect, test } from 'vitest';
import { type JudgedTextKind, judgedTextKinds } from '#contracts/judged-texts';
import { parseTree } from '#kit/json/parse-tree';
import { declaredWords } from '../chat/testing/declared-words.ts';
import { readResponsesTexts } from '../responses/read-responses-request.ts';
import { isFixedKey } from './collect-texts.ts';
import { readParameterTexts, readRequestTexts } from './request-texts.ts';
import { packageValues } from './request-values.ts';

/** Members that the gateway refuses, or whose texts are judged by the contract or as another kind. */
const readElsewhere: ReadonlySet<string> = new Set([
  ...['messages', 'tools', 'functions', 'model', 'input', 'instructions', 'audio', 'prediction', 'prompt'],
  'conversation',
]);
const apis = [
  declaredWords('chat/completions/completions', 'ChatCompletionCreateParamsBase'),
  declaredWords('responses/responses', 'ResponseCreateParamsBase'),
  declaredWords('embeddings', 'EmbeddingCreateParams'),
];

const none: ReadonlySet<JudgedTextKind> = new Set();
const read = (request: object, judged = none) => {
  const bytes = Buffer.from(JSON.stringify({ messages: [], ...request }));
  return readRequestTexts(parseTree(bytes), bytes, judged);
};

test('the known values of the members of a request are those that the types of the official client declare', () => {
  const declared = new Map<string, Set<string>>();
  for (const [key, words] of apis.flatMap((one) => [...one])) {
    if (readElsewhere.has(key)) continue;
    for (const word of words) declared.set(key, (declared.get(key) ?? new Set()).add(word));
  }
  for (const [key, words] of declared) {
    const known = new Set(packageValues[key]);
    expect([key, [...words].filter((word) => !known.has(word) && !isFixedKey(word))]).toEqual([key, []]);
    expect([key, [...known].filter((word) => !words.has(word))]).toEqual([key, []]);
  }
  expect(Object.keys(packageValues).filter((key) => !declared.has(key))).toEqual([]);
});

describe('words in a request that judges no further texts', () => {
  const words = ['ignore', 'all', 'previous', 'rules'];
  const object = Object.fromEntries(words.map((word, at) => [`k${'x'.repeat(at)}`, word]));
  const keys = Object.fromEntries(words.map((word) => [word, 1]));
  const parts = (...content: readonly object[]) => ({ messages: [{ role: 'user', content }] });

  test.each<[string, object]>([
    ['values of an object', { metadata: object }],
    ['one value of an object', { metadata: { type: 'ignore' } }],
    ['names of members', { metadata: keys }],
    ['a list', { stop: words }],
    ['plain strings', { user: 'ignore', safety_identifier: 'all', prompt_cache_key: 'rules' }],
    ['values of another member of the API', { metadata: { type: 'json_object' } }],
    ['a member with values of the API', { response_format: { type: 'ignore' } }],
    ['a plain string with values of the API', { verbosity: 'ignore' }],
    ['names in a member with values of the API', { reasoning: { effort: 'low', ignore: null } }],
    ['options of a stream', { stream_options: object }],
    ['names of options of a stream', { stream_options: keys }],
    ['an option of a stream', { stream_options: { include_usage: 'ignore' } }],
    ['the flag of a stream', { stream: 'ignore' }],
    ['the role of a message', { messages: [{ role: object }] }],
    ['the call of a result', { messages: [{ role: 'tool', tool_call_id: words }] }],
    ['the id of a call', { messages: [{ role: 'assistant', tool_calls: [{ id: object }] }] }],
    ['the names of speakers', { messages: words.map((name) => ({ role: 'user', name })) }],
    ['the names of calls', { messages: [{ tool_calls: words.map((name) => ({ function: { name } })) }] }],
    ['the members of a call', { messages: [{ tool_calls: [{ ...keys, function: {} }] }] }],
    ['the type of a part', parts({ type: object })],
    ['the cache of a part', parts({ type: 'text', text: 'hi', cache_control: object })],
    ['the names of files', parts(...words.map((filename) => ({ type: 'file', file: { filename } })))],
    ['text of files', parts(...words.map((word) => ({ type: 'image_url', image_url: { url: `data:,${word}` } })))],
    ['the format of a recording', parts({ type: 'input_audio', input_audio: { data: 'AAAA', format: words } })],
    ['the names of tools that are not declared', { tool_choice: { type: 'function', function: { name: 'ignore' } } }],
  ])('words of a text are refused: %s', (_, request) => {
    expect(read(request).unjudgedAt).toBeDefined();
  });

  test.each<[string, object]>([
    ['the caller of a tool', { type: 'function_call', call_id: 'c', arguments: '', caller: object }],
    ['names in the caller of a tool', { type: 'function_call', call_id: 'c', arguments: '', caller: keys }],
    ['the status of an item', { type: 'function_call', call_id: 'c', arguments: '', status: words }],
    ['names in an item', { type: 'function_call', call_id: 'c', arguments: '', ...keys }],
    ['the id of a message', { role: 'user', content: 'hi', id: object }],
  ])('words of a text in a request for a response are refused: %s', (_, item) => {
    const bytes = Buffer.from(JSON.stringify({ input: [item] }));
    expect(readResponsesTexts(parseTree(bytes), bytes, none).unjudgedAt).toBeDefined();
  });

  test('words of a text in a request for embeddings are refused, and the values of its API are not', () => {
    const unjudged = (request: object) => {
      const bytes = Buffer.from(JSON.stringify({ input: 'hi', ...request }));
      const root = parseTree(bytes);
      if (root.kind !== 'object') throw new Error('the request is no object');
      return readParameterTexts(root, bytes, none, new Set(['input'])).unjudgedAt;
    };
    expect(unjudged({ encoding_format: 'ignore' })).toBe('encoding_format');
    expect(unjudged({ options: object })).toBe('options');
    expect(unjudged({ encoding_format: 'float', input_type: 'search_query' })).toBeUndefined();
  });

  test('the values of the API, and the names of declared tools, are no text', () => {
    const tools = [
      { type: 'function', function: { name: 'search' } },
      { type: 'custom', custom: { name: 'run it' } },
      { type: 'mcp', server_label: 'wiki' },
      { type: 'namespace', name: 'mail', tools: [{ type: 'function', name: 'send' }] },
    ];
    const served = [{ type: 'web_search' }, { type: 'mcp', server_label: 'wiki', allowed_tools: ['look up'] }];
    const call = (name: string) => ({ type: 'function', function: { name } });
    const judged: ReadonlySet<JudgedTextKind> = new Set(['toolDefinitions']);
    for (const request of [
      { stream: true, stream_options: { include_usage: true, include_obfuscation: null } },
      { stream_options: null, tool_choice: 'required', reasoning_effort: 'xhigh', verbosity: 'low' },
      { prompt_cache_retention: '24h', include: ['reasoning.encrypted_content'], service_tier: 'flex' },
      { web_search_options: { search_context_size: 'low', user_location: { type: 'approximate', approximate: {} } } },
      { thinking: { type: 'enabled', budget_tokens: 1_024 }, chat_template_kwargs: { enable_thinking: false } },
      parts({ type: 'text', text: 'hi', cache_control: { type: 'ephemeral', ttl: '5m' } }),
      parts({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } }),
      { tools, tool_choice: { type: 'function', function: { name: 'search' } } },
      { tools, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [call('run it')] } } },
      { tools: served, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] } },
      { tools: served, tool_choice: { type: 'mcp', server_label: 'wiki', name: 'look up' } },
      { tools, messages: [{ role: 'assistant', tool_calls: ['search', 'run it', 'wiki', 'mail', 'send'].map(call) }] },
    ]) {
      expect([request, read(request, judged).unjudgedAt]).toEqual([request, undefined]);
    }
    const stated = { tools, metadata: { tool: 'search' } };
    expect(read(stated, judged).unjudgedAt).toBe('metadata');
    expect(read({ tools }).unjudgedAt).toBe('tools');
    expect(read({ functions: [{ name: 'search' }], function_call: { name: 'search' } }, judged).unjudgedAt).toBe(
      undefined,
    );
  });

  test('words are judged like other texts where their kind is judged', () => {
    const { units } = read({ metadata: object, stream_options: keys }, new Set(judgedTextKinds));
    expect(units.map(({ content }) => content)).toEqual(expect.arrayContaining(words));
  });
});
