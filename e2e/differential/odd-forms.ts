/** Odd forms, separated by white space. */
function forms({ raw }: { readonly raw: readonly string[] }): readonly string[] {
  return raw.join('').trim().split(/\s+/);
}

/**
 * Syntax of other engines, of npm re2 and of no engine. Most of it is refused; where RE2 reads a form as literal text,
 * it is compared like any other pattern.
 */
export const oddForms: Readonly<Record<string, readonly string[]>> = {
  'forms that npm re2 rewrites': forms`
    \u0041 \u{41} \u{1F600} \u044f \u \u12 \cA \cz \c \c1 \p{Script=Greek} \p{sc=Greek} \p{Script_Extensions=Greek}
    \p{scx=Grek} \p{gc=Lu} \p{General_Category=Lu} \p{Letter} \p{Lowercase_Letter} \P{Uppercase_Letter} \p{Number}
    [\u0041-\u005a] [\cA] [\p{Letter}] [\p{Script=Cyrillic}x] \/ / [/] (?<a>x)(?<a>y)
  `,
  'unknown classes': forms`
    \p{Emoji} \p{Alphabetic} \p{greek} \p{LATIN} \p{Latn} \p{L&} \p{LC} \p{Cn} \p{Cs} \p{} \p \P \p{ \p{L \p} \pX
    \pé \p{^} \p{^^L} \p^L [[:foo:]] [[:Alpha:]] [[:alpha]] [[:alpha [:alpha:] [[:^^alpha:]] [[::]] [[=a=]] [[.a.]]
    \h \H \R \X \N \N{U+41} \l \L \i
  `,
  lookaround: forms`
    (?=a) (?!a) (?<=a) (?<!a) (?= (?!) (?<= a(?=b) (?:(?!x).)* (*PLA:a)
  `,
  'back-references': forms`
    \1 \2 \9 (a)\1 \g1 \g{1} \g{-1} \k<n> \k{n} \k'n' (?P=n) (?P<n>a)(?P=n) \8 \08 \18 (?1) (?R) (?&n) (?P>n) \G \K
    \Z \< \> \'
  `,
  groups: forms`
    ( ) (? (?) (?: (?P (?P< (?P<n (?P<n> (?P<>a) (?<>a) (?<n (?P<1a>x) (?<é>x) (?<中>x) (?<a-b>x) (?<a.b>x) (?'n'a)
    (?P'n'a) (?P=n (?Pn>a) (?P<n>a)(?P<n>b) (?#x) (?|a|b) (?>a) (?i (?- (?-) (?i-) (?i-:a) (?--i) (?i-i) (?ii) (?x)
    (?x:a) (?u) (?a) (?L) (?n) (?J) (?^i) (?i=a) (?z:a) (?: () (?:) (|) (() ()) (?(1)a|b) (?<n>) (?P<имя>я) (?<ń>a)
    (?<_>a) (?-i) (?i)(?-i) (?U)a+? (?s-s:.)
  `,
  repeats: forms`
    * + ? {2} |* ^* $+ \b* \b{2} (?i)* ()* (|a)* (a*)* (a*)+ (a|b*)*? (?:^)* a** a*+ a+* a?? a??? a?* a{2}{3} a{2}*
    a*{2} a{2}+ a++ a?+ a{2}?{3} a*?? a{2}?? a{0} a{1} a{0,0} a{0,1} a{1000} a{1001} a{0,1000} a{0,1001} a{1000,}
    a{1001,} a{1000,1001} a{2,1} a{,2} a{} a{,} a{-1} a{+1} a{1,-2} a{01} a{00} a{1,02} a{٣} a{1 a{1, a{1,2 a{ { }
    {} {a} x{2147483648} x{99999999999} a{1e2} a{1.5} {, (?:a{30}){33} (?:a{30}){34} (?:a{1000}){1} (?:a{2}){500}
    (?:a{2}){501} (?:a{0}){1000} (?:a{0,1000}){1} (?:a{0,1}){1000} (?:a{1,}){1000} (?:a{2,}){500} (?:a{2,}){501}
    (?:(?:a{10}){10}){10} (?:(?:a{10}){10}){11} (?:a*){1000} (?:a+){1001} (?:a{31}|b){32} (?:a{32}|b{2}){32}
    (?:a{1000}b{1000}){1} ((a{100}){10}) ((a{100}){11})
  `,
  classes: forms`
    [ ] [] [^] []a [^]a [a [a- [z-a] [a-a] [a-b-c] [--a] [a--] [\d-z] [a-\d] [\b] [\B] [\A] [\Q] [\Qa\E] [\E] [\C]
    [\1] [\01] [\x] [\x{}] [\] [a\ [[a] [[a]] [a[b] [&&a] [a&&b] [a--b] [a~~b] [^^] [^]] []] [-] [^-] [.] [$^]
    [\P{Any}] [^\p{Any}] [^\P{Any}] [\p{Any}] \P{Any} \p{Any} [^\x00-\x{10FFFF}] [\x{110000}] [а-я [я-а]
    [\x{44f}-\x{430}] [😀-🙏] [^\D\d] [\D\d] [^\W\w] [\w-\x{44f}] [\s\S] [[:word:]-z]
  `,
  escapes: forms`
    \ a\ \x \x4 \xg \x{ \x{} \x{g} \x{41 \x{110000} \x{0000041} \x{10ffff} \x{d800} \0 \00 \000 \0000 \01 \07 \777
    \778 \400 \e \E \Q \Qa \Qa\ \Q\E \Qa\Eb* \Qab\E* \Qab\E{2} \Q\Q\E \Q*\E+ \y \m \M \U0041 \o{101} \j \q \_ \é \я
    \😀 \- \# \" \@ \% \& \~ \C* \C{2} [\a\f\t\n\r\v]
  `,
  'forms with white space': [
    '\\p{ L}',
    '[[:al pha:]]',
    '\\N{LATIN SMALL LETTER A}',
    '\\`',
    '(?P<a b>x)',
    '(?i ',
    '(?< n>a)',
    'a{ 2}',
    'a{2 }',
    'a{2, 3}',
    '\\ ',
    '\\\n',
    '\\\u0000',
    '\u0000',
  ],
  'sizes at the limits of the engine': [
    ...forms`
    ((((\pL)))){445} ((\pL)){446} (\pL){446} \pL{446} \pL{447} (?:\pL{100}\pN{100}){9} .{1000} (?:.{100}){10}
    (?i)\p{L}{300} [^\p{Lu}]{400}
    `,
    ...[999, 1_001].map((depth) => `${'('.repeat(depth)}a${')'.repeat(depth)}`),
    `${'(?:'.repeat(300)}a${')?'.repeat(300)}`,
    `(?:${'a|'.repeat(500)}b)`,
    'ab'.repeat(500),
    `[${'aя'.repeat(300)}]`,
  ],
};
