import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AgentErrorCode, agentErrors } from '#contracts/agent-errors';
import { callSteps, type RefusingStep } from './call-steps.ts';

const folder = join(import.meta.dirname, '..');

/** Where a refusal is made: in a step of a call, or outside of the steps. */
type Place = {
  readonly steps: readonly RefusingStep[];
  readonly codes?: readonly AgentErrorCode[];
  /** Error codes that this declaration makes in one step only, read from a table. */
  readonly own?: Partial<Record<RefusingStep, readonly AgentErrorCode[]>>;
};

const at = (...steps: readonly RefusingStep[]): Place => ({ steps });
const outside = at();
/** The top-level declarations that make refusals, with the steps that run them; `codes` where the source has no literal. */
const places: Readonly<Record<string, Place>> = {
  'a2a/read-call-message.ts readCallMessage': at('files'),
  'a2a/read-call-message.ts readPart': at('files'),
  'a2a/read-call-message.ts commonModes': at('files'),
  'a2a/write-result.ts partsOf': at('result'),
  // Any step of a call can fail because of a fault of the program.
  'calls/agent-error.ts asAgentError': outside,
  'files/call-files.ts holdBytes': at('files'),
  'files/call-files.ts checkAll': at('files'),
  'files/call-files.ts decide': at('files'),
  'files/refuse-files.ts refuseFiles': at('files'),
  'http/a2a-routes.ts refuse': {
    steps: ['files'],
    codes: ['push_notification_not_supported', 'extended_card_not_configured'],
  },
  'http/a2a-routes.ts checkProtocol': at('protocol'),
  'http/answer-mcp-call.ts answerMcpCall': outside,
  'http/answer-mcp-call.ts checkMcpProtocol': at('protocol'),
  'http/answer-mcp-call.ts verify': at('identity'),
  'http/answer-mcp-call.ts sessionOf': at('files'),
  'http/answer-mcp-call.ts readMessage': at('files'),
  'http/answer-mcp-call.ts answerPost': at('files'),
  'http/answer-mcp-call.ts initialize': at('files'),
  'http/answer-mcp-call.ts invalidMessage': at('files'),
  'http/create-handler.ts answer': outside,
  'http/exchange.ts checkContentType': at('protocol'),
  'http/exchange.ts receive': at('protocol'),
  'http/exchange.ts readJsonBytes': at('files'),
  'http/get-card.ts getCard': outside,
  'http/run-routes.ts answerRunRoute': at('files'),
  'http/send-message.ts refuseContinuation': at('files'),
  'http/stream-message.ts subscribeToTask': at('files'),
  // An event of a stream that has begun is no refusal.
  'http/stream-message.ts relayEvents': { steps: ['files'], codes: ['UnsupportedOperationError'] },
  'http/stream-message.ts requireStreaming': at('files'),
  'http/stream-readers.ts createStreamReaders': at('files'),
  'http/task-operations.ts cancelTask': at('files'),
  'http/task-operations.ts taskOf': at('files'),
  'identity/call-verifier.ts createHeaderVerifier': at('identity'),
  'identity/workload-verifier.ts createTokenVerifier': at('identity'),
  'steps/build-request.ts buildRequest': at('conversion'),
  'steps/build-request.ts inputOf': at('conversion'),
  'steps/check-output.ts checkOutput': at('output'),
  'steps/guard-texts.ts guardTexts': {
    steps: ['input_guardrails', 'output'],
    own: { input_guardrails: ['request_too_large'], output: ['output_invalid'] },
  },
  'steps/guard-texts.ts judgeWindow': { steps: ['output'], own: { output: ['output_invalid'] } },
  'steps/run-entry-point.ts codes': at('entry_point'),
  'steps/run-entry-point.ts runEntryPoint': at('entry_point'),
  'steps/run-slots.ts createRunSlots': at('files'),
  'steps/stream-result.ts finishText': at('output'),
  'steps/text-stream.ts TextStream': { steps: ['output'], codes: ['guardrail_denied', 'output_invalid', 'cancelled'] },
  'tasks/list-tasks.ts listTasks': at('files'),
  'tasks/list-tasks.ts positionOf': at('files'),
  'tasks/task-store.ts TaskStore': at('files'),
};

/** The error codes in the source of each top-level declaration that makes refusals, by its file and name. */
function findRefusals(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const files = globSync('**/*.ts', { cwd: folder }).filter((file) => !/\.test\.ts$|^(testing|selfcheck)\//.test(file));
  for (const file of files.toSorted()) {
    const source = readFileSync(join(folder, file), 'utf8');
    for (const part of source.split(/^(?=(?:export )?(?:async )?(?:function|class|const) )/m)) {
      const name = /^(?:export )?(?:async )?(?:function|class|const) (\w+)/.exec(part)?.[1] ?? '';
      const codes = codesIn(file, name, part);
      if (codes !== undefined) found.set(`${file} ${name}`, codes);
    }
  }
  return found;
}

/** @returns undefined if the declaration makes no refusal */
function codesIn(file: string, name: string, part: string): readonly string[] | undefined {
  const isTable = file === 'steps/run-entry-point.ts' && name === 'codes';
  const made = isTable
    ? [...part.matchAll(/: '(\w+)'/g)].map(([, code]) => code)
    : [...part.matchAll(/new AgentError\(([^()]*)/g)].flatMap(([, given = '']) =>
        [...given.replace(/=== '\w+'/g, '').matchAll(/'(\w+)'/g)].map(([, code]) => code),
      );
  const isMaking = isTable || part.includes('new AgentError(');
  return isMaking ? made.filter((code) => code !== undefined) : undefined;
}

test('the list of call steps has exactly the codes that their sources use', () => {
  const found = findRefusals();
  expect([...found.keys()].toSorted()).toEqual(Object.keys(places).toSorted());
  const unknown = [...found.values()].flat().filter((code) => !Object.hasOwn(agentErrors, code));
  expect(unknown).toEqual([]);
  for (const { name, refusals } of callSteps) {
    const made = Object.entries(places).flatMap(([place, { steps, codes, own }]) =>
      steps.some((step) => step === name)
        ? [...(codes ?? found.get(place) ?? []), ...(name === 'refusal' ? [] : (own?.[name] ?? []))]
        : [],
    );
    expect([name, [...new Set(made)].toSorted()]).toEqual([name, [...refusals].toSorted()]);
  }
});
