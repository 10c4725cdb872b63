import { fileURLToPath } from 'node:url';
import { median } from '../support/median.ts';
import { preparePython } from '../support/python.ts';
import { openPythonLines } from '../support/python-lines.ts';
import { createBenchJudge } from './judge.ts';
import { benchBundle, denyMark, expressionsOf, maskMark, termsOf } from './policies.ts';
import { proseOf, requestBody } from './texts.ts';

/** Whether a text matches a pattern, a term, or no rule. */
type Match = 'none' | 'pattern' | 'term';

type Text = {
  readonly name: string;
  readonly content: string;
  readonly match: Match;
};

/** A question to the script: prepare a framework with the rules, or judge one text a number of times. */
type Question =
  | { readonly prepare: string; readonly patterns: readonly object[]; readonly terms: readonly string[] }
  | { readonly framework: string; readonly content: string; readonly count: number };

type Answer = {
  /** Whether the text matched a rule; absent after the preparation of a framework. */
  readonly matched?: boolean;
  /** Version of the framework's package. */
  readonly version?: string;
  /** Microseconds per text. */
  readonly microseconds?: number;
};

type FrameworkFigure = {
  readonly framework: string;
  readonly version: string;
  readonly text: string;
  /** Microseconds per text, medians over the rounds. */
  readonly microseconds: { readonly framework: number; readonly runtime: number };
  /** Median of the ratios within a round. */
  readonly timesRuntime: number;
};

export type FrameworkReport = {
  readonly figures: readonly FrameworkFigure[];
  /** Decisions that differ from the rules, each as framework and text. */
  readonly wrong: readonly string[];
};

/** The packages of requirements.txt, by the names that the script knows. */
const frameworks = ['presidio', 'llm-guard', 'nemo'] as const;
const rules = { patterns: 8, terms: 1_000 } as const;
const script = fileURLToPath(new URL('./judge_texts.py', import.meta.url));
const requirements = fileURLToPath(new URL('./requirements.txt', import.meta.url));
/** The packages have 5 GB, because LLM Guard depends on PyTorch also for scanners without a model. */
const downloadMs = 3_600_000;
/** Milliseconds of one side of a round: it is short, so that other work interrupts few rounds. */
const sideMs = 20;

/** Texts of 2 KiB, as in the other benchmarks: without a match in three alphabets, and with one match in the middle. */
function texts(): readonly Text[] {
  const half = proseOf('latin', 1_000);
  return [
    { name: 'Latin', content: proseOf('latin', 2_048), match: 'none' },
    { name: 'Cyrillic', content: proseOf('cyrillic', 2_048), match: 'none' },
    { name: 'log lines', content: proseOf('log', 2_048), match: 'none' },
    { name: 'Latin with a pattern', content: half + maskMark + half, match: 'pattern' },
    { name: 'Latin with a term', content: half + denyMark + half, match: 'term' },
  ];
}

/** A Python with the packages of all frameworks, which it downloads at the first call. */
export const prepareFrameworks = (): ReturnType<typeof preparePython> => preparePython(requirements, downloadMs);

/**
 * Measures the time of the runtime's judgement of a text, from the bytes of a request to the bytes of the answer, and
 * the time of each framework with the same patterns and terms, alternately.
 */
export async function compareFrameworks(
  python: string,
  rounds: number,
  say: (progress: string) => void,
): Promise<FrameworkReport> {
  await using lines = openPythonLines<Question, Answer>({ python, script });
  const ask = async (question: Question): Promise<Answer> => {
    const [answer] = await lines.ask([question]);
    if (answer === undefined) throw new Error('the script answered nothing');
    return answer;
  };
  const judge = createBenchJudge(benchBundle(rules));
  const figures: FrameworkFigure[] = [];
  const wrong: string[] = [];
  for (const framework of frameworks) {
    const { version = '' } = await ask({
      prepare: framework,
      patterns: expressionsOf(rules.patterns),
      terms: termsOf(rules.terms),
    });
    for (const text of texts()) {
      const body = requestBody(text.content);
      const judged = await judge(body);
      if (!judged.includes(expected[text.match])) wrong.push(`runtime: ${text.name}`);
      const once = await ask({ framework, content: text.content, count: 3 });
      if (once.matched !== (text.match !== 'none')) wrong.push(`${framework}: ${text.name}`);
      const count = Math.max(1, Math.round((sideMs * 1_000) / (once.microseconds ?? 1)));
      const figure = await inTurns(rounds, {
        runtime: () => timeOf(() => judge(body)),
        framework: async () => (await ask({ framework, content: text.content, count })).microseconds ?? Number.NaN,
      });
      figures.push({ framework, version, text: text.name, ...figure });
      say(
        `${framework} ${version}, ${text.name}: ${figure.microseconds.framework.toFixed(0)} us, the runtime ` +
          `${figure.microseconds.runtime.toFixed(0)} us (${figure.timesRuntime.toFixed(1)} times)`,
      );
    }
  }
  return { figures, wrong };
}

const expected: Readonly<Record<Match, string>> = {
  none: 'policy_pass',
  pattern: 'content_redacted',
  term: 'policy_denied',
};

type Sides = Readonly<Record<'runtime' | 'framework', () => Promise<number>>>;

async function inTurns(rounds: number, sides: Sides): Promise<Pick<FrameworkFigure, 'microseconds' | 'timesRuntime'>> {
  const times = { runtime: [] as number[], framework: [] as number[] };
  const ratios: number[] = [];
  await sides.runtime();
  await sides.framework();
  for (let round = 0; round < rounds; round++) {
    const runtime = await sides.runtime();
    const framework = await sides.framework();
    times.runtime.push(runtime);
    times.framework.push(framework);
    ratios.push(framework / runtime);
  }
  return {
    microseconds: { framework: median(times.framework), runtime: median(times.runtime) },
    timesRuntime: median(ratios),
  };
}

/** Microseconds of one call. */
async function timeOf(work: () => Promise<string>): Promise<number> {
  const end = performance.now() + sideMs;
  const start = performance.now();
  let calls = 0;
  while (performance.now() < end) {
    for (let call = 0; call < 10; call++) await work();
    calls += 10;
  }
  return ((performance.now() - start) * 1_000) / calls;
}
