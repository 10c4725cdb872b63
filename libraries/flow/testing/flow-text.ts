import { stringify } from 'yaml';

type Json = Readonly<Record<string, unknown>>;
/** Parts of a flow that a test sets; the other parts are those of a flow with one template. */
type FlowParts = {
  readonly input?: Json;
  readonly output?: Json;
  readonly state?: Json;
  readonly entrypoints?: Json;
  readonly nodes?: readonly Json[];
  readonly edges?: readonly (readonly [from: string, to: string, when?: string])[];
  readonly more?: Json;
};

export const flowId = '01890a5d-ac96-774b-bcce-b302099a8057';

/** A flow as YAML, with one line for each node and each edge; they start at line 7 if no other part is set. */
export function flowText({ input, output, state, entrypoints, nodes, edges, more }: FlowParts = {}): string {
  const line = (value: unknown): string => JSON.stringify(value);
  return [
    'apiVersion: platform.low-code.flow/v2',
    `metadata: {flowId: ${flowId}, name: greeting, version: 1}`,
    `input: ${line({ schema: input ?? { type: 'object', properties: { question: { type: 'string' } } } })}`,
    `output: ${line({ schema: output ?? { type: 'object' } })}`,
    ...(state === undefined ? [] : [`state: ${line(state)}`]),
    `entrypoints: ${line(entrypoints ?? { main: 'start' })}`,
    'nodes:',
    '  - {id: start, kind: input}',
    `  - ${line(end)}`,
    ...(nodes ?? [template]).map((node) => `  - ${line(node)}`),
    'edges:',
    ...(
      edges ?? [
        ['start', 'greet'],
        ['greet', 'end'],
      ]
    ).map(([from, to, when]) => `  - ${line({ from, to, ...(when === undefined ? {} : { when }) })}`),
    ...(more === undefined ? [] : [stringify(more).trim()]),
    '',
  ].join('\n');
}

export const template = { id: 'greet', kind: 'template', config: { text: 'Hello {{input.question}}' } };
const end = { id: 'end', kind: 'output', inputs: { text: 'done' } };

/** A linear flow with these nodes between input and output; its output is the output of the last node. */
export function chainText(nodes: readonly (Json & { readonly id: string })[], parts: FlowParts = {}): string {
  const ids = ['start', ...nodes.map(({ id }) => id), 'result'];
  const last = nodes.at(-1)?.id ?? 'start';
  const result = { id: 'result', kind: 'output', inputs: { data: { value: `\${nodes.${last}.output}` } } };
  return flowText({
    ...parts,
    nodes: [...nodes, ...(parts.nodes ?? []), result],
    edges: [...ids.slice(1).map((id, at) => [ids[at] ?? '', id] as const), ...(parts.edges ?? [])],
  }).replace(/^ {2}- \{"id":"end".*\n/m, '');
}
