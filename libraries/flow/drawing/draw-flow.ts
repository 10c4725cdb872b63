import type { Edge, Graph, Node, Subgraph } from '@viz-js/viz';
import type { LoadedFlow, LoadedNode } from '#flow/loader/loaded-flow';

const shapes: Readonly<Partial<Record<LoadedNode['source']['kind'], string>>> = {
  input: 'oval',
  output: 'oval',
  fail: 'octagon',
  condition: 'diamond',
  parallel: 'box3d',
  loop: 'box3d',
  subflow: 'folder',
};

/** The result of a run at a node: an additional line of its label, and whether the node succeeded. */
export type NodeMark = { readonly text: string; readonly tone: 'ok' | 'failed' | 'running' };

/** The marks of a run by the ids of nodes; a node without a mark did not run. */
export type RunMarks = ReadonlyMap<string, NodeMark>;

/** A flow as SVG: branches and bodies in frames, error edges dashed; with marks, the nodes that did not run are grey. */
export async function drawFlow(flow: LoadedFlow, marks?: RunMarks): Promise<string> {
  const { instance } = await import('@viz-js/viz');
  const viz = await instance();
  return viz.renderString(graphOf(flow, marks), { format: 'svg' });
}

function graphOf(flow: LoadedFlow, marks: RunMarks | undefined): Graph {
  const inner = [...flow.nodes.keys()].flatMap((id) => framesOf(flow, id, marks));
  const framed = new Set(inner.flatMap(({ nodes = [] }) => nodes.map(({ name }) => name)));
  const font = { fontname: 'sans-serif', fontsize: 11 };
  return {
    name: flow.source.metadata.name,
    graphAttributes: { rankdir: 'TB', ...font, label: `${flow.source.metadata.name} ${flow.source.metadata.version}` },
    nodeAttributes: { ...font, shape: 'box', style: 'rounded' },
    edgeAttributes: font,
    nodes: [...flow.nodes.values()].filter(({ source }) => !framed.has(source.id)).map((node) => nodeOf(node, marks)),
    edges: [...flow.nodes.values()].flatMap(edgesOf),
    subgraphs: inner,
  };
}

const tones = {
  ok: { color: '#1a7f37', penwidth: 2 },
  failed: { color: '#b42318', penwidth: 3 },
  running: { color: '#0b5fff', penwidth: 2, style: 'rounded,dashed' },
} as const satisfies Readonly<Record<NodeMark['tone'], Node['attributes']>>;
const notRun = { color: '#767676', fontcolor: '#767676' } as const;

function nodeOf({ source }: LoadedNode, marks: RunMarks | undefined): Node {
  const shape = shapes[source.kind];
  const mark = marks?.get(source.id);
  const tone = mark === undefined ? (marks === undefined ? {} : notRun) : tones[mark.tone];
  const lines = [source.id, source.kind, ...(mark === undefined ? [] : [mark.text])];
  return {
    name: source.id,
    attributes: { label: lines.join('\n'), ...(shape === undefined ? {} : { shape }), ...tone },
  };
}

function edgesOf({ source, next, cases, onError }: LoadedNode): readonly Edge[] {
  const from = (head: string, attributes: Edge['attributes'] = {}): Edge => ({ tail: source.id, head, attributes });
  return [
    ...(next === undefined ? [] : [from(next)]),
    ...[...cases].map(([label, head]) => from(head, { label })),
    ...(onError === undefined ? [] : [from(onError, { label: 'error', style: 'dashed' })]),
    ...startsOf(source).map((head) => from(head, { style: 'dotted' })),
  ];
}

/** The first nodes of the branches, or of the body. */
function startsOf(source: LoadedNode['source']): readonly string[] {
  if (source.kind === 'parallel') return source.config.branches;
  return source.kind === 'loop' ? [source.config.body] : [];
}

/** Lists a frame around each branch, or around the body of a loop. The frames of inner containers are listed, too. */
function framesOf(flow: LoadedFlow, id: string, marks: RunMarks | undefined): readonly Subgraph[] {
  const source = flow.nodes.get(id)?.source;
  if (source === undefined) return [];
  return startsOf(source).map((start) => ({
    name: `cluster_${start}`,
    graphAttributes: { label: `${id}: ${start}`, style: 'rounded' },
    nodes: reachedFrom(flow, start).map((node) => nodeOf(node, marks)),
  }));
}

function reachedFrom(flow: LoadedFlow, start: string): readonly LoadedNode[] {
  const found = new Map<string, LoadedNode>();
  const open = [start];
  for (const id of open) {
    const node = flow.nodes.get(id);
    if (node === undefined || found.has(id)) continue;
    found.set(id, node);
    open.push(...[node.next, node.onError].filter((one) => one !== undefined), ...node.cases.values());
  }
  return [...found.values()];
}
