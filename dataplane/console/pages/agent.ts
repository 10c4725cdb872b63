import { html } from 'hono/html';
import type { TracedRunList } from '#contracts/agent-runs';
import type { AgentRecord } from '#contracts/catalogue';
import type { ManagedAgent, ManagedVersion } from '#contracts/managed-agents';
import type { Words } from '../words/en.ts';
import { sentencesEn } from '../words/sentences/sentences-en.ts';
import { conversation } from './agent-conversation.ts';
import { newestRuns } from './agent-runs.ts';
import { stateTones } from './agents.ts';
import { badge, type Tone } from './badge.ts';
import { notice } from './notice.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';
import { runbookLink } from './runbooks.ts';
import { saidText } from './said-text.ts';

type ShownAgent = {
  readonly agentId: string;
  /** The entry of the catalogue that the person may see; undefined if there is none. */
  readonly record: AgentRecord | undefined;
  /** The answer of the management API; undefined for a person who may not view the control plane. */
  readonly managed: ManagedAgent | Markup | Promise<Markup> | undefined;
  /** The reason why the page has no conversation. */
  readonly noChat: keyof Words['agentPages']['noChatText'] | undefined;
  /** The runs of the served version; undefined for a person without the right to read runs, and while no process answers. */
  readonly runs: TracedRunList | undefined;
  /** Whether the console has a gateway, through which it reads runs. */
  readonly hasGateway: boolean;
};

const stepTones = { well: 'good', open: 'wait', fault: 'bad', aside: 'off' } as const satisfies Readonly<
  Record<ManagedAgent['steps'][number]['state'], Tone>
>;

/** The page of one agent: a conversation, its card, its versions, and why it is served or not. */
export function agentPage(
  page: PageContext,
  { agentId, record, managed, noChat, runs, hasGateway }: ShownAgent,
): ConsolePage {
  const { agentPages: own } = page.words;
  const isManaged = managed !== undefined && 'versions' in managed;
  const title = record?.name ?? (isManaged ? managed.name : page.words.agents);
  return {
    title,
    main: html`<p><a href="/agents">${page.words.agents}</a></p>${record === undefined ? '' : html`<p>${record.description}</p>`}
${noChat === undefined ? conversation(page, agentId) : notice({ kind: 'empty', title: own.noChat, text: own.noChatText[noChat] })}
${runsAfterTurns(page, { agentId, runs, isChatting: noChat === undefined })}
${record === undefined ? html`<p class="quiet">${own.noCard}</p>` : card(page, record)}
${isManaged ? managedPart(page, managed, hasGateway) : (managed ?? html`<p class="hint">${own.versionsHidden}</p>`)}`,
  };
}

/** The newest runs. After each turn of the conversation, the list is loaded again. */
function runsAfterTurns(
  page: PageContext,
  { agentId, runs, isChatting }: Pick<ShownAgent, 'agentId' | 'runs'> & { readonly isChatting: boolean },
): Markup | Promise<Markup> {
  const list = runs === undefined ? '' : newestRuns(page, agentId, runs);
  if (!isChatting) return html`${list}`;
  return html`<div hx-get="/agents/${agentId}/runs" hx-trigger="htmx:sse:close from:form.chat" hx-swap="innerHTML">${list}</div>`;
}

function card({ words }: PageContext, record: AgentRecord): Markup | Promise<Markup> {
  const { agentPages: own } = words;
  const { workspace, owner, protocol, implementationType, skills, invocationInterface: address } = record;
  const fact = (name: string, value: string) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`;
  const skill = ({ name, description, tags }: AgentRecord['skills'][number]) =>
    html`<tr><th scope="row">${name}</th><td>${description}</td><td>${tags.join(', ')}</td></tr>`;
  return html`<section aria-labelledby="card"><h2 id="card">${own.card}</h2>
<table><tbody>${fact(own.workspace, workspace)}${fact(own.owner, `${owner.ownerIssuer}|${owner.ownerSubject}`)}${fact(own.protocol, `${protocol}, ${implementationType}`)}${address === undefined ? '' : fact(own.address, address.url)}</tbody></table>
<h3>${own.skills}</h3>${
    skills.length === 0
      ? html`<p class="quiet">${own.noSkills}</p>`
      : html`<table><thead><tr><th scope="col">${own.skill}</th><th scope="col">${own.description}</th><th scope="col">${own.tags}</th></tr></thead><tbody>${skills.map(skill)}</tbody></table>`
  }</section>`;
}

function managedPart({ words }: PageContext, agent: ManagedAgent, hasGateway: boolean): Markup | Promise<Markup> {
  const { agentPages: own } = words;
  const { agentId, state, summary, whatToDo, steps, versions } = agent;
  const step = ({ part, state: stepState, message }: ManagedAgent['steps'][number]) =>
    html`<tr><th scope="row">${stepName(words, part)}</th><td>${badge(stepTones[stepState], own.stepStates[stepState])}</td><td>${saidText(words, message)}</td></tr>`;
  return html`<section aria-labelledby="versions"><h2 id="versions">${own.versions}</h2>
<table><thead><tr><th scope="col">${own.version}</th><th scope="col">${own.uses}</th><th scope="col">${words.state}</th><th scope="col">${own.why}</th><th scope="col">${own.flow}</th><th scope="col">${words.runPages.runs}</th></tr></thead><tbody>${versions.map((one) => versionRow(words, { agentId, version: one, hasGateway }))}</tbody></table></section>
<section aria-labelledby="why"><h2 id="why">${own.why}</h2><p>${badge(stateTones[state], own.states[state])} ${saidText(words, summary)}</p>${remedy(words, whatToDo)}${state === 'faulty' ? runbookLink(words, 'agent-not-ready', agent.name) : ''}
<table><thead><tr><th scope="col">${own.step}</th><th scope="col">${words.state}</th><th scope="col">${own.why}</th></tr></thead><tbody>${steps.map(step)}</tbody></table></section>`;
}

function stepName({ agentPages: { steps }, sentences }: Words, part: string): string | Markup | Promise<Markup> {
  const names: Readonly<Record<string, string>> = steps;
  if (Object.hasOwn(names, part)) return names[part] ?? part;
  return sentences === sentencesEn ? part : html`<span lang="en">${part}</span>`;
}

function versionRow(
  words: Words,
  {
    agentId,
    version,
    hasGateway,
  }: { readonly agentId: string; readonly version: ManagedVersion; readonly hasGateway: boolean },
): Markup | Promise<Markup> {
  const { agentPages: own } = words;
  const { name, versionId, roles, percent, state, hasFlow, isUnguarded, summary, whatToDo } = version;
  const link = (path: string, label: string) =>
    html`<a href="/agents/${agentId}/versions/${versionId}/${path}">${label}<span class="hidden"> ${name}</span></a>`;
  // The gateway reaches the versions of the route only, and the process of an image keeps no runs.
  const hasRuns = hasFlow && hasGateway && roles.some((role) => role !== 'wanted');
  const uses = roles.length === 0 ? own.unused : roles.map((role) => own.roles[role]).join(', ');
  const shown = state === null ? badge('bad', own.absent) : badge(stateTones[state], own.versionStates[state]);
  return html`<tr><th scope="row">${name}</th><td>${uses}${percent === null ? '' : html` <span class="count">${percent} %</span>`}</td>
<td>${shown} ${isUnguarded ? badge('warn', own.unguarded) : ''}</td><td>${state === 'ready' ? '' : saidText(words, summary)}${remedy(words, whatToDo)}</td>
<td>${hasFlow ? link('flow', own.flow) : ''}</td><td>${hasRuns ? link('runs', words.runPages.runs) : ''}</td></tr>`;
}

function remedy(words: Words, whatToDo: string | null): Markup | Promise<Markup> | '' {
  return whatToDo === null
    ? ''
    : html`<p class="remedy"><span>${words.whatToDo}:</span> ${saidText(words, whatToDo)}</p>`;
}
