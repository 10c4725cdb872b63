/** Preloaded into a process: after this signal it computes for ever and answers nothing. */
process.on('SIGUSR2', () => {
  for (;;);
});
