import { availableParallelism } from 'node:os';
import { BaseSequencer, createVitest, type TestCase, type TestModule, type TestSpecification } from 'vitest/node';
import { longFiles } from './list-suites.ts';
import type { Skip, StepOutcome } from './outcome.ts';

type SuiteOptions = {
  readonly root: string;
  readonly files: readonly string[];
  /** Whether the test files must run one after another on one machine. */
  readonly oneByOne?: boolean;
  /** True for files without side effects: they share a process, in an order that changes from run to run. */
  readonly shared?: boolean;
  /** True for files that mostly wait: two cores serve three of them. */
  readonly waiting?: boolean;
  /** Called for every test with its full title. */
  readonly onTest?: (title: string) => void;
};

function titleOf(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`;
}

/** The reason of a skipped suite, which is at the end of its title: `a watch (Docker is not running)`. */
function reasonInTitle(fullName: string): string {
  return /\(([^()]+)\)(?: > |$)/.exec(fullName)?.[1] ?? '';
}

function provedBy(test: TestCase): readonly string[] {
  const { verifies } = test.meta() as { verifies?: readonly string[] };
  return verifies ?? [];
}

/** Files that do not load, and hooks that failed. */
function errorsOutsideOfTests(module: TestModule): number {
  const suites = [...module.children.allSuites()];
  return suites.reduce((sum, suite) => sum + suite.errors().length, module.errors().length);
}

function collect(modules: readonly TestModule[], unhandled: number): StepOutcome {
  const skipped: Skip[] = [];
  const proved: string[] = [];
  let passed = 0;
  let failed = unhandled;
  for (const module of modules) {
    const broken = errorsOutsideOfTests(module);
    failed += broken;
    for (const test of module.children.allTests()) {
      const result = test.result();
      switch (result.state) {
        case 'passed':
          passed += 1;
          proved.push(...provedBy(test));
          break;
        case 'skipped':
          // The tests of a failed hook do not run; the hook itself counts as one failure.
          if (broken > 0 && result.note === undefined) break;
          skipped.push({ test: titleOf(test), reason: result.note ?? reasonInTitle(test.fullName) });
          break;
        case 'failed':
        case 'pending':
          failed += 1;
          break;
      }
    }
  }
  return { passed, failed, skipped, proved };
}

/**
 * Starts the listed long files first, so that none of them runs alone at the end, and the other files in Vitest's
 * order.
 */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = longFiles.findIndex((path) => moduleId.endsWith(`/${path}`));
      return index < 0 ? longFiles.length : index;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

function workersOf({ oneByOne, waiting }: SuiteOptions): number {
  if (oneByOne === true) return 1;
  const cores = availableParallelism();
  return waiting === true ? Math.ceil(cores * 1.5) : cores;
}

/**
 * Runs test files and counts the results. A file that does not load and an error outside of every test count as
 * one failure each.
 */
export async function runSuite(options: SuiteOptions): Promise<StepOutcome> {
  const vitest = await createVitest('test', {
    root: options.root,
    watch: false,
    include: [...options.files],
    maxWorkers: workersOf(options),
    isolate: options.shared !== true,
    sequence: options.shared === true ? { shuffle: { files: true } } : { sequencer: LongFilesFirst },
    reporters: ['default'],
  });
  try {
    const { testModules, unhandledErrors } = await vitest.start();
    for (const module of testModules) for (const test of module.children.allTests()) options.onTest?.(test.fullName);
    return collect(testModules, unhandledErrors.length);
  } finally {
    await vitest.close();
  }
}
