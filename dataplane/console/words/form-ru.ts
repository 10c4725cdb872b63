import type { FormWords } from './form-en.ts';

/** Words of the form editor of policies, in Russian. */
export const formRu: FormWords = {
  asForm: 'Править как форму',
  asYaml: 'Править как YAML',
  noForm: 'Этот текст нельзя показать как форму',
  noFormText:
    'Сначала исправьте то, что называет проверка. Политику больше чем с 200 правилами или с терминами в несколько строк правят как YAML.',
  name: 'Имя',
  description: 'Описание',
  sections: {
    shared: 'Правила для вопросов и ответов',
    request: 'Правила для вопросов',
    response: 'Правила для ответов',
  },
  deadlines: { request: 'Время на все правила вопроса, мс', response: 'Время на все правила ответа, мс' },
  addTerms: 'Добавить список терминов',
  addPattern: 'Добавить шаблон',
  remove: 'Убрать правило',
  none: 'Правил пока нет.',
  kinds: {
    stop_list: 'Список терминов',
    regex: 'Шаблон (RE2)',
    external_pipeline: 'Детектор',
    llm_classifier: 'Классификатор',
  },
  rule: (kind, id) => (id === '' ? `${kind}: новое` : `${kind}: ${id}`),
  id: 'Имя правила',
  mode: 'Работает',
  modes: { always: 'всегда, решает', enforce: 'после других, решает', observe: 'после других, только считается' },
  timeoutMs: 'Время, мс',
  action: 'Совпадение',
  actions: { deny: 'запрещает текст', mask: 'заменяется' },
  replacement: 'Замена',
  terms: 'Термины, по одному в строке',
  pattern: 'Шаблон',
  match: 'Термин совпадает',
  matches: { token: 'с целыми словами', substring: 'и с частями слов' },
  caseSensitive: 'Регистр букв',
  cases: { false: 'не важен', true: 'должен совпадать' },
  kept: 'Также задано и правится как YAML',
};
