import type { SentenceTable } from './translate.ts';

/** Why a document is not found, or an index not built, in Russian. */
export const documentSentencesRu: SentenceTable = {
  '{dependency} did not answer for {hours} hours: replay the job when it does':
    '{dependency} не отвечает уже {hours} ч: повторите задание, когда ответит',
  '{dependency} did not answer for {hours} hours: reindex again when it does':
    '{dependency} не отвечает уже {hours} ч: постройте индекс снова, когда ответит',
  '{count} deliveries ended without an answer: replay the job after the cause is removed':
    'попыток без ответа: {count}; устраните причину и повторите задание',
  'must be an array of objects': 'нужен список объектов',
  'must have at most {limit} elements': 'число элементов: не больше {limit}',
  'must have no keys besides text and heading': 'не должно быть полей, кроме text и heading',
  'the staged document is not there: submit the document with another idempotency_key':
    'загруженного документа нет: отправьте документ с другим idempotency_key',
  'the staged document is not JSON: {fault} at byte {offset}':
    'загруженный документ не является JSON: {fault}, байт {offset}',
  'the document of content_ref is not JSON: {fault} at byte {offset}':
    'документ из content_ref не является JSON: {fault}, байт {offset}',
  'the content is larger than {bytes} bytes: divide the document': 'содержимое больше {bytes} байт: разделите документ',
  '{place} makes the text longer than {most} characters: divide the document':
    '{place}: текст становится длиннее {most} знаков; разделите документ',
  'the tenant has no room for the text of the document: delete documents or ask the operator for a larger quota, then replay the job':
    'у арендатора нет места для текста документа: удалите документы или попросите оператора увеличить квоту, затем повторите задание',
  'the index has no room for the text of the document: delete documents, divide the collection or ask the operator for a larger index, then replay the job':
    'в индексе нет места для текста документа: удалите документы, разделите коллекцию или попросите оператора увеличить индекс, затем повторите задание',
  'masks make two names of one object of the metadata equal: change the policy or the names':
    'после замены два имени одного объекта metadata совпадают: измените политику или имена',
  'the bytes of content_ref have another SHA-256 than content_hash: submit the document with its hash':
    'SHA-256 содержимого content_ref не совпадает с content_hash: отправьте документ с его хешем',
  'the policy for documents denies the text': 'политика для документов запрещает этот текст',
  'the guardrail of the model gateway denied the text': 'защита шлюза моделей запретила этот текст',
  'the collection was deleted': 'коллекция удалена',
  'content_ref.uri is refused: {cause*}': 'content_ref.uri отклонён: {cause}',
  'it names no object below a folder that is approved for the tenant':
    'он не называет объекта в папке, которая разрешена арендатору',
  'its host has an address that is not allowed': 'адрес его хоста не разрешён',
  'it is not an https address': 'это не адрес https',
  'it holds a user or a password': 'в нём есть имя пользователя или пароль',
  'content_ref.uri names an object that does not exist': 'content_ref.uri называет объект, которого нет',
  'content_ref.uri names an object to which the store refuses access':
    'content_ref.uri называет объект, доступ к которому хранилище запрещает',
  'content_ref names more than {bytes} bytes': 'content_ref называет больше {bytes} байт',
  'content_ref.uri redirects: name the address of the document itself':
    'content_ref.uri перенаправляет: укажите адрес самого документа',
  'content_ref.uri answered {status}: check that the object exists and its signature is valid':
    'content_ref.uri ответил {status}: проверьте, что объект существует и его подпись действительна',
  'content_ref.uri names no object that can be read: check that it exists and its signature is valid':
    'content_ref.uri не называет объект, который можно прочитать: проверьте, что он существует и его подпись действительна',
  'content_ref names an object with a content encoding: store it without one':
    'content_ref называет объект с кодированием содержимого: сохраните его без кодирования',
  'content_ref names an object of another type than application/json in UTF-8':
    'content_ref называет объект не типа application/json в UTF-8',
  'the policy masks more of a stored text than before, and job {job}, which replaces that text, is FAILED: replay it or submit its document with another idempotency_key, then reindex again':
    'политика заменяет в сохранённом тексте больше, чем прежде, а задание {job}, которое заменяет этот текст, не выполнено: повторите его или отправьте документ с другим idempotency_key, затем постройте индекс снова',
  'job {job}, which masks a stored text, is FAILED: {cause*}; submit or delete its document, then reindex again':
    'задание {job}, которое заменяет части сохранённого текста, не выполнено: {cause}; отправьте или удалите его документ, затем постройте индекс снова',
};
