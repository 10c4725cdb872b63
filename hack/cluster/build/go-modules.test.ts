import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { goModules, kubernetesVersion } from './go-modules.ts';
import { moduleKey, sourceKey } from './module-key.ts';

const goModOf = (folder: string): string => readFileSync(join(folder, 'go.mod'), 'utf8');

describe('Go modules of the cluster programs', () => {
  test.each(goModules)('the Go module $name pins every version', ({ folder }) => {
    expect(readFileSync(join(folder, 'go.sum'), 'utf8')).toMatch(/ h1:/);
    expect(goModOf(folder)).not.toMatch(/latest|=> \.\.?\//);
  });

  test.each(goModules)('the Go module $name contains each package that it builds', ({ folder, programs }) => {
    for (const target of Object.values(programs)) {
      if (target.startsWith('.')) expect(readdirSync(join(folder, target))).toContain('main.go');
      else expect(goModOf(folder)).toContain(target);
    }
  });

  test('the Kubernetes version that the API server reports is the built one, with libraries of the same release', () => {
    const [kubernetes] = goModules;
    const goMod = goModOf(kubernetes?.folder ?? '');
    expect(goMod).toMatch(new RegExp(`k8s\\.io/kubernetes ${RegExp.escape(kubernetesVersion)}\\s`));
    const libraries = [...goMod.matchAll(/^\tk8s\.io\/\S+ => \S+ (\S+)$/gm)].map((match) => match[1]);
    expect(libraries.length).toBeGreaterThan(30);
    expect(new Set(libraries)).toEqual(new Set([kubernetesVersion.replace('v1.', 'v0.')]));
    const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(kubernetesVersion) ?? [];
    expect(kubernetes?.variables).toMatchObject({
      'k8s.io/component-base/version.gitMajor': major,
      'k8s.io/component-base/version.gitMinor': minor,
    });
  });
});

describe('the name of a build', () => {
  const folder = temporaryFolder();
  afterAll(() => folder[Symbol.dispose]());
  const copy = (name: string) => {
    const [kubernetes] = goModules;
    if (kubernetes === undefined) throw new Error('there is one');
    cpSync(kubernetes.folder, join(folder.path, name), { recursive: true });
    return { ...kubernetes, folder: join(folder.path, name) };
  };
  const one = copy('one');
  const key = moduleKey(one, 'go1.26');

  test('the cache key of a build is the same on every machine for the same sources', () => {
    expect(moduleKey(copy('same'), 'go1.26')).toBe(key);
  });

  test('the cache key of a build changes with the compiler and keeps the part for the sources', () => {
    expect(moduleKey(one, 'go1.27')).not.toBe(key);
    expect(moduleKey(one, 'go1.27').startsWith(sourceKey(one))).toBe(true);
  });

  test.each(['go.mod', 'go.sum', 'etcd/main.go'])('the cache key of a build changes with %s', (file) => {
    const other = copy(file.replaceAll('/', '-'));
    writeFileSync(join(other.folder, file), '\n', { flag: 'a' });
    expect(sourceKey(other)).not.toBe(sourceKey(one));
  });

  test('the cache key of a build changes with the variables set at link time', () => {
    expect(sourceKey({ ...one, variables: {} })).not.toBe(sourceKey(one));
  });

  test('the cache key of a build changes when the compiler omits its optimizations', () => {
    expect(sourceKey({ ...one, isPlain: true })).not.toBe(sourceKey(one));
  });

  test('modules of one Kubernetes release have their common packages compiled in one form', () => {
    const release = (folder: string) => /^\tk8s\.io\/client-go (\S+)/m.exec(goModOf(folder))?.[1];
    const forms = Map.groupBy(goModules, ({ folder }) => release(folder));
    forms.delete(undefined);
    for (const modules of forms.values()) expect(new Set(modules.map(({ isPlain }) => isPlain)).size).toBe(1);
  });
});
