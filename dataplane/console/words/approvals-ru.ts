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
  approved: (person, requester) => `Одобрил ${person}: ${requester} повторяет команду.`,
  repeat: 'Команда одобрена: повторите её.',
  own: 'Просите вы: одобряет другой человек.',
  needs: {
    applier: 'Нужна роль applier для этой модели.',
    author: 'Нужна роль author для этой политики.',
  },
  none: 'Ни одна команда не ждёт одобрения',
  noneText: 'Администратор требует одобрений для политики или модели: portcullis approval require --model NAME',
};
