import type { JudgeJob, JudgeVerdict } from '#contracts/judge';
import { systemClock } from '#kit/time/clock';
import { connectProviders } from '../adapters/providers/connect-providers.ts';
import { BundleError, type BundleProblem } from '../bundle/bundle-error.ts';
import { type Compilation, compileBundle } from '../bundle/compile-bundle.ts';
import type { AskOf } from '../bundle/compile-section.ts';
import { judgeDivision } from '../bundle/division.ts';
import { type ParsedBundle, parseBundle } from '../bundle/parse-bundle.ts';
import { judgeStreaming } from '../bundle/streaming.ts';
import type { FigureSource } from '../rules/pattern/cost/pattern-figures.ts';
import { type FigureBook, openFigureBook } from './figures/figure-book.ts';
import { type FigureFile, openFigureFile } from './figures/figure-file.ts';
import { createFigureMemory } from './figures/figure-memory.ts';
import { createSaves } from './figures/saves.ts';
import { type OnProgress, workOutFigures } from './figures/work-out-figures.ts';
import { runTextCheck } from './run-text-check.ts';

/** Number of connections to a provider: the checks of a judgement run one after another. */
const connections = 4;

/**
 * How often the figures of a long validation are stored, milliseconds, so that after it was killed the next validation
 * continues from there.
 */
const saveMs = 2_000;

export type JudgeOptions = {
  readonly onProgress?: OnProgress | undefined;
  /** Figures of patterns from earlier jobs of this process; used if the job names no folder of figures. */
  readonly memory?: FigureFile | undefined;
};

/**
 * Validates a bundle by the rules by which the runtime loads it, and checks texts with its rules. The verdict is the
 * same on every machine: rules are admitted by their structure, and local rules run without a clock.
 */
export async function judgeBundle(
  job: JudgeJob,
  { onProgress = () => undefined, memory = createFigureMemory() }: JudgeOptions = {},
): Promise<JudgeVerdict> {
  const parsed = parseBundle(Buffer.from(job.bundle, 'utf8'));
  if (!parsed.ok) {
    return refused(parsed.problems, parsed.digest === undefined ? {} : { digest: parsed.digest });
  }
  const { digest } = parsed;
  const providers = connectProviders(parsed.bundle, {
    secretsDirectory: job.secretsDirectory,
    connections,
    clock: systemClock,
    noteOf: () => () => undefined,
  });
  try {
    const file = job.cacheDirectory === undefined ? memory : await openFigureFile(job.cacheDirectory);
    const book = openFigureBook(await file.read());
    await workOut(parsed, { file, book, threads: job.threads, onProgress });
    const askOf = job.secretsDirectory === undefined ? skipped : providers.askOf;
    const compilation = compile(parsed, askOf, book.source);
    if (book.added() > 0) await file.write(book.content());
    if (!compilation.ok) return refused(compilation.problems, { digest });
    return await judgeTexts(job, parsed, compilation);
  } finally {
    await providers[Symbol.asyncDispose]();
  }
}

type FigureWork = {
  readonly file: FigureFile;
  readonly book: FigureBook;
  readonly threads: number | undefined;
  readonly onProgress: OnProgress;
};

async function workOut({ bundle }: ParsedBundle, { file, book, threads, onProgress }: FigureWork): Promise<void> {
  const saves = createSaves(() => file.write(book.content()));
  let savedAt = systemClock.now();
  function report(judged: number, rules: number): void {
    onProgress(judged, rules);
    if (systemClock.now() - savedAt < saveMs) return;
    savedAt = systemClock.now();
    saves.start();
  }
  await workOutFigures(bundle, book, { threads, onProgress: report });
  await saves.ended();
}

async function judgeTexts(
  job: JudgeJob,
  { bundle, canonical, digest }: ParsedBundle,
  { loaded, warnings }: Extract<Compilation, { ok: true }>,
): Promise<JudgeVerdict> {
  const results: JudgeVerdict['results'] = [];
  for (const check of job.checks) {
    results.push(
      await runTextCheck(loaded, check, {
        asksProviders: job.secretsDirectory !== undefined,
        marks: job.marks === true,
      }),
    );
  }
  const windows = judgeStreaming(bundle);
  return {
    digest,
    canonical: canonical.toString('utf8'),
    problems: [],
    warnings: [...warnings, ...windows.warnings],
    streaming: [...windows.streaming],
    division: [...judgeDivision(bundle)],
    results,
  };
}

function refused(problems: readonly BundleProblem[], found: { readonly digest?: string }): JudgeVerdict {
  return { ...found, problems: [...problems], warnings: [], streaming: [], division: [], results: [] };
}

function compile(parsed: ParsedBundle, askOf: AskOf, figures: FigureSource): Compilation {
  try {
    return compileBundle(parsed, askOf, { kind: 'direct', figures });
  } catch (error) {
    if (!(error instanceof BundleError)) throw error;
    return { ok: false, problems: [{ code: 'bundle_invalid', message: error.message }] };
  }
}

/** Placeholder for providers that are not called: the steps that would call them are omitted. */
const skipped: AskOf = () => async () => ({ kind: 'failed', code: 'internal' });
