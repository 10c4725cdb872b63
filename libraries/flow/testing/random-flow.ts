import type { JsonValue } from '#kit/json/json-value';

type Type = 'text' | 'list' | 'object' | 'number' | 'unknown';
type Named = { readonly path: string; readonly type: Type };
/** The values that expressions may name: `sure` exist on every path, `maybe` on some paths only. */
type Scope = { readonly sure: readonly Named[]; readonly maybe: readonly Named[]; readonly isShared: boolean };
type Members = { [name: string]: JsonValue };
type Edge = { readonly from: string; readonly to: string; readonly when?: string };
type Open = { readonly from: string; readonly when?: string };

const ref = (path: string): string => `\${${path}}`;
const words = ['tea', 'boat', 'stop', 'Größe', '10', ''] as const;
const agentId = '6f0dd4c4-6b0e-4d53-9c1b-3f6f1a0d5d11';
const flowId = '01890a5d-ac96-774b-bcce-b302099a8057';
/** Regions deeper than this have no subflows, so that the nesting stays within its limit. */
const deepestSubflow = 1;

const randomFlowSchemas = {
  input: {
    type: 'object',
    properties: {
      question: { type: 'string', minLength: 1 },
      items: { type: 'array', items: { type: 'string' } },
      count: { type: 'integer' },
    },
    required: ['question'],
    additionalProperties: false,
  },
  state: {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } },
    required: ['a', 'b', 'c'],
  },
};

/** A subflow that random flows may run, by its digest. Its input has the same form as that of a random flow. */
export type RandomSubflow = { readonly sha256: string };
type RandomFlowParts = { readonly subflows: readonly RandomSubflow[]; readonly mostNodes: number };

/** A flow that the loader accepts, out of numbers from 0 to 1. Subflow nodes name the given flows. */
export function randomFlow(random: () => number, { subflows, mostNodes }: RandomFlowParts): JsonValue {
  const below = (count: number): number => Math.floor(random() * count);
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T;
  const happens = (share: number): boolean => random() < share;
  const hasState = happens(0.6);
  const [nodes, edges] = [[] as Members[], [] as Edge[]];
  let count = 0;

  const text = (scope: Scope): JsonValue => {
    const known = scope.sure.filter(({ type }) => type === 'text' || (type === 'unknown' && happens(0.3)));
    return happens(0.25) || known.length === 0 ? oneOf(words) : `\${${oneOf(known).path}}`;
  };
  const some = (scope: Scope): string => `\${${oneOf([...scope.sure, ...scope.maybe]).path}}`;
  const value = (scope: Scope, depth = 0): JsonValue => {
    const kind = below(depth > 1 ? 4 : 6);
    if (kind === 0) return oneOf<JsonValue>([...words, 3, 0.5, true, null, -1]);
    if (kind === 1) return { from: some(scope), default: oneOf<JsonValue>([null, 'none', [], { a: 1 }]) };
    if (kind === 4) return Array.from({ length: below(3) }, () => value(scope, depth + 1));
    if (kind === 5) return happens(0.2) ? { literal: ref('input') } : { a: value(scope, depth + 1), b: 'b' };
    return `\${${oneOf(scope.sure).path}}`;
  };
  const template = (scope: Scope): string =>
    Array.from({ length: 1 + below(3) }, () => `${oneOf(words)} {{${oneOf(scope.sure).path}}}`).join(' ');
  const condition = (scope: Scope, depth = 0): JsonValue => {
    switch (below(depth > 1 ? 5 : 8)) {
      case 0:
        return { exists: some(scope) };
      case 1:
        return { matches: [text(scope), oneOf(['^t', 'o', '[0-9]+', '^$'])] };
      case 2:
        return { [oneOf(['lt', 'le', 'gt', 'ge'])]: [text(scope), oneOf<JsonValue>([...words, 4])] };
      case 3:
        return { in: [text(scope), happens(0.9) ? ['tea', 'stop'] : value(scope)] };
      case 5:
        return { not: condition(scope, depth + 1) };
      case 6:
      case 7:
        return { [oneOf(['and', 'or'])]: [condition(scope, depth + 1), condition(scope, depth + 1)] };
      default:
        return { [oneOf(['eq', 'ne'])]: [value(scope), value(scope)] };
    }
  };
  const retry = (): Members =>
    happens(0.3)
      ? {
          retry: {
            maxAttempts: 1 + below(3),
            backoffMs: 1,
            on: ['unavailable', oneOf(['rate_limited', 'answer_invalid'])],
          },
        }
      : {};

  const tools = (): Members => {
    const described = { description: 'Does what its name says.' };
    const q = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
    const id = { type: 'object', properties: { id: {}, q: {} }, required: ['id'] };
    const note = { connection: 'crm', method: oneOf(['GET', 'POST']), path: '/users/{id}' };
    const chosen = [
      { name: 'look', ...described, parameters: q, mcp: { server: 's', tool: 't' } },
      { name: 'note', ...described, parameters: id, http: note },
      { name: 'ask', ...described, agent: { agentId } },
      { name: 'find', ...described, retrieval: { collection: 'c', topK: 1 + below(9) } },
    ].filter(() => happens(0.5));
    if (chosen.length === 0) return {};
    return { tools: chosen, ...(happens(0.7) ? { maxTurns: 1 + below(4) } : {}) };
  };

  /** A node without a region and with one outgoing edge: its members, and the values that it returns. */
  function plainNode(id: string, scope: Scope): { readonly node: Members; readonly gives: readonly Named[] } {
    const out = `nodes.${id}.output`;
    const named = (members: Readonly<Record<string, Type>>): readonly Named[] =>
      Object.entries(members).map(([name, type]) => ({ path: `${out}.${name}`, type }));
    const calling = (node: Members, gives: Readonly<Record<string, Type>>) => ({
      node: { id, ...node, ...retry() },
      gives: named(gives),
    });
    switch (below(13)) {
      case 0:
        return { node: { id, kind: 'template', config: { text: template(scope) } }, gives: named({ text: 'text' }) };
      case 1:
      case 2: {
        const outputSchema = happens(0.2)
          ? { outputSchema: { type: 'object', required: [oneOf(['m', 'n', 'o'])] } }
          : {};
        const node = { id, kind: 'transform', inputs: { m: value(scope), n: text(scope) }, ...outputSchema };
        return { node, gives: [{ path: out, type: 'object' }] };
      }
      case 3: {
        const isShaped = happens(0.4);
        const responseSchema = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] };
        const config = {
          model: 'm',
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'user', content: template(scope) },
          ],
          parameters: { maxTokens: 100, ...(happens(0.3) ? { temperature: 0.5 } : {}) },
          ...(isShaped ? { responseSchema } : {}),
          ...(happens(0.5) ? tools() : {}),
        };
        return calling(
          { kind: 'prompt', config },
          { text: 'text', turns: 'number', ...(isShaped ? { data: 'object' } : {}) },
        );
      }
      case 4: {
        const isPacked = happens(0.4);
        const config = { collection: 'c', topK: 1 + below(9), ...(isPacked ? { pack: { tokenBudget: 100 } } : {}) };
        const filters = happens(0.3) ? { filters: { year: value(scope) } } : {};
        const node = { kind: 'retrieval', inputs: { query: text(scope), ...filters }, config };
        return calling(node, { items: 'list', 'items[0].title': 'unknown', ...(isPacked ? { text: 'text' } : {}) });
      }
      case 5:
        return calling(
          { kind: 'memory_search', inputs: { query: text(scope) } },
          { items: 'list', 'items[1]': 'unknown' },
        );
      case 6:
        return calling({ kind: 'memory_add', inputs: { text: text(scope) } }, { eventId: 'text' });
      case 7:
        return happens(0.5)
          ? calling({ kind: 'session_get' }, { state: 'object', 'state.mood': 'unknown' })
          : calling({ kind: 'session_put', inputs: { state: { note: value(scope) } } }, {});
      case 8: {
        const config = { policy: 'p', stage: oneOf(['request', 'response']) };
        return calling(
          { kind: 'guardrail', inputs: { text: text(scope) }, config },
          { text: 'text', decision: 'text' },
        );
      }
      case 9: {
        const inputs = {
          path: { id: text(scope) },
          query: { q: text(scope) },
          ...(happens(0.4) ? { body: value(scope) } : {}),
        };
        const config = { connection: 'crm', method: 'POST', path: '/users/{id}/notes' };
        return calling({ kind: 'tool_http', inputs, config }, { status: 'number', 'body.name': 'unknown' });
      }
      case 10: {
        const inputs = { arguments: { q: value(scope) } };
        return calling(
          { kind: 'tool_mcp', inputs, config: { server: 's', tool: 't' } },
          { text: 'text', data: 'unknown' },
        );
      }
      case 11: {
        const inputs = happens(0.5) ? { text: text(scope) } : { data: value(scope) };
        return calling({ kind: 'agent', inputs, config: { agentId } }, { text: 'unknown', data: 'unknown' });
      }
      default: {
        const use = oneOf(['text', 'provider'] as const);
        const gives = use === 'text' ? 'text' : 'providerFileId';
        return calling({ kind: 'file', inputs: { fileId: text(scope) }, config: { use } }, { [gives]: 'text' });
      }
    }
  }

  const nextId = (): string => `n${count++}`;

  /** One walk: its first node and the values at its end. A nested region ends at a plain node. */
  function region(outer: Scope, depth: number, last?: (scope: Scope) => Members): { start: string; scope: Scope } {
    let scope = outer;
    let open: Open[] = [];
    let [errors, start] = [[] as Members[], ''];
    const enter = (id: string): void => {
      if (start === '') start = id;
      for (const { from, when } of open) edges.push({ from, to: id, ...(when === undefined ? {} : { when }) });
      for (const node of errors) node['onError'] = { goto: id };
      [open, errors] = [[{ from: id }], []];
    };
    /**
     * Adds a node with a successor for its errors: after an error of this node, the run may continue at the successor.
     */
    const place = (node: Members, gives: readonly Named[], mayFail: boolean): void => {
      nodes.push(node);
      const isHandled = mayFail && happens(0.3);
      if (isHandled) errors.push(node);
      scope = isHandled
        ? { ...scope, maybe: [...scope.maybe, ...gives] }
        : { ...scope, sure: [...scope.sure, ...gives] };
    };
    const steps = 1 + below(depth === 0 ? 5 : 3);
    for (let at = 0; at < steps && count < mostNodes; at += 1) {
      const id = nextId();
      enter(id);
      const kind = random();
      if (kind < 0.1 && subflows.length > 0 && depth <= deepestSubflow) {
        const gives: readonly Named[] = [
          { path: `nodes.${id}.output.data`, type: 'object' },
          { path: `nodes.${id}.output.text`, type: 'unknown' },
        ];
        place(subflow(id), gives, true);
      } else if (kind < 0.62) {
        const { node, gives } = plainNode(id, scope);
        place(node, gives, true);
      } else if (kind < 0.78) open = branchOut(id);
      else if (depth < 3 && kind < 0.88) place(parallel(id), [{ path: `nodes.${id}.output`, type: 'object' }], true);
      else if (depth < 3) {
        const gives: readonly Named[] = [
          { path: `nodes.${id}.output.items`, type: 'list' },
          { path: `nodes.${id}.output.turns`, type: 'number' },
        ];
        place(loop(id), gives, true);
      } else place({ id, kind: 'template', config: { text: template(scope) } }, [], false);
    }
    const id = nextId();
    enter(id);
    if (last === undefined) {
      nodes.push({ id, kind: 'transform', inputs: { end: value(scope), note: text(scope) } });
      scope = { ...scope, sure: [...scope.sure, { path: `nodes.${id}.output.note`, type: 'unknown' }] };
    } else nodes.push({ id, ...last(scope) });
    return { start, scope };

    function branchOut(from: string): Open[] {
      const names = ['one', 'two', 'three'].slice(0, 1 + below(3));
      const fallback = happens(0.3) ? (names[0] as string) : 'other';
      const cases = names.map((name) => ({ name, when: condition(scope) }));
      nodes.push({ id: from, kind: 'condition', config: { cases, default: fallback } });
      const ends: Open[] = [];
      let later: readonly Named[] = [];
      for (const [at, when] of [...new Set([...names, fallback])].entries()) {
        if (at === 0 || happens(0.3)) {
          ends.push({ from, when });
          continue;
        }
        const way = nextId();
        edges.push({ from, to: way, when });
        if (happens(0.15)) {
          nodes.push({ id: way, kind: 'fail', config: { code: `code_${way}`, message: 'no' } });
          continue;
        }
        const { node, gives } = plainNode(way, scope);
        nodes.push(node);
        later = [...later, ...gives];
        ends.push({ from: way });
      }
      scope = {
        ...scope,
        maybe: [...scope.maybe, ...later],
        sure: [...scope.sure, { path: `nodes.${from}.output.case`, type: 'text' }],
      };
      return ends;
    }

    function subflow(id: string): Members {
      const inputs = {
        question: text(scope),
        ...(happens(0.5) ? { items: ['x', 'y', 'z'].slice(0, below(4)) } : {}),
        ...(happens(0.1) ? { count: { from: ref('input.count'), default: 1 } } : {}),
      };
      const { sha256 } = oneOf(subflows);
      return { id, kind: 'subflow', inputs, config: { flowId, sha256, entrypoint: 'main' } };
    }

    function parallel(id: string): Members {
      const branches = Array.from(
        { length: 2 + below(2) },
        () => region({ ...scope, isShared: true }, depth + 1).start,
      );
      return { id, kind: 'parallel', config: { branches, concurrency: oneOf([1, 1, 2, 16]) } };
    }

    function loop(id: string): Members {
      const maxIterations = 1 + below(5);
      const onLimit = oneOf(['fail', 'end']);
      const mayAssign = hasState && !scope.isShared;
      if (mayAssign && happens(0.5)) {
        const inner = region(scope, depth + 1);
        const state = { a: ref('state.b'), b: ref('state.c'), c: happens(0.6) ? 'stop' : text(inner.scope) };
        const config = { while: { ne: [ref('state.a'), 'stop'] }, body: inner.start, maxIterations, state, onLimit };
        return { id, kind: 'loop', config };
      }
      if (happens(0.3)) {
        const inner = region(scope, depth + 1);
        return { id, kind: 'loop', config: { while: condition(scope), body: inner.start, maxIterations, onLimit } };
      }
      const lists = scope.sure.filter(({ type }) => type === 'list' || (type === 'unknown' && happens(0.2)));
      const items: JsonValue =
        lists.length === 0 || happens(0.4)
          ? happens(0.5)
            ? { from: ref('input.items'), default: [] }
            : ['x', 'y', 'z'].slice(0, below(4))
          : `\${${oneOf(lists).path}}`;
      const concurrency = oneOf([1, 1, 3]);
      const item: Named = { path: 'item', type: 'unknown' };
      const isShared = scope.isShared || concurrency > 1;
      const before = [...scope.sure.filter(({ path }) => path !== 'item'), item];
      const inner = region({ ...scope, sure: before, isShared }, depth + 1);
      const assigns = mayAssign && concurrency === 1 && happens(0.4);
      const state = assigns ? { state: { a: text(inner.scope) } } : {};
      return {
        id,
        kind: 'loop',
        inputs: { items },
        config: { body: inner.start, maxIterations, onLimit, concurrency, ...state },
      };
    }
  }

  const first: Scope = {
    sure: [
      { path: 'input.question', type: 'text' },
      { path: 'context.userId', type: 'text' },
      { path: 'context.level', type: 'number' },
      ...(hasState
        ? ([
            { path: 'state.a', type: 'text' },
            { path: 'state', type: 'object' },
          ] as const)
        : []),
    ],
    maybe: [
      { path: 'input.count', type: 'number' },
      { path: 'input.items[1]', type: 'text' },
      { path: 'context.absent', type: 'unknown' },
    ],
    isShared: false,
  };
  const { start } = region(first, 0, (scope) => ({
    kind: 'output',
    inputs: {
      ...(happens(0.6) ? { text: text(scope) } : {}),
      data: { found: value(scope), ...(hasState ? { state: ref('state') } : {}) },
    },
  }));
  return {
    apiVersion: 'platform.low-code.flow/v2',
    metadata: { flowId, name: 'random', version: 1 },
    input: { schema: randomFlowSchemas.input },
    output: { schema: happens(0.2) ? { type: 'object', properties: { found: { minLength: 3 } } } : { type: 'object' } },
    ...(hasState ? { state: { schema: randomFlowSchemas.state, initial: { a: 'one', b: 'two', c: 'stop' } } } : {}),
    entrypoints: { main: 'start' },
    nodes: [{ id: 'start', kind: 'input' }, ...nodes],
    edges: [{ from: 'start', to: start }, ...edges],
  };
}

/** An input that mostly matches the schema of random flows. */
export function randomInput(random: () => number): JsonValue {
  if (random() < 0.05) return random() < 0.5 ? {} : { question: 'tea', more: 1 };
  return {
    question: words[Math.floor(random() * 5)] as string,
    ...(random() < 0.6 ? { items: words.slice(0, Math.floor(random() * 5)) } : {}),
    ...(random() < 0.5 ? { count: Math.floor(random() * 9) } : {}),
  };
}
