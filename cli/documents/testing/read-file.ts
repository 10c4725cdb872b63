import { setImmediate } from 'node:timers/promises';
import { openDocumentReader } from '../read-document.ts';

/** A program for tests: reads the file of its argument, and writes a line when the process that reads it has the job. */
const reader = openDocumentReader();
await reader.read(import.meta.filename);
const reading = reader.read(process.argv[2] ?? '');
await setImmediate();
process.stdout.write('reads\n');
await reading;
