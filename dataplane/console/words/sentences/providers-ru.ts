import type { SentenceTable } from './translate.ts';

/** Russian sentences about the reasons why a provider cannot be used, with remedies. */
export const providerSentencesRu: SentenceTable = {
  'the provider {provider} cannot be used: {problem*}': 'поставщика {provider} нельзя использовать: {problem}',
  'the provider {provider} of the rule {rule} cannot be used: {problem*}':
    'поставщика {provider} правила {rule} нельзя использовать: {problem}',
  'to correct it, {remedy*}': 'чтобы это исправить, {remedy}',
  '{count} more rules are not judged': 'правил, которые не проверяются, кроме этого: {count}',
  'the gateway retries automatically; "{command+}" tests each step now':
    'шлюз повторяет попытки сам; «{command}» проверит каждый шаг сейчас',
  'the next check that succeeds clears this; the gateway repeats one automatically':
    'это снимет первая удачная проверка; шлюз повторяет проверки сам',

  // Problems.
  'its credential does not exist': 'его учётных данных нет',
  'its credential is empty, cannot be read, or holds more than one key':
    'его учётные данные пусты, не читаются или содержат больше одного ключа',
  'it refuses the credential (status 401 or 403)': 'он не принимает учётные данные (статус 401 или 403)',
  'the name of its host cannot be resolved': 'имя его хоста не разрешается',
  'no program accepts connections at its endpoint': 'по его адресу никто не принимает соединений',
  'its endpoint does not answer in time': 'его адрес не отвечает вовремя',
  'it does not answer in time': 'он не отвечает вовремя',
  'the authority of its certificate is unknown here': 'центр, выдавший его сертификат, здесь неизвестен',
  'its certificate has expired or is not valid yet': 'срок его сертификата истёк или ещё не начался',
  'its certificate is for another host name': 'его сертификат выдан на другое имя хоста',
  'the TLS handshake with it fails': 'установить с ним TLS не удаётся',
  'the connection to it fails': 'соединиться с ним не удаётся',
  'it does not know the path of the endpoint (status 404)': 'он не знает пути из адреса (статус 404)',
  'it does not know the model (status 404, model_not_found)': 'он не знает модели (статус 404, model_not_found)',
  'it limits the rate of requests (status 429)': 'он ограничивает частоту запросов (статус 429)',
  'its answer is not in the form of the OpenAI API': 'его ответ не в форме API OpenAI',
  'its answer does not follow the contract': 'его ответ не соответствует контракту',
  'it answers with an unexpected status': 'он отвечает неожиданным статусом',

  // Remedies.
  'create the file or the key of the Secret that providers.yaml names':
    'создайте файл или ключ Secret, который назван в providers.yaml',
  'write one key into the file or Secret, and let the gateway read it':
    'запишите в файл или Secret один ключ и разрешите шлюзу его читать',
  'write one key into the file or Secret, and let the runtime read it':
    'запишите в файл или Secret один ключ и разрешите среде выполнения его читать',
  'replace the key in the file or Secret': 'замените ключ в файле или Secret',
  'correct the endpoint in providers.yaml, or the DNS': 'исправьте адрес в providers.yaml или DNS',
  'start the provider, or correct the endpoint in providers.yaml':
    'запустите поставщика или исправьте адрес в providers.yaml',
  'check the network, the firewall and network policies': 'проверьте сеть, межсетевой экран и сетевые политики',
  'add the authority with NODE_EXTRA_CA_CERTS': 'добавьте этот центр через NODE_EXTRA_CA_CERTS',
  'renew the certificate, or correct the clock': 'обновите сертификат или исправьте часы',
  'use the name of the certificate in the endpoint': 'укажите в адресе имя из сертификата',
  'correct the scheme or port of the endpoint in providers.yaml': 'исправьте схему или порт адреса в providers.yaml',
  'check the network and the log of the provider': 'проверьте сеть и журнал поставщика',
  'correct the endpoint in providers.yaml; it ends with /v1 in most cases':
    'исправьте адрес в providers.yaml; чаще всего он заканчивается на /v1',
  'correct spec.model.upstreamModel of the binding, or add the model to the provider':
    'исправьте spec.model.upstreamModel привязки или добавьте модель поставщику',
  'correct the model of the classifier in providers.yaml': 'исправьте модель классификатора в providers.yaml',
  'wait, or raise the limit at the provider': 'подождите или увеличьте предел у поставщика',
  'correct the endpoint in providers.yaml': 'исправьте адрес в providers.yaml',
  'correct the endpoint in providers.yaml, or the provider': 'исправьте адрес в providers.yaml или поставщика',
  'see the log of the provider': 'посмотрите журнал поставщика',
  'check its load and the network, or raise timeoutMs of the rule':
    'проверьте его нагрузку и сеть или увеличьте timeoutMs правила',

  // Providers that a policy names.
  'the provider {provider} of the policy is not among the approved providers: name another one, or ask an administrator to approve it':
    'поставщика {provider} из политики нет среди разрешённых: назовите другого или попросите администратора разрешить его',
  'spec.definition.providers[{at}].credentialRef.name is "{named}", but "{approved}" is the approved credential of the provider {provider}: write that one there':
    'spec.definition.providers[{at}].credentialRef.name — «{named}», а разрешённые учётные данные поставщика {provider} — «{approved}»: напишите их там',
  'the rule {rule} names the provider {provider}, which the policy does not list: add { name: {entry}, credentialRef: { name: {credential} } } to spec.definition.providers, or correct the name in the rule':
    'правило {rule} называет поставщика {provider}, которого нет в списке политики: добавьте { name: {entry}, credentialRef: { name: {credential} } } в spec.definition.providers или исправьте имя в правиле',
  'the rule {rule} needs a classifier, but the provider {provider} is a {kind}: name an approved classifier in the rule and in spec.definition.providers':
    'правилу {rule} нужен классификатор, а вид поставщика {provider} — {kind}: назовите разрешённый классификатор в правиле и в spec.definition.providers',
  'the rule {rule} needs a classifier, but the provider {provider} is a {kind}, and no classifier is approved: add one to the approved providers, or write the rule with the kind external_pipeline':
    'правилу {rule} нужен классификатор, а вид поставщика {provider} — {kind}, и ни один классификатор не разрешён: добавьте его в список разрешённых поставщиков или напишите правило с видом external_pipeline',
  'the rule {rule} needs a detector, but the provider {provider} is a {kind}: name an approved detector in the rule and in spec.definition.providers':
    'правилу {rule} нужен детектор, а вид поставщика {provider} — {kind}: назовите разрешённый детектор в правиле и в spec.definition.providers',
  'the rule {rule} needs a detector, but the provider {provider} is a {kind}, and no detector is approved: add one to the approved providers, or write the rule with the kind llm_classifier':
    'правилу {rule} нужен детектор, а вид поставщика {provider} — {kind}, и ни один детектор не разрешён: добавьте его в список разрешённых поставщиков или напишите правило с видом llm_classifier',
};
