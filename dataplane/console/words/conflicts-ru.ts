import type { ConflictWords } from './conflicts-en.ts';

/** Words for changes that another person made after a page was opened, in Russian. */
export const conflictsRu: ConflictWords = {
  model: 'Модель изменилась, пока страница была открыта',
  modelText: (policy, revision) => `Теперь у неё ревизия ${revision} политики ${policy}. Ничего не применено.`,
  modelNone: 'Теперь у неё нет политики. Ничего не применено.',
  applyInPlace: (revision) => `Применить вместо этого ревизию ${revision}`,
  policy: (revision) => `Пока страница была открыта, сохранена ревизия ${revision}`,
  policyText: 'Ничего не сохранено. Ниже эта ревизия и ваше определение, которое её заменит.',
  yours: 'Ваше определение',
  sameAsYours: 'Ваше определение совпадает с сохранённой ревизией.',
  saveOnTop: (revision) => `Сохранить поверх ревизии ${revision}`,
  backToPolicy: 'К политике',
};
