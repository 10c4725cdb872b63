// Usage: npm run cluster -- COMMAND [OPTION...]: local Kubernetes clusters; `npm run cluster help` names the commands.
import '../check/plain-output.ts';

import { runClusterCommandLine } from './program.ts';

process.exitCode = await runClusterCommandLine(process.argv.slice(2), process.env);
