import { PortError } from '../engine/flow-error.ts';
import { answerSchemas, type FlowPorts, type PortCall, type PortName } from '../engine/ports.ts';
import type { RunEvent } from '../engine/run-events.ts';
import { runFlow } from '../engine/run-flow.ts';
import type { LoadedFlow } from '../loader/loaded-flow.ts';
import type { FlowTest, ScriptedAnswer } from './flow-tests-schema.ts';
import { judgeRun } from './judge-run.ts';

/** The result of a test; `problems` are sentences, and empty if the test passed. */
type TestEnd = {
  readonly name: string;
  readonly problems: readonly string[];
  readonly events: readonly RunEvent[];
};

/**
 * Runs one test against the answers that it defines. A call without an answer, or an answer without a call, fails the
 * test.
 */
export async function runTest(flow: LoadedFlow, test: FlowTest): Promise<TestEnd> {
  const script = new AnswerScript(test.answers);
  const events: RunEvent[] = [];
  const request = {
    entrypoint: test.entrypoint ?? Object.keys(flow.source.entrypoints)[0] ?? '',
    input: test.input,
    context: test.context,
    runId: 'test',
    traceId: '0'.repeat(32),
    budget: { timeoutMs: 60_000 },
  };
  for await (const event of runFlow(flow, request, script.ports(), new AbortController().signal, { pause })) {
    events.push(event);
  }
  const differences = judgeRun(test.expect, events).flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  return { name: test.name, problems: [...script.problems(), ...new Set(differences)], events };
}

/** A test does not wait between attempts. */
const pause = async (): Promise<void> => undefined;

class AnswerScript {
  readonly #answers: Readonly<Record<string, ScriptedAnswer | readonly ScriptedAnswer[]>>;
  readonly #taken = new Map<string, number>();
  readonly #problems = new Set<string>();

  constructor(answers: FlowTest['answers']) {
    this.#answers = answers;
  }

  ports(): FlowPorts {
    const names = Object.keys(answerSchemas) as PortName[];
    const port = (name: PortName) => async (_: unknown, call: PortCall) => this.#take(name, call);
    return Object.fromEntries(names.map((name) => [name, port(name)])) as unknown as FlowPorts;
  }

  problems(): readonly string[] {
    const unused = Object.entries(this.#answers).flatMap(([caller, given]) => {
      const taken = this.#taken.get(caller) ?? 0;
      const all = Array.isArray(given) ? given.length : 1;
      return taken >= all ? [] : [`${caller} has answers that no call used: ${all - taken} of ${all}`];
    });
    return [...this.#problems, ...unused];
  }

  #take(port: PortName, { caller }: PortCall): unknown {
    const given = Object.hasOwn(this.#answers, caller) ? this.#answers[caller] : undefined;
    const taken = this.#taken.get(caller) ?? 0;
    const answer = Array.isArray(given) ? given[taken] : given;
    if (answer === undefined) {
      this.#problems.add(`${caller} was called and has no ${taken === 0 ? '' : 'further '}answer in the test`);
      throw new PortError('unavailable');
    }
    this.#taken.set(caller, taken + 1);
    if (Object.hasOwn(answer, 'error') && Object.keys(answer).length === 1) {
      // The error is like that of a call that was refused before it had an effect, so that a test can show a retry.
      throw new PortError(answer['error'] as PortError['code'], { hadNoEffect: true });
    }
    // An author does not have to count the tokens of an answer.
    const whole = port === 'model' ? { usage: { promptTokens: 0, completionTokens: 0 }, ...answer } : answer;
    const shape = answerSchemas[port].safeParse(whole);
    if (!shape.success) this.#problems.add(`${caller} has an answer of another shape than its call needs`);
    return whole;
  }
}
