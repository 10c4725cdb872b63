import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles } from '../boundaries/list-files.ts';

export const suiteNames = ['boundaries', 'unit', 'conformance', 'constellation'] as const;
export type SuiteName = (typeof suiteNames)[number];

/** A suite of a port's obligations is imported from `testing/<port>-suite.ts`, by path or by alias. */
const conformance = /from '[^']*testing\/[a-z-]+-suite(?:\.ts)?'/;

function suiteOf(root: string, path: string): SuiteName {
  if (path.startsWith('hack/') || path.startsWith('e2e/requirements/')) return 'boundaries';
  if (path.startsWith('e2e/')) return 'constellation';
  return conformance.test(readFileSync(join(root, path), 'utf8')) ? 'conformance' : 'unit';
}

/** All test files by the suite they belong to; each file is in exactly one. */
export function listSuites(root: string): ReadonlyMap<SuiteName, readonly string[]> {
  const suites = new Map<SuiteName, string[]>(suiteNames.map((name) => [name, []]));
  for (const path of listFiles(root)) {
    if (path.endsWith('.test.ts')) suites.get(suiteOf(root, path))?.push(path);
  }
  return suites;
}
