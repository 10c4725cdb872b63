import type { SentenceTable } from './translate.ts';

/** Russian sentences about the reasons why an agent, or a version of an agent, is served or not. */
export const agentSentencesRu: SentenceTable = {
  // Summaries.
  'Agent {name} is served': 'Агент {name} действует',
  'Agent {name} is served: {cause*}': 'Агент {name} действует: {cause}',
  'Agent {name} is starting': 'Агент {name} запускается',
  'Agent {name} is starting: {cause*}': 'Агент {name} запускается: {cause}',
  'Agent {name} is not served as declared': 'Агент {name} действует не так, как объявлен',
  'Agent {name} is not served as declared: {cause*}': 'Агент {name} действует не так, как объявлен: {cause}',
  'Agent {name} is not processed yet': 'Агент {name} ещё не обработан',
  'Agent {name} is not processed yet: {cause*}': 'Агент {name} ещё не обработан: {cause}',
  'Agent {name} is being deleted': 'Агент {name} удаляется',
  'Agent {name} is being deleted: {cause*}': 'Агент {name} удаляется: {cause}',
  'AgentVersion {name} is ready': 'Версия {name} готова',
  'AgentVersion {name} is ready: {cause*}': 'Версия {name} готова: {cause}',
  'AgentVersion {name} is starting': 'Версия {name} запускается',
  'AgentVersion {name} is starting: {cause*}': 'Версия {name} запускается: {cause}',
  'AgentVersion {name} is not ready': 'Версия {name} не готова',
  'AgentVersion {name} is not ready: {cause*}': 'Версия {name} не готова: {cause}',
  'AgentVersion {name} is not processed yet': 'Версия {name} ещё не обработана',
  'AgentVersion {name} is not processed yet: {cause*}': 'Версия {name} ещё не обработана: {cause}',
  'AgentVersion {name} is being deleted': 'Версия {name} удаляется',
  'AgentVersion {name} is being deleted: {cause*}': 'Версия {name} удаляется: {cause}',
  'the agent {agent} has no AgentVersion {name}': 'у агента {agent} нет версии {name}',
  'the AgentVersion that the spec names is not a version of this agent':
    'AgentVersion, названная в spec, не является версией этого агента',
  'the agent is being deleted': 'агент удаляется',

  // Conditions of an agent.
  'the deletion waits for {count*}': 'для удаления должны завершить работу: {count}',
  '1 gateway replica': '1 реплика шлюза',
  '{count} gateway replicas': 'реплики шлюза: {count}',
  '1 run': '1 запуск',
  '{count} runs': 'запуски: {count}',
  'this installation does not run agents': 'эта установка не выполняет агентов',
  'a gateway replica rejected the change, so the previous route was restored: {cause*}':
    'реплика шлюза отклонила изменение, поэтому восстановлен предыдущий маршрут: {cause}',
  'the agent has no route yet': 'у агента ещё нет маршрута',
  'no ready gateway replica serves agents': 'ни одна готовая реплика шлюза не обслуживает агентов',
  '{missing} of {all} ready gateway replicas have not loaded the route':
    'готовых реплик шлюза, которые ещё не загрузили маршрут: {missing} из {all}',
  'a gateway replica rejects the route: {cause*}': 'реплика шлюза отклоняет маршрут: {cause}',
  'every ready gateway replica has loaded the route': 'маршрут загрузила каждая готовая реплика шлюза',
  'this operator has no store of rights': 'у этого оператора нет хранилища прав',
  'a name in owner or access is too long for the store of rights':
    'имя в owner или access слишком длинно для хранилища прав',
  'it gives no right; the other rights match the spec':
    'оно не даёт прав; остальные права совпадают с объявленными в spec',
  'the store of rights does not answer': 'хранилище прав не отвечает',
  'the tables of the store of rights do not match this release': 'таблицы хранилища прав не подходят к этому выпуску',
  'the log of the operator names the file': 'файл назван в журнале оператора',
  'the stored rights match the spec': 'сохранённые права совпадают с объявленными в spec',
  'the version is being deleted': 'версия удаляется',
  'the version is served': 'версия действует',
  '{member}: there is no AgentVersion {name}': '{member}: версии {name} нет',
  '{member}: the AgentVersion {name} is a version of the agent {agent}':
    '{member}: версия {name} принадлежит агенту {agent}',
  '{member}: the AgentVersion {name} is being deleted': '{member}: версия {name} удаляется',
  '{member}: the AgentVersion {name} is not ready': '{member}: версия {name} не готова',
  '{member}: the AgentVersion {name} is not ready: {cause*}': '{member}: версия {name} не готова: {cause}',

  // Conditions of a version.
  'the deletion waits: the agent {agent} serves the version': 'удаление ждёт: версия действует у агента {agent}',
  'this installation runs flows only': 'эта установка выполняет только схемы',
  'an agent of an image (spec.sdk) needs a cluster': 'агенту из образа (spec.sdk) нужен кластер',
  'there are {count} further problems': 'других ошибок: {count}',
  'the checks of the version exceeded their time or memory': 'проверкам версии не хватило времени или памяти',
  'they will be repeated': 'они будут повторены',
  'the image has a digest and the card is valid': 'у образа есть контрольная сумма, и карточка допустима',
  'the flow, its manifest and its tests are valid': 'схема, её манифест и её тесты допустимы',
  'the tests run when the version is accepted': 'тесты выполняются, когда версия принята',
  'the tests exceeded their time or memory': 'тестам не хватило времени или памяти',
  '{failed} of {all} tests failed: {names*}': 'тестов не пройдено: {failed} из {all}: {names}',
  'an image has no tests that the operator could run': 'у образа нет тестов, которые мог бы выполнить оператор',
  '1 test passed': 'пройден 1 тест',
  '{count} tests passed': 'тестов пройдено: {count}',
  'no process of the version runs': 'ни один процесс версии не работает',
  'the version is a tool of MCP and has no card': 'версия — инструмент MCP, карточки у неё нет',
  'the card is the one that the process reports, with addresses of this version':
    'карточка та же, что сообщает процесс, с адресами этой версии',
  'the card differs from the one that the process reports, or has wrong addresses':
    'карточка отличается от той, что сообщает процесс, или в ней неверные адреса',
  'the process has not served its card yet': 'процесс ещё не отдал свою карточку',
  'no check has shown a detector or classifier that does not judge':
    'ни одна проверка не выявила детектора или классификатора, который не отвечает',
  'the process of the version has ended: {cause*}': 'процесс версии завершился: {cause}',
  'the process of the version does not answer': 'процесс версии не отвечает',
  'the process of the version is starting': 'процесс версии запускается',
  'advertised_capability_unavailable: {cause*}': 'advertised_capability_unavailable: {cause}',

  // Declarations of a version that differ from its manifest.
  'guardrails.{stage} differs from the manifest': 'guardrails.{stage} отличается от манифеста',
  'requires does not name the {one+} of the manifest': 'в requires нет того, что называет манифест: {one}',
  'requires names the {one+}, which is not in the manifest': 'requires называет то, чего нет в манифесте: {one}',
  'limits.{name} exceeds the limit of the manifest, {limit}': 'limits.{name} превышает ограничение манифеста: {limit}',
  'the policy {policy} is not served: add it to the served policies':
    'политика {policy} не действует для агентов: добавьте её в served policies',
  'revision {number} of the policy {policy} is not served: add it to the served policies':
    'версия {number} политики {policy} не действует для агентов: добавьте её в served policies',
  'connections.yaml has no connection {name} of the kind {kind}':
    'в connections.yaml нет соединения {name} вида {kind}',
  'the connection {name} does not list the agent {agent}': 'соединение {name} не называет агента {agent}',

  // Problems of a process.
  'the pod is not ready to receive calls': 'под не готов принимать вызовы',
  'the process does not list the tool {tool} at {path}': 'процесс не называет инструмента {tool} по пути {path}',
  'is starting': 'запускается',
  'the version is being read and checked': 'версия читается и проверяется',
  'the process ends after the calls that it has accepted': 'процесс завершится после вызовов, которые уже принял',
  'no valid card follows from the manifest and publicUrl': 'из манифеста и publicUrl не получается допустимой карточки',
  'the bundle cannot be read': 'пакет не читается',
  'the bundle does not have the shape of an agent bundle': 'пакет не имеет формы пакета агента',
  'the digest of the bundle is not that of its content': 'контрольная сумма пакета не соответствует его содержимому',
  'the file store does not answer; calls with files fail until it does':
    'хранилище файлов не отвечает; пока оно не ответит, вызовы с файлами не выполняются',
  'the policy {policy} is no longer served in the revision that the version names: serve that revision under this name, or publish a version that names the present one':
    'политика {policy} больше не действует в той ревизии, которую называет версия: включите эту ревизию под этим именем или опубликуйте версию, которая называет нынешнюю',
  'the flow streams the text of a prompt, and the policy {policy} cannot judge it in windows: change the rule that needs the whole text, or set stream: false in the prompt':
    'схема передаёт текст запроса к модели потоком, а политика {policy} не может проверять его по окнам: измените правило, которому нужен весь текст, или задайте в этом узле stream: false',
  'the manifest requests {capability}, which the startup check did not confirm':
    'манифест требует возможность {capability}, которую проверка при запуске не подтвердила',
  'the media modes of the contract must be of text/plain and application/json':
    'типы содержимого контракта должны быть из text/plain и application/json',
  'contract.inputMediaModes names text/plain, but the input schema has neither a string named text nor exactly one required string':
    'contract.inputMediaModes называет text/plain, но в схеме ввода нет ни строки text, ни ровно одной обязательной строки',
  'files.mediaTypes must name at least one, and only, of {types+}':
    'files.mediaTypes должно называть хотя бы один тип, и только из этих: {types}',
  'files.mediaTypes names {types+}, of which no file node can read a text':
    'files.mediaTypes называет {types}, а текст этих типов не читает ни один узел файлов',
  'the {stage} guardrail of the bundle differs from the manifest': 'защита {stage} в пакете отличается от манифеста',
  'the flow names the {kind} {name}, which this process has no setting to reach':
    'схема называет {kind} {name}, но в настройках процесса нет адреса для этого',
  'the manifest enables files, and neither PORTCULLIS_FILES_DIR nor PORTCULLIS_FILE_SERVICE_URL is set':
    'манифест разрешает файлы, но не заданы ни PORTCULLIS_FILES_DIR, ни PORTCULLIS_FILE_SERVICE_URL',
  'the task did not complete': 'задача не завершилась',
  'the card is missing or has another form than A2A 1.0 says': 'карточки нет, или её форма не по A2A 1.0',
  '{member} is missing or has another form than A2A 1.0 says': '{member}: нет, или форма не по A2A 1.0',
};
