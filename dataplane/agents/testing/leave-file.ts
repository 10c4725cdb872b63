// A process that stores an object in a folder for temporary files and then runs until it is killed. Its argument is the
// folder.
import { openTemporaryFiles } from '../files/temporary-files.ts';

const [folder = ''] = process.argv.slice(2);
const provider = await openTemporaryFiles(folder);
await provider.put(Buffer.from('content'));
setInterval(() => undefined, 60_000);
