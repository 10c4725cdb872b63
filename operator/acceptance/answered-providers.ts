/**
 * Applications whose providers have all answered. Each provider is called once: an application that waits for its
 * processes is reconciled many times, and the providers' answers do not affect that wait.
 */
export type AnsweredProviders = {
  note(binding: string, application: string): void;
  has(binding: string, application: string): boolean;
  /** The application of the binding has ended. */
  forget(binding: string): void;
};

export function createAnsweredProviders(): AnsweredProviders {
  const answered = new Map<string, string>();
  return {
    note(binding, application) {
      answered.set(binding, application);
    },
    has: (binding, application) => answered.get(binding) === application,
    forget(binding) {
      answered.delete(binding);
    },
  };
}
