import { writeFileSync } from 'node:fs';

/** Stands for a runtime whose bundle is refused: it says why and ends. */
const file = process.env['PORTCULLIS_TERMINATION_MESSAGE_FILE'];
if (file !== undefined) writeFileSync(file, 'the rule forbidden does not compile\n');
process.exitCode = 1;
