import { endOnUnknownError } from './errors/end-on-unknown-error.ts';
import { runCommandLine } from './program.ts';

endOnUnknownError();
process.exitCode = await runCommandLine(process.argv.slice(2));
