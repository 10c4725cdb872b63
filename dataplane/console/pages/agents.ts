import { html } from 'hono/html';
import type { AgentLifecycle, AgentRecord } from '#contracts/catalogue';
import type { ManagedAgentList, VersionsWithoutAgent } from '#contracts/managed-agents';
import { badge, type Tone } from './badge.ts';
import { notice } from './notice.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';
import { saidText } from './said-text.ts';
import { timeOf } from './time.ts';

type ShownAgent = AgentRecord & { readonly score?: number };

type DeclaredAgents = ManagedAgentList['items'];
type ListedVersions = VersionsWithoutAgent['items'];

export type AgentList = {
  readonly agents: readonly ShownAgent[];
  readonly nextCursor: string | null;
  readonly workspace: string;
};

const lifecycleTones = {
  active: 'good',
  degraded: 'warn',
  removed: 'off',
  rejected: 'bad',
} as const satisfies Readonly<Record<AgentLifecycle, Tone>>;
export const stateTones = {
  ready: 'good',
  starting: 'wait',
  faulty: 'bad',
  waiting: 'wait',
  deleting: 'off',
} as const satisfies Readonly<Record<DeclaredAgents[number]['state'], Tone>>;

/**
 * The page of the agents that the person may view, with a search; for administrators also the declared agents. A search
 * text is sent in a body, because browsers, proxies and logs keep addresses.
 */
export function agentsPage(
  page: PageContext,
  list: AgentList & {
    /** The declared agents; undefined without the right to view the control plane. */
    readonly declared: DeclaredAgents | undefined;
    /** Versions without an agent; undefined without the right to view the control plane. */
    readonly withoutAgent: ListedVersions | undefined;
    readonly workspaces: readonly string[];
  },
): ConsolePage {
  const { words, session } = page;
  const { agentPages: own } = words;
  const { declared, withoutAgent, workspaces, workspace } = list;
  const option = (value: string, label: string) =>
    html`<option value="${value}" ${value === workspace ? html`selected` : ''}>${label}</option>`;
  return {
    title: words.agents,
    main: html`<p class="hint">${own.intro}</p>
<form class="row" method="post" action="/agents/search" hx-post="/agents/search" hx-target="#found" hx-sync="this:replace"><input type="hidden" name="csrf" value="${session?.csrf ?? ''}"><label>${own.search} <input type="search" name="task" size="40" maxlength="2000"></label>
<label>${own.workspace} <select name="workspace">${option('', own.everyWorkspace)}${workspaces.map((one) => option(one, one))}</select></label><button>${own.searchButton}</button></form>
<div id="found" aria-live="polite">${listedAgents(page, list)}</div>
${declared === undefined ? '' : declaredTable(page, declared)}
${withoutAgent === undefined ? '' : withoutAgentTable(page, withoutAgent)}`,
  };
}

/** One page of the list of agents. */
export function listedAgents(page: PageContext, { agents, nextCursor, workspace }: AgentList): Markup {
  const { agentPages: own } = page.words;
  const none = notice({ kind: 'empty', title: own.none, text: own.noneText });
  return html`${agents.length === 0 ? none : agentTable(page, agents)}
${nextCursor === null ? '' : html`<p><a href="/agents?${nextQuery(workspace, nextCursor)}">${own.next}</a></p>`}`;
}

/** The agents for a task, best matches first. */
export type FoundAgents = {
  readonly agents: readonly ShownAgent[];
  /**
   * How many workspaces were searched, if there may be others; undefined if all workspaces, or the chosen one, were
   * searched.
   */
  readonly onlyIn: number | undefined;
};

export function matchingAgents(page: PageContext, { agents, onlyIn }: FoundAgents): Markup {
  const { agentPages: own } = page.words;
  return html`<p><a href="/agents">${own.everyAgent}</a></p>
${onlyIn === undefined ? '' : html`<p class="hint">${own.searchedOnly(onlyIn)}</p>`}
${agents.length === 0 ? html`<p class="quiet">${own.noneFound}</p>` : agentTable(page, agents)}`;
}

function nextQuery(workspace: string, cursor: string): string {
  return new URLSearchParams({ ...(workspace === '' ? {} : { workspace }), cursor }).toString();
}

function agentTable({ words }: PageContext, agents: readonly ShownAgent[]): Markup | Promise<Markup> {
  const { agentPages: own } = words;
  const isRanked = agents.some(({ score }) => score !== undefined);
  const row = (agent: ShownAgent) => {
    const { agentId, name, description, workspace, protocol, state, invocationInterface, score } = agent;
    return html`<tr><th scope="row"><a href="/agents/${agentId}">${name}</a><span class="sub">${description}</span></th><td>${workspace}</td><td>${protocol}</td><td>${badge(lifecycleTones[state], own.lifecycle[state])}</td><td>${invocationInterface === undefined ? own.no : own.yes}</td>${isRanked ? html`<td class="number">${(score ?? 0).toFixed(2)}</td>` : ''}</tr>`;
  };
  return html`<table><thead><tr><th scope="col">${own.agent}</th><th scope="col">${own.workspace}</th><th scope="col">${own.protocol}</th><th scope="col">${words.state}</th><th scope="col">${own.call}</th>${isRanked ? html`<th scope="col" class="number">${own.score}</th>` : ''}</tr></thead><tbody>${agents.map(row)}</tbody></table>`;
}

function declaredTable({ words }: PageContext, declared: DeclaredAgents): Markup | Promise<Markup> {
  const { agentPages: own } = words;
  if (declared.length === 0) return html``;
  const row = ({ name, agentId, state, served, summary }: DeclaredAgents[number]) =>
    html`<tr><th scope="row"><a href="/agents/${agentId}">${name}</a></th><td>${badge(stateTones[state], own.states[state])}</td><td>${served ?? ''}</td><td>${state === 'ready' ? '' : saidText(words, summary)}</td></tr>`;
  return html`<section aria-labelledby="declared"><h2 id="declared">${own.declared}</h2><p class="hint">${own.declaredText}</p>
<table><thead><tr><th scope="col">${own.agent}</th><th scope="col">${words.state}</th><th scope="col">${own.served}</th><th scope="col">${own.why}</th></tr></thead><tbody>${declared.map(row)}</tbody></table></section>`;
}

function withoutAgentTable({ words, language }: PageContext, versions: ListedVersions): Markup | Promise<Markup> {
  const { agentPages: own } = words;
  if (versions.length === 0) return html``;
  const row = ({ name, agent, createdAt }: ListedVersions[number]) =>
    html`<tr><th scope="row">${name}</th><td>${agent}</td><td>${timeOf(language, createdAt)}</td></tr>`;
  return html`<section aria-labelledby="without-agent"><h2 id="without-agent">${own.withoutAgent}</h2><p class="hint">${own.withoutAgentText}</p>
<table><thead><tr><th scope="col">${own.version}</th><th scope="col">${own.missingAgent}</th><th scope="col">${own.created}</th></tr></thead><tbody>${versions.map(row)}</tbody></table></section>`;
}
