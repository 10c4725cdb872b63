import { html } from 'hono/html';
import type { LoadedFlow, LoadedNode } from '#flow/loader/loaded-flow';
import { problemLine, type SourceProblem } from '#flow/source/problem';
import { notice } from './notice.ts';
import type { ConsolePage, PageContext } from './page.ts';
import { saidText } from './said-text.ts';

type ShownFlow = {
  readonly agentId: string;
  readonly versionId: string;
  readonly name: string;
  readonly text: string;
  readonly load:
    | { readonly ok: true; readonly flow: LoadedFlow }
    | { readonly ok: false; readonly problems: readonly SourceProblem[] };
};

/** The flow of a version: as a graph, as a table with the same content, and its source. */
export function agentFlowPage({ words }: PageContext, shown: ShownFlow): ConsolePage {
  const { agentPages: own } = words;
  const { agentId, versionId, name, text, load } = shown;
  const row = (node: LoadedNode) =>
    html`<tr><th scope="row">${node.source.id}</th><td>${node.source.kind}</td><td>${followers(node).join(', ')}</td></tr>`;
  const drawn = (
    flow: LoadedFlow,
  ) => html`<p class="graph" tabindex="0"><img src="/agents/${agentId}/versions/${versionId}/flow.svg" alt="${own.flowAlt(flow.nodes.size)}"></p>
<h2>${own.nodes}</h2><table><thead><tr><th scope="col">${own.node}</th><th scope="col">${own.kind}</th><th scope="col">${own.followedBy}</th></tr></thead><tbody>${[...flow.nodes.values()].map(row)}</tbody></table>`;
  const problems = (list: readonly SourceProblem[]) =>
    html`${list.map((one) => html`<span class="sub">${saidText(words, problemLine('flow.yaml', one))}</span>`)}`;
  return {
    title: own.flowOf(name),
    main: html`<p><a href="/agents/${agentId}">${own.agent}</a></p>
${load.ok ? drawn(load.flow) : notice({ kind: 'error', title: own.flowInvalid, text: problems(load.problems) })}
<details><summary>${own.source}</summary><pre class="text" tabindex="0">${text}</pre></details>`,
  };
}

/** The nodes that may follow, each with the case or the error that selects it. */
function followers({ source, next, cases, onError }: LoadedNode): readonly string[] {
  const starts =
    source.kind === 'parallel' ? source.config.branches : source.kind === 'loop' ? [source.config.body] : [];
  return [
    ...(next === undefined ? [] : [next]),
    ...[...cases].map(([label, to]) => `${label}: ${to}`),
    ...(onError === undefined ? [] : [`error: ${onError}`]),
    ...starts,
  ];
}
