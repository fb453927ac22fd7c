/** The players that the stand-in offers. */
import type { TelegramUser } from '#src/init-data.ts'

export const people: readonly TelegramUser[] = [
  { id: 7_100_001, first_name: 'Ada', last_name: 'Byron', username: 'ada_plays', language_code: 'en' },
  { id: 7_100_002, first_name: 'Bo', username: 'bo_taps', language_code: 'en' },
  { id: 7_100_003, first_name: 'Chidi', last_name: 'Okafor', language_code: 'en' },
]
