/** Words of a streamed answer in the playground, in English. */
export const streamEn = {
  stream: 'Show as a streamed answer',
  streamed: 'Streamed answer',
  streamHint:
    'The first text as a streamed answer of a model: the text that the client has received is shown as each window passes.',
  windowPassed: (number: number, of: number, held: number) =>
    `Window ${number} of ${of} passed; ${held} judged bytes wait for the next window.`,
  streamComplete: 'Complete',
  streamStopped: 'Stopped',
  streamRest: (number: number) =>
    `Window ${number} did not pass: the client gets an error, and no further text. A mask stops a stream too.`,
  streamRefused: 'The text is not shown as a stream',
  streamForm: (most: number) => `Type a text of at most ${most} windows of 1,024 bytes.`,
  streamNeedsWhole: 'A rule for answers needs the whole answer: the gateway refuses streams with this policy.',
  rule: 'Rule',
};
