import { z } from 'zod';

const tracedNodeSchema = z.object({
  path: z
    .string()
    .describe('Ids of the nodes around it with the number of the turn, and its own, as in `each[3]/ask`.'),
  kind: z.string(),
  startedMs: z.number().describe('Milliseconds between the start of the run and that of the node.'),
  outcome: z.string().optional().describe('`ok` or the code of a flow error; absent while the node runs.'),
  attempts: z.number().optional().describe('Calls of the outside system, at least 1; absent while the node runs.'),
  durationMs: z.number().optional().describe('Absent while the node runs.'),
});

export const tracedRunSchema = z.object({
  runId: z.string(),
  versionId: z.string(),
  traceId: z.string().describe('The W3C trace of the call, 32 hexadecimal digits.'),
  startedAt: z.string().describe('RFC 3339 in UTC.'),
  durationMs: z.number().optional().describe('Absent while the run is in progress.'),
  code: z.string().optional().describe('`none` or the code of the error of the call; absent while it is in progress.'),
  step: z.string().optional().describe('The step of the call that failed.'),
  flowCode: z.string().optional().describe('The code of the flow error that ended the run.'),
  nodes: z.array(tracedNodeSchema).describe('In the order of their starts.'),
  omittedNodes: z.number().describe('Further nodes that were started and are not kept.'),
});

/** GET …/runs of an agent: the newest run first, without nodes. */
export const tracedRunListSchema = z.object({
  /**
   * Whether the caller owns the agent and sees the runs of every caller; otherwise only the caller's own runs are
   * listed.
   */
  all: z.boolean(),
  runs: z.array(tracedRunSchema.omit({ nodes: true, omittedNodes: true })),
});

export type TracedNode = z.infer<typeof tracedNodeSchema>;
/** One run of a flow without its texts. */
export type TracedRun = z.infer<typeof tracedRunSchema>;
export type TracedRunList = z.infer<typeof tracedRunListSchema>;
