/** The usage or the budget of a run, including the runs that it has started. */
export type RunAmounts = { readonly nodes: number; readonly modelTokens: number; readonly outputBytes: number };

/**
 * The header in which an agent reports the usage of its run to the agent that called it. The gateway forwards the
 * header to agents only. Without the header the caller assumes that the run has used its whole budget.
 */
export const runUsageHeader = 'x-portcullis-run-usage';

export const noUsage: RunAmounts = { nodes: 0, modelTokens: 0, outputBytes: 0 };

const form = /^nodes=(\d{1,9}),modelTokens=(\d{1,9}),outputBytes=(\d{1,9})$/;

export function writeRunUsage({ nodes, modelTokens, outputBytes }: RunAmounts): string {
  return `nodes=${nodes},modelTokens=${modelTokens},outputBytes=${outputBytes}`;
}

/** @returns undefined for a value that is absent, repeated or of another form */
export function readRunUsage(header: string | readonly string[] | undefined): RunAmounts | undefined {
  const found = typeof header === 'string' ? form.exec(header) : null;
  if (found === null) return undefined;
  const [nodes = 0, modelTokens = 0, outputBytes = 0] = found.slice(1).map(Number);
  return { nodes, modelTokens, outputBytes };
}
