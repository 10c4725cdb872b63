/** Words of the sign-in page in the languages of the console. */
export const signInWords = {
  en: {
    signIn: 'Sign in',
    intro: 'This platform runs on your machine. Choose a sample person, and type the code that was printed by',
    wrong: 'This is not the code. A code is valid for one sign-in. The current one is printed by',
    person: 'Person',
    administrator: 'administrator',
    code: 'Code',
  },
  ru: {
    signIn: 'Войти',
    intro:
      'Эта платформа работает на вашей машине. Выберите человека для пробы и введите код, который напечатала команда',
    wrong: 'Это не тот код. Код действует для одного входа. Текущий код печатает команда',
    person: 'Человек',
    administrator: 'администратор',
    code: 'Код',
  },
} as const;

export type SignInLanguage = keyof typeof signInWords;
