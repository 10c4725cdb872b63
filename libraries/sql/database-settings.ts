import { setting } from '#kit/env/read-environment';

/** The settings of the database of a service. @param content the content that the service stores in it */
export function databaseSettings(content: string) {
  return {
    PORTCULLIS_DATABASE_URL: setting.string({
      help: `postgres://user@host:port/database without a password: ${content}`,
    }),
    PORTCULLIS_DATABASE_PASSWORD_FILE: setting.file({
      help: 'password of the database user, read again for every connection',
    }),
  };
}
