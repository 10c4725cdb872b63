import { endOnUnknownError } from '../errors/end-on-unknown-error.ts';
import { runPlugin } from './program.ts';

endOnUnknownError();
process.exitCode = await runPlugin(process.argv.slice(2));
