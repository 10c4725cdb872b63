// Usage: npm run cluster -- COMMAND [OPTION...]: local Kubernetes clusters; `npm run cluster help` names the commands.
import '../check/plain-output.ts';

import { runCommandLine } from './program.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), process.env);
