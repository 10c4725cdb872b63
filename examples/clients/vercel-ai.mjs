// Asks a guarded model with the AI SDK of Vercel. Needs: npm install ai @ai-sdk/openai-compatible
// Usage: eval "$(portcullis env)"; node examples/clients/vercel-ai.mjs MODEL TEXT
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';

const [model = 'guarded-echo', prompt = 'Good morning'] = process.argv.slice(2);
const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey } = process.env;
const portcullis = createOpenAICompatible({ name: 'portcullis', baseURL, apiKey });
try {
  console.log((await generateText({ model: portcullis(model), prompt, maxRetries: 0 })).text);
  // A stream reports errors to onError and does not throw.
  let fault;
  const { textStream } = streamText({ model: portcullis(model), prompt, maxRetries: 0, onError: ({ error }) => (fault = error) });
  let streamed = '';
  for await (const piece of textStream) streamed += piece;
  if (fault !== undefined) throw fault;
  console.log(streamed);
} catch (error) {
  console.log(`refused: ${error.data?.error?.type ?? error.message}`);
}
