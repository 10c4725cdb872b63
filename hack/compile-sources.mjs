// Usage: node hack/compile-sources.mjs FILE...: imports entry points once, so that Node writes their compiled sources to
// NODE_COMPILE_CACHE. Without these the first start loads a TypeScript parser into each process, about 20 MiB.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

// A service without settings ends with an error, the command line with its help: neither may end this process early.
const exit = process.exit;
process.exit = () => undefined;
const files = process.argv.splice(2).filter((file) => existsSync(file));
await Promise.allSettled(files.map((file) => import(pathToFileURL(file).href)));
exit(0);
