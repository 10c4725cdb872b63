import type { Agent } from '#resources/agent';
import type { AgentVersion } from '#resources/agent-version';
import type { Stored } from '#resources/metadata';
import { passingReasons, type ServedState, servedState } from './agent-row.ts';
import { checksLink } from './checks-link.ts';
import { type DeclaredExplanation, declaredLink, explainDeclared } from './explain-declared.ts';
import { type Link, operatorLink } from './links.ts';
import type { Surroundings } from './surroundings.ts';

type AgentExplanation = DeclaredExplanation<ServedState> & { readonly agent: string };

/**
 * Explains whether gateways serve an agent as its resource declares and, if not, why. Pure.
 * @param version the served version, whose failing detectors are shown; absent when only the agent is explained
 */
export function explainAgent(
  resource: Stored<Agent>,
  surroundings: Surroundings,
  program: string,
  version?: Stored<AgentVersion>,
): AgentExplanation {
  const { name } = resource.metadata;
  const served = waitingLink(declaredLink(resource, 'Serving', 'Ready'));
  const chain = [
    operatorLink({ surroundings }),
    accessLink(declaredLink(resource, 'Access', 'AccessConsistent')),
    routeLink(declaredLink(resource, 'Route', 'RouteAccepted')),
    served,
    ...(version === undefined ? [] : checksLink(version)),
  ];
  const state = servedState(resource);
  const { whatToDo, ...explanation } = explainDeclared({ title: `Agent ${name}`, state, stateWords, chain, program });
  // Remedies name the command for any agent and version.
  const { version: wanted, canary } = resource.spec;
  const asked = explanation.cause?.reason?.startsWith('Canary') === true ? (canary?.version ?? wanted) : wanted;
  const remedy = whatToDo
    ?.replaceAll('agent/NAME', `agent/${name}`)
    .replaceAll('agentversion/VERSION', `agentversion/${asked}`);
  return { agent: name, ...explanation, ...(remedy === undefined ? {} : { whatToDo: remedy }) };
}

const stateWords: Readonly<Record<ServedState, string>> = {
  ready: 'served',
  starting: 'starting',
  faulty: 'not served as declared',
  waiting: 'not processed yet',
  deleting: 'being deleted',
};

/** An installation that runs no agents has neither route nor rights: the last step reports it. */
const notConfigured = 'AgentsNotConfigured';

function accessLink(link: Link): Link {
  return link.reason === notConfigured ? { ...link, state: 'aside' } : link;
}

/** A route is made once a version is ready, so that an absent route has its cause in the version. */
function routeLink(link: Link): Link {
  return link.reason === notConfigured || link.reason === 'NoRoute' ? { ...link, state: 'aside' } : link;
}

function waitingLink(link: Link): Link {
  const isPassing = passingReasons.includes(link.reason ?? '') || link.reason === 'Draining';
  return link.state === 'fault' && isPassing ? { ...link, state: 'open' } : link;
}
