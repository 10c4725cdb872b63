const ref = (path: string): string => `\${${path}}`;
const text = { type: 'string' };

/** A flow that has every kind of node but a subflow, as its parsed source. */
export const richFlow = {
  apiVersion: 'platform.low-code.flow/v2',
  metadata: { flowId: '01890a5d-ac96-774b-bcce-b302099a8057', name: 'rich', version: 1 },
  input: {
    schema: {
      type: 'object',
      properties: { question: text, items: { type: 'array', items: text } },
      required: ['question'],
      additionalProperties: false,
    },
  },
  output: { schema: { type: 'object', properties: { answer: text } } },
  state: {
    schema: { type: 'object', properties: { note: text, done: { type: 'boolean' } } },
    initial: { note: '', done: false },
  },
  entrypoints: { main: 'start' },
  nodes: [
    { id: 'start', kind: 'input' },
    {
      id: 'guard',
      kind: 'guardrail',
      inputs: { text: ref('input.question') },
      config: { policy: 'p', stage: 'request' },
    },
    { id: 'session', kind: 'session_get', onError: { goto: 'find' } },
    {
      id: 'find',
      kind: 'retrieval',
      inputs: { query: ref('nodes.guard.output.text') },
      config: { collection: 'handbook' },
      retry: { maxAttempts: 2, backoffMs: 1 },
    },
    {
      id: 'kind',
      kind: 'condition',
      config: {
        cases: [
          { name: 'known', when: { exists: ref('nodes.find.output.items[0]') } },
          {
            name: 'long',
            when: {
              and: [{ matches: [ref('input.question'), '^.{100,}$'] }, { not: { eq: [ref('context.userId'), ''] } }],
            },
          },
        ],
        default: 'unknown',
      },
    },
    { id: 'stop', kind: 'fail', config: { code: 'too_long', message: 'The question is too long.' } },
    {
      id: 'ask',
      kind: 'prompt',
      config: {
        model: 'gpt',
        messages: [{ role: 'user', content: '{{nodes.find.output.items}} {{input.question}}' }],
        stream: true,
        tools: [
          { name: 'wiki', description: 'd', parameters: { type: 'object' }, mcp: { server: 'wiki', tool: 'search' } },
        ],
        maxTurns: 3,
      },
    },
    { id: 'all', kind: 'parallel', config: { branches: ['remember', 'fetch', 'each'], concurrency: 2 } },
    { id: 'remember', kind: 'memory_add', inputs: { text: ref('input.question') } },
    {
      id: 'fetch',
      kind: 'tool_http',
      inputs: { path: { id: ref('context.userId') } },
      config: { connection: 'crm', method: 'GET', path: '/users/{id}' },
      timeoutMs: 50,
    },
    {
      id: 'each',
      kind: 'loop',
      inputs: { items: { from: ref('input.items'), default: ['a', 'b'] } },
      config: { body: 'mine', maxIterations: 5, concurrency: 2 },
    },
    { id: 'mine', kind: 'memory_search', inputs: { query: ref('item') } },
    {
      id: 'retry',
      kind: 'loop',
      config: {
        while: { and: [{ eq: [ref('state.done'), false] }] },
        body: 'peer',
        maxIterations: 3,
        onLimit: 'end',
        state: { note: { from: ref('nodes.peer.output.text'), default: '' }, done: true },
      },
    },
    {
      id: 'peer',
      kind: 'agent',
      inputs: { text: ref('input.question') },
      config: { agentId: '7d444840-9dc0-11d1-b245-5ffdce74fad2' },
    },
    { id: 'save', kind: 'session_put', inputs: { state: { note: ref('state.note') } } },
    {
      id: 'read',
      kind: 'file',
      inputs: { fileId: ref('input.question') },
      config: { use: 'text' },
      onError: { goto: 'shape' },
    },
    {
      id: 'tool',
      kind: 'tool_mcp',
      inputs: { arguments: { q: ref('nodes.read.output.text') } },
      config: { server: 'wiki', tool: 'search' },
    },
    { id: 'shape', kind: 'transform', inputs: { answer: { from: ref('nodes.ask.output.text'), default: 'none' } } },
    { id: 'words', kind: 'template', config: { text: 'Answer: {{nodes.shape.output.answer}}' } },
    {
      id: 'end',
      kind: 'output',
      inputs: { text: ref('nodes.words.output.text'), data: { answer: ref('nodes.shape.output.answer') } },
    },
    { id: 'none', kind: 'output', inputs: { text: 'unknown' } },
  ],
  edges: [
    ['start', 'guard'],
    ['guard', 'session'],
    ['session', 'find'],
    ['find', 'kind'],
    ['kind', 'ask', 'known'],
    ['kind', 'stop', 'long'],
    ['kind', 'none', 'unknown'],
    ['ask', 'all'],
    ['all', 'retry'],
    ['retry', 'save'],
    ['save', 'read'],
    ['read', 'tool'],
    ['tool', 'shape'],
    ['shape', 'words'],
    ['words', 'end'],
  ].map(([from, to, when]) => ({ from, to, ...(when === undefined ? {} : { when }) })),
};
