/** A process of the platform ended before it ever served. The message says how, with its last words. */
export class StartFailure extends Error {
  constructor(name: string, how: string, words: string) {
    super(`The process ${name} ${how} before it served${words === '' ? '.' : `: ${words}`}`);
    this.name = 'StartFailure';
  }
}
