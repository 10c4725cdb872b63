/** Preloaded into a process: after this signal the process computes endlessly and answers no request. */
process.on('SIGUSR2', () => {
  for (;;);
});
