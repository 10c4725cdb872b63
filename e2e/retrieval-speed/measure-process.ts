// A process that measures one case, so that its resident memory is that of the case alone.
import { text } from 'node:stream/consumers';
import type { SpeedCase } from './case.ts';
import { measureEmbedded } from './measure-embedded.ts';

const given: SpeedCase = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify(await measureEmbedded(given)));
