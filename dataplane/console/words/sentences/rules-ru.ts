import type { SentenceTable } from './translate.ts';

/** Problems of the rules of a policy and warnings about them, in Russian. */
export const ruleSentencesRu: SentenceTable = {
  '{problem*}: {remedy*}': '{problem}: {remedy}',
  'request section: {problem*}': 'раздел запросов: {problem}',
  'response section: {problem*}': 'раздел ответов: {problem}',
  'request section, rule {rule}: {problem*}': 'раздел запросов, правило {rule}: {problem}',
  'response section, rule {rule}: {problem*}': 'раздел ответов, правило {rule}: {problem}',
  'policy {policy}, request section, rule {rule}: {problem*}':
    'политика {policy}, раздел запросов, правило {rule}: {problem}',
  'policy {policy}, response section, rule {rule}: {problem*}':
    'политика {policy}, раздел ответов, правило {rule}: {problem}',
  'policy {policy}, request section: {problem*}': 'политика {policy}, раздел запросов: {problem}',
  'policy {policy}, response section: {problem*}': 'политика {policy}, раздел ответов: {problem}',

  // Members of a definition.
  'must have only letters, digits, ".", "_" and "-", with a letter or digit at both ends':
    'допустимы только латинские буквы, цифры, «.», «_» и «-», с буквой или цифрой на обоих концах',
  'is used twice in its section, first by {first}: give the rule another id':
    'уже есть в этом разделе, сначала в {first}: дайте правилу другое имя',
  'is used twice: give the rule another id': 'уже есть: дайте правилу другое имя',
  'is above the deadlineMs {limit} of its section: lower it, or raise deadlineMs':
    'больше deadlineMs раздела, {limit}: уменьшите его или увеличьте deadlineMs',
  'is above the deadlineMs {limit} of the request section: lower it, or raise deadlineMs':
    'больше deadlineMs раздела запросов, {limit}: уменьшите его или увеличьте deadlineMs',
  'is above the deadlineMs {limit} of the response section: lower it, or raise deadlineMs':
    'больше deadlineMs раздела ответов, {limit}: уменьшите его или увеличьте deadlineMs',
  'is listed twice: remove one': 'указано дважды: уберите одно',
  'cannot be combined with fold: remove one': 'не сочетается с fold: уберите одно из двух',
  'cannot be combined with fold: use two rules': 'не сочетается с fold: используйте два правила',
  'needs match token: stems are those of whole words': 'требует match: token, потому что основы есть у целых слов',
  'needs caseSensitive false: stems have no letter case':
    'требует caseSensitive: false, потому что у основ нет регистра букв',

  // Local rules.
  'it can match an empty text, which a mask cannot replace: make it match a character at least':
    'может совпасть с пустым текстом, который нельзя заменить: пусть совпадает хотя бы с одним знаком',
  'it uses \\C, and a mask could cut a character in two: write a dot instead':
    'в нём есть \\C, и замена могла бы разрезать знак: напишите точку',
  'it uses \\C, which has no meaning in a folded text: write a dot instead, or remove fold':
    'в нём есть \\C, что в свёрнутом тексте не имеет смысла: напишите точку или уберите fold',
  'it uses \\C, which can match a part of a character': 'в нём есть \\C, и он может совпасть с частью знака',
  'the form of the pattern that its folds require is refused: {problem*}':
    'форма шаблона, которой требует fold, недопустима: {problem}',
  'it can match an empty text, and its matches must be compared with the allow-list: make it match a character at least':
    'может совпасть с пустым текстом, а совпадения сравниваются со списком исключений: пусть совпадает хотя бы с одним знаком',
  'it can match an empty text, and its matches must have a checksum: make it match a character at least':
    'может совпасть с пустым текстом, а у совпадений проверяется контрольная сумма: пусть совпадает хотя бы с одним знаком',
  'its matches must be compared with the allow-list, so their places must be rare: begin the pattern with \\b, and limit its repeats':
    'его совпадения сравниваются со списком исключений, поэтому должны быть редки: начните шаблон с \\b и ограничьте повторы',
  'its matches must have a checksum, so their places must be rare: begin the pattern with \\b, and limit its repeats':
    'у его совпадений проверяется контрольная сумма, поэтому они должны быть редки: начните шаблон с \\b и ограничьте повторы',

  // Costs.
  'the local rules of its section together may take {total} ms on {bytes} bytes (maxBodyBytes), more than half of deadlineMs ({half} ms), and this rule takes the largest part ({most} ms): remove or narrow rules, or raise deadlineMs':
    'местные правила раздела вместе могут занять {total} мс на {bytes} байт (maxBodyBytes), больше половины deadlineMs ({half} мс), и это правило — наибольшую часть ({most} мс): уберите или сузьте правила либо увеличьте deadlineMs',
  'it may take {cost} ms on {bytes} bytes (maxBodyBytes), above {limit*}: {remedy*}':
    'может занять {cost} мс на {bytes} байт (maxBodyBytes), больше чем {limit}: {remedy}',
  'its time on {bytes} bytes (maxBodyBytes) has no known bound, and may be above {limit*}: {remedy*}':
    'его время на {bytes} байт (maxBodyBytes) не ограничено и может превысить {limit}: {remedy}',
  '{most} ms, the most that any local rule may take': '{most} мс — предел для любого местного правила',
  '{most} ms, a quarter of the smallest timeoutMs ({smallest} ms) of the local rules of its section':
    '{most} мс — четверть наименьшего timeoutMs ({smallest} мс) местных правил раздела',
  'write it narrower, with small bounds such as {0,64} and few alternatives, or move it into an external detector':
    'сузьте его: небольшие границы, например {0,64}, и мало вариантов; или перенесите его во внешний детектор',
  'write it narrower, with small bounds such as {0,64} and few alternatives, raise timeoutMs of every local rule of its section to {needed}, or move it into an external detector':
    'сузьте его: небольшие границы, например {0,64}, и мало вариантов; увеличьте timeoutMs каждого местного правила раздела до {needed} или перенесите его во внешний детектор',

  // Warnings.
  'term {number} is {mistake*}': 'термин {number}: {mistake}',
  'terms {numbers+} are {mistake*}': 'термины {numbers}: {mistake}',
  'written as a regular expression, and terms are literal texts':
    'написано как регулярное выражение, а термины — буквальные тексты',
  'write the text, or use a rule of kind regex': 'напишите сам текст или используйте правило вида regex',
  'found only together with outer white space, and not next to punctuation or at an end of a text':
    'находится только вместе с пробелами по краям, а рядом со знаками препинания и на краю текста — нет',
  'remove the white space and use match: token': 'уберите пробелы и задайте match: token',
  'never found, because allow lists the same text': 'никогда не находится, потому что такой же текст есть в allow',
  'remove one of them': 'уберите одно из двух',
  'it has \\b next to a character outside of ASCII, where \\b is a boundary only next to an ASCII letter, digit or underscore: remove \\b, or use a stop list with match: token':
    '\\b стоит рядом со знаком вне ASCII, а границей он служит только рядом с латинской буквой, цифрой или подчёркиванием: уберите \\b или используйте список терминов с match: token',
  'a match of {length} characters shows {kept} of them (keepFirst and keepLast): keep at most half of the shortest match, or match longer texts only':
    'совпадение из {length} знаков показывает {kept} из них (keepFirst и keepLast): оставляйте не больше половины самого короткого совпадения или ищите только более длинные тексты',
  '{reason*}, so streamed answers cannot be checked and are refused':
    '{reason}, поэтому потоковые ответы проверить нельзя и они отклоняются',
  '{reason*}, so it may judge a streamed answer differently from a whole one':
    '{reason}, поэтому решение о потоковом ответе может отличаться от решения о целом',
  'maxBodyBytes {bytes} is below {least}, so streamed answers are refused':
    'maxBodyBytes {bytes} меньше {least}, поэтому потоковые ответы отклоняются',
  'it has an allow-list, which needs the text on both sides of a match':
    'у правила есть список исключений, которому нужен текст с обеих сторон совпадения',
  'a match of one of its terms in another form may have more than {bytes} bytes':
    'совпадение термина в другой форме может быть длиннее {bytes} байт',
  'it has a term of more than {bytes} bytes': 'в нём есть термин длиннее {bytes} байт',
  'it has a term of more than {characters} characters, each of which may come from {bytes} bytes of text with its folds':
    'в нём есть термин длиннее {characters} знаков, а каждый знак после свёртки может занимать {bytes} байт текста',
  'it is anchored to the beginning or end of the text': 'шаблон привязан к началу или концу текста',
  'it may need {bytes} bytes of text to find a match, more than the {shared} that windows share':
    'чтобы найти совпадение, может понадобиться {bytes} байт текста, больше чем {shared}, общих у соседних окон',
  'it may need any number of bytes of text to find a match, more than the {shared} that windows share':
    'чтобы найти совпадение, может понадобиться сколько угодно байт текста, больше чем {shared}, общих у соседних окон',

  // Patterns.
  'npm re2 would rewrite the expression, so that the engine would match other texts':
    'npm re2 переписал бы выражение, и оно совпадало бы с другими текстами',
  'the pattern is too large for the engine': 'шаблон слишком велик',
  'invalid syntax': 'неверный синтаксис',
  '{look} is not supported, because RE2 has no lookaround: match the text around it, too, or use an external detector':
    '{look} не поддерживается, потому что в RE2 нет просмотра вперёд и назад: включите текст вокруг в шаблон или используйте внешний детектор',
  'missing > after {place+}: end the name of the group with it': 'нет > после {place}: закончите им имя группы',
  'invalid group name {name+}: use letters, digits and _': 'недопустимое имя группы {name}: нужны буквы, цифры и _',
  'invalid group {group+}: RE2 knows (?:…), (?P<name>…) and the flags i, m, s, U':
    'недопустимая группа {group}: RE2 знает (?:…), (?P<name>…) и флаги i, m, s, U',
  'missing ] after {place+}: close the class, or write \\[ for the character':
    'нет ] после {place}: закройте класс или напишите \\[, если это сам знак',
  'the range {range+} ends before it begins: exchange its ends, or write \\- for the character':
    'диапазон {range} заканчивается раньше, чем начинается: поменяйте концы местами или напишите \\-, если это сам знак',
  'missing ] at the end of a class: close it, or write \\[ for the character':
    'нет ] в конце класса: закройте его или напишите \\[, если это сам знак',
  'unknown class {name+}: write one such as [:alpha:] or [:^digit:]':
    'неизвестный класс {name}: напишите, например, [:alpha:] или [:^digit:]',
  'invalid repeat {repeat+}: at most {most}, smaller number first':
    'недопустимое повторение {repeat}: не больше {most}, меньшее число первым',
  'the pattern contains half of a surrogate pair': 'в шаблоне половина суррогатной пары',
  '{repeat+} repeats a repeat: put the inner one into (?:…)':
    '{repeat} повторяет повторение: возьмите внутреннее в (?:…)',
  'there is nothing before {repeat+} to repeat: write \\ before it to match the character itself':
    'перед {repeat} нечего повторять: поставьте перед ним \\, если это сам знак',
  '{repeat+} makes more than {most} copies, nested repeats counted: lower one of the numbers':
    '{repeat} даёт больше {most} копий с учётом вложенных повторений: уменьшите одно из чисел',
  'a ( is never closed: close it, or write \\( for the character':
    'скобка ( не закрыта: закройте её или напишите \\(, если это сам знак',
  'a ) closes nothing: remove it, or write \\) for the character':
    'скобка ) ничего не закрывает: уберите её или напишите \\), если это сам знак',
  'the pattern ends with a single backslash: remove it, or write \\\\ for a backslash':
    'шаблон заканчивается одной обратной косой чертой: уберите её или напишите \\\\, если это сам знак',
  'invalid escape {escape+}: {advice*}': 'недопустимая последовательность {escape}: {advice}',
  'back-references are not supported: write out the alternatives, or use an external detector':
    'обратные ссылки не поддерживаются: перечислите варианты или используйте внешний детектор',
  'write \\x{…} instead of \\u': 'напишите \\x{…} вместо \\u',
  'write \\x{…} instead of \\c': 'напишите \\x{…} вместо \\c',
  'write \\z': 'напишите \\z',
  '\\Q has no meaning inside […]': '\\Q не имеет смысла внутри […]',
  '\\b has no meaning inside […]': '\\b не имеет смысла внутри […]',
  'write (?:\\r\\n|[\\n\\r])': 'напишите (?:\\r\\n|[\\n\\r])',
  'write [ \\t]': 'напишите [ \\t]',
  'RE2 has no such escape: remove the backslash, or write \\\\ for a backslash':
    'в RE2 такой последовательности нет: уберите обратную косую черту или напишите \\\\, если это сам знак',
  'write \\x41 or \\x{1F600}': 'напишите \\x41 или \\x{1F600}',
  'missing } after {place+}: write \\p{Greek}, for example': 'нет } после {place}: напишите, например, \\p{Greek}',
  'unknown Unicode class {name+}: RE2 knows general categories such as \\p{Lu} and scripts such as \\p{Greek}':
    'неизвестный класс Unicode {name}: RE2 знает общие категории, например \\p{Lu}, и письменности, например \\p{Greek}',
};
