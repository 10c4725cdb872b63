import type { SentenceTable } from './translate.ts';

/** Russian remedies for the causes of problems. */
export const remedySentencesRu: SentenceTable = {
  'start the operator': 'запустите оператор',
  'if it ends again, see its log': 'если он завершится снова, смотрите его журнал',
  'wait, and look again to see the progress': 'подождите и откройте страницу снова, чтобы увидеть ход работы',
  wait: 'подождите',
  'if this lasts, see the log of the named replica': 'если это не пройдёт, смотрите журнал названной реплики',
  'if this lasts, see the log of the replica': 'если это не пройдёт, смотрите журнал реплики',
  'if this lasts, see its log in the folder logs': 'если это не пройдёт, смотрите его журнал в папке logs',
  'start a replica of that gateway, or correct spec.gateway of the binding':
    'запустите реплику этого шлюза или исправьте spec.gateway привязки',
  'correct the cause that the message names: the operator retries':
    'устраните причину, названную в сообщении: оператор повторит попытку',
  'correct the cause that the message names': 'устраните причину, названную в сообщении',
  'the operator retries': 'оператор повторит попытку',
  'see its log for details': 'подробности в его журнале',
  'the operator will try again': 'оператор повторит попытку',
  'correct the cause that the message names, then stop "portcullis up" and start it again':
    'устраните причину, названную в сообщении, затем остановите «portcullis up» и запустите снова',
  'choose another alias, or delete the binding that owns this one':
    'выберите другой псевдоним или удалите привязку, которой принадлежит этот',
  'correct the field that the message names, and apply the object again':
    'исправьте поле, названное в сообщении, и примените объект ещё раз',
  'delete this object and apply it again without the label portcullis.dev/id':
    'удалите этот объект и примените его снова без метки portcullis.dev/id',
  'apply the policy {policy}, or correct policyRef': 'примените политику {policy} или исправьте policyRef',
  'to keep {policy}, apply it again from its file, which cancels the deletion':
    'чтобы сохранить {policy}, примените её файл ещё раз: это отменит удаление',
  'to complete the deletion, refer to another policy in {binding}':
    'чтобы завершить удаление, сошлитесь в {binding} на другую политику',
  'delete the policy {policy} and apply it again without the label portcullis.dev/id':
    'удалите политику {policy} и примените её снова без метки portcullis.dev/id',
  'the operator retries when the revision is recorded': 'оператор повторит попытку, когда версия будет записана',
  'to choose another one, run "{history+}", then: {command+}':
    'чтобы выбрать другую, выполните «{history}», затем: {command}',
  'set lifecycle of the policy {policy} to Draft, or choose another policy; then: {command+}':
    'задайте политике {policy} lifecycle Draft или выберите другую политику; затем: {command}',
  'add the provider to the approved providers, with the same kind and credential':
    'добавьте поставщика в список разрешённых с тем же видом и теми же учётными данными',
  'the operator reads the list again and retries': 'оператор прочитает список заново и повторит попытку',
  'the operator asks the provider again within a minute, and at once after: {command+}':
    'оператор обратится к поставщику снова в течение минуты, а сразу — после команды: {command}',
  'set contentProfile to one that is supported': 'укажите в contentProfile поддерживаемый профиль',
  'correct the named rule, save the policy {policy}, then: {command+}':
    'исправьте названное правило, сохраните политику {policy}, затем: {command}',
  'make the rule more specific, or move it to a detector; save the policy {policy}, then: {command+}':
    'сделайте правило точнее или перенесите его в детектор; сохраните политику {policy}, затем: {command}',
  'correct the rule or the test ("{test+}" runs them on this machine), then: {command+}':
    'исправьте правило или тест («{test}» выполняет тесты на этой машине), затем: {command}',
  'see the logs of the named replica and of the runtime, then: {command+}':
    'посмотрите журналы названной реплики и среды выполнения, затем: {command}',
  'see the logs of the named replica and of the runtime; if its bundle is missing: {command+}':
    'посмотрите журналы названной реплики и среды выполнения; если пакета нет: {command}',
  'nothing: a later application replaced this one': 'ничего: это применение заменено более поздним',
  'wait; the log of the runtime shows why it ended':
    'подождите; почему процесс завершился, видно в журнале среды выполнения',
  'wait: a process that does not answer for 10 s is killed and restarted; its log is in the folder logs':
    'подождите: процесс, который не отвечает 10 с, завершается и запускается снова; его журнал в папке logs',
  'see the message and the log of the runtime, or of the agent':
    'смотрите сообщение и журнал среды выполнения или агента',
  'correct the cause that the message names, such as a missing Secret':
    'устраните причину, названную в сообщении, например недостающий Secret',
  'Kubernetes retries': 'Kubernetes повторит попытку',
  'check image, registry and imagePullSecrets of the release': 'проверьте образ, реестр и imagePullSecrets выпуска',
  'free capacity on the nodes or add one': 'освободите место на узлах или добавьте узел',
  'raise the quota of the namespace or correct the admission rule that the message names':
    'увеличьте квоту пространства имён или исправьте правило допуска, названное в сообщении',
  'remove the label portcullis.dev/workload from the named pod':
    'снимите с названного пода метку portcullis.dev/workload',
  'the workload becomes ready without it': 'без неё рабочая нагрузка станет готовой',
  'this build is no longer available: {command+}': 'этой сборки больше нет: {command}',
  'portcullis reapply {binding}': 'portcullis reapply {binding}',
  'kubectl portcullis reapply {binding}': 'kubectl portcullis reapply {binding}',
  'scale it to one replica or more: kubectl scale --replicas=1':
    'увеличьте число реплик хотя бы до одной: kubectl scale --replicas=1',
  'create the StorageClass that the message names, or set postgresql.storage.storageClassName of the chart to one that exists':
    'создайте StorageClass, названный в сообщении, или укажите в postgresql.storage.storageClassName чарта существующий',
  'correct the cause that the message or the log of the pod names':
    'устраните причину, названную в сообщении или в журнале пода',
  'Kubernetes restarts it': 'Kubernetes запустит его снова',
  'free space on that disk; the processes continue automatically':
    'освободите место на этом диске; процессы продолжат работу сами',
  'make the folder writable for the user of the platform, or choose another one with --data':
    'разрешите пользователю платформы запись в папку или выберите другую с помощью --data',
  'correct the cause that the log of the pod names, such as a database that does not answer':
    'устраните причину, названную в журнале пода, например базу данных, которая не отвечает',
  'it becomes ready without a restart': 'он станет готовым без перезапуска',
  'Kubernetes kills and restarts it after three failed probes':
    'после трёх неудачных проверок Kubernetes завершит его и запустит снова',
  'if it freezes again, see its log': 'если он зависнет снова, смотрите его журнал',
  'correct the cause that the message names; the process is restarted automatically':
    'устраните причину, названную в сообщении; процесс запустится снова сам',
  'its log is in the folder logs': 'его журнал в папке logs',
  'start the database, or correct PORTCULLIS_DATABASE_URL':
    'запустите базу данных или исправьте PORTCULLIS_DATABASE_URL',
  'guarded models are served without it': 'защищённые модели работают и без неё',
  'correct the file: the last valid content stays in use until then':
    'исправьте файл: до этого действует последнее допустимое содержимое',
  'correct the file: it is applied as soon as it is saved': 'исправьте файл: он применится, как только будет сохранён',
  'see the log of the operator, or stop "portcullis up" and start it again':
    'посмотрите журнал оператора или остановите «portcullis up» и запустите снова',
  'free space or raise the quota': 'освободите место или увеличьте квоту',
  'give the operator write permission there': 'дайте оператору право записи туда',
  'it retries': 'он повторит попытку',
  'give the operator more CPU': 'дайте оператору больше процессорного времени',
  'the validation is repeated and continues where it stopped':
    'проверка повторяется и продолжится с того места, где остановилась',
  'add the credential to the secrets of providers': 'добавьте учётные данные к секретам поставщиков',
  'it is read again without a restart': 'они будут прочитаны без перезапуска',
  'wait until requests in flight have finished': 'подождите, пока завершатся выполняемые запросы',
  'see the conditions of the binding and the log of the operator': 'смотрите условия привязки и журнал оператора',

  // Collections.
  'set retrieval.enabled and retrieval.collections.tenants of the chart, or start the platform with --retrieval':
    'задайте retrieval.enabled и retrieval.collections.tenants чарта или запустите платформу с --retrieval',
  'add the tenant to retrieval.collections.tenants of the chart, or correct spec.tenant of a new resource':
    'добавьте арендатора в retrieval.collections.tenants чарта или исправьте spec.tenant нового ресурса',
  'approve the profile in the models of the retrieval service, or correct spec.embeddingProfile':
    'разрешите профиль в моделях службы поиска или исправьте spec.embeddingProfile',
  'see the log of the retrieval service, and whether operator and service have the same token':
    'посмотрите журнал службы поиска и проверьте, что у оператора и службы один и тот же токен',
  'choose another spec.name, or take over the collection that has it with source.mode Existing':
    'выберите другое spec.name или примите коллекцию с этим именем: source.mode Existing',
  'delete this resource and create it again: it then has another id':
    'удалите этот ресурс и создайте снова: у него будет другой идентификатор',
  'delete this resource and create it again with the id of an existing collection: spec.source.collectionId cannot be changed':
    'удалите этот ресурс и создайте снова с идентификатором существующей коллекции: spec.source.collectionId изменить нельзя',
  'another resource manages the collection': 'коллекцией управляет другой ресурс',
  'to manage it with this one, set deletionPolicy: Retain in the other one and delete that':
    'чтобы управлять ею через этот, задайте в другом deletionPolicy: Retain и удалите его',
  'create the resource again with the {member+} that the collection has':
    'создайте ресурс снова; {member} должно быть как у коллекции',
  'correct spec.parent.collectionId, or give the owner the right to write that collection':
    'исправьте spec.parent.collectionId или дайте владельцу право записи в эту коллекцию',
  'it is retried each minute': 'попытка повторяется каждую минуту',
  'delete documents, divide the collection, raise retrieval.indexMib, or choose a profile of shorter vectors':
    'удалите документы, разделите коллекцию, увеличьте retrieval.indexMib или выберите профиль с более короткими векторами',
  'choose another spec.parent, or mode None for the top level':
    'выберите другой spec.parent или режим None для верхнего уровня',
  'move or delete the collections below it: the deletion then continues':
    'переместите или удалите вложенные коллекции: после этого удаление продолжится',
  'correct the cause that the log of the retrieval service names, then: {command+}':
    'устраните причину, названную в журнале службы поиска, затем: {command}',
  'see the log of the retrieval service': 'смотрите журнал службы поиска',

  // Agents.
  'correct the problem that the message names ("{command+}" shows the place), and apply the version under another name: a version never changes':
    'исправьте ошибку, названную в сообщении («{command}» показывает место), и примените версию под другим именем: версия никогда не меняется',
  'see which node answers otherwise ("{command+}"), and apply a corrected version under another name':
    'посмотрите, какой узел отвечает иначе («{command}»), и примените исправленную версию под другим именем',
  'apply the version to a cluster: a standalone platform runs flows only':
    'примените версию в кластере: автономная платформа выполняет только схемы',
  'set agents.enabled of the chart, or PORTCULLIS_AGENTS_URL of a standalone operator':
    'задайте agents.enabled чарта или PORTCULLIS_AGENTS_URL автономного оператора',
  'list the policy again in served-policies.yaml, or servedPolicies of the chart; or delete the versions of agents that name it':
    'верните политику в served-policies.yaml или в servedPolicies чарта либо удалите версии агентов, которые её называют',
  'correct what the message names: the policy, its tests, or the revision in served-policies.yaml or servedPolicies of the chart':
    'исправьте названное в сообщении: политику, её тесты или версию в served-policies.yaml либо в servedPolicies чарта',
  'list the policy in served-policies.yaml, or servedPolicies of the chart, with the revision that the version names':
    'укажите политику в served-policies.yaml или в servedPolicies чарта с той версией, которую называет версия агента',
  'if it is listed, its condition Served says why it is not served: {command+}':
    'если она указана, почему она не действует, сказано в её условии Served: {command}',
  'leave the capability out of the manifest, and apply the version under another name: it is never advertised unproved':
    'уберите возможность из манифеста и примените версию под другим именем: неподтверждённая возможность не объявляется',
  'see the log of the process: {command+}': 'смотрите журнал процесса: {command}',
  'serve another version: {command+}': 'сделайте действующей другую версию: {command}',
  'publish the version, or name another one: {command+}': 'опубликуйте эту версию или назовите другую: {command}',
  'name a version of this agent: {command+}': 'назовите версию этого агента: {command}',
  'see why the version is not ready: {command+}': 'посмотрите, почему версия не готова: {command}',
  'publish the version, or end the trial: {command+}': 'опубликуйте эту версию или завершите пробу: {command}',
  'end the trial: {command+}': 'завершите пробу: {command}',
  'correct the cause that the message names, then change the Agent: it is tried again':
    'устраните причину, названную в сообщении, затем измените Agent: попытка повторится',
  'start a gateway that serves agents: it needs PORTCULLIS_AGENT_SIGNING_KEYS_FILE':
    'запустите шлюз, который обслуживает агентов: ему нужен PORTCULLIS_AGENT_SIGNING_KEYS_FILE',
  'shorten the names in spec.owner and spec.access': 'сократите имена в spec.owner и spec.access',
  'set PORTCULLIS_AGENT_ISSUER and the database of the operator':
    'задайте PORTCULLIS_AGENT_ISSUER и базу данных оператора',
  'see whether the database answers': 'проверьте, отвечает ли база данных',
  'start the release that the database was last used with, or restore a dump of this release':
    'запустите выпуск, с которым база данных использовалась последней, или восстановите дамп этого выпуска',
  'if the log of the operator says fault failed, correct what its problem names instead: the operator retries':
    'если в журнале оператора указано fault failed, устраните вместо этого то, что названо в problem: оператор повторит попытку',
  'apply it, or name another version: {command+}': 'примените её или назовите другую версию: {command}',
};
