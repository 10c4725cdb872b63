import { describe, expect, test } from 'vitest';
import { chatKeys, chatMembers, embeddingKeys, embeddingMembers, messageKeys, partKeys } from './known-keys.ts';
import { declaredKinds } from './testing/declared-kinds.ts';
import { declarationsOf, declaredMembers } from './testing/declared-members.ts';

const completions = declarationsOf('chat/completions/completions');
const messages = /type ChatCompletionMessageParam = ([^;]+);/.exec(completions)?.[1]?.split(' | ') ?? [];
const parts = /type ChatCompletionContentPart = ([^;]+);/.exec(completions)?.[1]?.split(' | ') ?? [];

describe('the members of the types of the official client', () => {
  test('the package still declares every role and every type of part that the gateway knows', () => {
    expect(messages).toHaveLength(6);
    expect(parts.map((name) => name.replace(/^.*\./, ''))).toEqual([
      'ChatCompletionContentPartText',
      'ChatCompletionContentPartImage',
      'ChatCompletionContentPartInputAudio',
      'File',
    ]);
  });

  test('the known members of a chat request are exactly those of the official client', () => {
    expect([...chatKeys].sort()).toEqual([...declaredMembers(completions, 'ChatCompletionCreateParamsBase')].sort());
  });

  test('every member of a chat request has the kinds of values that the package declares', () => {
    expect(declaredKinds(completions, 'ChatCompletionCreateParamsBase')).toEqual(chatMembers);
  });

  test.each([...messages, 'ChatCompletionMessage', 'ParsedChatCompletionMessage'])(
    'every member of a message of type %s is known',
    (name) => {
      for (const member of declaredMembers(completions, name)) expect([...messageKeys]).toContain(member);
    },
  );

  test.each([...parts, 'ChatCompletionContentPartRefusal'])('every member of a part of type %s is known', (name) => {
    for (const member of declaredMembers(completions, name.replace(/^.*\./, '')))
      expect([...partKeys]).toContain(member);
  });

  test('the known members of an embeddings request are exactly those of the official client', () => {
    const declared = declaredMembers(declarationsOf('embeddings'), 'EmbeddingCreateParams');
    expect([...embeddingKeys].sort()).toEqual([...declared].sort());
  });

  test('every member of an embeddings request has the kinds of values that the package declares', () => {
    expect(declaredKinds(declarationsOf('embeddings'), 'EmbeddingCreateParams')).toEqual(embeddingMembers);
  });
});

test('the request members that the official client does not have are listed, and no check reads them', () => {
  const declared = [...messages, 'ChatCompletionMessage', 'ParsedChatCompletionMessage'].flatMap((name) =>
    declaredMembers(completions, name),
  );
  expect([...messageKeys].filter((key) => !declared.includes(key)).sort()).toEqual([
    'images',
    'reasoning',
    'reasoning_content',
    'reasoning_details',
    'thinking',
  ]);
  const ofParts = [...parts, 'ChatCompletionContentPartRefusal'].flatMap((name) =>
    declaredMembers(completions, name.replace(/^.*\./, '')),
  );
  expect([...partKeys].filter((key) => !ofParts.includes(key))).toEqual([
    'video_url',
    'audio_url',
    'thinking',
    'cache_control',
    'closed',
    'reference_ids',
  ]);
});
