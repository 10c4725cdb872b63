import type { streamEn } from './stream-en.ts';

/** Words of a streamed answer in the playground, in Russian. */
export const streamRu: typeof streamEn = {
  stream: 'Показать как потоковый ответ',
  streamed: 'Потоковый ответ',
  streamHint: 'Первый текст как ответ, который модель передаёт потоком: видно, что клиент получил после каждого окна.',
  windowPassed: (number, of, held) =>
    `Окно ${number} из ${of} прошло; проверенных байтов ждут следующего окна: ${held}.`,
  streamComplete: 'Передан полностью',
  streamStopped: 'Остановлен',
  streamRest: (number) =>
    `Окно ${number} не прошло: клиент получает ошибку и ничего из остатка. Замена тоже останавливает поток.`,
  streamRefused: 'Текст не показан как поток',
  streamForm: (most) => `Введите текст длиной не больше ${most} окон по 1024 байта.`,
  streamNeedsWhole: 'Правилу для ответов нужен весь ответ: шлюз отклоняет потоки с этой политикой.',
  rule: 'Правило',
};
