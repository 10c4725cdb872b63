import { html } from 'hono/html';
import type { TracedNode, TracedRun, TracedRunList } from '#contracts/agent-runs';
import type { Language } from '../words/choose-words.ts';
import type { Words } from '../words/en.ts';
import { badge } from './badge.ts';
import { notice } from './notice.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';
import { timeOf } from './time.ts';

type ListedRun = TracedRunList['runs'][number];

/** The newest runs on the page of their agent. */
const mostOnAgentPage = 5;

/** Every run that the process of a version keeps for the person. */
export function agentRunsPage(
  page: PageContext,
  { agentId, list }: { readonly agentId: string; readonly list: TracedRunList },
): ConsolePage {
  const { runPages: own, agentPages } = page.words;
  return {
    title: own.runs,
    main: html`<p><a href="/agents/${agentId}">${agentPages.agent}</a></p><p class="hint">${list.all ? own.allText : own.ownText}</p>
${list.runs.length === 0 ? notice({ kind: 'empty', title: own.none, text: own.noneText, link: { href: `/agents/${agentId}`, label: agentPages.chat } }) : runTable(page, agentId, list.runs)}`,
  };
}

/** The newest runs, on the page of the agent. */
export function newestRuns(page: PageContext, agentId: string, { all, runs }: TracedRunList): Markup | Promise<Markup> {
  const { runPages: own } = page.words;
  const newest = runs.slice(0, mostOnAgentPage);
  const [first] = newest;
  return html`<section aria-labelledby="runs"><h2 id="runs">${own.runs}</h2><p class="hint">${all ? own.allText : own.ownText}</p>
${first === undefined ? html`<p class="quiet">${own.noneText}</p>` : html`${runTable(page, agentId, newest)}<p><a href="/agents/${agentId}/versions/${encodeURIComponent(first.versionId)}/runs">${own.every(runs.length)}</a></p>`}</section>`;
}

function runTable(page: PageContext, agentId: string, runs: readonly ListedRun[]): Markup | Promise<Markup> {
  const { runPages: own, state } = page.words;
  const row = (run: ListedRun) =>
    html`<tr><th scope="row"><a href="/agents/${agentId}/versions/${encodeURIComponent(run.versionId)}/runs/${encodeURIComponent(run.runId)}"><code>${run.runId}</code></a></th><td>${timeOf(page.language, run.startedAt)}</td><td class="number">${durationOf(page.language, run.durationMs)}</td><td>${result(page.words, run)}</td></tr>`;
  return html`<table><thead><tr><th scope="col">${own.run}</th><th scope="col">${own.started}</th><th scope="col" class="number">${own.duration}</th><th scope="col">${state}</th></tr></thead><tbody>${runs.map(row)}</tbody></table>`;
}

type ShownRun = {
  readonly agentId: string;
  /**
   * The address of the page of the run. The ids of the run come from another service and are not used as a part of an
   * address.
   */
  readonly path: string;
  readonly run: TracedRun;
  /** Whether the person may see the flow and the flow can be drawn. */
  readonly hasGraph: boolean;
};

/**
 * The page of one run: its outcome, the flow with the nodes that ran, and each node with its start, duration and
 * outcome.
 */
export function agentRunPage(page: PageContext, shown: ShownRun): ConsolePage {
  const { runPages: own, agentPages } = page.words;
  const { agentId, path } = shown;
  const base = path.slice(0, path.lastIndexOf('/'));
  return {
    title: own.title,
    main: html`<p><a href="/agents/${agentId}">${agentPages.agent}</a> · <a href="${base}">${own.runs}</a></p>
<div aria-live="polite">${runState(page, shown)}</div>`,
  };
}

/**
 * The part of the page that changes. A run that has not ended requests it again, without its flow, which does not
 * change. Unchanged elements stay untouched, so that a screen reader does not repeat them.
 */
export function runState(
  page: PageContext,
  { path, run, hasGraph }: Omit<ShownRun, 'agentId'>,
): Markup | Promise<Markup> {
  const { words, language } = page;
  const { runPages: own, agentPages } = words;
  const { runId, traceId, startedAt, durationMs, nodes, omittedNodes } = run;
  const fact = (name: string, value: unknown) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`;
  const state = `${path}/state${hasGraph ? '?graph=1' : ''}`;
  const polling = run.code === undefined ? html`hx-get="${state}" hx-trigger="every 2s" hx-swap="outerMorph"` : '';
  const ended = nodes.filter(({ outcome }) => outcome !== undefined).length;
  // A changed picture needs a changed address: a browser does not read the same address twice within one page.
  const picture = `${path}/flow.svg${run.code === undefined ? `?nodes=${nodes.length}-${ended}` : ''}`;
  return html`<div ${polling}><table><tbody>${fact(own.run, html`<code>${runId}</code>`)}${fact(own.trace, html`<code>${traceId}</code>`)}${fact(own.started, timeOf(language, startedAt))}${fact(own.duration, durationOf(language, durationMs))}${fact(words.state, result(words, run))}</tbody></table>
${remedy(words, run)}
${hasGraph ? html`<p class="graph" tabindex="0"><img src="${picture}" alt="${own.graphAlt(nodes.length)}"></p>` : html`<p class="hint">${own.noGraph}</p>`}
<h2>${agentPages.nodes}</h2>${
    nodes.length === 0
      ? html`<p class="quiet">${own.noNodes}</p>`
      : html`<table><thead><tr><th scope="col">${agentPages.node}</th><th scope="col">${agentPages.kind}</th><th scope="col" class="number">${own.start}</th><th scope="col" class="number">${own.duration}</th><th scope="col">${words.state}</th><th scope="col" class="number">${own.attempts}</th></tr></thead><tbody>${nodes.map((node) => nodeRow(page, node))}</tbody></table>`
  }${omittedNodes === 0 ? '' : html`<p class="quiet">${own.omitted(omittedNodes)}</p>`}</div>`;
}

function nodeRow({ words: { runPages: own }, language }: PageContext, node: TracedNode): Markup | Promise<Markup> {
  const { path, kind, startedMs, durationMs, outcome, attempts } = node;
  const shown =
    outcome === undefined
      ? badge('wait', own.running)
      : outcome === 'ok'
        ? badge('good', own.ok)
        : html`${badge('bad', own.failed)} <code>${outcome}</code>`;
  return html`<tr><th scope="row">${path}</th><td>${kind}</td><td class="number">${durationOf(language, startedMs)}</td><td class="number">${durationOf(language, durationMs)}</td><td>${shown}</td><td class="number">${attempts ?? ''}</td></tr>`;
}

/** The result of a run: for a failure its code, the step and, if it is more specific, the code of the flow. */
function result({ runPages: own }: Words, { code, step, flowCode }: ListedRun): Markup | Promise<Markup> {
  if (code === undefined) return badge('wait', own.running);
  if (code === 'none') return badge('good', own.ok);
  const more = flowCode === undefined || flowCode === code ? '' : html` <code>${flowCode}</code>`;
  return html`${badge('bad', own.failed)} <code>${code}</code>${more}${step === undefined ? '' : html`<span class="sub">${own.step(step)}</span>`}`;
}

function remedy({ agentPages, whatToDo }: Words, { code }: ListedRun): Markup | Promise<Markup> | '' {
  if (code === undefined || code === 'none') return '';
  const remedies: Readonly<Record<string, string>> = agentPages.remedies;
  return html`<p class="remedy"><span>${whatToDo}:</span> ${remedies[code] ?? agentPages.remedy}</p>`;
}

const milliseconds: Readonly<Record<Language, Intl.NumberFormat>> = {
  en: inMilliseconds('en'),
  ru: inMilliseconds('ru'),
};

function inMilliseconds(language: Language): Intl.NumberFormat {
  return new Intl.NumberFormat(language, {
    ...{ style: 'unit', unit: 'millisecond', maximumFractionDigits: 0 },
    useGrouping: false,
  });
}

function durationOf(language: Language, ms: number | undefined): string {
  return ms === undefined ? '' : milliseconds[language].format(ms);
}
