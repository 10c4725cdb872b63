import type { AgentProblem } from '#contracts/agent-state';
import { describeProviderProblem, providerProblems } from '#contracts/provider-causes';
import type { ConditionChange } from '#kube/apply/conditions';
import type { AgentHostProblem, AgentObservation } from '../../agents/ports.ts';
import type { AgentVersionResult } from './decide.ts';

type Aspect = Omit<ConditionChange, 'observedGeneration'>;
type Leaving = Extract<AgentVersionResult, { readonly kind: 'held' | 'called' | 'draining' }>;
type Running = Extract<AgentVersionResult, { readonly kind: 'running' }>;

/** Maximum number of names or problems in one message. */
const mostNames = 5;

/** The conditions of a version at the end of a pass, summary first. While the version drains, only Ready changes. */
export function agentVersionConditions(
  result: AgentVersionResult,
  observedGeneration: number,
): readonly ConditionChange[] {
  const aspects = isLeaving(result)
    ? [leavingOf(result)]
    : [readyOf(result), acceptedOf(result), testedOf(result), cardOf(result), providersOf(result)];
  return aspects.map((aspect) => ({ ...aspect, observedGeneration }));
}

function no(type: string, reason: string, message: string): Aspect {
  return { type, status: 'False', reason, message };
}

function yes(type: string, reason: string, message: string): Aspect {
  return { type, status: 'True', reason, message };
}

function isLeaving(result: AgentVersionResult): result is Leaving {
  return result.kind === 'held' || result.kind === 'called' || result.kind === 'draining';
}

function leavingOf(result: Leaving): Aspect {
  switch (result.kind) {
    case 'held': {
      const waits = `The deletion waits: the agent ${result.agent} serves the version.`;
      const fault = processFault(result.observed);
      return fault === undefined ? no('Ready', 'Routed', waits) : { ...fault, message: `${fault.message} ${waits}` };
    }
    case 'called': {
      const { replicas } = result;
      const counted = replicas === 1 ? '1 gateway replica' : `${replicas} gateway replicas`;
      return no('Ready', 'Draining', `The deletion waits for ${counted}.`);
    }
    case 'draining': {
      const { runs } = result;
      return no('Ready', 'Draining', `The deletion waits for ${runs} ${runs === 1 ? 'run' : 'runs'}.`);
    }
  }
}

const refusedReasons = {
  flow: 'FlowInvalid',
  manifest: 'ManifestInvalid',
  tests: 'TestsInvalid',
  card: 'CardInvalid',
} as const;
/** The reason of a version whose checks were late, which are repeated. */
export const checksTimedOut = 'ChecksTimedOut';
const noImages = 'This installation runs flows only. An agent of an image (spec.sdk) needs a cluster.';

function acceptedOf(result: AgentVersionResult): Aspect {
  switch (result.kind) {
    case 'refused': {
      const { part, problem, count } = result;
      const more = count === 1 ? '' : ` There are ${count - 1} further problems.`;
      return no('Accepted', refusedReasons[part], `${problem}.${more}`);
    }
    case 'differs':
      return no('Accepted', 'ManifestDiffers', `${result.differences.slice(0, mostNames).join('; ')}.`);
    case 'late':
      return {
        type: 'Accepted',
        status: 'Unknown',
        reason: checksTimedOut,
        message: 'The checks of the version exceeded their time or memory. They will be repeated.',
      };
    case 'no_images':
      return no('Accepted', 'ImagesNotSupported', noImages);
    default: {
      const isImage = 'tests' in result && result.tests === 0;
      const what = isImage
        ? 'The image has a digest and the card is valid.'
        : 'The flow, its manifest and its tests are valid.';
      return yes('Accepted', 'Accepted', what);
    }
  }
}

function testedOf(result: AgentVersionResult): Aspect {
  switch (result.kind) {
    case 'refused':
    case 'differs':
    case 'no_images':
      return no('Tested', 'NotAccepted', 'The tests run when the version is accepted.');
    case 'late':
      return no('Tested', checksTimedOut, 'The tests exceeded their time or memory. They will be repeated.');
    case 'tests_failed': {
      const { failed, tests } = result;
      const names = failed.slice(0, mostNames).join('; ');
      const others = failed.length > mostNames ? ` and ${failed.length - mostNames} more` : '';
      return no('Tested', 'TestsFailed', `${failed.length} of ${tests} tests failed: ${names}${others}.`);
    }
    case 'not_configured':
    case 'running':
      if (result.tests === 0) return yes('Tested', 'NoTests', 'An image has no tests that the operator could run.');
      return yes('Tested', 'TestsPassed', `${result.tests} ${result.tests === 1 ? 'test' : 'tests'} passed.`);
    case 'held':
    case 'called':
    case 'draining':
      throw new TypeError('the tests of a version that is deleted are not judged');
  }
}

function cardOf(result: AgentVersionResult): Aspect {
  if (result.kind !== 'running') return no('CardVerified', 'NotRunning', 'No process of the version runs.');
  if (!result.hasCard) return yes('CardVerified', 'NoCard', 'The version is a tool of MCP and has no card.');
  const { card } = result.observed;
  if (card === 'verified') {
    return yes(
      'CardVerified',
      'Verified',
      'The card is the one that the process reports, with addresses of this version.',
    );
  }
  if (card === 'differs') {
    return no(
      'CardVerified',
      'CardDiffers',
      'The card differs from the one that the process reports, or has wrong addresses.',
    );
  }
  return no('CardVerified', 'CardNotRead', 'The process has not served its card yet.');
}

/** The version is served while a provider fails: only texts that its rule judges are refused. */
function providersOf(result: AgentVersionResult): Aspect {
  const type = 'ProviderReachable';
  const state = result.kind === 'running' ? result.observed.state : undefined;
  if (state === undefined) {
    return { type, status: 'Unknown', reason: 'NotServed', message: 'No process of the version runs.' };
  }
  const [first, ...others] = state.failingProviders ?? [];
  if (first === undefined) {
    return yes(type, 'Reachable', 'No check has shown a detector or classifier that does not judge.');
  }
  const more = others.length === 0 ? '' : ` ${others.length} more rules are not judged.`;
  const message = describeProviderProblem(first.provider, first.cause, first.rule);
  return no(type, providerProblems[first.cause].reason, `Texts that this rule judges are refused. ${message}${more}`);
}

function readyOf(result: AgentVersionResult): Aspect {
  switch (result.kind) {
    case 'no_images':
      return no('Ready', 'ImagesNotSupported', noImages);
    case 'refused':
    case 'differs':
      return no('Ready', 'NotAccepted', acceptedOf(result).message);
    case 'late':
    case 'tests_failed':
      return no('Ready', 'NotTested', testedOf(result).message);
    case 'not_configured':
      return no('Ready', 'AgentsNotConfigured', 'This installation does not run agents.');
    case 'running':
      return runningOf(result);
    case 'held':
    case 'called':
    case 'draining':
      return leavingOf(result);
  }
}

/** The reason of the condition Ready, by the first problem of the process. */
const processReasons = {
  bundle_invalid: 'ProcessNotReady',
  source_invalid: 'ProcessNotReady',
  manifest_invalid: 'ProcessNotReady',
  policy_invalid: 'PolicyNotServed',
  entry_point_invalid: 'ProcessNotReady',
  card_invalid: 'ProcessNotReady',
  setting_invalid: 'ProcessNotReady',
  advertised_capability_unavailable: 'CapabilityUnavailable',
  starting: 'Starting',
  shutting_down: 'ProcessNotReady',
} as const satisfies Record<AgentProblem['code'], string>;

/** Messages of hosts begin in lower case and have no full stop. */
function sentenceOf({ reason, message }: AgentHostProblem): string {
  if (reason === 'ProcessEnded') return `The process of the version has ended: ${message}.`;
  if (reason === 'ReplicaNotAnswering') return 'The process of the version does not answer.';
  const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
  return text.endsWith('.') ? text : `${text}.`;
}

/** A capability problem begins with its code, which is also the code of a refused registration. */
function problemText({ code, message }: AgentProblem): string {
  return code === 'advertised_capability_unavailable' ? `${code}: ${message}` : message;
}

/** The reason why a process does not serve its version; undefined if it is ready. */
function processFault(observed: AgentObservation | undefined): Aspect | undefined {
  if (observed === undefined) return no('Ready', 'ProcessEnded', 'No process of the version runs.');
  const { state, problem } = observed;
  if (problem !== undefined) return no('Ready', problem.reason, sentenceOf(problem));
  if (state === undefined) return no('Ready', 'Starting', 'The process of the version is starting.');
  if (!state.ready) {
    const [first] = state.problems;
    const reason = processReasons[first?.code ?? 'starting'];
    if (reason === 'Starting') return no('Ready', reason, 'The process of the version is starting.');
    const message = state.problems.slice(0, mostNames).map(problemText).join('; ');
    return no('Ready', reason, `${message}.`);
  }
  return undefined;
}

function runningOf(result: Running): Aspect {
  const fault = processFault(result.observed);
  if (fault !== undefined) return fault;
  if (result.missing.length > 0) {
    const names = result.missing.slice(0, mostNames).join('; ');
    return no('Ready', 'CapabilityUnavailable', `advertised_capability_unavailable: ${names}.`);
  }
  const card = cardOf(result);
  if (card.status !== 'True') return no('Ready', 'CardNotVerified', card.message);
  return yes('Ready', 'Ready', 'The version is served.');
}
