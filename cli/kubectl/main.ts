import { runPlugin } from './program.ts';

// A reader that closes the pipe, such as head, is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
process.exitCode = await runPlugin(process.argv.slice(2));
