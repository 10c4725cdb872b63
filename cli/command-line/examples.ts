/** One example for each command by its words, without the name of the program; `...` stands for that name. */
export const examples: Readonly<Record<string, string>> = {
  up: '... up --port 8090',
  status: '... status -o wide',
  why: '... why guarded-echo',
  logs: '... logs gateway --tail 20',
  activity: '... activity --model guarded-echo',
  chat: '... chat guarded-echo --message "good morning"',
  env: 'eval "$(... env)"',
  token: '... token --ttl 600',
  'token rotate': '... token rotate',
  get: '... get modelbindings -o wide',
  describe: '... describe guardrailpolicy guarded-chat',
  explain: '... explain policy.spec.definition.request',
  edit: '... edit policy guarded-chat',
  apply: '... apply -f examples/guarded-chat --wait',
  diff: '... diff guarded-chat 1 2',
  delete: '... delete modelbinding guarded-echo --yes',
  test: '... test -f examples/guarded-chat/policy.yaml',
  check: '... check --policy examples/guarded-chat/policy.yaml "write to ivan@example.com"',
  history: '... history guarded-chat',
  archive: '... archive guarded-chat',
  unarchive: '... unarchive guarded-chat',
  'apply-revision': '... apply-revision guarded-echo 2 --wait',
  rollback: '... rollback guarded-echo --wait',
  reapply: '... reapply guarded-echo --wait',
  unbind: '... unbind guarded-echo --yes',
  'operation get': '... operation get 01890a5d-ac96-774b-bcce-b302099a8057',
  'operation wait': '... operation wait 01890a5d-ac96-774b-bcce-b302099a8057 --timeout 60',
  'provider list': '... provider list',
  'provider test': '... provider test echo',
  'bundle build':
    '... bundle build --policy examples/guarded-chat/policy.yaml --profile gateway-1.5.0-chat-webhook-v2 --out bundle.json',
  runtime: '... runtime --bundle bundle.json --token-file service.token --listen 127.0.0.1:8070',
  completion: 'eval "$(... completion bash)"',
  backup: '... backup --output portcullis.backup',
  restore: '... restore portcullis.backup',
};

/** The example of a command as a reader types it. */
export function exampleOf(program: string, words: string): string | undefined {
  return Object.hasOwn(examples, words) ? examples[words]?.replace('...', program) : undefined;
}
