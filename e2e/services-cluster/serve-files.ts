// Usage, in a pod: node serve-files.ts FOLDER: serves the files that FOLDER/files.json describes to agents, on port 8080.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFileService } from '../support/file-service.ts';
import type { ServedFiles } from './files-pod.ts';

const [folder = ''] = process.argv.slice(2);
const { issuer, token, files } = JSON.parse(readFileSync(join(folder, 'files.json'), 'utf8')) as ServedFiles;
const service = await startFileService({
  issuer,
  keysFile: join(folder, 'jwks.json'),
  accepts: (authorization) => authorization === `Bearer ${token}`,
  place: { host: '0.0.0.0', port: 8_080 },
});
for (const { file, text } of files) service.add(file, Buffer.from(text));
