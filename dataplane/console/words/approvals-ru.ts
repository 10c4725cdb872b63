import type { ApprovalWords } from './approvals-en.ts';

/** Words of the page about approvals, in Russian. */
export const approvalsRu: ApprovalWords = {
  title: 'Одобрения',
  intro: 'Команды, которые ждут одобрения второго человека или уже одобрены и ещё не повторены.',
  kinds: {
    'binding.apply': 'Применить политику',
    'binding.unbind': 'Снять политику',
    'policy.archive': 'Убрать политику в архив',
  },
  askedBy: 'Кто просит',
  approvedBy: 'Кто одобрил',
  expires: 'Действует до',
  version: 'Версия',
  approval: 'Одобрение',
  approve: 'Одобрить',
  approved: (person, requester) => `Одобрил ${person}. Теперь ${requester} может повторить команду.`,
  repeat: 'Команда одобрена. Теперь вы можете её повторить.',
  own: 'Это ваш запрос. Одобрить его должен другой человек.',
  needs: {
    applier: 'Нужна роль applier для этой модели.',
    author: 'Нужна роль author для этой политики.',
  },
  none: 'Ни одна команда не ждёт одобрения',
  noneText:
    'Чтобы команды для модели требовали одобрения, администратор выполняет: portcullis approval require --model NAME',
};
