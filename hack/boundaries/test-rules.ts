import { lineOf } from './scan-source.ts';
import type { BoundaryFinding, BoundaryRule, SourceFile } from './tree.ts';

/** Waiting functions of the test runner, which fail after one second unless a call sets another time. */
const shortWaits = /\bexpect\s*\.\s*poll\b|\bvi\s*\.\s*wait(?:For|Until)\b/g;
/** A time that has passed: the difference between the present and an earlier reading of a clock. */
const elapsed = String.raw`(?:performance|Date)\s*\.\s*now\(\)\s*-`;
const namedTimes = new RegExp(String.raw`\b(?:const|let)\s+(\w+)\s*=\s*${elapsed}`, 'g');

/** Places at which a test fails on a machine that is slow enough. */
function slowPlaces({ code, testTimeouts }: SourceFile): readonly { readonly line: number; readonly remedy: string }[] {
  const names = [...code.matchAll(namedTimes)].map((match) => String.raw`${match[1]}\b`);
  const upperBound = new RegExp(String.raw`\bexpect\(\s*(?:${[elapsed, ...names].join('|')})[^;]*?\.toBeLessThan`, 'g');
  return [
    ...testTimeouts.map((line) => ({ line, remedy: 'remove the timeout: vitest.config.ts has one for all tests' })),
    ...[...code.matchAll(shortWaits)].map(({ index }) => ({ line: lineOf(code, index), remedy: 'wait with until' })),
    ...[...code.matchAll(upperBound)].map(({ index }) => ({
      line: lineOf(code, index),
      remedy: 'test an order or an amount of work: a time that passes depends on the machine',
    })),
  ];
}

const slowMachines: BoundaryRule = {
  name: 'no test has its own timeout or an upper bound for a time that passes',
  check: ({ sources }) =>
    [...sources.values()]
      .filter(({ isTest }) => isTest)
      .flatMap((source): readonly BoundaryFinding[] =>
        slowPlaces(source).map(({ line, remedy }) => ({ path: source.path, message: `line ${line}: ${remedy}` })),
      ),
};

const titles: BoundaryRule = {
  name: 'every test title has words besides the values of its table',
  check: ({ sources }) =>
    [...sources.values()].flatMap(({ path, bareTitles }) =>
      bareTitles.map((line) => ({
        path,
        message: `line ${line}: say in the title what the test shows for each value`,
      })),
    ),
};

export const testRules: readonly BoundaryRule[] = [slowMachines, titles];
