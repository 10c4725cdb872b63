import type { AgentVersion } from '#resources/agent-version';
import type { Stored } from '#resources/metadata';
import { type AgentVersionState, agentVersionState } from './agent-version-row.ts';
import { checksLink } from './checks-link.ts';
import { type DeclaredExplanation, declaredLink, explainDeclared } from './explain-declared.ts';
import { type Link, operatorLink } from './links.ts';
import type { Surroundings } from './surroundings.ts';

type AgentVersionExplanation = DeclaredExplanation<AgentVersionState> & { readonly agentVersion: string };

/** Explains whether a version of an agent is ready and, if not, why. Pure. */
export function explainAgentVersion(
  resource: Stored<AgentVersion>,
  surroundings: Surroundings,
  program: string,
): AgentVersionExplanation {
  const { name } = resource.metadata;
  const chain = [
    operatorLink({ surroundings }),
    declaredLink(resource, 'Accepted', 'Accepted'),
    declaredLink(resource, 'Tests', 'Tested'),
    cardLink(resource),
    processLink(resource),
    ...checksLink(resource),
  ];
  const state = agentVersionState(resource);
  const title = `AgentVersion ${name}`;
  const { whatToDo, ...explanation } = explainDeclared({ title, state, stateWords, chain, program });
  // Remedies name the command for any agent and policy.
  const remedy = whatToDo
    ?.replaceAll('agent/NAME', `agent/${resource.spec.agent}`)
    .replaceAll('policy/NAME', `policy/${policyOf(resource) ?? 'NAME'}`);
  return { agentVersion: name, ...explanation, ...(remedy === undefined ? {} : { whatToDo: remedy }) };
}

/**
 * The policy that guards a version; undefined if requests and responses have different policies, one of which the
 * message names.
 */
function policyOf({ spec: { guardrails } }: AgentVersion): string | undefined {
  const policies = [guardrails.input, guardrails.output].flatMap((one) =>
    one.mode === 'Policy' ? [one.policyRef.name] : [],
  );
  const [only, ...others] = new Set(policies);
  return others.length === 0 ? only : undefined;
}

const stateWords: Readonly<Record<AgentVersionState, string>> = {
  ready: 'ready',
  starting: 'starting',
  faulty: 'not ready',
  waiting: 'not processed yet',
  deleting: 'being deleted',
};

/** A process that starts or ends, or whose card was not read yet, is not a fault yet. */
function processLink(resource: Stored<AgentVersion>): Link {
  const link = declaredLink(resource, 'Process', 'Ready');
  return link.state === 'fault' && waiting.has(link.reason ?? '') ? { ...link, state: 'open' } : link;
}

const waiting: ReadonlySet<string> = new Set(['Starting', 'Draining', 'CardNotVerified']);

/** If no process serves the version there is no card to verify, so that the missing process is the cause. */
function cardLink(resource: Stored<AgentVersion>): Link {
  const link = declaredLink(resource, 'Card', 'CardVerified');
  return link.reason === 'NotRunning' || link.reason === 'CardNotRead' ? { ...link, state: 'aside' } : link;
}
