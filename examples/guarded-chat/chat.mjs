// A chat through the official client for Node.js. It reads OPENAI_BASE_URL and OPENAI_API_KEY, as `portcullis env` sets them.
import OpenAI from 'openai';

const messages = [{ role: 'user', content: process.argv[2] ?? 'Hello' }];
try {
  const stream = await new OpenAI().chat.completions.create({ model: 'guarded-echo', stream: true, messages });
  for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');
  process.stdout.write('\n');
} catch (error) {
  // The text so far is incomplete: the guardrail stopped the answer, or the check failed.
  process.stdout.write(`\n[incomplete: ${error.type ?? error.message}]\n`);
  process.exitCode = 1;
}
