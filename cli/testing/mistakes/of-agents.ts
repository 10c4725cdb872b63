import type { Mistake } from './mistake.ts';

/** Errors in commands about agents. */
export const mistakesOfAgents: readonly Mistake[] = [
  {
    title: 'a conversation with an agent without a caller',
    args: ['agent', 'chat', 'assistant', '--message', 'Good morning'],
    exit: 2,
    place: ['"agent chat"'],
    remedy: ['--as PERSON', 'PORTCULLIS_AS'],
  },
  {
    title: 'the trace of a run without a caller',
    args: ['agent', 'trace', 'assistant', '01890a5d-ac96-774b-bcce-b302099a8057'],
    exit: 2,
    place: ['"agent trace"'],
    remedy: ['--as PERSON', 'PORTCULLIS_AS'],
  },
];
