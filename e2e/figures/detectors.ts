import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { root } from '../../hack/check/run-tool.ts';
import { prepareFrameworks } from '../bench/compare-frameworks.ts';
import { type TriedText, tryDetector } from '../detectors/try-detector.ts';
import type { Figure } from '../support/figure.ts';
import { preparePython } from '../support/python.ts';

const run = promisify(execFile);

const scripts = join(root, 'e2e/detectors');
/** The packages of LLM Guard have 5 GB, because it depends on PyTorch also for scanners without a model. */
const downloadMs = 3_600_000;

const presidioTexts: readonly TriedText[] = (['request', 'response'] as const).flatMap((stage) => [
  { stage, content: 'I met Ann Lee in May.', expect: 'deny' },
  { stage, content: 'I met a friend in May.', expect: 'allow' },
  { stage, content: 'The train to Oslo is late.', expect: 'deny' },
  { stage, content: 'The train is late.', expect: 'allow' },
  { stage, content: 'The number of my card is 4111 1111 1111 1111.', expect: 'deny' },
  { stage, content: 'The number of my order is 4111 1111 1111 1112.', expect: 'allow' },
]);

/** The scanners that README.md of the detectors chooses: they need no model, and only the first two scan answers. */
function printedScanners(): string {
  const page = readFileSync(join(root, 'examples/detectors/README.md'), 'utf8');
  const setting = /^export LLM_GUARD_SCANNERS='(.*)'$/m.exec(page)?.[1];
  if (setting === undefined) throw new Error('examples/detectors/README.md sets no LLM_GUARD_SCANNERS');
  return setting;
}

const llmGuardTexts: readonly TriedText[] = [
  ...(['request', 'response'] as const).flatMap((stage): readonly TriedText[] => [
    { stage, content: 'Is acme corp cheaper?', expect: 'deny' },
    { stage, content: 'Is the other one cheaper?', expect: 'allow' },
    { stage, content: 'My order is AB-123456.', expect: 'deny' },
    { stage, content: 'My order is AB-12345.', expect: 'allow' },
  ]),
  { stage: 'request', content: 'aws_access_key_id = "AKIAIOSFODNN7EXAMPLQ"', expect: 'deny' },
  { stage: 'request', content: 'aws_access_key_id = "none"', expect: 'allow' },
  { stage: 'request', content: 'good\u200b morning', expect: 'deny' },
  { stage: 'request', content: 'good morning', expect: 'allow' },
];

export const figure: Figure = {
  name: 'detectors',
  title:
    'the detectors of examples/detectors with their libraries, asked by a rule of a gateway: every decision is correct',
  run: async (size, say) => {
    const presidio = await preparePython(join(scripts, 'presidio-requirements.txt'), downloadMs);
    if (!presidio.ok) return { skipped: presidio.reason };
    using folder = temporaryFolder();
    const model = join(folder.path, 'pipeline');
    await run(presidio.path, [join(scripts, 'make_pipeline.py'), model]);
    const faults = [
      ...(await tryDetector({
        file: 'presidio_detector.py',
        python: presidio.path,
        environment: { PRESIDIO_MODEL: model, PRESIDIO_ENTITIES: 'PERSON,LOCATION,CREDIT_CARD' },
        texts: presidioTexts,
      })),
    ];
    say(`Presidio: ${presidioTexts.length} texts, ${faults.length} faults`);
    const told = [`Presidio ${presidioTexts.length} texts`];
    if (size === 'full') {
      const llmGuard = await prepareFrameworks();
      if (!llmGuard.ok) return { skipped: llmGuard.reason };
      const found = await tryDetector({
        file: 'llm_guard_detector.py',
        python: llmGuard.path,
        environment: { LLM_GUARD_SCANNERS: printedScanners() },
        texts: llmGuardTexts,
      });
      say(`LLM Guard: ${llmGuardTexts.length} texts, ${found.length} faults`);
      faults.push(...found);
      told.push(`LLM Guard ${llmGuardTexts.length} texts`);
    }
    for (const fault of faults) say(fault);
    return { holds: faults.length === 0, line: `${told.join(', ')}: ${faults.length} faults` };
  },
};
