import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embedMany, generateObject, generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const [baseURL, apiKey, name, bad] = process.argv.slice(2);
const provider = createOpenAICompatible({ name: 'portcullis', baseURL, apiKey, supportsStructuredOutputs: true });
const model = provider(name);
const place = z.object({ city: z.string() });
const tools = { weather: tool({ description: 'w', inputSchema: place, execute: async () => 'Snow' }) };
const asked = { model, prompt: 'What is the weather?', tools, stopWhen: stepCountIs(20), maxRetries: 0 };

const whole = (await generateText(asked)).text;
const stream = streamText(asked);
await stream.consumeStream();
const streamed = await stream.text;
const structured = (await generateObject({ model, prompt: 'Where?', schema: place, maxRetries: 0 })).object.city;
const { embeddings } = await embedMany({ model: provider.textEmbeddingModel(name), values: ['one', 'two'], maxRetries: 0 });
const refused = await generateText({ model, prompt: bad, maxRetries: 0 }).catch((error) => error.data?.error?.type);
console.log(JSON.stringify({ whole, streamed, structured, embedding: embeddings, refused }));
