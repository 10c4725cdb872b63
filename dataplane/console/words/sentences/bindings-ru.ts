import type { SentenceTable } from './translate.ts';

/** Russian sentences about the reasons why a model is, or is not, in its declared state. */
export const bindingSentencesRu: SentenceTable = {
  // Summaries.
  'ModelBinding {name} is UNGUARDED, as its spec declares': 'ModelBinding {name} БЕЗ ЗАЩИТЫ, как объявлено',
  'the application is confirmed': 'применение подтверждено',
  'ModelBinding {name} is UNGUARDED, as its spec declares, and cannot answer: {cause*}':
    'ModelBinding {name} БЕЗ ЗАЩИТЫ, как объявлено, и не может отвечать: {cause}',
  'ModelBinding {name} is UNGUARDED, as its spec declares, but not on every replica':
    'ModelBinding {name} БЕЗ ЗАЩИТЫ, как объявлено, но не на каждой реплике',
  'ModelBinding {name} is UNGUARDED, as its spec declares, but not on every replica: {cause*}':
    'ModelBinding {name} БЕЗ ЗАЩИТЫ, как объявлено, но не на каждой реплике: {cause}',
  'ModelBinding {name} is applied {served*}, but texts that the rule {rule} judges are refused: {cause*}':
    'Привязка ModelBinding {name} применена {served}, но тексты, которые проверяет правило {rule}, отклоняются: {cause}',
  'ModelBinding {name} is applied {served*}, but its model cannot answer: {cause*}':
    'Привязка ModelBinding {name} применена {served}, но её модель не может отвечать: {cause}',
  'ModelBinding {name} is applied: every ready replica of {gateway} serves it {served*}':
    'Привязка ModelBinding {name} применена: она действует на каждой готовой реплике шлюза {gateway} {served}',
  'ModelBinding {name} is applied {served*}, but not everywhere':
    'Привязка ModelBinding {name} применена {served}, но не везде',
  'ModelBinding {name} is applied {served*}, but not everywhere: {cause*}':
    'Привязка ModelBinding {name} применена {served}, но не везде: {cause}',
  'with revision {number} of {policy}': 'с версией {number} политики {policy}',
  UNGUARDED: 'БЕЗ ЗАЩИТЫ',
  'the model or its provider is disabled': 'модель или её поставщик отключены',
  'ModelBinding {name} is not applied yet': 'Привязка ModelBinding {name} ещё не применена',
  'ModelBinding {name} is not applied yet: {cause*}': 'Привязка ModelBinding {name} ещё не применена: {cause}',
  'ModelBinding {name} was applied, but a replica now rejects its route':
    'Привязка ModelBinding {name} была применена, но теперь реплика отклоняет её маршрут',
  'ModelBinding {name} was applied, but a replica now rejects its route: {cause*}':
    'Привязка ModelBinding {name} была применена, но теперь реплика отклоняет её маршрут: {cause}',
  'ModelBinding {name} was not applied': 'Привязка ModelBinding {name} не применена',
  'ModelBinding {name} was not applied: {cause*}': 'Привязка ModelBinding {name} не применена: {cause}',
  'ModelBinding {name} is being deleted': 'Привязка ModelBinding {name} удаляется',
  'ModelBinding {name} is being deleted: {cause*}': 'Привязка ModelBinding {name} удаляется: {cause}',

  // What serves the requests of an alias now.
  'nothing: the alias has no route': 'ничего: у псевдонима нет маршрута',
  'UNGUARDED: requests and answers are not checked': 'БЕЗ ЗАЩИТЫ: запросы и ответы не проверяются',
  'no guardrail': 'без защиты',
  'revision {number} of {policy}': 'версия {number} политики {policy}',
  'revision {number} of the policy {policy}': 'версия {number} политики {policy}',
  'the policy {policy}': 'политика {policy}',

  // Steps.
  'Operator: {cause*}': 'оператор: {cause}',
  'Deletion: {cause*}': 'удаление: {cause}',
  'Accepted: {cause*}': 'приём: {cause}',
  'References: {cause*}': 'ссылки: {cause}',
  'Policy {policy}: {cause*}': 'политика {policy}: {cause}',
  'Runtime: {cause*}': 'среда выполнения: {cause}',
  'Workload: {cause*}': 'рабочая нагрузка: {cause}',
  'Workload {workload}: {cause*}': 'рабочая нагрузка {workload}: {cause}',
  'Route: {cause*}': 'маршрут: {cause}',
  'Replicas: {cause*}': 'реплики: {cause}',
  'Replica {replica}: {cause*}': 'реплика {replica}: {cause}',
  'Provider: {cause*}': 'поставщик: {cause}',
  'the management API does not read processes': 'API управления не читает процессы',
  'the operator has not processed generation {generation} of the binding yet':
    'оператор ещё не обработал поколение {generation} привязки',
  'the operator has not processed generation {generation} of the resource yet':
    'оператор ещё не обработал поколение {generation} ресурса',
  'the operator has not processed it yet': 'оператор ещё не обработал этот ресурс',
  'the binding is being deleted': 'привязка удаляется',
  'its newest state is refused: {cause*}': 'её новейшее состояние отклонено: {cause}',
  'the newest one is {number}': 'новейшая версия: {number}',
  'endpoint: {host}': 'адрес: {host}',
  'replicas: {names+}': 'реплики: {names}',
  'the workload {workload} of the route does not exist': 'рабочей нагрузки {workload}, которую называет маршрут, нет',
  '{ready} of {all} processes of build {build} are ready': 'процессов сборки {build} готово: {ready} из {all}',
  'there is no route yet: the alias is not served': 'маршрута ещё нет: псевдоним не обслуживается',
  'it pins {pinned*}': 'закреплено: {pinned}',
  'it still pins {pinned*}; it changes when all steps above are complete':
    'пока закреплено: {pinned}; изменится, когда завершатся все шаги выше',
  'it has not reported yet': 'она ещё не сообщила о себе',
  'no replica of the gateway {gateway} is ready: nothing can be applied':
    'ни одна реплика шлюза {gateway} не готова: применить ничего нельзя',
  'it is not answering: requests to it hang': 'она не отвечает: запросы к ней зависают',
  'it is not ready; the application does not wait for it': 'она не готова; применение её не ждёт',
  'it is not ready': 'она не готова',
  'it is ready': 'она готова',
  'there is no route to load': 'загружать нечего: маршрута нет',
  'it has loaded the current route': 'она загрузила текущий маршрут',
  'it has not reached the runtime of the route yet': 'она ещё не связалась со средой выполнения этого маршрута',
  'it has not loaded the current route yet': 'она ещё не загрузила текущий маршрут',
  'it rejects the route: {cause*}': 'она отклоняет маршрут: {cause}',

  // Conditions of a binding.
  'UNGUARDED: no guardrail checks the requests and answers of this model':
    'БЕЗ ЗАЩИТЫ: запросы и ответы этой модели не проверяются',
  'no workload has been started yet': 'ни одна рабочая нагрузка ещё не запущена',
  'the binding is accepted': 'привязка принята',
  'references are resolved after the binding is accepted': 'ссылки проверяются после того, как привязка принята',
  'the provider {provider} is not approved for models': 'поставщик {provider} не разрешён для моделей',
  'all references are resolved': 'все ссылки найдены',
  'the policy {policy} is being deleted': 'политика {policy} удаляется',
  'it stays in force here until the binding {name} refers to another policy or is deleted; to keep the policy, apply it again':
    'здесь она действует, пока привязка {name} не сошлётся на другую политику или не будет удалена; чтобы сохранить политику, примените её ещё раз',
  'the model needs no runtime': 'среда выполнения этой модели не нужна',
  'workload {workload} was ready and passed its tests when the route was written':
    'когда маршрут был записан, рабочая нагрузка {workload} была готова и прошла тесты',
  'streams are refused by the binding': 'потоки запрещены привязкой',
  'streams are served although {rule*} cannot be judged in windows and may miss a match':
    'потоки разрешены, хотя {rule}: проверка по окнам невозможна и может пропустить совпадение',
  'streams are refused because of {rule*}, which cannot be judged in windows':
    'потоки запрещены, причина — {rule}: проверка по окнам невозможна',
  'the rule {rule}': 'правило {rule}',
  'a rule of the response section': 'правило раздела ответов',
  'a rule of the request section': 'правило раздела запросов',
  'the limit maxBodyBytes ({bytes}, below {least})': 'предел maxBodyBytes ({bytes}, меньше {least})',
  'the application is in progress': 'применение выполняется',
  'this binding serves no alias': 'эта привязка не обслуживает ни одного псевдонима',
  'it has released its alias for bindings that exchange theirs':
    'она освободила свой псевдоним, потому что привязки обмениваются псевдонимами',
  'the current application keeps serving the alias {alias}': 'псевдоним {alias} обслуживает текущее применение',
  'every ready gateway replica confirmed the route': 'маршрут подтвердила каждая готовая реплика шлюза',
  'every ready gateway replica confirmed revision {number} of the policy {policy}':
    'версию {number} политики {policy} подтвердила каждая готовая реплика шлюза',
  'every ready gateway replica confirmed revision {number} of the policy':
    'версию {number} политики подтвердила каждая готовая реплика шлюза',
  'the alias has no route': 'у псевдонима нет маршрута',
  'there is no previous guarded application to roll back to':
    'предыдущего применения с защитой, к которому можно вернуться, нет',
  'the previous application keeps serving': 'продолжает действовать предыдущее применение',
  'no gateway replica rejects the route': 'ни одна реплика шлюза не отклоняет маршрут',
  'the alias has no route, so no provider is called':
    'у псевдонима нет маршрута, поэтому к поставщику никто не обращается',
  'the gateway reaches the provider {provider}': 'поставщик {provider} доступен шлюзу',
  'no gateway replica has connected to the provider {provider} yet':
    'ни одна реплика шлюза ещё не соединялась с поставщиком {provider}',
  'the binding is applied, but {effect*}': 'привязка применена, но {effect}',
  'texts that this rule judges are refused': 'тексты, которые проверяет это правило, отклоняются',
  'its model cannot answer': 'её модель не может отвечать',
  'the model or its provider is switched off': 'модель или её поставщик отключены',
  'the binding is applied': 'привязка применена',
  'the application failed; a new value of spec.apply tries it again':
    'применение не удалось; новое значение spec.apply повторит его',
  'see the condition Applied': 'см. условие Applied',

  // Results of a pass.
  'waiting for these gateway replicas to finish requests in flight: {names+}':
    'ожидаются реплики шлюза, которые ещё выполняют запросы: {names}',
  'the label {label} is not a UUID of version 7 in lower case':
    'метка {label} не является UUID версии 7 строчными буквами',
  'the id label is not a UUID of version 7 in lower case':
    'метка идентификатора не является UUID версии 7 строчными буквами',
  'the alias {alias} of gateway {gateway} belongs to the binding {owner}':
    'псевдоним {alias} шлюза {gateway} принадлежит привязке {owner}',
  'the alias {alias} of gateway {gateway} belongs to another binding':
    'псевдоним {alias} шлюза {gateway} принадлежит другой привязке',
  'the id label of this binding belongs to the binding {owner}':
    'метка идентификатора этой привязки принадлежит привязке {owner}',
  'these gateway replicas do not read the format of the route: {names+}':
    'эти реплики шлюза не читают формат маршрута: {names}',
  'timed out: {cause*}': 'время истекло: {cause}',
  'the applied revision is being started on build {build}: {cause*}':
    'применённая версия запускается на сборке {build}: {cause}',
  'the gateway replica {replica} rejects the route: {cause*}': 'реплика шлюза {replica} отклоняет маршрут: {cause}',
  'no replica of gateway {gateway} is ready': 'ни одна реплика шлюза {gateway} не готова',
  'waiting for these gateway replicas to confirm the route: {names+}':
    'ожидается подтверждение маршрута от реплик шлюза: {names}',
  'the route is being deleted': 'маршрут удаляется',

  // Progress of an application.
  'the policy is not recorded yet': 'политика ещё не записана',
  'the policy is archived: it cannot be newly applied': 'политика в архиве: применить её заново нельзя',
  'the policy is being deleted: it cannot be newly applied': 'политика удаляется: применить её заново нельзя',
  'the content profile {profile} is not supported; see spec.contentProfile':
    'профиль содержимого {profile} не поддерживается; см. spec.contentProfile',
  'the content profile {profile} is not supported': 'профиль содержимого {profile} не поддерживается',
  'the provider {provider} of spec.model.provider is not an approved provider of kind model':
    'поставщик {provider} из spec.model.provider не разрешён как поставщик вида model',
  'another policy owns the id label of the policy of spec.guardrail':
    'метка идентификатора политики из spec.guardrail принадлежит другой политике',
  'the policy {policy} of spec.guardrail does not exist': 'политики {policy} из spec.guardrail нет',
  'the text of revision {number} of the policy was removed: apply another revision':
    'текст версии {number} политики удалён: примените другую версию',
  'the policy has no revision {number}': 'версии {number} у политики нет',
  'the processes of the workload {workload} are starting': 'процессы рабочей нагрузки {workload} запускаются',
  'the workload {workload} no longer exists': 'рабочей нагрузки {workload} больше нет',
  'the provider {provider} of the rule {rule} does not answer: {cause*}':
    'поставщик {provider} правила {rule} не отвечает: {cause}',
  '{problem*} ({code}); to correct it, {remedy*}': '{problem} ({code}); чтобы это исправить, {remedy}',
  'the policy test {test+} has no result': 'у теста политики {test} нет результата',
  'the policy test {test+} could not be run: {code}': 'тест политики {test} выполнить не удалось: {code}',
  'the policy test {test+} expects {decision} at the {stage} stage and got {result*}':
    'тест политики {test} ожидает {decision} на этапе {stage}, а получено: {result}',
  'the failure {code}': 'ошибка {code}',
  'the local rules could not check the text': 'местные правила не смогли проверить текст',
};
