/** The trash as a list: latest first, searched and filtered, 50 a page. Expired records are not listed, even before they are purged. */
import { trashList } from '@arcade/contract/trash/fields'
import { type DerivedSql, trashEntity } from '#src/db/entities.ts'
import { serveList } from '#src/lists/list.ts'
import { searchWithoutIndex } from '#src/lists/search.ts'

const derived: DerivedSql<typeof trashEntity> = {
  priorityOrEmail: `coalesce(content #>> '{row,priority}', content #>> '{row,email}')`,
  hasOthersOfAct: `exists (select from trash as other where other.act_id = trash.act_id and other.id <> trash.id and other.expires_at > now())`,
}

export const servedTrash = serveList<typeof trashList>({
  list: trashList,
  entity: trashEntity,
  derived,
  conditions: {},
  sheet: { sheetName: 'Trash', flags: { hasOthersOfAct: ['Yes', 'No'] } },
  search: (text) =>
    searchWithoutIndex(
      `name || ' ' || coalesce(content #>> '{row,email}', '') || ' ' || coalesce(content #>> '{row,link}', '')`,
      text,
    ),
  baseCondition: 'expires_at > now()',
})
