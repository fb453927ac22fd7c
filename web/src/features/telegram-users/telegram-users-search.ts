/** What the address of Telegram Users holds; it is read before the page is loaded, so it is apart from it. */
import type { TelegramUsersSort } from '@arcade/contract/telegram-users'

const sizes = [5, 25, 50, 100] as const // design §7

export interface TelegramUsersSearch {
  sort?: TelegramUsersSort
  size?: (typeof sizes)[number]
  /** From 2 on, with the cursor it begins after or ends before. */
  page?: number
  after?: string
  before?: string
}

/** What is not understood is left out: then it is the first page by balance. */
export function telegramUsersSearch({ sort, size, page, after, before }: Record<string, unknown>): TelegramUsersSearch {
  const knownSize = sizes.find((candidate) => candidate === Number(size))
  const number = Number(page)
  const cursor = typeof after === 'string' ? { after } : typeof before === 'string' ? { before } : undefined
  return {
    ...(sort === 'a-z' && { sort }),
    ...(knownSize !== undefined && knownSize !== 5 && { size: knownSize }),
    ...(cursor && Number.isSafeInteger(number) && number > 1 && { page: number, ...cursor }),
  }
}
