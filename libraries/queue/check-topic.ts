/** Longest topic, in letters; the name of a PostgreSQL channel has at most 63 bytes. */
const topicForm = /^[a-z][a-z0-9_]{0,39}$/;

/** @throws TypeError */
export function checkTopic(topic: string): void {
  if (!topicForm.test(topic)) throw new TypeError(`${topic} cannot be a topic of hints`);
}
