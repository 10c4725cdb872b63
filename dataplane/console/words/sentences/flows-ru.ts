import type { SentenceTable } from './translate.ts';

/** Russian sentences about problems of a flow, of its manifest and of its tests. */
export const flowSentencesRu: SentenceTable = {
  '{place}: node {node}, {path} {problem*}': '{place}: узел {node}, {path}: {problem}',
  '{place}: {path} {problem*}': '{place}: {path}: {problem}',
  '{place}: the file {problem*}': '{place}: файл: {problem}',

  // The source.
  'has {bytes} bytes as JSON with the other texts of the version, at most {most} are allowed: shorten one of them':
    'вместе с другими текстами версии занимает {bytes} байт в виде JSON, а можно не больше {most}: сократите один из них',
  'has more than {bytes} bytes: split it into subflows': 'больше {bytes} байт: вынесите части во вложенные схемы',
  'is nested deeper than {most} levels': 'глубина вложенности больше {most}',
  'has an anchor: remove it': 'есть якорь: уберите его',
  'has an alias: repeat the value': 'есть ссылка: повторите значение',
  'has a tag: remove it': 'есть тег: уберите его',
  'is not a finite number': 'не конечное число',
  'has half of a surrogate pair': 'есть половина суррогатной пары',
  'has a name with half of a surrogate pair': 'есть имя с половиной суррогатной пары',
  'is too large a number': 'слишком большое число',
  'has a key that is not a string: quote it': 'есть ключ, который не является строкой: возьмите его в кавычки',
  'has a name that an earlier member has, too': 'это имя уже есть выше',
  'is not allowed as a name': 'такое имя не разрешено',
  'must have 1 to {most} fields': 'нужно от 1 до {most} полей',
  'must have each mode once': 'каждый режим нужен один раз',
  'must not have a segment . or .': 'не должно быть сегмента . или ..',
  'must have text or data': 'нужно text или data',
  'must have either a result or an error': 'нужно либо результат, либо ошибка',
  'must have expect, reference or judge': 'нужно expect, reference или judge',

  // Expressions.
  'is not an expression: write input, state, item, context or nodes.ID.output, then .name or [0]':
    'не выражение: напишите input, state, item, context или nodes.ID.output, затем .name или [0]',
  'has more than {most} steps': 'больше {most} шагов',
  'has an index above {most}': 'есть индекс больше {most}',
  'has more than {most} bytes': 'больше {most} байт',
  'has a place that {problem*}': 'есть место: {problem}',
  'has {{ without }}: write \\{{ for the braces themselves': 'есть {{ без }}: напишите \\{{, если это сами скобки',
  'has more than {most} characters': 'больше {most} знаков',
  'is not a pattern of RE2': 'не шаблон RE2',
  'is too large a pattern: it has more than {most} instructions': 'слишком большой шаблон: больше {most} инструкций',
  'must be one expression as a whole, such as input.question in braces after a dollar sign: use a template node to write it into a text, or {literal: …} for the characters themselves':
    'нужно одно выражение целиком, например input.question в фигурных скобках после знака доллара: чтобы вставить его в текст, используйте узел template, а для самих знаков — {literal: …}',
  'is the term after the first {most}: use several nodes': 'условие после первых {most}: используйте несколько узлов',

  // Schemas.
  'is not a valid JSON Schema of 2020-12': 'недопустимая JSON Schema версии 2020-12',
  'must be a schema: an object, true or false': 'нужна схема данных: объект, true или false',
  'belongs to the top of the schema': 'должно стоять на верхнем уровне схемы данных',
  'is not a keyword that schemas of flows may use': 'такое ключевое слово в схемах данных не разрешено',
  'must be a list of schemas': 'нужен список схем данных',
  'must be an object of schemas': 'нужен объект из схем данных',
  'must be {value+}': 'нужно {value}',
  'must be one of {values+}, or a list of them': 'нужно одно из {values} или список из них',
  'must be a list of values': 'нужен список значений',
  'must be a text': 'нужен текст',
  'must be #/$defs/NAME: a schema cannot lead out of itself':
    'нужно #/$defs/NAME: схема данных не может ссылаться за свои пределы',
  'names nothing in $defs': 'такого имени в $defs нет',
  'refers to itself: write the levels that are needed': 'ссылается сама на себя: напишите нужные уровни',
  'has more than {most} subschemas with its references expanded':
    'после подстановки ссылок вложенных схем больше {most}',
  'gives {given*} where {wanted*} is needed': 'даёт {given}, а нужно {wanted}',
  '{one} or {other}': '{one} или {other}',
  '{one} or {two} or {three}': '{one}, {two} или {three}',
  'has no member {name}, which is required': 'нет обязательного поля {name}',
  '{problem*} (member {name})': '{problem} (поле {name})',
  'has a member that the schema does not allow': 'есть поле, которого схема данных не разрешает',
  'must be object': 'нужно object',
  'does not match the schema of the state': 'не соответствует схеме состояния',
  'must have type object at its top': 'на верхнем уровне нужен тип object',

  // Nodes and edges.
  'is the id of an earlier node, too': 'у узла выше такой же идентификатор',
  'names no node': 'такого узла нет',
  'is the name of an earlier case, too': 'у варианта выше такое же имя',
  'has no edge: add one with this name as when': 'нет перехода: добавьте переход, у которого when — это имя',
  'leads to an input node, where a run begins': 'ведёт к узлу input, с которого запуск начинается',
  'leads out of a node of kind {kind}, where a run ends': 'ведёт из узла вида {kind}, которым запуск заканчивается',
  'is for edges out of condition nodes only': 'разрешено только переходам из узлов condition',
  'is a second edge out of one node: use a condition or a parallel node':
    'второй переход из одного узла: используйте узел condition или parallel',
  'needs when: the name of a case of its condition node': 'нужно when: имя варианта узла condition',
  'names no case of the condition node': 'у узла condition нет такого варианта',
  'is a second edge of one case': 'второй переход одного варианта',
  'must name a node of kind input': 'нужен узел вида input',
  'is nested deeper than {most} levels, with the flows around it':
    'вместе с внешними схемами глубина вложенности больше {most}',
  'is reached by no path: add an edge, or remove the node':
    'сюда не ведёт ни один путь: добавьте переход или уберите узел',
  'leads back to a node before it: use a loop node': 'ведёт назад к одному из предыдущих узлов: используйте узел loop',
  'leads to a node of another branch, body or flow: each node belongs to one':
    'ведёт к узлу другой ветви, тела цикла или схемы: каждый узел относится к чему-то одному',
  'must not be an input node': 'не должно быть узлом input',
  'must not be output inside of a branch or a body: its last node gives the result':
    'внутри ветви или тела цикла узел output не разрешён: результат даёт последний узел',
  'has no edge: every path of a flow ends in a node of kind output or fail':
    'нет перехода: каждый путь схемы заканчивается узлом вида output или fail',
  'must have either inputs.items or config.while': 'нужно либо inputs.items, либо config.while',
  'must be 1 with while: each turn depends on the one before': 'с while нужно 1: каждый шаг зависит от предыдущего',
  'needs the state of the flow: declare it at the top': 'нужно состояние схемы: объявите его в начале',
  'needs concurrency 1: concurrent turns would overwrite the state':
    'нужно concurrency 1: одновременные шаги перезаписывали бы состояние',
  'is for prompts with tools only': 'разрешено только для узлов prompt с инструментами',
  'is the name of an earlier tool, too': 'у инструмента выше такое же имя',
  'must have each {name} among the required parameters': 'каждое {name} должно быть среди обязательных параметров',
  'must contain each {name} once, and inputs.path must have a value for each name':
    'каждое {name} должно быть один раз, а в inputs.path — значение для каждого',
  'must not be GET or DELETE because the request has a body': 'не должно быть GET или DELETE, если есть тело запроса',

  // References.
  'names {reference}, {problem*}': 'называет {reference}, {problem}',
  'but item has a value in the body of a loop over items only':
    'но у item есть значение только в теле цикла по элементам',
  'but the flow has no state: declare it at the top of the flow':
    'но у схемы нет состояния: объявите его в начале схемы',
  'and there is no such node': 'но такого узла нет',
  'which does not run before this node on every path: give a default with {from, default}':
    'но этот узел выполняется раньше не на каждом пути: задайте значение по умолчанию с {from, default}',
  'which does not run before this node': 'но этот узел не выполняется раньше',
  'but its schema allows no {step}': 'но схема данных не разрешает {step}',
  'is assigned where several turns or branches run at the same time':
    'присваивается там, где одновременно выполняются несколько шагов или ветвей',
  'is not a member of the state': 'такого поля в состоянии нет',

  // Subflows.
  'is not a flow': 'не схема',
  'is an earlier one again': 'повторяет одну из предыдущих',
  'is not used by the flow': 'схемой не используется',
  'names no flow that was given with this one': 'такая схема не передана вместе с этой',
  'names a flow that has problems': 'называет схему с ошибками',
  'names a flow that has problems: line {line}, the file {problem*}':
    'называет схему с ошибками: строка {line}, файл: {problem}',
  'names a flow that has problems: line {line}, {path} {problem*}':
    'называет схему с ошибками: строка {line}, {path}: {problem}',
  'is not the digest of that flow': 'не контрольная сумма этой схемы',
  'is not the id of the flow with this digest': 'не идентификатор схемы с этой контрольной суммой',
  'is not an entry point of the subflow': 'не точка входа вложенной схемы',

  // The manifest.
  'is not the digest of the flow, {digest}': 'не контрольная сумма схемы, {digest}',
  'is not an entry point of the flow': 'не точка входа схемы',
  'is not the schema of the flow: copy it from there': 'не та схема данных, что в схеме: скопируйте её оттуда',
  'is required for the mode {mode}': 'обязательно для режима {mode}',
  'must name the {kind} {name}, which the flow uses': 'должно называть {kind} {name}: это использует схема',
  'has no mode of the output {id}, which gives {modes*}: add one':
    'нет режима выхода {id}, который даёт {modes}: добавьте его',
  'is given by no output of the flow: the outputs give {modes*}':
    'этого не даёт ни один выход схемы: выходы дают {modes}',
  '{one} and {other}': '{one} и {other}',

  'is not a mode of this release, which has {modes*}': 'в этом выпуске нет такого режима, есть {modes}',
  'is not a mode of this release, which has {modes*}: {code}': 'в этом выпуске нет такого режима, есть {modes}: {code}',
  'is not a capability of this release, which has {name}': 'в этом выпуске нет такой возможности, есть {name}',
  'is not a capability of this release, which has {name}: {code}':
    'в этом выпуске нет такой возможности, есть {name}: {code}',
  'is not a version of A2A of this release, which has {version}': 'в этом выпуске нет такой версии A2A, есть {version}',
  'is not a version of A2A of this release, which has {version}: {code}':
    'в этом выпуске нет такой версии A2A, есть {version}: {code}',
  'is not a media type of this release, which has {types*}: {code}':
    'в этом выпуске нет такого типа данных, есть {types}: {code}',
  'needs an input schema with a string named text, or with exactly one required string':
    'нужна схема входных данных со строкой text или ровно с одной обязательной строкой',
  'must have the media type of at least one file': 'нужен тип данных хотя бы одного файла',
  'has no text, and the file nodes of the flow have "use: text": {code}':
    'в таком файле нет текста, а узлы file схемы заданы с «use: text»: {code}',

  // Tests.
  'is the name of an earlier test, too': 'у теста выше такое же имя',
  'is no entry point of the flow': 'не точка входа схемы',
  'names no node that calls anything': 'этот узел ничего не вызывает',
};
