import type { ReplayPosition } from './replay-events.ts';

const usage =
  'Name where the replay begins: "since 2026-11-27T08:00:00Z" for all agents, or "agent ID NUMBER" for the events of one agent.';
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** A sequence number, with or without the leading zeros of an event. */
const sequenceForm = /^(?=\d{1,19}$)0*[1-9]\d{0,17}$/;
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** The position that the arguments of a command name; an error message for the person if they name no position. */
export function readReplayPosition(words: readonly string[]): ReplayPosition | string {
  const [kind = '', first = '', second = '', ...more] = words;
  if (kind === 'since' && moment.test(first) && second === '') {
    const since = new Date(first);
    return Number.isNaN(since.getTime()) ? usage : { kind: 'moment', since };
  }
  if (kind === 'agent' && uuid.test(first) && sequenceForm.test(second) && more.length === 0) {
    return { kind: 'agent', agentId: first.toLowerCase(), sequence: BigInt(second) };
  }
  return usage;
}
