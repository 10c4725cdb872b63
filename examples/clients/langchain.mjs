// Asks a guarded model with LangChain. Needs: npm install @langchain/openai @langchain/core
// Usage: eval "$(portcullis env)"; node examples/clients/langchain.mjs MODEL TEXT
import { ChatOpenAI } from '@langchain/openai';

const [model = 'guarded-echo', text = 'Good morning'] = process.argv.slice(2);
// Chat completions work with every provider, the Responses API with those that offer it. LangChain reads OPENAI_API_KEY by itself.
const chat = new ChatOpenAI({
  model,
  useResponsesApi: false,
  streamUsage: false,
  maxRetries: 0,
  configuration: { baseURL: process.env.OPENAI_BASE_URL },
});
try {
  console.log((await chat.invoke(text)).text);
  let streamed = '';
  for await (const chunk of await chat.stream(text)) streamed += chunk.text;
  console.log(streamed);
} catch (error) {
  console.log(`refused: ${error.error?.type ?? error.type ?? error.message}`);
}
