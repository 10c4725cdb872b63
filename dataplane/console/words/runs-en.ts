/** Words of the pages about runs of agents, in English. */
export const runsEn = {
  runs: 'Runs',
  run: 'Run',
  title: 'Trace of a run',
  trace: 'Trace id',
  started: 'Started',
  start: 'Start',
  duration: 'Duration',
  attempts: 'Attempts',
  running: 'Running',
  ok: 'Completed',
  failed: 'Failed',
  step: (name: string) => `step ${name}`,
  every: (count: number) => `All ${count} runs`,
  allText:
    'You own this agent: these are the runs of every caller. The process of the version keeps the newest 200 for a day, without texts.',
  ownText: 'Your own runs. The process of the version keeps the newest 200 of all callers for a day, without texts.',
  none: 'No run is kept',
  noneText: 'No run is kept. Send the agent a message, then open this page again.',
  noNodes: 'No node was started.',
  omitted: (count: number) => `${count} further nodes were started and are not stored.`,
  graphAlt: (count: number) => `The flow with the ${count} nodes of this run; the table below has the same content.`,
  noGraph:
    'The graph of the flow is shown to persons with the right to view the control plane, and to the owner of the agent.',
};

export type RunWords = typeof runsEn;
