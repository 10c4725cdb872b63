import type { SentenceTable } from './translate.ts';

/** Problems of workloads, of processes and of the validation of a bundle, in Russian. */
export const workloadSentencesRu: SentenceTable = {
  'workload {workload}: {cause*}': 'рабочая нагрузка {workload}: {cause}',
  'all processes are ready': 'все процессы готовы',
  '{ready} of {all} processes are ready': 'процессов готово: {ready} из {all}',
  'the build {build} cannot be run here': 'сборку {build} здесь запустить нельзя',
  'the bundle was removed, and the recorded revision gives a different bundle in this environment: reapply the bindings':
    'пакет удалён, а из записанной версии в этой среде получается другой пакет: примените привязки ещё раз',
  'no route needs it; these gateway replicas still use it: {names+}':
    'она не нужна ни одному маршруту; её ещё используют реплики шлюза: {names}',
  'a process does not answer': 'процесс не отвечает',

  // Replicas without decisions.
  'does not answer': 'не отвечает',
  'serves no decisions: PORTCULLIS_ADMIN_TOKEN_FILE is not set there':
    'не отдаёт решений: там не задан PORTCULLIS_ADMIN_TOKEN_FILE',
  'answered with status {status}': 'ответила статусом {status}',
  'sent decisions in a format of another release': 'прислала решения в формате другого выпуска',
  'is not asked: PORTCULLIS_ADMIN_TOKEN_FILE of this process is not set':
    'не опрашивается: у этого процесса не задан PORTCULLIS_ADMIN_TOKEN_FILE',
  'has no known admin address yet': 'её служебный адрес пока неизвестен',

  'ended by {signal}': 'завершён сигналом {signal}',
  'ended with code {code}': 'завершился с кодом {code}',
  'ended with code {code}: {cause*}': 'завершился с кодом {code}: {cause}',
  'ended with code {code} ({reason})': 'завершился с кодом {code} ({reason})',
  'cannot be started: {cause*}': 'не запускается: {cause}',
  'did not answer for 10 s and was killed': 'не отвечал 10 с и был принудительно завершён',
  'shut down before it started': 'остановлен до запуска',
  'killed because it exceeded its memory limit (OOMKilled)':
    'принудительно завершён, потому что превысил предел памяти (OOMKilled)',
  'pods cannot be created: {cause*}': 'поды нельзя создать: {cause}',
  'the API server refuses them': 'сервер API их отклоняет',
  'a pod is pending because no node accepts it: {cause*}':
    'под ждёт, потому что его не принимает ни один узел: {cause}',
  'a pod failed: {cause*}': 'под завершился с ошибкой: {cause}',
  'no reason was given': 'причина не названа',
  'the image cannot be pulled': 'образ не загружается',
  'the image cannot be pulled: {cause*}': 'образ не загружается: {cause}',
  'a container does not start ({reason}): {cause*}': 'контейнер не запускается ({reason}): {cause}',
  'the pod {pod} is an endpoint of the Service {service} but does not belong to its Deployment: remove the pod or its label portcullis.dev/workload':
    'под {pod} отвечает за Service {service}, но не принадлежит его Deployment: удалите под или его метку portcullis.dev/workload',
  'the API server refuses an object of the workload: {cause*}': 'сервер API отклоняет объект рабочей нагрузки: {cause}',
  'the API server refuses an object of the version: {cause*}': 'сервер API отклоняет объект версии агента: {cause}',

  // Validation of a bundle.
  'the recorded definition is no longer valid': 'записанное определение больше не допустимо',
  'the bundle {problem*}': 'пакет: {problem}',
  'the bundle has {bytes} bytes; at most {most} are allowed: remove rules, or split the policy':
    'в пакете {bytes} байт; разрешено не больше {most}: удалите правила или разделите политику',
  'the bundle is larger than {bytes} bytes': 'пакет больше {bytes} байт',
  'the bundle is not strict JSON: {fault} at byte {offset}': 'пакет не является строгим JSON: {fault}, байт {offset}',
  'the canonical form of the bundle is larger than {bytes} bytes': 'каноническая форма пакета больше {bytes} байт',
  'the validation of the bundle was killed by the system': 'проверка пакета принудительно завершена системой',
  'the validation of the bundle ended with an error': 'проверка пакета завершилась с ошибкой',
  'the validation of the bundle returned no verdict': 'проверка пакета не вернула результата',
  'the validation read a bundle with another digest than the built one':
    'проверка прочитала пакет не с той контрольной суммой, что у собранного',
  'the machine is too slow or too busy: the bundle was not validated within {seconds} s; the validation is repeated and continues where it stopped':
    'машина слишком медленна или занята: пакет не проверен за {seconds} с; проверка повторяется и продолжится с того места, где остановилась',
  'the provider {provider} is not called until its credential {credential} can be read ({code})':
    'к поставщику {provider} нет обращений, пока его учётные данные {credential} не читаются ({code})',
  'provider {provider}: the endpoint must not hold a user name or password':
    'поставщик {provider}: в адресе не должно быть имени пользователя и пароля',

  // Policies.
  'policy {policy}: {cause*}': 'политика {policy}: {cause}',
  'the structure of the policy is valid': 'структура политики допустима',
  'the id label belongs to the policy {policy}': 'метка идентификатора принадлежит политике {policy}',
  'no other policy has the id': 'этого идентификатора нет у других политик',
  'the rules are not valid: there are no further warnings': 'правила недопустимы: других предупреждений нет',
  'the rules compile and their cost is admitted': 'правила компилируются, и их стоимость допустима',
  'there is no warning about the rules': 'предупреждений о правилах нет',
  'and {count} more': 'и ещё {count}',
  'spec.definition: exceeds, together with spec.tests, {bytes} bytes in the store of a cluster: split the policy or shorten its lists':
    'spec.definition: вместе с spec.tests больше {bytes} байт в хранилище кластера: разделите политику или сократите её списки',

  // The audit log.
  'the list of chains does not name its chain': 'её цепочки нет в списке',
  'the chain ends with a different entry of this number than recorded':
    'цепочка заканчивается не той записью с этим номером, которая отмечена',
  'it and the entries after it are missing': 'её и следующих записей нет',
  'it was removed, and no entry of retention records that': 'она удалена, а записи об удалении по сроку хранения нет',
  'it is missing': 'её нет',
  'its number occurs twice': 'её номер встречается дважды',
  'it does not name the hash of the entry before it': 'она не называет хеш предыдущей записи',
  'its content was changed': 'её содержимое изменено',
};
