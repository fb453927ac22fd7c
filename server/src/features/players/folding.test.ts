/** Searches ignore what people do not type or see: PostgreSQL folds the rows and the searched text in the same way. */
import { expect, test } from 'vitest'
import { addPlayers } from '#test/players.ts'
import { testApp } from '#test/test-app.ts'

/** A text as it is stored, and searches that find it. */
const cases: [stored: string, ...searches: string[]][] = [
  ['Hauptstraße', 'strasse', 'st\ufeffrasse', 'STRASSE', 'straße', 'STRAẞE'],
  ['O’Brien', "o'brien", 'obrien', 'O´Brien', 'O`Brien'],
  ["D'Angelo", 'dangelo', 'd’angelo'],
  ['line1\nline2', 'line1 line2', 'line1\tline2'],
  ['Zero\u200bWidth\u2060Name', 'zerowidthname', 'zero\u200dwidth'],
  ['مهدی\u200cزاده', 'مهدیزاده', 'مهدی\u200cزاده', 'مهدی زاده', 'مهدی  زاده'],
  ['Ali محمد علی\u200cرضا', 'محمد علی رضا', 'ali محمد علی رضا', 'علیرضا'],
  ['فرزانه سادات', 'فرزانه سادات', 'سادات'],
  ['Anna Bell', 'anna bell', 'anna b'],
  ['Annabell', 'annabell'],
  ['\u202eReversed\u202c', 'reversed'],
  ['Jean\u2011Luc', 'jean-luc', 'jean–luc', 'jean—luc'],
  ['No\u00a0Break\u2009Space', 'no break space'],
  ['Œdipe Æther', 'oedipe aether', 'œdipe'],
  ['Þórður', 'thordur', 'þorður'],
  ['ΟΔΥΣΣΕΥΣ', 'οδυσσευς', 'Οδυσσεύς'],
  ['Heart\u2764\ufe0f', 'heart\u2764'],
  ['葛\u{e0100}飾 Taro', '葛飾 taro', '葛\u{e0101}飾', '葛飾\u2060 \u200btaro'],
  ['Ben\u05beGurion', 'ben-gurion', 'Ben\u30a0Gurion', 'ben\u{10ead}gurion'],
]

test('Lists: players are found whatever form of a letter, space, hyphen or apostrophe was typed', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  await addPlayers(
    app.database.db,
    cases.map(([first_name], index) => ({ user_id: index + 1, first_name })),
  )
  for (const [index, [, ...searches]] of cases.entries())
    for (const search of searches) {
      const { body } = await admin.call('GET', `/api/telegram-users?search=${encodeURIComponent(search)}`)
      expect(
        body.users.map(({ userId }: { userId: number }) => userId),
        JSON.stringify(search),
      ).toEqual([index + 1])
    }
})

test('Lists: titles are found in the same way', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  for (const [index, [title]] of cases.entries()) {
    const task = { type: 'twitter', title, priority: index + 1, link: 'https://x.com/arcade', reward: 1 }
    expect((await admin.call('POST', '/api/social-tasks', task)).status, title).toBe(200)
  }
  for (const [index, [, ...searches]] of cases.entries())
    for (const search of searches) {
      const { body } = await admin.call('GET', `/api/social-tasks?search=${encodeURIComponent(search)}`)
      expect(
        body.tasks.map(({ priority }: { priority: number }) => priority),
        JSON.stringify(search),
      ).toEqual([index + 1])
    }
})
