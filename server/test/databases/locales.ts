/** Locales of databases, and the suites whose answers must not depend on them (ADR 25). */
import { setDatabaseKind } from '#test/test-database.ts'

/** For each locale the settings of `create database`. */
export const locales = {
  'the embedded default': '',
  'C of the system': `template template0 encoding 'UTF8' locale_provider libc locale 'C'`,
  Turkish: `template template0 encoding 'UTF8' locale_provider icu icu_locale 'tr-TR' locale 'C'`,
  German: `template template0 encoding 'UTF8' locale_provider icu icu_locale 'de-DE' locale 'C'`,
} as const

/** Runs the suites of searching, sorting and accounts on a database of this locale. They also run on the default by themselves. */
export async function runSuites(locale: keyof typeof locales): Promise<void> {
  setDatabaseKind({ name: locale.toLowerCase().replaceAll(' ', '_'), settings: locales[locale] })
  await import('#src/features/players/search.test.ts')
  await import('#src/features/players/folding.test.ts')
  await import('#src/features/players/players.test.ts')
  await import('#src/features/users/users-list.test.ts')
  await import('#src/features/auth/auth.test.ts')
}
