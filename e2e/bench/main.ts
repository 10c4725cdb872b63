// Compares the measured ratios with their committed ranges.
import { writeFileSync } from 'node:fs';
import { programWords } from '../../hack/check/read-words.ts';
import { shownTimes } from './gateway-report.ts';
import { measureAll, ratiosOf } from './measure-all.ts';
import { outOfRange, rangesFile, rangesOf, readRanges } from './ranges.ts';
import { verdictsOf, writeReport } from './report.ts';

const usage = 'npm run bench -- [--quick] [--write]; --write renews ranges and report';
const { switches } = programWords({ usage, switches: ['quick', 'write'] });
const measured = await measureAll(switches.has('quick'));
const ratios = ratiosOf(measured);
for (const [key, ratio] of ratios) console.log(`${ratio.toFixed(2).padStart(8)}  ${key}`);
for (const { what, bound, wanted, found, result } of verdictsOf(measured)) {
  console.log(`${result.padEnd(13)} ${what}: ${found}, wanted ${wanted}, bound ${bound}`);
}
for (const { name, figure, moment } of shownTimes(measured.gateway)) {
  const { none, usual } = figure.at;
  const added = figure.whole[moment].toFixed(2);
  console.log(
    `gateway, ${name}: ${none[moment].toFixed(2)} ms, guarded ${usual[moment].toFixed(2)} ms, added ${added}`,
  );
}
if (switches.has('write')) {
  writeReport(measured);
  writeFileSync(rangesFile, `${JSON.stringify(rangesOf(ratios), null, 2)}\n`);
} else {
  const over = outOfRange(ratios, readRanges());
  for (const sentence of over) console.log(`OUT OF RANGE ${sentence}`);
  process.exitCode = over.length === 0 ? 0 : 1;
}
