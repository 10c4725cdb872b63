import { execFileSync } from 'node:child_process';
import { posix } from 'node:path';
import { isInside } from '../boundaries/modules.ts';
import { importTarget, type SourceFile, type Tree } from '../boundaries/tree.ts';

/** Paths of the files that differ from the merge base with main, or from HEAD on main itself. */
export function changedFiles(root: string): readonly string[] {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');
  let base = 'HEAD';
  try {
    base = git('merge-base', 'HEAD', 'main');
  } catch {
    console.log('There is no branch main here: changes are compared with HEAD.');
  }
  const untracked = lines(git('ls-files', '--others', '--exclude-standard'));
  return [...new Set([...lines(git('diff', '--name-only', base)), ...untracked])].sort();
}

/** Files that every test depends on. */
const ofAllTests = /^(package(-lock)?\.json|tsconfig\.json|vitest\.config\.ts|hack\/(run|bootstrap))$/;

/** Whether a string in a source names the file, the end of its path or a folder that contains it. */
function names(value: string, path: string): boolean {
  if (value.length < 3) return false;
  const text = posix.normalize(value).replace(/^(\.\.?\/)+/, '');
  return path === text || path.endsWith(`/${text}`) || isInside(path, text) || path.includes(`/${text}/`);
}

/** The files that a source imports, starts, or reads by a path in a string. */
function dependencies(tree: Tree, source: SourceFile, changed: readonly string[]): readonly string[] {
  const imported = source.imports.flatMap(({ specifier }) => {
    const target = importTarget(source.path, specifier);
    return target.kind === 'file' ? [target.path] : [];
  });
  const started = source.strings.flatMap(({ value }) => {
    const path = posix.normalize(value).replace(/^(\.\.?\/)+/, '');
    return value.endsWith('.ts') && tree.sources.has(path) ? [path] : [];
  });
  const read = changed.filter((path) => source.strings.some(({ value }) => names(value, path)));
  return [...imported, ...started, ...read];
}

/**
 * The test files that changed files can affect: those that reach a changed file by imports, by the path of a program,
 * or by the name of a file or folder that they read. All test files if every test depends on a changed file, or if no
 * source names it.
 */
export function affectedTests(tree: Tree, changed: readonly string[]): readonly string[] {
  const tests = [...tree.sources.keys()].filter((path) => path.endsWith('.test.ts'));
  if (changed.some((path) => ofAllTests.test(path))) return tests;
  const inputs = changed.filter((path) => !path.endsWith('.ts'));
  const users = new Map<string, Set<string>>();
  for (const source of tree.sources.values()) {
    for (const path of dependencies(tree, source, inputs)) {
      users.set(path, (users.get(path) ?? new Set()).add(source.path));
    }
  }
  const isNamed = (path: string): boolean => path.endsWith('.md') || users.has(path);
  if (!inputs.every(isNamed)) return tests;
  const affected = new Set(changed);
  for (const path of affected) for (const user of users.get(path) ?? []) affected.add(user);
  return tests.filter((path) => affected.has(path));
}
