import { join } from 'node:path';
import { copiedFile, folder, textFile } from './entry.ts';
import { imageHome } from './portcullis-image.ts';
import type { Image } from './write-image.ts';

/** Starts the command line in a container: docker exec CONTAINER portcullis COMMAND. */
const commandLine = `#!/bin/sh\nexec node /${imageHome}/cli/main.ts "$@"\n`;

/** The image of the standalone platform: the database image, which contains every program, and a folder for the data. */
export function standaloneImage(root: string, database: Image): Image {
  return {
    ...database,
    name: database.name.replace(/-postgres(?=:[^:]*$)/, '-standalone'),
    layers: [
      ...database.layers,
      // Any user can create the data directory in a new volume, and only that user can read it.
      [
        folder('data', 0o1777),
        textFile('usr/local/bin/portcullis', commandLine, 0o755),
        // A standalone operator derives the build of its runtimes from this file.
        copiedFile(`${imageHome}/package-lock.json`, join(root, 'package-lock.json')),
      ],
    ],
    environment: {
      ...database.environment,
      PORTCULLIS_DATA_DIR: '/data/portcullis',
      // The second start with the same volume compiles nothing.
      NODE_COMPILE_CACHE: '/data/compiled',
    },
    command: ['--max-semi-space-size=1', 'cli/main.ts', 'up', '--address', '0.0.0.0', '--no-console'],
  };
}
