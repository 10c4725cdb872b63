// Usage: sh hack/run hack/lint-openapi.ts: checks the OpenAPI documents with two linters, which it installs on demand.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { sha256Hex } from '#contracts/canonical';
import { commonDocument, managementDocument } from '../operator/management/http/openapi-documents.ts';

const own = join(import.meta.dirname, 'openapi-lint');
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'portcullis/openapi-lint');

/** The folder of the linters in the user's cache, reinstalled when the lock file changes. */
function install(): string {
  const lock = readFileSync(join(own, 'package-lock.json'));
  const folder = join(cache, sha256Hex(lock).slice(0, 16));
  if (existsSync(join(folder, 'complete'))) return folder;
  mkdirSync(folder, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) cpSync(join(own, name), join(folder, name));
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  writeFileSync(join(folder, 'complete'), '');
  return folder;
}

/** Runs a linter and prints its findings; true without findings. */
function passes(folder: string, file: string, args: readonly string[]): boolean {
  try {
    execFileSync(process.execPath, [join(folder, 'node_modules', file), ...args], {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    });
    return true;
  } catch {
    return false;
  }
}

const folder = install();
const documents = { management: managementDocument(), common: commonDocument() };
let passed = 0;
let failed = 0;
for (const [name, document] of Object.entries(documents)) {
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify(document, undefined, 2));
  const spectral = ['lint', '--ruleset', join(own, 'spectral.yaml'), '--fail-severity', 'hint', path];
  const redocly = ['lint', '--config', join(own, 'redocly.yaml'), path];
  for (const [file, args] of [
    ['@stoplight/spectral-cli/dist/index.js', spectral],
    ['@redocly/cli/bin/cli.js', redocly],
  ] as const) {
    const isGood = passes(folder, file, args);
    console.log(`${isGood ? 'ok' : 'FAILS'} ${name} by ${file.split('/').slice(0, 2).join('/')}`);
    if (isGood) passed += 1;
    else failed += 1;
  }
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed === 0 ? 0 : 1;
