// Usage: sh hack/run hack/lint-openapi.ts: checks the OpenAPI documents with two linters, which it installs on demand.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogueDocuments } from '../dataplane/catalogue/http/openapi-document.ts';
import { memoryDocument } from '../dataplane/memory/http/openapi-document.ts';
import { retrievalDocument } from '../dataplane/retrieval/http/openapi-document.ts';
import { commonDocument, managementDocument } from '../operator/management/http/openapi-documents.ts';
import { installLocked } from './install-locked.ts';

const own = join(import.meta.dirname, 'openapi-lint');

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

const folder = installLocked(own, 'openapi-lint');
const documents = {
  management: managementDocument(),
  common: commonDocument(),
  retrieval: retrievalDocument(),
  memory: memoryDocument(),
  ...Object.fromEntries(Object.values(catalogueDocuments()).map((document, at) => [`catalogue-v${at + 1}`, document])),
};
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
