import { writeFileSync } from 'node:fs';

/** A runtime that refuses its bundle: it writes the reason and exits. */
const file = process.env['PORTCULLIS_TERMINATION_MESSAGE_FILE'];
if (file !== undefined) writeFileSync(file, 'the rule forbidden does not compile\n');
process.exitCode = 1;
